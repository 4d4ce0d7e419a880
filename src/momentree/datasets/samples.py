"""Samples: data drawn from a model, with the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Floats, Int64s


@dataclass(frozen=True)
class TopicSample:
    """Documents drawn from a single-topic model.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Word counts; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Topic of each document.
    weights : ndarray of shape (n_components,)
        Probability of each topic; sum 1.
    components : ndarray of shape (n_components, n_features)
        Probability of each word in each topic; rows sum to 1.
    """

    X: sp.csr_array[Any]
    labels: Int64s
    weights: Floats
    components: Floats


@dataclass(frozen=True)
class LDASample:
    """Documents drawn from latent Dirichlet allocation.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Word counts; indices sorted, no stored zeros.
    proportions : ndarray of shape (n_samples, n_components)
        Topic proportions of each document; rows sum to 1.
    alpha : ndarray of shape (n_components,)
        Parameter of the Dirichlet distribution of the topic proportions.
    components : ndarray of shape (n_components, n_features)
        Probability of each word in each topic; rows sum to 1.
    """

    X: sp.csr_array[Any]
    proportions: Floats
    alpha: Floats
    components: Floats


@dataclass(frozen=True)
class MixtureSample:
    """Rows drawn from a mixture of independent variables.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        The rows; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Component of each row.
    weights : ndarray of shape (n_components,)
        Probability of each component; sum 1.
    means : ndarray of shape (n_components, n_features)
        Mean of each variable in each component; for binary variables, the probability of 1.
    """

    X: sp.csr_array[Any]
    labels: Int64s
    weights: Floats
    means: Floats


@dataclass(frozen=True)
class GaussianSample:
    """Rows drawn from a mixture of spherical Gaussians.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows.
    labels : ndarray of int64, shape (n_samples,)
        Component of each row.
    weights : ndarray of shape (n_components,)
        Probability of each component; sum 1.
    means : ndarray of shape (n_components, n_features)
        Mean of each component.
    variances : ndarray of shape (n_components,)
        Variance of each feature in each component.
    """

    X: Floats
    labels: Int64s
    weights: Floats
    means: Floats
    variances: Floats


@dataclass(frozen=True)
class PatientSample(MixtureSample):
    """Artificial patient records, drawn from groups nested in families.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_codes)
        1 if a record has a code; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Group of each record.
    weights : ndarray of shape (n_groups,)
        Probability of each group; sum 1.
    means : ndarray of shape (n_groups, n_codes)
        Frequency of each code in each group, at most 0.9.
    families : ndarray of int64, shape (n_groups,)
        Family of each group; groups in a family share codes.
    codes : ndarray of str, shape (n_codes,)
        Names of the columns, such as "C001", by descending typical frequency.
    """

    families: Int64s
    codes: NDArray[Any]

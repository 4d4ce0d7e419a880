"""How certainly records are assigned: the classification table and the relative entropy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from momentree._types import Floats
from momentree.metrics._checks import as_probabilities, check_labels


@dataclass(frozen=True)
class Classification:
    """How certainly n records are assigned to k groups.

    Attributes
    ----------
    sizes : ndarray of float of shape (k,)
        Records assigned to each group.
    mean_posterior : ndarray of shape (k, k)
        Mean probability of each group (column) among the records assigned to a group (row): rows
        sum to 1, and the diagonal is the mean posterior per group. NaN for an empty group.
    probabilities : ndarray of shape (k, k)
        D[t, s], the probability that a record of group t (row) is assigned to s (column); rows sum
        to 1. NaN for a group of probability zero.
    entropy : float
        Relative entropy, in [0, 1]: 1 if every record is certain, 0 if every group is equally
        probable for each of them.
    """

    sizes: Floats
    mean_posterior: Floats
    probabilities: Floats
    entropy: float


def classification_table(labels: ArrayLike, proba: ArrayLike) -> Classification:
    """Return mean posteriors per assigned group, classification probabilities and entropy.

    With p_it the probability of group t for record i, and s_i the group to which it is assigned,

        mean posterior[s, t] = mean of p_it over the records with s_i = s,
        D[t, s] = P(assigned to s | group t) = sum_(s_i = s) p_it / sum_i p_it,
        relative entropy = 1 - sum_it -p_it log p_it / (n log k).

    Parameters
    ----------
    labels : array-like of int of shape (n,)
        Group to which each record is assigned, 0 to k - 1.
    proba : array-like of shape (n, k)
        Probability of each group for each record, as from ``predict_proba``, in rows that sum to 1.

    Returns
    -------
    Classification
        Groups in the order of the columns of `proba`.

    Raises
    ------
    InvalidDataError
        If labels are not whole numbers from 0 to k - 1, shapes do not match, or rows of `proba` do
        not sum to 1.

    Notes
    -----
    The probabilities D are those of [1], equation 6; the relative entropy is that of [2]. Time
    O(n k).

    References
    ----------
    .. [1] J. K. Vermunt. Latent class modeling with covariates: two improved three-step approaches.
       Political Analysis 18, 2010.
    .. [2] V. Ramaswamy, W. S. DeSarbo, D. J. Reibstein, W. T. Robinson. An empirical pooling
       approach for estimating marketing mix elasticities with PIMS data. Marketing Science 12,
       1993.

    Examples
    --------
    >>> from momentree.metrics import classification_table
    >>> found = classification_table([0, 0, 1], [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8]])
    >>> found.mean_posterior.round(2)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    >>> found.probabilities.round(3)
    array([[0.889, 0.111],
           [0.333, 0.667]])
    >>> round(found.entropy, 3)
    0.309
    """
    P = as_probabilities(proba)
    n, k = P.shape
    groups, _ = check_labels(labels, n, k)
    assigned = np.zeros((k, k))
    np.add.at(assigned, groups, P)
    sizes = np.bincount(groups, minlength=k).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        posterior = assigned / sizes[:, None]
        probabilities = assigned.T / assigned.sum(axis=0)[:, None]
    entropy = 1.0 - float(entr(P).sum()) / (n * np.log(k)) if k > 1 else 1.0
    return Classification(sizes, posterior, probabilities, float(np.clip(entropy, 0.0, 1.0)))

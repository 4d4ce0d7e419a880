"""Binary data with the truth beside it: mixtures of Bernoulli variables, records of patients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree.datasets._sampling import (
    RandomState,
    check_positive,
    check_size,
    check_weights,
    draw_labels,
    generator,
)
from momentree.exceptions import InvalidParameterError

__all__ = [
    "BernoulliSample",
    "PatientSample",
    "make_bernoulli_mixture",
    "make_patient_records",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HIGHEST = 0.9
"""Most that a code's frequency in a group of patients may be: no code is in every record."""

_AXES = {"component": 1, "feature": 0, "all": None}


@dataclass(frozen=True)
class BernoulliSample:
    """Binary rows drawn from a mixture of independent Bernoulli variables, and the model.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Zeros and ones; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Component of each row.
    weights : ndarray of shape (n_components,)
        Probability of each component; sum 1.
    means : ndarray of shape (n_components, n_features)
        Probability of a one in each component, from 0 to 1.
    """

    X: sp.csr_array[Any]
    labels: Ints
    weights: Floats
    means: Floats


@dataclass(frozen=True)
class PatientSample:
    """Records of made-up patients, and the groups they were drawn from.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_codes)
        1 where a record has a code; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Group of each record.
    weights : ndarray of shape (n_groups,)
        Share of each group; sum 1.
    means : ndarray of shape (n_groups, n_codes)
        Frequency of each code in each group, at most 0.9.
    families : ndarray of int64, shape (n_groups,)
        Family of each group; groups of a family share codes.
    codes : ndarray of str, shape (n_codes,)
        Names of the columns, such as "C001", the commonest kinds of code first.
    """

    X: sp.csr_array[Any]
    labels: Ints
    weights: Floats
    means: Floats
    families: Ints
    codes: NDArray[Any]


def make_bernoulli_mixture(
    n_samples: int = 10_000,
    n_features: int = 99,
    n_components: int = 12,
    *,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    scaled_by: str = "feature",
    random_state: RandomState = None,
) -> BernoulliSample:
    """Draw rows from a mixture of independent Bernoulli variables (Bernoulli naive Bayes).

        Y ~ Discrete(weights), x_j | Y = i ~ Bernoulli(means[i, j]) for each feature j

    Parameters
    ----------
    n_samples : int, >= 1, default=10_000
        Number of rows.
    n_features : int, >= 1, default=99
        Number of columns.
    n_components : int, >= 1, default=12
        Number of components.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, sum 1; None draws them (see Notes).
    means : array-like of shape (n_components, n_features) or None, default=None
        Probabilities of a one, from 0 to 1; None draws them (see Notes).
    scaled_by : {"feature", "component", "all"}, default="feature"
        Of what means that are drawn have a largest of 1: of each feature, of each component, or
        of the whole matrix.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same sample.

    Returns
    -------
    BernoulliSample
        Rows, their components, weights and means.

    Raises
    ------
    InvalidParameterError
        If a number is out of its range, or `weights` or `means` do not fit.

    Notes
    -----
    The defaults are the largest case of section 4.5 of [1], where the parameters are
    "exponentially distributed random numbers, normalized to be between 0 and 1". The text does
    not say how: here means are E / max(E) and weights E / sum(E), with E independent standard
    exponential variables. The maximum is taken for each feature, so that every feature is
    frequent somewhere; no clustering can reach the accuracy of [1] with that of the whole matrix,
    which leaves few ones: there even the true parameters give an adjusted Rand index of 0.92 to
    0.99, against 1 (and 0.995 and more with the maximum of each component), by 99 features and
    12 components.

    Ones are drawn by feature and component, a binomial number of them at places without
    replacement, which is the same distribution: time O(nnz log nnz + n + k d) and memory
    O(nnz + n + k d).

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

    Examples
    --------
    >>> from momentree.datasets import make_bernoulli_mixture
    >>> sample = make_bernoulli_mixture(1000, 3, 2, means=[[1, 0.5, 0], [0, 0, 1]], random_state=0)
    >>> sample.X[sample.labels == 0].mean(axis=0).round(1)
    array([1. , 0.5, 0. ])
    >>> make_bernoulli_mixture(random_state=0).X.shape
    (10000, 99)
    """
    n = check_size("n_samples", n_samples)
    d = check_size("n_features", n_features)
    k = check_size("n_components", n_components)
    if scaled_by not in _AXES:
        msg = f"scaled_by={scaled_by!r}; expected one of {', '.join(map(repr, _AXES))}"
        raise InvalidParameterError(msg)
    rng = generator(random_state)
    if weights is None:
        drawn = rng.standard_exponential(k)
        w = drawn / drawn.sum()
    else:
        w = check_weights(weights, k)
    if means is None:
        mu = rng.standard_exponential((k, d))
        mu /= mu.max(axis=_AXES[scaled_by], keepdims=True)
    else:
        mu = _check_means(means, k, d)
    labels = draw_labels(w, n, rng)
    return BernoulliSample(_draw_ones(mu, labels, rng), labels, w, mu)


def make_patient_records(
    n_samples: int = 10_000,
    n_codes: int = 700,
    n_groups: int = 16,
    codes_per_record: float = 10.0,
    *,
    random_state: RandomState = None,
) -> PatientSample:
    """Draw records of codes that look like those of patients, from groups nested in families.

        means[i, j] = min(c s_i f_j u_{family(i), j} v_ij, 0.9),   f_j = 1 / (j + 10)

    with gamma variables s of shape 10, u of shape 1/2 and v of shape 1, all of mean 1, and c such
    that a record has `codes_per_record` codes on average.

    Parameters
    ----------
    n_samples : int, >= 1, default=10_000
        Number of records.
    n_codes : int, >= 1, default=700
        Number of different codes.
    n_groups : int, >= 1, default=16
        Number of groups of patients. They are split evenly into about sqrt(n_groups) families,
        whose groups share codes: a tree of two levels.
    codes_per_record : float, > 0, at most a quarter of n_codes, default=10.0
        Expected number of codes of a record.
    random_state : int, Generator or None, default=None
        Seed; the same seed gives the same sample.

    Returns
    -------
    PatientSample
        Records, their groups, the frequencies of the codes in each group, families and names.

    Raises
    ------
    InvalidParameterError
        If a number is out of its range.

    Notes
    -----
    Given its group, a record is a row of independent Bernoulli variables, as in section 4.6.2 of
    [1]: the sample is one of the Bernoulli mixture with these means. Frequencies of codes have a
    long tail, groups differ in size (the smallest has about a fifth of an equal share) and in the
    number of codes. Time O(nnz log nnz + n + k d), memory O(nnz + n + k d); never dense.

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

    Examples
    --------
    >>> from momentree.datasets import make_patient_records
    >>> sample = make_patient_records(2000, random_state=0)
    >>> sample.X.shape, sample.codes[:2].tolist(), sample.families.max() + 1
    ((2000, 700), ['C001', 'C002'], np.int64(4))
    >>> abs(sample.X.sum() / 2000 - 10) < 0.5
    np.True_
    """
    n = check_size("n_samples", n_samples)
    d = check_size("n_codes", n_codes)
    k = check_size("n_groups", n_groups)
    size = check_positive("codes_per_record", codes_per_record)
    if size > d / 4:
        msg = (
            f"codes_per_record={codes_per_record!r}; expected at most a quarter of the "
            f"{d} codes: raise n_codes or lower it"
        )
        raise InvalidParameterError(msg)
    rng = generator(random_state)
    w = 0.25 + rng.standard_exponential(k)
    w /= w.sum()
    families = np.arange(k) * max(round(k**0.5), 1) // k
    of_family = rng.gamma(0.5, 2.0, (families[-1] + 1, d))
    # A least frequency, so that any number of codes up to the limit can be reached by scaling.
    spread = np.maximum(of_family[families] * rng.standard_exponential((k, d)), 1e-3)
    mu = rng.gamma(10, 0.1, (k, 1)) * spread / (np.arange(d) + 10.0)
    mu = _scaled(mu, w, size)
    labels = draw_labels(w, n, rng)
    width = max(len(str(d)), 3)
    codes = np.array([f"C{j:0{width}d}" for j in range(1, d + 1)])
    return PatientSample(_draw_ones(mu, labels, rng), labels, w, mu, families, codes)


def _draw_ones(mu: Floats, labels: Ints, rng: np.random.Generator) -> sp.csr_array[Any]:
    """Draw x_j ~ Bernoulli(mu[label, j]) for each row, at the cost of the ones only."""
    n, (k, d) = len(labels), mu.shape
    order = np.argsort(labels, kind="stable").astype(np.int32)
    sizes = np.bincount(labels, minlength=k)
    counts = rng.binomial(sizes[:, None], mu)
    members = np.split(order, np.cumsum(sizes)[:-1])
    rows = [
        members[i][rng.choice(sizes[i], counts[i, j], replace=False, shuffle=False)]
        for j in range(d)
        for i in range(k)
        if counts[i, j]
    ]
    indptr = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    indices = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
    # Narrow positions where they fit: other libraries take no wide ones.
    indptr = indptr.astype(np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64)
    by_column = sp.csc_array((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=(n, d))
    return by_column.tocsr()


def _scaled(mu: Floats, w: Floats, size: float) -> Floats:
    """Return min(c mu, HIGHEST) with c such that the expected sum of a row is `size`."""
    low, high = 0.0, 1.0
    while w @ np.minimum(high * mu, HIGHEST).sum(axis=1) < size:
        low, high = high, 2 * high
    for _ in range(60):  # halves the bracket each time, to the last bit
        middle = (low + high) / 2
        if w @ np.minimum(middle * mu, HIGHEST).sum(axis=1) < size:
            low = middle
        else:
            high = middle
    return np.minimum(high * mu, HIGHEST)


def _check_means(means: ArrayLike, k: int, d: int) -> Floats:
    try:
        mu = np.array(means, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"means is not a matrix of numbers: {error}"
        raise InvalidParameterError(msg) from error
    if mu.shape != (k, d):
        msg = f"means has shape {mu.shape}; expected {(k, d)}, a row for each component"
        raise InvalidParameterError(msg)
    if not ((mu >= 0) & (mu <= 1)).all():
        msg = f"means lie between {mu.min():g} and {mu.max():g}; expected probabilities, 0 to 1"
        raise InvalidParameterError(msg)
    return mu

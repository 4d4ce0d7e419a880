"""Samplers of mixtures of independent variables: Poisson, Bernoulli, patient records, Gaussians."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Int64s
from momentree._validation import as_floats, check_choice, check_number, check_shape
from momentree.datasets import _sampling
from momentree.datasets._sampling import RandomState, check_sizes, generator
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording


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


ScaledBy = Literal["feature", "component", "all"]


def make_poisson_mixture(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    total: float | ArrayLike = 5.0,
    weights: ArrayLike | None = None,
    components: ArrayLike | None = None,
    random_state: RandomState = None,
) -> MixtureSample:
    """Draw counts from a mixture of independent Poisson variables (Poisson naive Bayes).

        Y ~ Discrete(weights), x_j | Y = i ~ Poisson(means[i, j]) for each feature j

    Parameters
    ----------
    n_samples, n_features, n_components : int, >= 1
        Number of rows, columns and components.
    total : float or array-like of shape (n_components,), > 0, default=5.0
        Expected sum of a row, for all components or for each; means are scaled to match.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, with sum 1; None for equal probabilities.
    components : array-like of shape (n_components, n_features) or None, default=None
        Means >= 0 on any scale; None draws them uniformly from [0, 1].
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    MixtureSample
        Counts, labels, weights and means.

    Raises
    ------
    InvalidDataError
        If `weights` are not probabilities, or `components` are not means, of these shapes.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    The model of Proposition 1.2.1 of [1]; the defaults are those of the experiment in its section
    2.3, whose components are hard to distinguish. Time O(n + N log(k d)) and memory O(nnz + k d)
    for N counts in total.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.datasets import make_poisson_mixture
    >>> sample = make_poisson_mixture(1000, 4, 2, components=np.eye(2, 4), random_state=0)
    >>> sample.means
    array([[5., 0., 0., 0.],
           [0., 5., 0., 0.]])
    >>> sample.X[sample.labels == 0].mean(axis=0).round(1)
    array([4.9, 0. , 0. , 0. ])
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    totals = np.full(k, _sampling.check_one_or_each("total", total, k))
    w = _sampling.check_weights(weights, k)
    rng = generator(random_state)
    if components is None:
        mu = rng.random((k, d))
    else:
        mu = _sampling.check_nonnegative_rows("components", components, (k, d))
    mu = mu / mu.sum(axis=1, keepdims=True)
    labels = _sampling.draw_labels(w, n, rng)
    # A Poisson number of words from the component scaled to sum 1 has the same distribution.
    lengths = rng.poisson(totals[labels])
    X = _sampling.draw_counts(mu, lengths, lambda a, b: np.repeat(labels[a:b], lengths[a:b]), rng)
    return MixtureSample(X, labels, w, totals[:, None] * mu)


def make_bernoulli_mixture(
    n_samples: int = 10_000,
    n_features: int = 99,
    n_components: int = 12,
    *,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    scaled_by: ScaledBy = "feature",
    random_state: RandomState = None,
) -> MixtureSample:
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
        Probabilities of the components, with sum 1; None draws them (see Notes).
    means : array-like of shape (n_components, n_features) or None, default=None
        Probability that each feature is 1, in [0, 1]; None draws them (see Notes).
    scaled_by : {"feature", "component", "all"}, default="feature"
        Scale of random means: the largest is 1 for each feature, for each component, or in the
        whole matrix.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    MixtureSample
        Zeros and ones, labels, weights and means.

    Raises
    ------
    InvalidDataError
        If `weights` or `means` are not probabilities of these shapes.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    The defaults are those of the largest case of section 4.5 of [1], whose parameters are
    "exponentially distributed random numbers, normalized to be between 0 and 1". [1] does not
    specify the normalization; here means are E / max(E) and weights E / sum(E), with E independent
    standard exponential variables. With the maximum of the whole matrix, even the true parameters
    give an adjusted Rand index of only 0.92 to 0.99, below the accuracy reported in [1]; they give
    at least 0.995 with the maximum of each component, and 1 with the maximum of each feature.

    Time O(nnz log nnz + n + k d) and memory O(nnz + n + k d).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> from momentree.datasets import make_bernoulli_mixture
    >>> sample = make_bernoulli_mixture(1000, 3, 2, means=[[1, 0.5, 0], [0, 0, 1]], random_state=0)
    >>> sample.X[sample.labels == 0].mean(axis=0).round(1)
    array([1. , 0.5, 0. ])
    >>> make_bernoulli_mixture(random_state=0).X.shape
    (10000, 99)
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    check_choice("scaled_by", scaled_by, get_args(ScaledBy))
    rng = generator(random_state)
    if weights is None:
        drawn = rng.standard_exponential(k)
        w = drawn / drawn.sum()
    else:
        w = _sampling.check_weights(weights, k)
    if means is None:
        mu = rng.standard_exponential((k, d))
        axis = {"feature": 0, "component": 1, "all": None}[scaled_by]
        mu /= mu.max(axis=axis, keepdims=True)
    else:
        mu = _check_probabilities(means, (k, d))
    labels = _sampling.draw_labels(w, n, rng)
    return MixtureSample(draw_ones(mu, labels, rng), labels, w, mu)


def draw_ones(mu: Floats, labels: Int64s, rng: np.random.Generator) -> sp.csr_array[Any]:
    """Draw x_j ~ Bernoulli(mu[label, j]) for each row, in time O(number of ones)."""
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
    # Use 32-bit indices if they suffice, because some libraries reject 64-bit ones.
    indptr = indptr.astype(np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64)
    by_column = sp.csc_array((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=(n, d))
    return by_column.tocsr()


def _check_probabilities(means: ArrayLike, shape: tuple[int, int]) -> Floats:
    mu = as_floats("means", means)
    check_shape("means", mu, shape)
    if not ((mu >= 0) & (mu <= 1)).all():
        low, high = float(mu.min()), float(mu.max())
        raise InvalidDataError(
            "[not_probabilities] {parameters.means} range from {low:g} to {high:g}; expected "
            "probabilities, from 0 to 1",
            low=low,
            high=high,
        )
    return mu


HIGHEST = 0.9
"""Maximum frequency of a code in a group, so that no code is in every record."""


def make_patient_records(
    n_samples: int = 10_000,
    n_codes: int = 700,
    n_groups: int = 16,
    codes_per_record: float = 10.0,
    *,
    random_state: RandomState = None,
) -> PatientSample:
    """Draw artificial patient records from groups nested in families.

        means[i, j] = min(c s_i f_j u_{family(i), j} v_ij, 0.9),   f_j = 1 / (j + 10)

    with gamma variables s, u and v of shapes 10, 1/2 and 1, all with mean 1, and c such that a
    record has `codes_per_record` codes on average.

    Parameters
    ----------
    n_samples : int, >= 1, default=10_000
        Number of records.
    n_codes : int, >= 1, default=700
        Number of different codes.
    n_groups : int, >= 1, default=16
        Number of groups of patients, divided evenly into about sqrt(n_groups) families whose groups
        share codes: a tree of two levels.
    codes_per_record : float, > 0, at most a quarter of n_codes, default=10.0
        Expected number of codes per record.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    PatientSample
        Records, their groups, frequencies of the codes in each group, families and names.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Notes
    -----
    A mixture of independent Bernoulli variables with these means, as in section 4.6.2 of [1].
    Frequencies of codes have a long tail; groups differ in size (the smallest has about a fifth of
    the mean size) and in the number of codes. Time O(nnz log nnz + n + k d), memory
    O(nnz + n + k d); never dense.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> from momentree.datasets import make_patient_records
    >>> sample = make_patient_records(2000, random_state=0)
    >>> sample.X.shape, sample.codes[:2].tolist(), len(set(sample.families))
    ((2000, 700), ['C001', 'C002'], 4)
    >>> bool(abs(sample.X.sum() / 2000 - 10) < 0.5)
    True
    """
    n, d, k = check_sizes(n_samples=n_samples, n_codes=n_codes, n_groups=n_groups)
    check_number("codes_per_record", codes_per_record, above=0)
    size = float(codes_per_record)
    if size > d / 4:
        raise InvalidParameterError(
            "[too_many_codes_per_record] {parameters.codes_per_record:=value}; expected at most a "
            "quarter of the {d:~code}: lower it, or raise {parameters.n_codes}",
            value=size,
            d=d,
        )
    rng = generator(random_state)
    w = 0.25 + rng.standard_exponential(k)
    w /= w.sum()
    families = np.arange(k) * max(round(k**0.5), 1) // k
    of_family = rng.gamma(0.5, 2.0, (families[-1] + 1, d))
    # With a minimum frequency, scaling can reach any number of codes up to the limit.
    spread = np.maximum(of_family[families] * rng.standard_exponential((k, d)), 1e-3)
    mu = rng.gamma(10, 0.1, (k, 1)) * spread / (np.arange(d) + 10.0)
    mu = _scaled(mu, w, size)
    labels = _sampling.draw_labels(w, n, rng)
    width = max(len(str(d)), 3)
    codes = np.array([f"C{j:0{width}d}" for j in range(1, d + 1)])
    return PatientSample(draw_ones(mu, labels, rng), labels, w, mu, families, codes)


def _scaled(mu: Floats, w: Floats, size: float) -> Floats:
    """Return min(c mu, HIGHEST) with c such that the expected sum of a row is `size`."""
    low, high = 0.0, 1.0
    while w @ np.minimum(high * mu, HIGHEST).sum(axis=1) < size:
        low, high = high, 2 * high
    for _ in range(60):  # bisection to the last bit
        middle = (low + high) / 2
        if w @ np.minimum(middle * mu, HIGHEST).sum(axis=1) < size:
            low = middle
        else:
            high = middle
    return np.minimum(high * mu, HIGHEST)


FARTHEST = 1e15
"""Largest separation; the components' own spread would be lost to rounding."""


def make_spherical_gaussians(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    separation: float = 4.0,
    weights: ArrayLike | None = None,
    means: ArrayLike | None = None,
    variances: float | ArrayLike = 1.0,
    random_state: RandomState = None,
) -> GaussianSample:
    """Draw rows from a mixture of spherical Gaussians.

        Y ~ Discrete(weights), x | Y = i ~ Normal(means[i], variances[i] I)

    Parameters
    ----------
    n_samples, n_features, n_components : int, >= 1
        Number of rows, columns and components.
    separation : float >= 0, default=4.0
        Distance of the two closest means, in standard deviations of the wider of the two. Ignored
        if `means` are given.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the components, with sum 1; None for equal probabilities.
    means : array-like of shape (n_components, n_features) or None, default=None
        Means; None draws them from a standard normal distribution, and scales them to match
        `separation`.
    variances : float or array-like of shape (n_components,), > 0, default=1.0
        Variance of each feature, in all components or in each.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    GaussianSample
        Rows, labels, weights, means and variances.

    Raises
    ------
    InvalidDataError
        If `weights` are not probabilities, or `means` not finite numbers, of these shapes.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    Time and memory O(n d + k^2 d).

    Examples
    --------
    >>> from momentree.datasets import make_spherical_gaussians
    >>> sample = make_spherical_gaussians(1000, 2, 2, means=[[0, 0], [5, 5]], random_state=0)
    >>> sample.X[sample.labels == 1].mean(axis=0).round()
    array([5., 5.])
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    check_number("separation", separation, at_least=0, at_most=FARTHEST)
    w = _sampling.check_weights(weights, k)
    s = np.full(k, _sampling.check_one_or_each("variances", variances, k))
    rng = generator(random_state)
    if means is None:
        mu = _separated(rng.standard_normal((k, d)), np.sqrt(s), separation)
    else:
        mu = as_floats("means", means)
        check_shape("means", mu, (k, d))
        if not np.isfinite(mu).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="means")
    labels = _sampling.draw_labels(w, n, rng)
    X = rng.standard_normal((n, d))
    X *= np.sqrt(s)[labels, None]
    X += mu[labels]
    return GaussianSample(X, labels, w, mu, s)


def _separated(mu: Floats, deviations: Floats, separation: float) -> Floats:
    """Scale means so that the closest two are `separation` standard deviations apart."""
    if len(mu) == 1:
        return mu
    first, second = np.triu_indices(len(mu), 1)
    distances = np.linalg.norm(mu[first] - mu[second], axis=1)
    closest = (distances / np.maximum(deviations[first], deviations[second])).min()
    return np.asarray(mu * (separation / closest))

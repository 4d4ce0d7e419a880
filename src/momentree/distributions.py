"""Distributions: fit simple distributions by their first two moments, with standard errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

import momentree._validation as validation
from momentree._types import Floats
from momentree.exceptions import InvalidDataError
from momentree.messages import Message

__all__ = [
    "MomentFit",
    "MultivariateNormalFit",
    "fit_binomial",
    "fit_gamma",
    "fit_multivariate_normal",
    "fit_normal",
    "fit_poisson",
    "fit_uniform",
    "from_moments",
]

_ALL_VALUES_EQUAL = (
    "[all_values_equal] all values of {parameter} are equal; at least two must differ"
)


@dataclass(frozen=True)
class MomentFit:
    r"""Parameters of a distribution, estimated from the mean and variance of a sample.

    If :math:`\theta = g(m)` with sample moments m, the delta method gives

    .. math:: \mathrm{Cov}\, \hat\theta = \frac{1}{n}\, G\, S\, G^T,

    with G the derivative of g and S the sample covariance of the terms that m averages. S needs no
    model: standard errors are valid even if the data have another distribution, for the parameters
    that have the same mean and variance.

    Attributes
    ----------
    distribution : str
        "normal", "binomial", "poisson", "gamma" or "uniform".
    parameters : tuple of str
        Names of the parameters.
    values : ndarray of shape (p,)
        Estimates.
    covariance : ndarray of shape (p, p)
        Estimated covariance of the estimates.
    n_samples : float
        Number of samples, or the sum of their weights.
    notes : tuple of Message
        What in the data contradicts the distribution.
    """

    distribution: str
    parameters: tuple[str, ...]
    values: Floats
    covariance: Floats
    n_samples: float
    notes: tuple[Message, ...] = ()

    @property
    def estimates(self) -> Mapping[str, float]:
        """Estimates by name."""
        return dict(zip(self.parameters, self.values.tolist(), strict=True))

    @property
    def standard_errors(self) -> Mapping[str, float]:
        """Standard errors by name, in the units of the parameters."""
        errors = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return dict(zip(self.parameters, errors.tolist(), strict=True))

    def confidence_intervals(self, level: float = 0.95) -> Mapping[str, tuple[float, float]]:
        """Return confidence intervals by name.

        Parameters
        ----------
        level : float in (0, 1), default=0.95
            Confidence level of each interval.

        Returns
        -------
        dict of str to (low, high)
            Intervals from the normal approximation: of the logarithm for positive parameters, of
            the log odds for probabilities, so that no interval leaves the valid range.
        """
        validation.check_number("level", level, above=0, below=1)
        z = float(ndtri(0.5 + level / 2.0))
        errors = self.standard_errors
        out = {}
        for name, value in self.estimates.items():
            half = z * errors[name]
            if name in _POSITIVE and value > 0:
                ends = value * np.exp(np.array([-1.0, 1.0]) * half / value)
            elif name == "p" and 0 < value < 1:
                ends = expit(logit(value) + np.array([-1.0, 1.0]) * half / (value * (1.0 - value)))
            else:
                ends = value + np.array([-half, half])
            out[name] = (float(ends[0]), float(ends[1]))
        return out

    def to_scipy(self) -> Any:
        """Return the distribution as a frozen distribution of scipy.stats.

        Returns
        -------
        rv_frozen
            For the binomial, with the number of trials rounded to the nearest whole number of 1 or
            more, and the probability that keeps the mean.
        """
        # Imported here because it is slow to load.
        from scipy import stats

        values = self.estimates
        if self.distribution == "normal":
            return stats.norm(values["mean"], np.sqrt(values["variance"]))
        if self.distribution == "poisson":
            return stats.poisson(values["rate"])
        if self.distribution == "gamma":
            return stats.gamma(values["shape"], scale=values["scale"])
        if self.distribution == "uniform":
            return stats.uniform(values["low"], values["high"] - values["low"])
        n = max(1, round(values["n"]))
        return stats.binom(n, min(1.0, values["n"] * values["p"] / n))


_POSITIVE = ("variance", "n", "rate", "shape", "scale")


Distribution = Literal["normal", "binomial", "poisson", "gamma", "uniform"]

LARGEST = 1e75
"""Fourth powers of larger numbers overflow."""
MAX_ERRORS = 4.0
"""A dispersion this many standard errors from 1 contradicts a Poisson distribution."""


@dataclass(frozen=True)
class _Family:
    """A distribution: its parameters and their derivatives by mean and variance."""

    parameters: tuple[str, ...]
    values: Callable[[float, float], tuple[float, ...]]
    derivatives: Callable[[float, float], list[list[float]]]


def _uniform(m: float, s2: float) -> tuple[float, ...]:
    return m - np.sqrt(3.0 * s2), m + np.sqrt(3.0 * s2)


_FAMILIES: dict[str, _Family] = {
    "normal": _Family(
        ("mean", "variance"), lambda m, s2: (m, s2), lambda _m, _s2: [[1.0, 0.0], [0.0, 1.0]]
    ),
    # n = m^2 / (m - s2), p = 1 - s2 / m: the lecture's formulas with m2 = s2 + m^2.
    "binomial": _Family(
        ("n", "p"),
        lambda m, s2: (m**2 / (m - s2), (m - s2) / m),
        lambda m, s2: [
            [m * (m - 2.0 * s2) / (m - s2) ** 2, (m / (m - s2)) ** 2],
            [s2 / m**2, -1.0 / m],
        ],
    ),
    "poisson": _Family(("rate",), lambda m, _s2: (m,), lambda _m, _s2: [[1.0, 0.0]]),
    "gamma": _Family(
        ("shape", "scale"),
        lambda m, s2: (m**2 / s2, s2 / m),
        lambda m, s2: [[2.0 * m / s2, -((m / s2) ** 2)], [-s2 / m**2, 1.0 / m]],
    ),
    "uniform": _Family(
        ("low", "high"),
        _uniform,
        lambda _m, s2: [[1.0, -np.sqrt(0.75 / s2)], [1.0, np.sqrt(0.75 / s2)]],
    ),
}


def from_moments(distribution: Distribution, m1: float, m2: float) -> Mapping[str, float]:
    """Return the parameters of a distribution with given raw moments.

    Parameters
    ----------
    distribution : {"normal", "binomial", "poisson", "gamma", "uniform"}
        Kind of distribution.
    m1, m2 : float
        E[x] and E[x^2].

    Returns
    -------
    dict of str to float
        Parameters by name, as of the ``fit`` functions.

    Raises
    ------
    InvalidDataError
        If no distribution of this kind has these moments: a negative variance, a mean that is not
        positive, or for the binomial a variance that is not below the mean, which is the
        denominator m1^2 + m1 - m2 of the estimate of n.

    Examples
    --------
    >>> from momentree.distributions import from_moments
    >>> {name: round(v, 6) for name, v in from_moments("binomial", 3.0, 11.1).items()}
    {'n': 10.0, 'p': 0.3}
    """
    validation.check_choice("distribution", distribution, get_args(Distribution))
    validation.check_number("m1", m1, at_least=-LARGEST, at_most=LARGEST)
    validation.check_number("m2", m2, at_least=0, at_most=LARGEST**2)
    return _fitted(distribution, float(m1), float(m2) - float(m1) ** 2)


def fit_normal(x: ArrayLike, *, sample_weight: ArrayLike | None = None) -> MomentFit:
    """Fit a normal distribution: its mean and variance are those of the sample.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Finite numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MomentFit
        "mean" and "variance" (divided by n, not n - 1).

    Raises
    ------
    InvalidDataError
        If x is empty or not finite, or all values are equal.

    Examples
    --------
    >>> from momentree.distributions import fit_normal
    >>> fit_normal([1.0, 2.0, 3.0, 6.0]).estimates
    {'mean': 3.0, 'variance': 3.5}
    """
    return _fit("normal", x, sample_weight)


def fit_binomial(x: ArrayLike, *, sample_weight: ArrayLike | None = None) -> MomentFit:
    """Fit a binomial distribution whose number of trials is unknown.

        n = m1^2 / (m1^2 + m1 - m2),   p = (m1^2 + m1 - m2) / m1

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Whole numbers >= 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MomentFit
        "n", not rounded, and "p". A note says if n is below the largest value of the sample.

    Raises
    ------
    InvalidDataError
        If x contains other values, or only zeros, if all values are equal, or if the variance is
        not below the mean (code ``not_underdispersed``): p would not be positive.

    Notes
    -----
    n is uncertain if p is small, because mean and variance are then nearly equal: its standard
    error is about n (1 - p) / p times sqrt(2 / N), for N samples.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.distributions import fit_binomial
    >>> found = fit_binomial(np.random.default_rng(0).binomial(10, 0.6, size=5000))
    >>> round(found.estimates["n"], 1), round(found.standard_errors["n"], 1)
    (10.1, 0.1)
    """
    return _fit("binomial", x, sample_weight)


def fit_poisson(x: ArrayLike, *, sample_weight: ArrayLike | None = None) -> MomentFit:
    """Fit a Poisson distribution: its rate is the mean of the sample.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Whole numbers >= 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MomentFit
        "rate". A note says if the variance differs significantly from the mean. The standard error
        does not assume that they are equal.

    Raises
    ------
    InvalidDataError
        If x contains other values, or only zeros.

    Examples
    --------
    >>> from momentree.distributions import fit_poisson
    >>> fit_poisson([0, 1, 1, 2]).estimates
    {'rate': 1.0}
    """
    return _fit("poisson", x, sample_weight)


def fit_gamma(x: ArrayLike, *, sample_weight: ArrayLike | None = None) -> MomentFit:
    """Fit a gamma distribution: shape = mean^2 / variance, scale = variance / mean.

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Finite numbers > 0.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MomentFit
        "shape" and "scale".

    Raises
    ------
    InvalidDataError
        If x contains other values, or all values are equal.

    Examples
    --------
    >>> from momentree.distributions import fit_gamma
    >>> fit_gamma([1.0, 2.0, 3.0, 6.0]).estimates["shape"].__round__(3)
    2.571
    """
    return _fit("gamma", x, sample_weight)


def fit_uniform(x: ArrayLike, *, sample_weight: ArrayLike | None = None) -> MomentFit:
    """Fit a uniform distribution: mean -+ sqrt(3 variance).

    Parameters
    ----------
    x : array-like of shape (n_samples,)
        Finite numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MomentFit
        "low" and "high". A note says if samples lie outside: unlike the smallest and largest
        values, which are the most likely limits, moments do not exclude this.

    Raises
    ------
    InvalidDataError
        If x is empty or not finite, or all values are equal.

    Examples
    --------
    >>> from momentree.distributions import fit_uniform
    >>> found = fit_uniform([0.0, 1.0, 2.0, 3.0])
    >>> {name: round(value, 2) for name, value in found.estimates.items()}
    {'low': -0.44, 'high': 3.44}
    """
    return _fit("uniform", x, sample_weight)


def _fit(distribution: str, x: ArrayLike, sample_weight: ArrayLike | None) -> MomentFit:
    values = validation.as_floats("x", x)
    validation.check_shape("x", values, ("n_samples",))
    if not len(values):
        raise InvalidDataError(
            "[no_values] {parameters.x} is empty; give at least two different values"
        )
    if not (np.isfinite(values) & (np.abs(values) <= LARGEST)).all():
        raise InvalidDataError(
            "[values_not_usable] {parameters.x} contains missing, infinite or huge values; "
            "expected numbers from -{largest:g} to {largest:g}: remove the others",
            largest=LARGEST,
        )
    weight = validation.check_sample_weight(sample_weight, len(values))
    values, weight = values[weight > 0], weight[weight > 0]
    _check_range(distribution, values)
    n = float(weight.sum())
    v = weight / n
    shift = values[0]  # sums of differences lose no digits if the mean is large
    mean = float(v @ (values - shift))
    terms = np.stack([values - shift - mean, (values - shift - mean) ** 2])
    variance = float(v @ terms[1])
    mean += float(shift)
    if variance == 0.0 and distribution != "poisson":
        raise InvalidDataError(_ALL_VALUES_EQUAL, parameter="x")
    estimates = _fitted(distribution, mean, variance)
    terms[1] -= variance
    S = (terms * v) @ terms.T
    G = np.array(_FAMILIES[distribution].derivatives(mean, variance))
    notes = _notes(distribution, values, estimates, variance, S, n)
    return MomentFit(
        distribution,
        tuple(estimates),
        np.array(list(estimates.values())),
        G @ S @ G.T / n,
        n,
        notes,
    )


def _fitted(distribution: str, mean: float, variance: float) -> dict[str, float]:
    """Return the parameters; an error if there are none."""
    if variance < 0 or (variance == 0 and distribution in ("binomial", "gamma")):
        raise InvalidDataError(
            "[no_variance] the variance is {variance:g}, and must be positive; m2 must exceed the "
            "square of m1",
            variance=variance,
        )
    if distribution in ("binomial", "poisson", "gamma") and not mean > 0:
        raise InvalidDataError(
            "[mean_not_positive] the mean is {mean:g}; a {distribution} distribution requires a "
            "positive mean",
            mean=mean,
            distribution=distribution,
        )
    if distribution == "binomial" and not variance < mean:
        raise InvalidDataError(
            "[not_underdispersed] the variance, {variance:.4g}, is not below the mean, {mean:.4g}, "
            "as in a binomial distribution: the number of trials would be negative or infinite. "
            "Fit a Poisson distribution if they are about equal; a larger variance suggests a "
            "mixture",
            mean=mean,
            variance=variance,
        )
    family = _FAMILIES[distribution]
    values = (float(value) for value in family.values(mean, variance))
    return dict(zip(family.parameters, values, strict=True))


def _check_range(distribution: str, x: Floats) -> None:
    bad = np.zeros(len(x), dtype=bool)
    if distribution in ("binomial", "poisson"):
        bad = (x < 0) | (x != np.round(x))
    elif distribution == "gamma":
        bad = x <= 0
    if bad.any():
        code = (
            (
                "[not_positive_values] {parameter} contains {value:g}; a {distribution} "
                "distribution requires numbers above zero"
            )
            if distribution == "gamma"
            else (
                "[not_counts] {parameter} contains {value:g}; a {distribution} distribution "
                "requires whole numbers of zero or more"
            )
        )
        value = float(x[int(np.argmax(bad))])
        raise InvalidDataError(code, parameter="x", value=value, distribution=distribution)


def _notes(
    distribution: str,
    x: Floats,
    estimates: Mapping[str, float],
    variance: float,
    S: Floats,
    n: float,
) -> tuple[Message, ...]:
    if distribution == "binomial" and estimates["n"] < x.max():
        return (
            Message(
                "[trials_below_largest] the estimated number of trials, {n:.2f}, is below the "
                "largest value, {largest:g}: the number of trials is at least that, or the data "
                "are not binomial",
                n=estimates["n"],
                largest=float(x.max()),
            ),
        )
    if distribution == "uniform":
        outside = int(np.count_nonzero((x < estimates["low"]) | (x > estimates["high"])))
        if outside:
            return (
                Message(
                    "[samples_outside] {n_rows:~sample} {n_rows:?lies/lie} outside the estimated "
                    "limits; the smallest and largest values are the most likely limits of a "
                    "uniform distribution",
                    n_rows=outside,
                ),
            )
    if distribution == "poisson":
        rate = estimates["rate"]
        # Standard error of variance - mean, by the delta method.
        g = np.array([-1.0, 1.0])
        error = float(np.sqrt(max(g @ S @ g, 0.0) / n))
        if abs(variance - rate) > MAX_ERRORS * error:
            return (
                Message(
                    "[not_poisson] the variance is {dispersion:.2f} times the mean, so the data "
                    "are not Poisson; the standard error allows for this",
                    dispersion=variance / rate,
                ),
            )
    return ()


@dataclass(frozen=True)
class MultivariateNormalFit:
    """Mean and covariance of a sample, with standard errors that assume no distribution.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Estimated mean.
    covariance : ndarray of shape (d, d)
        Estimated covariance, divided by n, not n - 1.
    mean_errors : ndarray of shape (d,)
        Standard errors of the mean.
    covariance_errors : ndarray of shape (d, d)
        Standard errors of the covariance.
    n_samples : float
        Number of samples, or the sum of their weights.
    """

    mean: Floats
    covariance: Floats
    mean_errors: Floats
    covariance_errors: Floats
    n_samples: float

    def to_scipy(self) -> Any:
        """Return the distribution as a frozen distribution of scipy.stats.

        Returns
        -------
        multivariate_normal_frozen
            It allows a singular covariance.
        """
        # Imported here because it is slow to load.
        from scipy import stats

        return stats.multivariate_normal(self.mean, self.covariance, allow_singular=True)


def fit_multivariate_normal(
    X: Any, *, sample_weight: ArrayLike | None = None
) -> MultivariateNormalFit:
    """Fit a multivariate normal distribution: E[x] = mean, E[x x^T] = covariance + mean mean^T.

    Parameters
    ----------
    X : {ndarray, data frame} of shape (n_samples, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0; a weight of 2 has the effect of two copies of the sample.

    Returns
    -------
    MultivariateNormalFit
        Mean and covariance, with standard errors by the delta method.

    Raises
    ------
    InvalidDataError
        If X contains a value that is not a finite number, or has fewer than two different rows of
        positive weight.

    Notes
    -----
    Time O(n d^2), memory O(n d + d^2).

    Examples
    --------
    >>> from momentree.distributions import fit_multivariate_normal
    >>> fit_multivariate_normal([[0, 0], [2, 1], [1, 2]]).covariance.round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    X = validation.check_real(X)
    weight = validation.check_sample_weight(sample_weight, len(X))
    n = float(weight.sum())
    v = weight / n
    mean = v @ X
    mean += v @ (X - mean)
    Y = X - mean
    covariance = (Y * v[:, None]).T @ Y
    if not Y[weight > 0].any():
        raise InvalidDataError(_ALL_VALUES_EQUAL, parameter="X")
    fourth = (Y**2 * v[:, None]).T @ Y**2
    return MultivariateNormalFit(
        mean,
        covariance,
        np.sqrt(np.diag(covariance) / n),
        np.sqrt(np.maximum(fourth - covariance**2, 0.0) / n),
        n,
    )

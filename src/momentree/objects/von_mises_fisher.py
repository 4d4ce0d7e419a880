"""Parameters of mixtures of von Mises-Fisher distributions: directions around a mean direction."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammaln, ive

from momentree._types import Floats
from momentree.objects.mixtures import MixtureParameters

NEWTON = 3
"""Newton steps for the concentration; two reach 1e-9 from the first approximation."""
ORDER = 50.0
"""Order of the Bessel function from which its uniform expansion has an error below 1e-10."""
LEAST = 1e-6
"""Smallest 1 - r and smallest r, where r is the mean resultant length: both ends are degenerate."""


@dataclass(frozen=True)
class VonMisesFisherParameters(MixtureParameters):
    """Parameters of a mixture of von Mises-Fisher distributions with one concentration.

        log P[x, j] = kappa m_j . x + log c_d(kappa) + log omega_j,   m_j = mu_j / |mu_j|,

        c_d(kappa) = kappa^(d/2 - 1) / ((2 pi)^(d/2) I_(d/2 - 1)(kappa)),

    for samples of unit length, linear in x [1]. Components have equal weights, so a sample belongs
    to the mean direction of smallest angle: k-means for directions is the limit of EM for large
    kappa. Weights and concentrations of their own let EM collect what is between the groups in one
    wide component.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = 1 / k.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns, of length below 1.
    concentrations : ndarray of shape (k,)
        kappa > 0, the same in all components.

    References
    ----------
    .. [1] A. Banerjee, I. S. Dhillon, J. Ghosh, S. Sra. Clustering on the unit hypersphere using
       von Mises-Fisher distributions. Journal of Machine Learning Research 6, 2005.
    """

    concentrations: Floats

    signed: ClassVar[bool] = True
    known_sides: ClassVar[bool] = True

    def reordered(self, order: Any) -> Self:
        """Return the same components in another order."""
        return type(self)(self.weights[order], self.centers[:, order], self.concentrations[order])

    @property
    def coefficients(self) -> Floats:
        """Products kappa m_j, shape (d, k); zero for a component without a direction."""
        lengths = np.linalg.norm(self.centers, axis=0)
        return np.asarray(self.concentrations * self.centers / np.where(lengths > 0, lengths, 1.0))

    @property
    def offsets(self) -> Floats:
        """b_j = log omega_j + log c_d(kappa), shape (k,)."""
        normalizers = log_normalizer(self.concentrations, len(self.centers))
        return np.asarray(self.log_weights + normalizers)

    @classmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:  # noqa: ARG003
        """Return the means mu_j = S_j / N_j, and the kappa whose A_d(kappa) is sum |S_j| / sum N.

        A_d(kappa) = I_(d/2)(kappa) / I_(d/2 - 1)(kappa) is the mean resultant length. All samples
        determine kappa, so it needs no prior, and `smoothing` has no effect.
        """
        k, total = len(sizes), float(sizes.sum())
        overall = sums.sum(axis=1, keepdims=True) / total
        centers = np.where(sizes > 0, sums / np.where(sizes > 0, sizes, 1.0), overall)
        resultant = float(np.linalg.norm(sums, axis=0).sum()) / total
        kappa = concentration(resultant, len(sums))
        return cls(np.full(k, 1.0 / k), centers, np.full(k, kappa))

    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:  # noqa: ARG002
        """Return 0: there is no prior."""
        return 0.0

    @classmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:  # noqa: ARG003
        """Return |S| of each group, its log-likelihood if the common concentration is 1.

        The common concentration depends on all groups; multiply by it for nats.
        """
        return np.asarray(np.linalg.norm(sums, axis=0))

    @classmethod
    def nats_per_unit(cls, sums: Floats, sizes: Floats) -> float:
        """Return kappa."""
        resultant = float(np.linalg.norm(sums, axis=0).sum()) / float(sizes.sum())
        return concentration(resultant, len(sums))


def concentration(resultant: float, d: int) -> float:
    """Return the concentration of directions with a given mean resultant length.

    Parameters
    ----------
    resultant : float in [0, 1]
        r, the length of the mean of unit vectors.
    d : int >= 2
        Number of dimensions.

    Returns
    -------
    float
        kappa with A_d(kappa) = r; r is kept 1e-6 from 0 and 1.
    """
    r = min(max(resultant, LEAST), 1.0 - LEAST)
    kappa = r * (d - r**2) / (1.0 - r**2)
    for _ in range(NEWTON):
        at = np.array([kappa])
        A = float(np.exp(log_bessel(d / 2, at) - log_bessel(d / 2 - 1, at))[0])
        slope = 1.0 - A**2 - (d - 1) / kappa * A
        kappa = max(kappa - (A - r) / max(slope, 1e-300), kappa / 10.0)
    return kappa


def log_normalizer(kappa: Floats, d: int) -> Floats:
    """Return log c_d(kappa), the logarithm of the density's normalizing factor.

    Parameters
    ----------
    kappa : ndarray > 0
        Concentrations.
    d : int >= 2
        Number of dimensions.

    Returns
    -------
    ndarray
        Of the shape of `kappa`.
    """
    order = d / 2 - 1
    return np.asarray(
        order * np.log(kappa) - 0.5 * d * np.log(2.0 * np.pi) - log_bessel(order, kappa)
    )


def log_bessel(order: float, x: Floats) -> Floats:
    """Return log I_v(x), the modified Bessel function of the first kind, without overflow.

    Parameters
    ----------
    order : float >= 0
        v.
    x : ndarray > 0
        Arguments.

    Returns
    -------
    ndarray
        Of the shape of `x`. From order 50 on, the uniform expansion for large orders
        (https://dlmf.nist.gov/10.41#E3) with four terms.
    """
    if order < ORDER:
        with np.errstate(divide="ignore"):
            near_zero = order * np.log(x / 2.0) - gammaln(order + 1.0)
            return np.asarray(np.where(x < 1e-4, near_zero, np.log(ive(order, x)) + x))
    z = x / order
    root = np.sqrt(1.0 + z**2)
    t = 1.0 / root
    eta = root + np.log(z / (1.0 + root))
    u1 = (3 * t - 5 * t**3) / 24
    u2 = (81 * t**2 - 462 * t**4 + 385 * t**6) / 1152
    u3 = (30375 * t**3 - 369603 * t**5 + 765765 * t**7 - 425425 * t**9) / 414720
    u4 = (
        4465125 * t**4 - 94121676 * t**6 + 349922430 * t**8 - 446185740 * t**10 + 185910725 * t**12
    ) / 39813120
    series = u1 / order + u2 / order**2 + u3 / order**3 + u4 / order**4
    return np.asarray(
        order * eta - 0.5 * np.log(2.0 * np.pi * order) - 0.5 * np.log(root) + np.log1p(series)
    )

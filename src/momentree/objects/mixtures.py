"""The protocol of a family of mixtures, and the sums of samples from which one follows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.backends import RowArray, Rows, products
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

SUM_TOLERANCE = 1e-6
"""Allowed deviation of a sum of probabilities from 1, for the rounding of long sums."""


if TYPE_CHECKING:
    family_method = classmethod
else:

    class family_method:  # noqa: N801 - a decorator
        """A method of a family: of a class, or of any member, whose settings are then kept."""

        def __init__(self, function: Callable[..., Any]) -> None:
            self._function, self.__doc__ = function, function.__doc__
            self.__isabstractmethod__ = getattr(function, "__isabstractmethod__", False)

        def __get__(self, member: Any, kind: type) -> MethodType:
            return MethodType(self._function, kind if member is None else member)


@dataclass(frozen=True)
class MixtureParameters(ABC):
    """Parameters of a mixture in which log P[x, component j] is linear in statistics of x.

        log P[x, j] = sum_w t_w(x) theta_wj + b_j + const(x)

    For counts t(x) = x and theta = log mu.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        omega_j = P[component j], sum 1.
    centers : ndarray of shape (d, k)
        mu_j = E[x | component j] in columns.
    """

    weights: Floats
    centers: Floats
    # Fields that are keyword-only are settings of a family; files do not contain them.

    signed: ClassVar[bool] = False
    """Whether statistics may be negative."""
    separate: ClassVar[bool] = True
    """Whether the M-step of a component depends on no other one, but for weights and the prior."""
    known_sides: ClassVar[bool] = False
    """Whether the gain of a split treats its sides as known, rather than as a mixture."""

    @family_method
    def member(cls, *values: Any) -> Self:
        """Return a member of the family, given the values of its parameters."""
        if isinstance(cls, type):
            return cls(*values)
        names = [f.name for f in fields(cls) if not f.kw_only]
        return replace(cls, **dict(zip(names, values, strict=True)))

    @property
    def values(self) -> list[Any]:
        """The values of the parameters, without settings of the family."""
        return [getattr(self, f.name) for f in fields(self) if not f.kw_only]

    def __post_init__(self) -> None:
        check_shape("weights", self.weights, self.centers.shape[1:])
        check_sums("weights", self.weights.sum())

    @classmethod
    def statistics(cls, X: Any) -> Any:
        """Return t(x) of every sample.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Samples.

        Returns
        -------
        csr_array of shape (n, p)
            The statistics; for counts X itself.
        """
        return X

    @classmethod
    def n_features(cls, n_statistics: int) -> int:
        """Return d, the number of features.

        Parameters
        ----------
        n_statistics : int
            p, the number of statistics.

        Returns
        -------
        int
            The number of features.
        """
        return n_statistics

    @property
    def coefficients(self) -> Floats:
        """theta, shape (p, k); -inf where a component excludes a value."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.centers))

    @property
    @abstractmethod
    def offsets(self) -> Floats:
        """b_j, shape (k,)."""

    @property
    def log_weights(self) -> Floats:
        """Logarithm of omega_j, shape (k,); -inf for a weight of zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.weights))

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.weights.shape[0])

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each component.

        Returns
        -------
        MixtureParameters
            Components in the new order, of the same class.
        """
        return replace(self, weights=self.weights[order], centers=self.centers[:, order])

    def without(self, component: int) -> Self:
        """Return the parameters without one component.

        Parameters
        ----------
        component : int
            Position of the component.

        Returns
        -------
        MixtureParameters
            The other components in the same order; their weights are scaled to sum 1.
        """
        keep = np.flatnonzero(np.arange(self.n_components) != component)
        weights = self.weights.copy()
        weights[component] = 0.0
        return replace(self, weights=weights / weights.sum()).reordered(keep)

    def shrunk(self, whole: Self, kept: float) -> Self:
        """Shrink the mean statistics of the components towards the average.

        Parameters
        ----------
        whole : MixtureParameters
            One component: the average.
        kept : float
            Fraction of the differences that remains.

        Returns
        -------
        MixtureParameters
            The components, with the same weights.
        """
        return replace(self, centers=whole.centers + kept * (self.centers - whole.centers))

    @family_method
    @abstractmethod
    def m_step(cls, sums: Floats, sizes: Floats, smoothing: float) -> Self:
        """Return the maximum a posteriori parameters: the M-step of EM.

        They maximize

            sum_j (S_j . theta_j + N_j b_j) + log_prior(S, N, smoothing).

        Parameters
        ----------
        sums, sizes : ndarray of shape (p, k) and (k,)
            S and N: expected sums of the statistics, and numbers of samples, in each component.
        smoothing : float > 0
            Strength of the prior: pseudo-counts, or samples of average values, per component.

        Returns
        -------
        MixtureParameters
            The parameters, with omega_j = N_j / sum N.
        """

    @classmethod
    def limited_smoothing(cls, smoothing: float, total: float, shape: tuple[int, ...]) -> float:  # noqa: ARG003
        """Return the effective strength of the prior: `smoothing`, unless a family limits it.

        Parameters
        ----------
        smoothing : float > 0
            Strength of the prior.
        total : float >= 0
            Sum of all statistics, times sample weights.
        shape : tuple (p, k)
            Numbers of statistics and of components.

        Returns
        -------
        float
            The strength, at most `smoothing`.
        """
        return smoothing

    @family_method
    def several(cls, sums: Floats, sizes: Floats, smoothing: float) -> tuple[Floats, Floats]:
        """Return coefficients and offsets after the M-steps of several mixtures.

        Parameters
        ----------
        sums, sizes : ndarray of shape (p, m, k) and (m, k)
            As in :meth:`m_step`, for m mixtures.
        smoothing : float >= 0
            Strength of the prior, which may be that of all mixtures.

        Returns
        -------
        coefficients, offsets : ndarray of shape (p, m, k) and (m, k)
            theta and b of each mixture.
        """
        p, m, k = sums.shape
        if cls.separate:  # as one mixture with all components
            joined = cls.m_step(sums.reshape(p, m * k), sizes.ravel(), smoothing)
            offsets = joined.offsets.reshape(m, k) + np.log(m)
            return joined.coefficients.reshape(p, m, k), offsets
        each = [cls.m_step(sums[:, i], sizes[i], smoothing) for i in range(m)]
        coefficients = np.stack([one.coefficients for one in each], axis=1)
        return coefficients, np.stack([one.offsets for one in each])

    @abstractmethod
    def log_prior(self, sums: Floats, sizes: Floats, smoothing: float) -> float:
        """Return the logarithm of the prior density of the parameters.

        An EM step never decreases the log-likelihood plus this prior.

        Parameters
        ----------
        sums, sizes, smoothing : ndarray of shape (p, k), ndarray of shape (k,), float > 0
            As in :meth:`m_step`; the prior may depend on the mean of all samples.

        Returns
        -------
        float
            In nats, up to a constant; -inf if the prior excludes the parameters.
        """

    @family_method
    @abstractmethod
    def maximized_log_likelihood(cls, sums: Floats, sizes: Floats) -> Floats:
        """Return the maximized log-likelihood of each group of samples under one component.

        Parameters
        ----------
        sums, sizes : ndarray of shape (p, ...) and (...)
            Sums of the statistics, and numbers of samples, in each group.

        Returns
        -------
        ndarray of shape (...)
            In nats, up to a constant that depends only on the samples.
        """

    @classmethod
    def nats_per_unit(cls, sums: Floats, sizes: Floats) -> float:  # noqa: ARG003
        """Return the factor that converts :meth:`maximized_log_likelihood` to nats.

        Parameters
        ----------
        sums, sizes : ndarray of shape (p, k) and (k,)
            Sums of the statistics, and numbers of samples, in all groups.

        Returns
        -------
        float
            1, unless the likelihood depends on a parameter that all groups share.
        """
        return 1.0


P = TypeVar("P", bound=MixtureParameters)

Family: TypeAlias = type[P] | P
"""A family of mixtures: a class, or any member of one that has settings."""


def check_sums(parameter: str, sums: Floats) -> None:
    """Check that sums of probabilities are 1."""
    sums = np.asarray(sums)
    if not (np.abs(sums - 1.0) < SUM_TOLERANCE).all():
        raise InvalidDataError(
            "[sums_not_one] {parameter} must sum to 1; received {sums:list}",
            parameter=parameter,
            sums=np.atleast_1d(sums).tolist(),
        )


@dataclass(frozen=True)
class MixtureSums:
    """Expected statistics of a mixture, summed over all samples seen.

    Parameters of the mixture follow from them by an M-step. Sums of several batches are added, and
    earlier ones may be multiplied before, to forget them.

    Attributes
    ----------
    n_samples : int
        Number of samples seen.
    statistics : ndarray of shape (p, k)
        S = sum_i v_i t(x_i) R_i, with responsibilities R and sample weights v.
    sizes : ndarray of shape (k,)
        N = sum_i v_i R_i; of topic proportions h, N_j = -sum_i v_i E log h_ij.
    counts : ndarray of shape (d, k), or (0, k)
        The same sums of the raw counts if the statistics are log-scaled; otherwise empty.
    smoothing : float > 0
        The strength of the prior that was asked for, on the scale of the statistics.
    total : float >= 0
        Sum of all counts, times sample weights.
    weight : float >= 0
        Total sample weight.
    """

    n_samples: int
    statistics: Floats
    sizes: Floats
    counts: Floats
    smoothing: float
    total: float
    weight: float

    def __post_init__(self) -> None:
        k = len(self.sizes)
        check_shape("statistics", self.statistics, ("n_statistics", k))
        check_shape("sizes", self.sizes, (k,))
        check_shape("counts", self.counts, ("n_features", k))
        if (
            (self.sizes < 0).any()
            or self.smoothing <= 0
            or self.n_samples < 0
            or self.total < 0
            or self.weight < 0
        ):
            raise InvalidDataError(wording.BELOW_ZERO, name="sizes")

    def faded(self, factor: float) -> Self:
        """Return the same sums, multiplied by a factor in (0, 1]; samples remain counted.

        Parameters
        ----------
        factor : float in (0, 1]
            The factor.

        Returns
        -------
        MixtureSums
            The smaller sums.
        """
        return replace(
            self,
            statistics=self.statistics * factor,
            sizes=self.sizes * factor,
            counts=self.counts * factor,
            total=self.total * factor,
            weight=self.weight * factor,
        )

    def plus(self, other: MixtureSums) -> Self:
        """Return the sums of both; the strength of the prior is the mean, by sample weight.

        Parameters
        ----------
        other : MixtureSums
            Sums of other samples, for the same components.

        Returns
        -------
        MixtureSums
            The sums.
        """
        n, m = self.weight, other.weight
        return replace(
            self,
            n_samples=self.n_samples + other.n_samples,
            statistics=self.statistics + other.statistics,
            sizes=self.sizes + other.sizes,
            counts=self.counts + other.counts,
            smoothing=(n * self.smoothing + m * other.smoothing) / (n + m),
            total=self.total + other.total,
            weight=n + m,
        )

    def regrouped(self, to: Ints, n_components: int) -> Self:
        """Return the sums after component j became part of component `to[j]`.

        Parameters
        ----------
        to : ndarray of intp of shape (k,)
            New number of each component; equal numbers are added, and those of -1 are dropped.
        n_components : int
            Number of components afterwards.

        Returns
        -------
        MixtureSums
            Sums of `n_components` components; zero for those without an old one.
        """
        into = (to[:, None] == np.arange(n_components)).astype(np.float64)
        return replace(
            self,
            statistics=self.statistics @ into,
            sizes=self.sizes @ into,
            counts=self.counts @ into,
            weight=self.weight - float(self.sizes[to < 0].sum()),
        )

    def reordered(self, order: Ints) -> Self:
        """Return the same components in another order.

        Parameters
        ----------
        order : ndarray of intp of shape (k,)
            The old position of each component.

        Returns
        -------
        MixtureSums
            Sums in the new order.
        """
        return replace(
            self,
            statistics=self.statistics[:, order],
            sizes=self.sizes[order],
            counts=self.counts[:, order],
        )


def sums_over(
    rows: Rows,
    weight: RowArray,
    statistics: Floats,
    sizes: Floats,
    counts: Floats,
    smoothing: float,
) -> MixtureSums:
    """Return expected statistics with the number, the weight and the total of their samples."""
    total = float(rows.sum(products.dot, rows.row_sums, weight))
    n, of_all = rows.shape[0], float(rows.total(weight))
    return MixtureSums(n, statistics, sizes, counts, smoothing, total, of_all)

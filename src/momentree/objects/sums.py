"""What a mixture that learns from batches remembers of the samples that it has seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError


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
            raise InvalidDataError("below_zero", name="sizes")

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

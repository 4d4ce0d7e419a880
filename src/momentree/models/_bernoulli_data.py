"""Binary data on the way to a fit of a mixture, in canonical order, and what a fit finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.backends import RowBlocks, in_canonical_order
from momentree.moments import BernoulliMoments
from momentree.objects import BernoulliParameters
from momentree.preprocessing import FeatureMap

__all__ = ["BinaryData", "Run"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class BinaryData:
    """Checked binary data on the way to a fit.

    Attributes
    ----------
    ones : csr_array of shape (n, d)
        Zeros and ones, zero where a value is missing.
    missing : csr_array of shape (n, d) or None
        1 where a value is missing.
    weight : ndarray of shape (n,)
        Sample weights.
    space : FeatureMap
        How the samples become rows.
    rows : RowBlocks of shape (n, p)
        Statistics of the samples.
    """

    ones: Any
    missing: Any | None
    weight: Floats
    space: FeatureMap
    rows: RowBlocks

    @property
    def observed(self) -> Floats | None:
        """Share of the weight with which each feature is observed; None for always."""
        return 1.0 / self.space.moment_scale[: self.ones.shape[1]] if self.missing is not None else None

    @cached_property
    def moments(self) -> BernoulliMoments:
        """Raw moments of the data (T eq. 4.6 to 4.8)."""
        return BernoulliMoments.from_rows(
            RowBlocks(self.ones), sample_weight=self.weight, observation_rates=self.observed
        )

    @property
    def bias_bound(self) -> float:
        """max_i M1_i - M1_i^2, which bounds the bias of M2_ii (T Theorem 4.3.1)."""
        m1 = np.clip(self.moments.m1, 0.0, 1.0)
        return float((m1 - m1**2).max())

    @classmethod
    def prepared(cls, ones: Any, missing: Any | None, weight: Floats) -> tuple[BinaryData, Ints]:
        """Return the data in canonical order, and the row of each sample."""
        space = FeatureMap.from_data(ones, missing, weight, "binary", scaled=True)
        rows, at = in_canonical_order(space.rows(ones, missing), weight)
        d = ones.shape[1]
        both = rows.matrix
        if missing is None:
            return cls(both, None, weight[at], space, rows), at
        return cls(both[:, :d], both[:, d:], weight[at], space, rows), at

    def take(self, here: Ints) -> BinaryData:
        """Return some of the samples; rates of observation stay those of all."""
        missing = None if self.missing is None else self.missing[here]
        rows = self.rows.take(here)
        return BinaryData(self.ones[here], missing, self.weight[here], self.space, rows)


@dataclass(frozen=True)
class Run:
    """What a fit finds; components by weight, descending.

    Attributes
    ----------
    parameters : BernoulliParameters
        By which samples are assigned.
    centers : ndarray of shape (d, k)
        Without EM as they were found, which may be certain of a feature; else those of
        `parameters`.
    diagnostics : mapping
        How it went.
    n_iter : int
        Steps of EM; 1 without it.
    converged : bool
        Whether EM met its tolerance; True without it.
    """

    parameters: BernoulliParameters
    centers: Floats
    diagnostics: Mapping[str, Any]
    n_iter: int
    converged: bool

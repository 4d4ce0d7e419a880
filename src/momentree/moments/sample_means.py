"""Moments that are weighted means over samples, regardless of row totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import check_counts, check_sample_weight
from momentree.backends import Block, RowArray, RowBlocks, Rows
from momentree.backends.kernels import kernel
from momentree.moments.factorial import FactorialMoments


@kernel
@dataclass(frozen=True)
class Shares:
    """v / sum v in three columns, for M1, M2 and M3."""

    total: float

    def __call__(self, B: Block, v: Floats) -> Floats:  # noqa: ARG002
        """Return the weights of the rows of a block, shape (n, 3)."""
        return np.repeat((v / self.total)[:, None], 3, axis=1)


class SampleMeans(FactorialMoments):
    """Base class of moments with r1 = r2 = r3 = v / sum v, where v are the sample weights."""

    _count_per_token: ClassVar[float]
    """1 for factorial moments, 0 for raw ones."""

    def __init__(self, rows: Rows, sample_weight: RowArray) -> None:
        shares = Shares(float(rows.total(sample_weight)))
        super().__init__(rows, rows.map(shares, sample_weight), self._count_per_token)

    @classmethod
    def from_data(cls, X: Any, *, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Values >= 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        moments
            An instance of this class.

        Raises
        ------
        InvalidDataError
            If X is not two-dimensional or contains negative values, NaN or infinities, or if no
            sample has a positive weight.
        """
        X = check_counts(X)
        return cls(RowBlocks(X), check_sample_weight(sample_weight, X.shape[0]))

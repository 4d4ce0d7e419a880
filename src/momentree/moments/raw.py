"""Raw moments of rows, with no model: what T Algorithm 5 decomposes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._validation import check_counts, check_sample_weight
from momentree.backends import RowBlocks
from momentree.moments.factorial import FactorialMoments

__all__ = ["RawMoments"]

Floats = NDArray[np.float64]


class RawMoments(FactorialMoments):
    """Estimate the raw moments of rows.

    With v the sample weights, scaled to sum 1,

        M1 = sum v x,     M2 = sum v x x^T,     M3 = sum v x (x) x (x) x.

    Where a group of features goes together in some rows and is absent from others, a common
    rotation of the whitened slices finds it, whatever the distribution of the rows (T section
    6.2).

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Non-negative values.
    row_weights : ndarray of shape (3, n)
        v three times.
    unit : float, default=0.0
        Zero: nothing is corrected for.

    Notes
    -----
    T Algorithm 5, line 1, and the raw moments of T section 4.3. Time and memory as
    :class:`momentree.moments.FactorialMoments`.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Section 6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import RawMoments
    >>> RawMoments.from_data(np.array([[2, 0], [0, 2]])).m2 @ np.eye(2)
    array([[2., 0.],
           [0., 2.]])
    """

    @classmethod
    def from_data(cls, X: Any, *, sample_weight: ArrayLike | None = None) -> RawMoments:
        """Estimate the moments from non-negative data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Values >= 0.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples.

        Returns
        -------
        RawMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X holds negative values, NaN or infinities, is not two-dimensional, or no sample
            has a positive weight.
        """
        X = check_counts(X)
        return cls.from_rows(
            RowBlocks(X), sample_weight=check_sample_weight(sample_weight, X.shape[0])
        )

    @classmethod
    def from_rows(cls, rows: RowBlocks, *, sample_weight: Floats) -> RawMoments:
        """Estimate the moments from rows that have been checked already.

        Parameters
        ----------
        rows : RowBlocks of shape (n, d)
            Values >= 0.
        sample_weight : ndarray of shape (n,)
            Weights >= 0, not all zero.

        Returns
        -------
        RawMoments
            The moments.
        """
        v = sample_weight / sample_weight.sum()
        return cls(rows, np.stack([v, v, v]), unit=0.0)

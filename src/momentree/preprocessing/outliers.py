"""Outliers of real data: values far beyond the range of the others, whose ends replace them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints

SHARE = 0.01
"""Share of the samples that may be outliers on each side of a column."""
MOST = 0.05
"""Share of the samples on each side, at most."""
BEYOND = 0.5
"""A value is an outlier if it is beyond the range of the other values by this fraction of it. The
range between the 1 % and 99 % quantiles of a normal distribution has 4.7 standard deviations, so
its outliers are 4.7 or more from the mean."""

DENSE_VALUES = 1 << 20
"""Values of a dense copy, at most: 8 MB."""


@dataclass(frozen=True)
class Bounds:
    """Ranges of the columns of real data, which replace outliers.

    Attributes
    ----------
    lower, upper : ndarray of shape (d,)
        Values beyond them are outliers; infinite for a column without outliers.
    low, high : ndarray of shape (d,)
        What outliers count as: the ends of the range of the other values.
    """

    lower: Floats
    upper: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, X: Any, missing: Any | None, sample_weight: Floats, few: float) -> Self | None:
        """Find the outliers of each column.

        Leave out the m smallest and the m largest values of a column, where m is `few` or 1 % of
        the samples, whichever is more, but at most 5 %. A value is an outlier if it is below or
        above the range of the other values by more than half of it. A group of more than m samples
        is never outside, however far away it is.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        sample_weight : ndarray of shape (n,)
            Weights >= 0, not all zero.
        few : float >= 0
            Total weight of samples that are too few for a group.

        Returns
        -------
        Bounds or None
            None if there are no outliers. A column with equal values except for the m smallest
            and largest has none.

        Notes
        -----
        Time O(n d), and O(n log n d) with different weights. Values are replaced, not dropped, so
        samples with outliers are still assigned by all columns.
        """
        d = X.shape[1]
        out = cls(np.full(d, -np.inf), np.full(d, np.inf), np.zeros(d), np.zeros(d))
        for j, x, (low, high) in _inner_ranges(X, missing, sample_weight, few):
            out.low[j], out.high[j] = low, high
            room = BEYOND * (high - low)
            if room > 0 and x.min() < low - room:
                out.lower[j] = low - room
            if room > 0 and x.max() > high + room:
                out.upper[j] = high + room
        return None if np.isinf(out.lower).all() and np.isinf(out.upper).all() else out

    def applied(self, X: Any, missing: Any | None) -> Any:
        """Return values with outliers replaced; missing values stay zero.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.

        Returns
        -------
        csr_array of shape (n, d)
            The values.
        """
        Z = X.toarray()
        low, high = self.lower > Z, self.upper < Z
        Z = np.where(low, self.low, np.where(high, self.high, Z))
        if missing is not None:
            Z[missing.nonzero()] = 0.0
        return sp.csr_array(Z)


def varying_columns(X: Any, missing: Any | None, sample_weight: Floats, few: float) -> Ints:
    """Return the columns whose values differ even without the m smallest and largest.

    Parameters
    ----------
    X, missing, sample_weight, few
        As in :meth:`Bounds.of`.

    Returns
    -------
    ndarray of intp
        Numbers of columns.
    """
    ranges = _inner_ranges(X, missing, sample_weight, few)
    return np.array([j for j, _, (low, high) in ranges if low < high], dtype=np.intp)


def _inner_ranges(
    X: Any, missing: Any | None, sample_weight: Floats, few: float
) -> Iterator[tuple[int, Floats, tuple[float, float]]]:
    """Yield each column, its observed values, and their range without the m at each end."""
    some = sample_weight > 0
    even = bool((sample_weight[some] == sample_weight[some][0]).all())
    gaps = None if missing is None else missing.tocsc()
    few_values = X.shape[0] * X.shape[1] <= DENSE_VALUES  # one copy is faster than one per column
    columns = X.toarray(order="F") if few_values else X.tocsc()
    for j in range(X.shape[1]):
        column = columns[:, j] if few_values else columns[:, [j]].toarray().ravel()
        use = some if gaps is None else some & (gaps[:, [j]].toarray().ravel() == 0)
        x, w = column[use], sample_weight[use]
        if len(x):
            m = min(max(few, SHARE * w.sum()), MOST * w.sum())
            yield j, x, _inner_range(x, None if even else w, m / w[0] if even else m)


def _inner_range(x: Floats, weight: Floats | None, m: float) -> tuple[float, float]:
    """Return the range of values without those of total weight m at each end."""
    if weight is None:
        i = min(int(np.floor(m)), (len(x) - 1) // 2)
        at = np.partition(x, [i, len(x) - 1 - i])
        return float(at[i]), float(at[len(x) - 1 - i])
    order = np.argsort(x)
    x, below = x[order], np.cumsum(weight[order])
    above = below[-1] - below + weight[order]
    low = x[min(int(np.searchsorted(below, m, side="right")), len(x) - 1)]
    high = x[max(int(np.count_nonzero(above > m)) - 1, 0)]
    return float(low), float(high)

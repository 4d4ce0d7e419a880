"""Log scaling of counts: words come in bursts, so that a tenth occurrence says less than a first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.exceptions import InvalidParameterError

__all__ = ["LogScaled", "LogScaling", "log_scale", "typical_count_per_token"]

LogScaling = Literal["log1p"]

REFERENCE_LENGTH = 24.0
"""Damped length of a document whose words count one each. Measured: from 16 to 64 the agreement
with labels on real corpora changes by 0.01 (NMI); shorter is better on news, longer on records
of a known single-topic model."""


@dataclass(frozen=True)
class LogScaled:
    """Log-scaled counts.

    Attributes
    ----------
    X : csr_array of shape (n, d), float32
        The values; the sparsity pattern is shared with the counts.
    unit : ndarray of shape (n,)
        What one word counts in each document; 1 without log scaling.
    """

    X: Any
    unit: NDArray[np.float64]


def log_scale(X: Any, log_scaling: LogScaling | None) -> LogScaled:
    """Return counts after log scaling, in single precision, sharing the sparsity pattern of X.

    For "log1p", with y = log(1 + x) / log 2 and its sum c over the words of a document,

        x -> y sqrt(24 / c);

    for None, x -> x.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts >= 0.
    log_scaling : {"log1p", None}
        The base 2 keeps a count of one at one. The factor says that words of one document are
        not independent: a document four times as long as another tells twice as much. Every
        document is scaled by itself: its values do not depend on the corpus around it.

    Returns
    -------
    LogScaled
        The log-scaled counts, and what one word counts in each document.

    Raises
    ------
    InvalidParameterError
        If `log_scaling` is neither.

    Notes
    -----
    Single precision halves the memory; all sums over rows are taken in double precision. Time
    and memory O(nnz).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.preprocessing import log_scale
    >>> scaled = log_scale(sp.csr_array([[0, 8, 0], [1, 3, 3]]), "log1p")
    >>> (scaled.X.toarray()[1] / scaled.unit[1]).round(3).tolist()
    [1.0, 2.0, 2.0]
    >>> scaled.X.sum(axis=1).round(2).astype(float).round(2).tolist()  # sqrt(24 c), c = log2(9), 5
    [8.72, 10.95]
    """
    if log_scaling is not None and log_scaling not in get_args(LogScaling):
        msg = f"log_scaling={log_scaling!r} is unknown; choose 'log1p' or None"
        raise InvalidParameterError(msg)
    unit = np.ones(X.shape[0])
    if log_scaling is None:
        data = X.data.astype(np.float32, copy=False)
    else:
        data = np.log1p(X.data, dtype=np.float32, casting="unsafe")
        data *= np.float32(1.0 / np.log(2.0))
        c = RowBlocks(_like(X, data)).row_sums
        np.divide(REFERENCE_LENGTH, c, out=unit, where=c > 0)
        np.sqrt(unit, out=unit)
        data *= np.repeat(unit.astype(np.float32), np.diff(X.indptr))
    return LogScaled(_like(X, data), unit)


def typical_count_per_token(
    rows: RowBlocks, unit: NDArray[np.float64], sample_weight: NDArray[np.float64]
) -> float:
    """Return what one word counts on average after log scaling.

        u = sum_i v_i u_i c_i / sum_i v_i c_i,   c_i the sum of row i.

    Evidence from log-scaled counts, and the chance fluctuations of it, both scale with u: so does
    what is weighed against them, as pseudo-counts and penalties are.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Log-scaled counts.
    unit : ndarray of shape (n,)
        u_i, what one word counts in each document.
    sample_weight : ndarray of shape (n,)
        v_i >= 0.

    Returns
    -------
    float
        u > 0; 1 without log scaling, or without words.
    """
    mass = sample_weight * rows.row_sums
    total = float(mass.sum())
    return float(mass @ unit) / total if total > 0 else 1.0


def _like(X: Any, data: Any) -> Any:
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape, copy=False)

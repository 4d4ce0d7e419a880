"""Three random words of each document, for the estimator of Anandkumar et al. (S Remark 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from momentree.exceptions import InvalidDataError

__all__ = ["three_words"]


def three_words(X: Any, random_state: int | np.random.RandomState | None) -> Any:
    """Draw three distinct word positions from each document.

    A document of three words has six orders of its words; Theorem 1 applied to it is the average
    of x1 (x) x2 (x) x3 over them, which has the same expectation and is symmetric.

    Parameters
    ----------
    X : sparse array of shape (n, d)
        Whole-number counts.
    random_state : int, RandomState or None
        Draws the positions.

    Returns
    -------
    csr_array of shape (n, d)
        Counts of the three words; documents with fewer than three words are empty.

    Raises
    ------
    InvalidDataError
        If a count is not a whole number.
    """
    if np.any(X.data != np.floor(X.data)):
        msg = "weighting='three_words' draws single words and needs whole-number counts"
        raise InvalidDataError(msg)
    rng = check_random_state(random_state)
    ends = np.cumsum(X.data.astype(np.int64))
    row_ends = np.concatenate(([0], ends))[X.indptr]
    start, c = row_ends[:-1], np.diff(row_ends)
    rows = np.flatnonzero(c >= 3)
    n = c[rows]
    # Distinct positions by drawing from shrinking ranges and stepping over the earlier draws.
    first = rng.randint(0, n)
    second = rng.randint(0, n - 1)
    second += second >= first
    third = rng.randint(0, n - 2)
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    positions = start[rows] + np.stack([first, second, third])
    words = X.indices[np.searchsorted(ends, positions, side="right")]
    drawn = (np.ones(words.size), (np.tile(rows, 3), words.ravel()))
    return sp.csr_array(drawn, shape=X.shape)

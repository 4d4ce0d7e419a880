"""Checks of sequences: lengths, and symbols from 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Ints
from momentree.exceptions import InvalidDataError

MOST_SYMBOLS = 10_000_000
"""Symbols are columns of the parameters: more would not fit into memory."""


def check_sequence_lengths(lengths: ArrayLike | None, n_samples: int) -> Ints:
    """Return the lengths of sequences, which are 1 or more and sum to `n_samples`."""
    if lengths is None:
        return np.array([n_samples], dtype=np.intp)
    try:
        found = np.asarray(lengths)
    except ValueError as error:
        raise InvalidDataError("not_sequence_lengths", n_rows=n_samples) from error
    whole = found.dtype.kind in "iu" or (
        found.dtype.kind == "f" and bool(np.isin(found % 1.0, 0.0).all())
    )
    if found.ndim != 1 or not found.size or not whole or not (found >= 1).all():
        raise InvalidDataError("not_sequence_lengths", n_rows=n_samples)
    total = float(found.sum(dtype=np.float64))
    if total != n_samples:
        raise InvalidDataError("lengths_do_not_match", total=int(total), n_rows=n_samples)
    return found.astype(np.intp)


def check_symbols(X: Any, n_symbols: int | None = None) -> Ints:
    """Return one column of symbols, whole numbers from 0, as a vector of integers.

    The error codes are ``not_one_column``, ``no_symbols``, ``not_a_symbol`` and, if `n_symbols` is
    given, ``symbol_too_large``.
    """
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise InvalidDataError("not_numbers", parameter="X", error=str(error)) from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InvalidDataError("not_one_column", shape=str(values.shape))
    if not len(values):
        raise InvalidDataError("no_symbols")
    if values.dtype.kind not in "iubf":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            value = str(values[0])
            raise InvalidDataError("symbols_not_numbers", row=0, value=value) from error
    with np.errstate(invalid="ignore"):
        bad = ~((values >= 0) & (values < MOST_SYMBOLS) & (values % 1 == 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise InvalidDataError("not_a_symbol", row=at, value=values[at].item())
    found = values.astype(np.intp)
    if n_symbols is not None and int(found.max()) >= n_symbols:
        at = int(np.argmax(found >= n_symbols))
        raise InvalidDataError(
            "symbol_too_large",
            row=at,
            value=int(found[at]),
            n=n_symbols,
            remedy=int(found.max()) + 1,
        )
    return found

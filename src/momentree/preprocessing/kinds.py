"""Kinds of data for cluster trees (binary, counts, real, directions, ...): detection, checks."""

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from momentree._validation import first_cell
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording

Kind = Literal["binary", "counts", "non_negative", "real", "directions"]

MAX_SIZE = 1e100
"""Largest absolute value; the cubes of larger numbers overflow."""

UNIT_TOLERANCE = 0.01
"""Directions in half precision have squared lengths within 0.01 of 1."""
MIN_DIMENSIONS = 3
"""Unit vectors in fewer dimensions are angles rather than directions."""

_EXPECTED = {
    "binary": "[zeros_and_ones] 0 or 1",
    "counts": "[whole_numbers] nonnegative whole numbers",
    "non_negative": "[not_negative] nonnegative numbers",
}


def detect_kind(X: Any) -> Kind:
    """Return the kind of the data in a CSR array.

    Nonnegative values that are mostly nonzero are treated as real measurements: their sizes matter,
    not only their proportions. If all rows of real data have unit length, they are directions:
    measurements have it by accident only.
    """
    kind = _narrowest(X)
    if kind == "non_negative" and 2 * X.nnz > X.shape[0] * X.shape[1]:
        kind = "real"
    return "directions" if kind == "real" and _has_unit_rows(X) else kind


def _has_unit_rows(X: Any) -> bool:
    if X.shape[1] < MIN_DIMENSIONS:
        return False
    squares = sp.csr_array((np.square(X.data, dtype=np.float64), X.indices, X.indptr), X.shape)
    lengths = squares.sum(axis=1)
    filled = lengths[lengths > 0]
    return len(filled) > 0 and bool((np.abs(filled - 1.0) < UNIT_TOLERANCE).all())


def check_kind(kind: Kind, X: Any, missing: Any | None) -> None:
    """Check that data are of a kind, or of an earlier kind in the list.

    The error codes are ``another_kind_of_data``, ``huge_value`` and
    ``missing_not_binary``, with the first bad row and column.
    """
    if float(X.data.max(initial=0)) > MAX_SIZE or float(X.data.min(initial=0)) < -MAX_SIZE:
        cell = first_cell(X, np.abs(X.data) > MAX_SIZE)
        raise InvalidDataError(wording.HUGE_VALUE, largest=MAX_SIZE, **cell)
    kinds = get_args(Kind)
    if kinds.index(_narrowest(X)) > kinds.index(kind):
        bad = X.data < 0
        if kind == "binary":
            bad = (X.data != 0) & (X.data != 1)
        elif kind == "counts":
            bad |= X.data != np.floor(X.data)
        expected = Message(_EXPECTED[kind])
        raise InvalidDataError(
            "[another_kind_of_data] {parameters.data:=kind}, but row {row}, column {column} "
            "contains {value}; expected {expected}",
            kind=kind,
            expected=expected,
            **first_cell(X, bad),
        )
    if missing is not None and kind not in ("binary", "real"):
        row, column = (int(part[0]) for part in missing.nonzero())
        raise InvalidDataError(
            "[missing_not_binary] Input X contains NaN: row {row}, column {column} is missing. "
            "Only binary and real data may have missing values, and these data are {kind}; fill "
            "missing values first",
            row=row,
            column=column,
            kind=kind,
        )


def _narrowest(X: Any) -> Kind:
    data = X.data
    if data.min(initial=0) < 0:
        return "real"
    # Numbers from 0 to 1 whose sum equals the number of nonzeros are all 0 or 1.
    if data.max(initial=0) <= 1 and data.sum(dtype=np.float64) == np.count_nonzero(data):
        return "binary"
    return "counts" if (data == np.floor(data)).all() else "non_negative"

"""Checks of the values of rows elsewhere, in one pass, with the same errors as in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats
from momentree._validation import arrays, check_feature_names, check_sample_weight, tables
from momentree.backends import block, kernels
from momentree.backends.base import RowArray, Rows
from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.messages import wording

PART = 1 << 14


@dataclass(frozen=True)
class Contents:
    """Numbers of stored values and of rows of each kind.

    Attributes
    ----------
    filled, bad, missing, not_binary, fractions : float
        Stored values that are not zero; are no counts; are NaN; are not 0, 1 or NaN; are not whole.
    rows_filled, rows_weighted, rows_usable : float
        Rows with a value that is not zero; of positive weight; and both.
    """

    filled: float
    bad: float
    missing: float
    not_binary: float
    fractions: float
    rows_filled: float
    rows_weighted: float
    rows_usable: float

    @property
    def kind(self) -> Literal["binary", "counts", "other"]:
        """What the values are, if none is missing."""
        if self.missing:
            return "other"
        if not self.not_binary:
            return "binary"
        return "other" if self.bad or self.fractions else "counts"

    @classmethod
    def of(cls, rows: Rows, weight: RowArray) -> Contents:
        """Count the values of rows, given their weights: one pass."""
        return cls(*rows.sum(value_counts, weight).tolist())


@kernels.kernel
def value_counts(B: block.Block, weight: Floats) -> Floats:
    """Return the numbers in `Contents`."""
    data, _, indptr = B.csr
    # In parts so small that arrays of their size stay in the cache.
    parts = (data[i : i + PART] for i in range(0, len(data), PART))
    stored = sum(map(_kinds, parts), np.zeros(5))
    ends = indptr
    if stored[0] < len(data):
        ends = np.concatenate(([0], np.cumsum(data != 0)))[indptr]
    filled, weighted = np.diff(ends) > 0, weight > 0
    rows = [np.count_nonzero(kind) for kind in (filled, weighted, filled & weighted)]
    return np.concatenate([stored, rows])


def _kinds(data: Floats) -> Floats:
    """Return the numbers of values of each kind, as in `Contents`."""
    nan = np.isnan(data)
    with np.errstate(invalid="ignore"):
        binary = nan | (data == 0) | (data == 1)
        whole = nan | (data == np.floor(data))
    kinds = data != 0, _no_count(data), nan, ~binary, ~whole
    return np.array([np.count_nonzero(kind) for kind in kinds], dtype=float)


def _no_count(data: Floats) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray(
            ~(((data >= arrays.MIN_COUNT) & (data <= arrays.MAX_COUNT)) | (data == 0))
        )


def _first_bad(B: block.Block, *, binary: bool) -> Floats:
    """Return column and value of the first bad value of each row, (n, 2); column -1 if none is."""
    data, indices, indptr = B.csr
    bad = ~((data == 0) | (data == 1) | np.isnan(data)) if binary else _no_count(data)
    at = np.flatnonzero(bad)
    row = np.searchsorted(indptr, at, side="right") - 1
    out = np.full((B.shape[0], 2), -1.0)
    row, first = np.unique(row, return_index=True)
    out[row] = np.stack([indices[at[first]], data[at[first]]], axis=1)
    return out


def row_weights(rows: Rows, sample_weight: ArrayLike | None) -> RowArray:
    """Return sample weights, checked and placed where the rows are; None is 1 for each row."""
    if sample_weight is None:
        return rows.ones()
    return rows.placed(check_sample_weight(sample_weight, rows.shape[0]))


def filled_weights(rows: Rows, weight: RowArray) -> RowArray:
    """Return sample weights that are 0 for rows without values."""
    return rows.each(partial(entry_if_filled, other=0.0), weight, rows.row_sums)


def filled_labels(rows: Rows, labels: RowArray) -> RowArray:
    """Return labels that are -1 for rows without values, which are in no group."""
    return rows.each(partial(entry_if_filled, other=-1), labels, rows.row_sums)


@kernels.kernel
def entry_if_filled(entries: Any, row_sums: Floats, *, other: float) -> Any:
    """Return the entries of rows, and another one for those without values."""
    return np.where(row_sums > 0, entries, other)


def checked_rows(
    estimator: Any,
    rows: Rows,
    sample_weight: RowArray,
    feature_names: Sequence[str] | NDArray[Any] | None,
    *,
    binary: bool = False,
    filled: bool = True,
) -> tuple[Contents, NDArray[Any]]:
    """Check rows given to ``fit``, and return their contents and the names of columns.

    Parameters
    ----------
    estimator : object
        Receives ``n_features_in_``, and ``feature_names_in_`` if the rows have names.
    rows : Rows of shape (n, d)
        Counts, or with `binary` zeros and ones.
    sample_weight : row array of shape (n,)
        Weights >= 0.
    feature_names : sequence of str of shape (d,) or None
        Names that take precedence over those of the rows.
    binary : bool, default=False
        Whether only 0, 1 and NaN are allowed.
    filled : bool, default=True
        Whether some value of a row of positive weight must not be zero.

    Returns
    -------
    contents : Contents
        Numbers of values and rows.
    names : ndarray of object of shape (d,)
        The names.

    Raises
    ------
    InvalidDataError
        If a value is not allowed, with its row and column; if names do not match.
    EmptyCorpusError
        If no row of positive weight has a value that is not zero.
    """
    n, d = rows.shape
    contents = Contents.of(rows, sample_weight)
    if contents.not_binary if binary else contents.bad:
        _refuse(rows, binary=binary)
    if filled and not contents.rows_filled:
        raise EmptyCorpusError(wording.ALL_EMPTY, n_rows=n)
    if filled and not contents.rows_usable:
        raise EmptyCorpusError(wording.ALL_WEIGHTED_EMPTY, n_rows=int(contents.rows_weighted))
    found = getattr(rows, "feature_names", None)
    estimator.n_features_in_ = d
    vars(estimator).pop("feature_names_in_", None)
    if found is not None:
        estimator.feature_names_in_ = np.asarray(found, dtype=object)
    names = feature_names if feature_names is not None else found
    if names is None:
        return contents, np.arange(d).astype(str).astype(object)
    return contents, check_feature_names(names, d)


def _refuse(rows: Rows, *, binary: bool) -> None:
    """Raise the error of the first bad value."""
    if not rows.gives_rows:
        raise InvalidDataError(
            "[bad_values_elsewhere] some values are negative, missing, infinite or of another kind "
            "than expected; check the rows where they are"
        )
    found = np.asarray(rows.map(partial(_first_bad, binary=binary)))
    row = int(np.argmax(found[:, 0] >= 0))
    value = float(found[row, 1])
    cell: dict[str, Any] = {"row": row, "column": int(found[row, 0]), "value": value}
    if binary:
        raise InvalidDataError(
            wording.NEGATIVE_NOT_BINARY if value < 0 else wording.NOT_BINARY, **cell
        )
    tables.refuse_count(cell)

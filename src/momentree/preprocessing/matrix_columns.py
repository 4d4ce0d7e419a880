"""Encode a matrix whose columns are all of one kind, as statistics of a product family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from momentree._types import Floats, Ints
from momentree._validation import first_cell
from momentree.backends import RowBlocks, in_canonical_order
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.preprocessing.mixed_columns import LARGEST, LOG_2_PI, Encoded

MatrixKind = Literal["number", "yes_no", "count", "words"]

WORDS = 20
"""Counts in at least this many columns are words."""


@dataclass(frozen=True)
class MatrixColumns:
    """How a matrix of one kind becomes statistics.

    Attributes
    ----------
    names : ndarray of str of shape (d,)
        Names of the columns.
    kind : {"number", "yes_no", "count", "words"}
        Kind of all columns. Words are multinomial given their number in each row.
    shift, scale : ndarray of shape (d,)
        Mean and standard deviation of numbers; 0 and 1 for others.
    total : float
        Mean sum of a row.
    """

    names: NDArray[np.object_]
    kind: str
    shift: Floats
    scale: Floats
    total: float

    @classmethod
    def from_matrix(
        cls, X: Any, missing: Any | None, names: NDArray[Any], kind: str, weight: Floats
    ) -> tuple[Self, list[Message]]:
        """Guess the kind if it is "auto", and compute the scale of numbers.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.
        names : ndarray of str of shape (d,)
            Names of the columns.
        kind : {"auto", "number", "yes_no", "count", "words"}
            Kind of the columns.
        weight : ndarray of shape (n,)
            Weights of the rows; those of weight zero have no effect.

        Returns
        -------
        MatrixColumns, list of Message
            The columns, and notes.
        """
        if not (weight > 0).all():
            here = weight > 0
            X, weight = X[here], weight[here]
            missing = None if missing is None else missing[here]
        if X.shape[0] < 2:
            raise InvalidDataError("one_row", n_rows=X.shape[0])
        ordered, at = in_canonical_order(RowBlocks(X), weight)
        X, weight = ordered.matrix, weight[at]
        missing = None if missing is None else missing[at]
        kind = _guessed(X, missing, weight) if kind == "auto" else kind
        d, notes = X.shape[1], list[Message]()
        shift, scale = np.zeros(d), np.ones(d)
        if kind == "number":
            _check_size(X)
            n = weight.sum() - (0.0 if missing is None else missing.T @ weight)
            n = np.maximum(n, 1e-300)
            shift = np.asarray(X.T @ weight) / n
            # Deviations from the mean of values that are stored, and of zeros that are not.
            v = np.repeat(weight, np.diff(X.indptr))
            stored = np.bincount(X.indices, v, minlength=d)
            apart = v * (X.data - shift[X.indices]) ** 2
            squares = np.bincount(X.indices, apart, minlength=d) + (n - stored) * shift**2
            deviation = np.sqrt(np.maximum(squares, 0.0) / n)
            varies = deviation > 1e-14 * np.abs(shift)
            scale = np.where(varies, deviation, 1.0)
        total = float(weight @ X.sum(axis=1)) / float(weight.sum())
        return cls(np.asarray(names, dtype=object), kind, shift, scale, total), notes

    def check(self, n_columns: int) -> None:
        """Raise an error unless the parts describe the same columns, as files may not.

        Parameters
        ----------
        n_columns : int
            Number of columns.
        """
        sound = len(self.names) == n_columns and self.kind in get_args(MatrixKind)
        sound = sound and self.shift.shape == self.scale.shape == (n_columns,)
        if not sound or not (self.scale > 0).all():
            raise InvalidDataError("bad_entry", name="views_", value=self.kind)

    @property
    def labels(self) -> list[tuple[str, str, str]]:
        """Column, kind and level of each encoded column."""
        if self.kind == "words":
            return [("", "words", str(name)) for name in self.names]
        return [(str(name), self.kind, "") for name in self.names]

    @property
    def units(self) -> tuple[Floats, Floats]:
        """Shift and scale of the numbers."""
        if self.kind != "number":
            return self.shift[:0], self.scale[:0]
        return self.shift, self.scale

    @property
    def category_of(self) -> Ints:
        """0 for each word, as all are the levels of one category."""
        n = len(self.names) if self.kind == "words" else 0
        return np.zeros(n, dtype=np.intp)

    def encode(self, X: Any, missing: Any | None) -> Encoded:
        """Encode samples.

        Parameters
        ----------
        X : csr_array of shape (n, d)
            Values, with zeros for missing ones.
        missing : csr_array of shape (n, d) or None
            1 where a value is missing.

        Returns
        -------
        Encoded
            The values; numbers are standardized and dense.
        """
        n, d = X.shape
        log_base = np.zeros(n)
        if self.kind == "number":
            _check_size(X)
            gone = missing.toarray() > 0 if missing is not None else np.zeros((n, d), dtype=bool)
            Z = np.where(gone, 0.0, (X.toarray() - self.shift) / self.scale)
            log_base -= (~gone) @ (0.5 * LOG_2_PI + np.log(self.scale))
            return Encoded(sp.csr_array(Z), missing, log_base, [])
        X = X.astype(np.float64)
        if self.kind == "yes_no":
            _require(X, (X.data == 0) | (X.data == 1), "view_not_yes_no")
            return Encoded(X, missing, log_base, [])
        _require(X, (X.data >= 0) & (X.data == np.floor(X.data)), "view_not_counts")
        rows = np.repeat(np.arange(n), np.diff(X.indptr))
        log_base -= np.bincount(rows, gammaln(X.data + 1.0), minlength=n)
        if self.kind == "count":
            return Encoded(X, missing, log_base, [])
        if missing is not None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError("missing_word", row=row, column=str(self.names[column]))
        log_base += gammaln(np.asarray(X.sum(axis=1)) + 1.0)
        return Encoded(X, None, log_base, [])

    def decode(self, values: Floats) -> Any:
        """Return encoded samples, with numbers in their own units, as a matrix.

        Parameters
        ----------
        values : ndarray of shape (n, d)
            The values.

        Returns
        -------
        ndarray of shape (n, d)
            Floats for numbers, else integers.
        """
        return values if self.kind == "number" else values.astype(np.int64)


def _guessed(X: Any, missing: Any | None, weight: Floats) -> MatrixKind:
    data = X.data
    if ((data == 0) | (data == 1)).all():
        return "yes_no"
    whole = data.min(initial=0) >= 0 and (data == np.floor(data)).all()
    v = np.repeat(weight, np.diff(X.indptr))
    zeros = weight.sum() * X.shape[1] - v[data != 0].sum()
    zeros -= 0.0 if missing is None else float((missing.T @ weight).sum())
    if whole:
        at = np.unique(data[data != 0], return_inverse=True)[1]
        whole = zeros >= np.bincount(at, v[data != 0]).max(initial=0.0)
    if not whole:
        return "number"
    return "words" if X.shape[1] >= WORDS and missing is None else "count"


def _check_size(X: Any) -> None:
    bad = np.abs(X.data) > LARGEST
    if bad.any():
        raise InvalidDataError("huge_value", largest=LARGEST, **first_cell(X, bad))


def _require(X: Any, good: NDArray[np.bool_], code: str) -> None:
    if not good.all():
        raise InvalidDataError(code, **first_cell(X, ~good))

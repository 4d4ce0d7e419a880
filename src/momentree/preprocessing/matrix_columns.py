"""Encode a matrix whose columns are all of one kind, as statistics of a product family."""

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from momentree._types import Floats, Ints
from momentree._validation import first_cell
from momentree.backends import RowBlocks, in_canonical_order
from momentree.core.counts import are_counts
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.objects.gaussian import LOG_2_PI
from momentree.preprocessing import mixed_columns

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
    low, high : ndarray of shape (d,)
        Range of the numbers that are not too far from the others.
    total : float
        Mean sum of a row.
    """

    names: NDArray[np.object_]
    kind: str
    shift: Floats
    scale: Floats
    low: Floats
    high: Floats
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
            raise InvalidDataError(wording.ONE_ROW, n_rows=X.shape[0])
        ordered, at = in_canonical_order(RowBlocks(X), weight)
        X, weight = ordered.matrix, weight[at]
        missing = None if missing is None else missing[at]
        kind = _guess(X, missing, weight) if kind == "auto" else kind
        d, notes = X.shape[1], list[Message]()
        if missing is not None and len(empty := np.flatnonzero(missing.sum(axis=0) == X.shape[0])):
            raise InvalidDataError(
                wording.NEVER_OBSERVED, column=str(names[empty[0]]), n_columns=len(empty)
            )
        shift, scale = np.zeros(d), np.ones(d)
        low, high = np.full(d, -mixed_columns.LARGEST), np.full(d, mixed_columns.LARGEST)
        if kind == "number":
            _check_size(X)
            dense = _with_gaps(X, missing)
            for j, x in enumerate(dense.T):
                known = ~np.isnan(x)
                low[j], high[j] = mixed_columns.usual_range(x[known])
                known &= (x >= low[j]) & (x <= high[j])
                shift[j] = np.average(x[known], weights=weight[known])
                deviation = np.sqrt(np.average((x[known] - shift[j]) ** 2, weights=weight[known]))
                scale[j] = deviation if deviation > 1e-14 * np.abs(shift[j]) else 1.0
        total = float(weight @ X.sum(axis=1)) / float(weight.sum())
        return cls(np.asarray(names, dtype=object), kind, shift, scale, low, high, total), notes

    def check(self, n_columns: int) -> None:
        """Raise an error unless the parts describe the same columns, as files may not.

        Parameters
        ----------
        n_columns : int
            Number of columns.
        """
        sound = len(self.names) == n_columns and self.kind in get_args(MatrixKind)
        arrays = (self.shift, self.scale, self.low, self.high)
        sound = sound and all(array.shape == (n_columns,) for array in arrays)
        if not sound or not (self.scale > 0).all():
            raise InvalidDataError(wording.BAD_ENTRY, name="views_", value=self.kind)

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

    def encode(self, X: Any, missing: Any | None) -> mixed_columns.Encoded:
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
        n = X.shape[0]
        log_base = np.zeros(n)
        if self.kind == "number":
            _check_size(X)
            Z = _with_gaps(X, missing)
            far = (self.low > Z) | (self.high < Z)
            notes = [
                mixed_columns.far_numbers(str(self.names[j]), Z[:, j], far[:, j])
                for j in np.flatnonzero(far.any(axis=0))
            ]
            gone = far | np.isnan(Z)
            Z = np.where(gone, 0.0, (Z - self.shift) / self.scale)
            log_base -= (~gone) @ (0.5 * LOG_2_PI + np.log(self.scale))
            gaps = sp.csr_array(gone.astype(np.float64)) if gone.any() else None
            return mixed_columns.Encoded(sp.csr_array(Z), gaps, log_base, notes)
        X = X.astype(np.float64)
        if self.kind == "yes_no":
            _require(
                X,
                (X.data == 0) | (X.data == 1),
                "[view_not_yes_no] row {row}, column {column} of a view of the kind 'yes_no' is "
                "{value:g}; expected 0 or 1",
            )
            return mixed_columns.Encoded(X, missing, log_base, [])
        _require(
            X,
            (X.data >= 0) & (X.data == np.floor(X.data)),
            "[view_not_counts] row {row}, column {column} of a view of counts or words is "
            "{value:g}; expected a whole number of 0 or more; give the view the kind 'number' in "
            "{parameters.kinds}",
        )
        rows = np.repeat(np.arange(n), np.diff(X.indptr))
        log_base -= np.bincount(rows, gammaln(X.data + 1.0), minlength=n)
        if self.kind == "count":
            return mixed_columns.Encoded(X, missing, log_base, [])
        if missing is not None:
            row, column = (int(part[0]) for part in missing.nonzero())
            raise InvalidDataError(
                "row {row} of column {column!r} in a view of words is missing; replace it by 0, or "
                "use the kind 'count' in {parameters.kinds}",
                row=row,
                column=str(self.names[column]),
            )
        log_base += gammaln(np.asarray(X.sum(axis=1)) + 1.0)
        return mixed_columns.Encoded(X, None, log_base, [])

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


def _guess(X: Any, missing: Any | None, weight: Floats) -> MatrixKind:
    data = X.data
    if ((data == 0) | (data == 1)).all():
        return "yes_no"
    v = np.repeat(weight, np.diff(X.indptr))
    zeros = weight.sum() * X.shape[1] - v[data != 0].sum()
    zeros -= 0.0 if missing is None else float((missing.T @ weight).sum())
    values, at = np.unique(np.append(data, 0.0), return_inverse=True)
    times = np.bincount(at[:-1], v, minlength=len(values))
    times[values == 0] = zeros
    if not are_counts(values[times > 0], times[times > 0]):
        return "number"
    return "words" if X.shape[1] >= WORDS and missing is None else "count"


def _with_gaps(X: Any, missing: Any | None) -> Floats:
    """Return dense values, NaN if missing."""
    if missing is None:
        return np.asarray(X.toarray(), dtype=np.float64)
    return np.where(missing.toarray() > 0, np.nan, X.toarray())


def _check_size(X: Any) -> None:
    bad = np.abs(X.data) > mixed_columns.LARGEST
    if bad.any():
        raise InvalidDataError(
            wording.HUGE_VALUE, largest=mixed_columns.LARGEST, **first_cell(X, bad)
        )


def _require(X: Any, good: NDArray[np.bool_], code: str) -> None:
    if not good.all():
        raise InvalidDataError(code, **first_cell(X, ~good))

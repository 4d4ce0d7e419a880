"""Encode the columns of a table, of different kinds, as statistics of a product family."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, get_args

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from momentree._types import Floats, Ints
from momentree.core.choices import ColumnKind
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording
from momentree.objects.gaussian import LOG_2_PI
from momentree.preprocessing.column_kinds import guess_kind, values_of

FAR = 1e6
"""Numbers this many interquartile ranges from the median are errors or codes, not measurements."""
LARGEST = 1e100
"""Squares of larger numbers may overflow."""
WHOLE = 2.0**53
"""Larger whole numbers are not exact in double precision."""


@dataclass(frozen=True)
class Encoded:
    """Encoded samples.

    Attributes
    ----------
    X : csr_array of shape (n, d)
        Standardized numbers, yes/no, counts, and one column per level; zero where missing.
    missing : csr_array of shape (n, n_single) or None
        1 where a number, yes/no or count is missing.
    log_base : ndarray of shape (n,)
        The part of log P[x] that does not depend on parameters.
    notes : list of Message
        What was treated as missing.
    """

    X: Any
    missing: Any | None
    log_base: Floats
    notes: list[Message]


@dataclass(frozen=True)
class MixedColumns:
    """How the columns of a table become numbers.

    Attributes
    ----------
    names : ndarray of str of shape (n_columns,)
        Names of the columns.
    kinds : tuple of str
        Kind of each column; "" for one that is left out, because all its values are equal or
        missing.
    shift, scale : ndarray of shape (n_columns,)
        Mean and standard deviation of numbers; 0 and 1 for others.
    low, high : ndarray of shape (n_columns,)
        Range of the numbers that are not too far from the others.
    levels : tuple of ndarray of str
        Values of each column that is a category, ascending; empty for others.
    """

    names: NDArray[np.object_]
    kinds: tuple[str, ...]
    shift: Floats
    scale: Floats
    low: Floats
    high: Floats
    levels: tuple[NDArray[np.object_], ...]

    @classmethod
    def from_table(
        cls, table: pd.DataFrame, kinds: Mapping[str, str] | None, weight: Floats | None = None
    ) -> tuple[Self, list[Message]]:
        """Guess what is not given, and return notes on columns that are left out.

        Parameters
        ----------
        table : DataFrame
            The columns; names are strings.
        kinds : mapping of str to str or None
            Kinds of columns that are known; "auto", like a column not named, is guessed.
        weight : ndarray of shape (n,), default=None
            Weights of the rows; those of weight zero have no effect.

        Returns
        -------
        MixedColumns, list of Message
            The columns and the notes.
        """
        names = [str(name) for name in table.columns]
        given = dict(kinds or {})
        if unknown := [name for name in given if name not in names]:
            raise InvalidDataError(
                "[kind_of_no_column] {parameters.kinds} names column {column!r}, but the columns "
                "are {columns:all}",
                column=unknown[0],
                columns=names,
            )
        found: list[str] = []
        levels: list[NDArray[np.object_]] = []
        v = np.ones(len(table)) if weight is None else weight
        table, v = table.loc[v > 0], v[v > 0]
        if len(table) < 2:
            raise InvalidDataError(wording.ONE_ROW, n_rows=len(table))
        numbers, notes = np.zeros((4, len(names))), list[Message]()
        numbers[1], numbers[2], numbers[3] = 1.0, -LARGEST, LARGEST
        for i, name in enumerate(names):
            values = values_of(table.iloc[:, i], name)
            kind = given.get(name, "auto")
            if kind == "auto":
                kind = guess_kind(values, name, v)
            here = ~_absent(values)
            observed, times = values[here], v[here]
            if kind == "number":
                observed = _numbers(observed, name)
                if np.abs(observed).max(initial=0.0) > 0:
                    numbers[2:, i] = usual_range(observed)
                    inside = (observed >= numbers[2, i]) & (observed <= numbers[3, i])
                    numbers[:2, i] = _mean_and_deviation(observed[inside], times[inside])
            own = np.empty(0, dtype=object)
            if kind == "category":
                own = np.array(sorted(set(map(_text, observed))), dtype=object)
            different = len(own) if kind == "category" else len(np.unique(_plain(observed)))
            if different < 2:
                code = (
                    (
                        "[column_constant] column {column!r} has the same value in all rows and "
                        "was left out"
                    )
                    if different
                    else "[column_empty] column {column!r} has no values and was left out"
                )
                notes.append(Message(code, column=name))
                kind, own = "", own[:0]
            found.append(kind)
            levels.append(own)
        if not any(found):
            raise InvalidDataError(
                "[no_column_varies] none of the {found:~column} has two different values, so there "
                "are no groups to find",
                found=len(names),
            )
        columns = np.array(names, dtype=object)
        shift, scale, low, high = numbers
        return cls(columns, tuple(found), shift, scale, low, high, tuple(levels)), notes

    def of_kind(self, kind: ColumnKind) -> list[int]:
        """Return the positions of the columns of a kind.

        Parameters
        ----------
        kind : {"number", "yes_no", "count", "category"}
            The kind.

        Returns
        -------
        list of int
            Positions, ascending.
        """
        return [i for i, one in enumerate(self.kinds) if one == kind]

    @property
    def single(self) -> list[int]:
        """Positions of numbers, then yes/no, then counts."""
        return self.of_kind("number") + self.of_kind("yes_no") + self.of_kind("count")

    @property
    def labels(self) -> list[tuple[str, str, str]]:
        """Column, kind and level of each of the d encoded columns; level "" without levels."""
        single = [(str(self.names[i]), self.kinds[i], "") for i in self.single]
        return single + [
            (str(self.names[i]), "category", str(level))
            for i in self.of_kind("category")
            for level in self.levels[i]
        ]

    def check(self, n_columns: int) -> None:
        """Raise an error unless the parts describe the same columns, as files may not.

        Parameters
        ----------
        n_columns : int
            Number of columns.
        """
        sizes = [len(part) for part in (self.names, self.kinds, self.levels)]
        arrays = (self.shift, self.scale, self.low, self.high)
        sound = all(a.shape == (n_columns,) for a in arrays) and sizes == [n_columns] * 3
        sound = sound and all(
            (len(own) > 1) == (kind == "category")
            for own, kind in zip(self.levels, self.kinds, strict=True)
        )
        known = {"", *get_args(ColumnKind)}
        if not sound or not known.issuperset(self.kinds) or not (self.scale > 0).all():
            raise InvalidDataError(wording.BAD_ENTRY, name="columns_", value=self.kinds)

    @property
    def units(self) -> tuple[Floats, Floats]:
        """Shift and scale of the numbers."""
        numbers = self.of_kind("number")
        return self.shift[numbers], self.scale[numbers]

    @property
    def category_of(self) -> Ints:
        """Category of each level, from 0."""
        sizes = [len(self.levels[i]) for i in self.of_kind("category")]
        return np.repeat(np.arange(len(sizes)), sizes).astype(np.intp)

    def encode(self, table: pd.DataFrame) -> Encoded:
        """Encode samples.

        Parameters
        ----------
        table : DataFrame
            The columns of the fit, in the same order.

        Returns
        -------
        Encoded
            Values that no category has, and numbers too far from the others, count as missing.
        """
        n, notes = len(table), list[Message]()
        log_base, blocks, gaps = np.zeros(n), [], []
        for i in self.single:
            kind, name = self.kinds[i], str(self.names[i])
            values = values_of(table.iloc[:, i], name)
            x = _numbers(values, name)
            if kind == "number":
                far = (x < self.low[i]) | (x > self.high[i])
                if far.any():
                    notes.append(far_numbers(name, x, far))
                    x = np.where(far, np.nan, x)
                x = (x - self.shift[i]) / self.scale[i]
            elif kind == "yes_no":
                _require(
                    x,
                    (x == 0) | (x == 1),
                    name,
                    "[column_not_yes_no] row {row} of column {column!r} is {value:g}; expected 0 "
                    "or 1 in a column of the kind 'yes_no'; give it another kind in "
                    "{parameters.kinds}, or correct the value",
                )
            else:
                _require(
                    x,
                    (x >= 0) & (x == np.floor(x)) & (x <= WHOLE),
                    name,
                    "[column_not_counts] row {row} of column {column!r} is {value:g}; expected a "
                    "whole number of 0 or more in a column of the kind 'count'; give it the kind "
                    "'number' in {parameters.kinds}, or correct the value",
                )
            lost = np.isnan(x)
            x = np.where(lost, 0.0, x)
            if kind == "number":
                log_base -= (0.5 * LOG_2_PI + np.log(self.scale[i])) * ~lost
            elif kind == "count":
                log_base -= gammaln(x + 1.0)
            blocks.append(sp.csr_array(x[:, None]))
            gaps.append(lost)
        for i in self.of_kind("category"):
            name = str(self.names[i])
            block, unseen = _one_hot(values_of(table.iloc[:, i], name), self.levels[i])
            blocks.append(block)
            if some := sorted(unseen):
                notes.append(
                    Message(
                        "[unseen_levels] {found:~value} of column {column!r} did not occur in fit "
                        "and {found:?was/were} treated as missing: {levels:quoted list}",
                        column=name,
                        levels=some,
                        found=len(some),
                    )
                )
        X = sp.csr_array(sp.hstack(blocks, format="csr", dtype=np.float64))
        lost = np.array(gaps, dtype=bool).reshape(len(gaps), n).T
        return Encoded(X, sp.csr_array(lost.astype(float)) if lost.any() else None, log_base, notes)

    def decode(self, values: Floats) -> pd.DataFrame:
        """Return encoded samples, with numbers in their own units, as a table.

        Parameters
        ----------
        values : ndarray of shape (n, d)
            Numbers, yes/no, counts, and one column per level.

        Returns
        -------
        DataFrame
            The columns that are not left out.
        """
        drawn: dict[int, Any] = {}
        for at, i in enumerate(self.single):
            x = values[:, at]
            drawn[i] = x if self.kinds[i] == "number" else x.astype(np.int64)
        at = len(self.single)
        for i in self.of_kind("category"):
            own = values[:, at : at + len(self.levels[i])]
            drawn[i] = self.levels[i][own.argmax(axis=1)]
            at += len(self.levels[i])
        return pd.DataFrame({str(self.names[i]): drawn[i] for i in sorted(drawn)})


def _absent(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where values are missing."""
    return np.asarray(values == None if values.dtype == object else np.isnan(values))  # noqa: E711


def numbers_of(column: Any, name: str) -> Floats:
    """Return the numbers of a column of a data frame, NaN where missing, or raise an error.

    Parameters
    ----------
    column : Series
        The column.
    name : str
        Its name, for messages.

    Returns
    -------
    ndarray of shape (n,)
        The numbers.
    """
    return _numbers(values_of(column, name), name)


def _plain(values: NDArray[Any]) -> NDArray[Any]:
    return values.astype(str) if values.dtype == object else values


def _numbers(values: NDArray[Any], name: str) -> Floats:
    """Return the numbers of a column, or raise an error if it contains texts."""
    if values.dtype != object:
        if np.nanmax(np.abs(values), initial=0.0) > LARGEST:
            row = int(np.nanargmax(np.abs(values)))
            raise InvalidDataError(
                "row {row} of column {column!r} is {value:g}; expected numbers up to {largest:g}: "
                "correct it, or give the column in a larger unit",
                column=name,
                row=row,
                value=float(values[row]),
                largest=LARGEST,
            )
        return values
    texts = values[values != None]  # noqa: E711
    if not len(texts):
        return np.full(len(values), np.nan)
    for text in texts:
        try:
            float(text)
        except ValueError:
            raise InvalidDataError(
                "[text_among_numbers] column {column!r} is a number, a yes/no or a count, but "
                "contains the text {value!r}; correct it, or give the column the kind 'category' "
                "in {parameters.kinds}",
                column=name,
                value=str(text),
            ) from None
    return np.array([np.nan if x is None else float(x) for x in values])


def _text(value: Any) -> str:
    """Return a value of a category as text; whole numbers without a decimal point."""
    if isinstance(value, float):
        return str(int(value)) if value == int(value) and abs(value) < WHOLE else repr(float(value))
    return str(value)


def _one_hot(values: NDArray[Any], levels: NDArray[np.object_]) -> tuple[Any, set[str]]:
    """Return one column per level, and the values that are no level."""
    known = {level: at for at, level in enumerate(levels)}
    absent, unseen = _absent(values), set[str]()
    at = np.full(len(values), -1, dtype=np.intp)
    for row in np.flatnonzero(~absent):
        text = _text(values[row])
        at[row] = known.get(text, -1)
        if at[row] < 0:
            unseen.add(text)
    rows = np.flatnonzero(at >= 0)
    shape = (len(values), len(levels))
    return sp.csr_array((np.ones(len(rows)), (rows, at[rows])), shape=shape), unseen


def _require(x: Floats, good: NDArray[np.bool_], name: str, code: str) -> None:
    bad = np.flatnonzero(~good & ~np.isnan(x))
    if len(bad):
        raise InvalidDataError(code, column=name, row=int(bad[0]), value=float(x[bad[0]]))


def usual_range(x: Floats) -> tuple[float, float]:
    """Return the range outside of which numbers are too far from the others.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Known values of a column.

    Returns
    -------
    low, high : float
        Its ends.
    """
    low, middle, high = np.quantile(x, [0.25, 0.5, 0.75])
    if not high > low:
        return -LARGEST, LARGEST
    return float(middle - FAR * (high - low)), float(middle + FAR * (high - low))


def far_numbers(name: str, x: Floats, far: NDArray[np.bool_]) -> Message:
    """Return the note on numbers that are too far from the others.

    Parameters
    ----------
    name : str
        Name of the column.
    x : ndarray of shape (n,)
        Its values.
    far : ndarray of bool of shape (n,)
        Which of them are too far.

    Returns
    -------
    Message
        The note.
    """
    value = float(x[np.flatnonzero(far)[0]])
    return Message(
        "[numbers_too_far] {found:~value} of column {column!r}, such as {value:g}, {found:?is/are} "
        "more than a million interquartile ranges from the median and {found:?was/were} treated as "
        "missing; correct such errors or codes",
        column=name,
        found=int(far.sum()),
        value=value,
    )


def _mean_and_deviation(x: Floats, weight: Floats) -> tuple[float, float]:
    at = np.lexsort((weight, x))  # sums have the same bits for any order of the rows
    x, weight = x[at], weight[at]
    v = weight / weight.sum()
    mean = float(v @ x)
    deviation = float(np.sqrt(v @ (x - mean) ** 2))
    return mean, deviation if deviation > 1e-14 * abs(mean) and deviation > 1e-100 else 1.0

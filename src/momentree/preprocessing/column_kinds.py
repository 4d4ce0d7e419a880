"""Kinds of the columns of a table: numbers, yes/no, counts and categories."""

import datetime
from collections.abc import Mapping
from numbers import Number
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Floats
from momentree.core import choices, counts
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import wording

_CELL_NOT_A_VALUE = (
    "[cell_not_a_value] column {column!r} contains neither numbers nor texts ({error}); convert or "
    "remove it"
)


FEW_VALUES, ROWS_PER_VALUE = 10, 10
"""At most this many different whole numbers, each so often on average, are categories."""
FEW_TEXTS = 20
"""More different texts than this are an identifier if most rows have one of their own."""


def check_kinds(kinds: object) -> None:
    """Check that the parameter `kinds` is "auto" or maps columns to kinds.

    Parameters
    ----------
    kinds : "auto" or mapping of column to kind
        The parameter.

    Raises
    ------
    InvalidParameterError
        If it is anything else.
    """
    known = (*get_args(choices.ColumnKind), "auto")
    if isinstance(kinds, str) and kinds == "auto":
        return
    if not isinstance(kinds, Mapping):
        raise InvalidParameterError(
            "[not_kinds] {parameters.kinds:=value}; expected 'auto', or a mapping of columns to "
            "{choices:quoted or}",
            value=kinds,
            choices=known,
        )
    for column, kind in kinds.items():
        if not isinstance(kind, str) or kind not in known:
            raise InvalidParameterError(
                "[not_a_kind] the kind of column {column} is {value!r}; expected {choices:quoted "
                "or}",
                column=str(column),
                value=str(kind),
                choices=known,
            )


def values_of(column: Any, name: str) -> NDArray[Any]:
    """Return the values of a column: float64 with NaN if all are numbers, else objects.

    Parameters
    ----------
    column : Series
        A column of a data frame.
    name : str
        Its name, for messages.

    Returns
    -------
    ndarray of shape (n,)
        Numbers, or strings and None where a value is missing.

    Raises
    ------
    InvalidDataError
        If the column contains dates, infinite numbers, or objects that are not texts or numbers.
    """
    if getattr(column.dtype, "kind", "") in "MmcV":
        raise InvalidDataError(wording.COLUMN_NOT_NUMERIC, column=name, type=str(column.dtype))
    if pd.api.types.is_bool_dtype(column.dtype) or pd.api.types.is_numeric_dtype(column.dtype):
        found = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        given = column.to_numpy(dtype=object)
        try:
            codes, unique = pd.factorize(given)
        except TypeError as error:  # such as a list
            raise InvalidDataError(_CELL_NOT_A_VALUE, column=name, error=str(error)) from error
        for value in unique:
            _check_value(value, name)
        # A blank text is a missing value, as in a file.
        blank = np.array([isinstance(x, str) and not x.strip() for x in unique], dtype=bool)
        absent = (codes < 0) | (blank[codes] if len(unique) else True)
        numbers = _as_numbers(unique, blank)
        if numbers is None:
            texts = np.array([*map(str, unique), None], dtype=object)
            found = texts[codes]
            found[absent] = None
            return np.asarray(found)
        found = np.where(absent, np.nan, np.append(numbers, np.nan)[codes])
    if (infinite := np.flatnonzero(np.isinf(found))).size:
        raise InvalidDataError(
            "[infinite_in_column] row {row} of column {column!r} is {value:g}; replace infinite "
            "values, or leave them empty if they are missing",
            column=name,
            row=int(infinite[0]),
            value=float(found[infinite[0]]),
        )
    return np.asarray(found)


def _check_value(value: Any, name: str) -> None:
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64):
        raise InvalidDataError(wording.COLUMN_NOT_NUMERIC, column=name, type=type(value).__name__)
    if isinstance(value, complex) or not isinstance(value, str | bytes | Number | np.generic):
        error = f"argument must be a string or a number, not {type(value).__name__}"
        raise InvalidDataError(_CELL_NOT_A_VALUE, column=name, error=error)


def _as_numbers(unique: Any, blank: NDArray[np.bool_]) -> Floats | None:
    """Return objects as numbers, or None if one is not; digits in texts are numbers too."""
    numbers = np.full(len(unique), np.nan)
    for i in np.flatnonzero(~blank):
        value = unique[i]
        if isinstance(value, bytes):
            return None
        try:
            numbers[i] = float(value)
        except ValueError:
            return None
    return numbers


def guess_kind(values: NDArray[Any], name: str, weight: Floats | None = None) -> choices.ColumnKind:
    """Guess the kind of a column from its values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Result of :func:`values_of`.
    name : str
        Name of the column, for messages.
    weight : ndarray of shape (n,), default=None
        Weights of the rows; a weight of 2 counts as two rows.

    Returns
    -------
    {"number", "yes_no", "count", "category"}
        The first rule that applies:

        1. Only 0 and 1, or False and True: "yes_no".
        2. Texts, or two different numbers: "category".
        3. Whole numbers with a mean of at most 10 that may be Poisson variables of one mean or of
           several: none is negative, their variance is about their mean or more, and they do not
           end abruptly, as scales do: "count".
        4. Whole numbers with at most ten different values, each ten times on average: "category".
        5. Other numbers: "number".

    Raises
    ------
    InvalidDataError
        If texts are an identifier or free: more than 20 different ones, in more than half of the
        rows that have one.
    """
    if values.dtype == object:
        texts = values[values != None]  # noqa: E711 - elementwise
        different = len(set(texts))
        if different > FEW_TEXTS and 2 * different > len(texts):
            raise InvalidDataError(
                "[column_of_identifiers] column {column!r} has {found:,} different texts in "
                "{n_rows:~row}, like names, identifiers or free text, which form no groups; remove "
                "it, or give it the kind 'category' in {parameters.kinds}",
                column=name,
                found=different,
                n_rows=len(texts),
            )
        return "category"
    here = ~np.isnan(values)
    unique, at = np.unique(values[here], return_inverse=True)
    times = np.bincount(at, None if weight is None else weight[here], minlength=len(unique))
    if len(unique) == 2:
        return "yes_no" if tuple(unique) == (0.0, 1.0) else "category"
    if len(unique) < 2 or (unique != np.floor(unique)).any():
        return "number"
    if counts.are_counts(unique, times):
        return "count"
    few = len(unique) <= FEW_VALUES and times.sum() >= ROWS_PER_VALUE * len(unique)
    return "category" if few else "number"

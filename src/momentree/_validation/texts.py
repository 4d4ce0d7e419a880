"""Recognize texts among the data given to an estimator, and check them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MappingView, Sequence, Set
from typing import Any

import numpy as np

from momentree.exceptions import EmptyCorpusError, InvalidDataError
from momentree.messages import Message

_NUMERIC = "biufcmM"
_AS_LIST = ("tolist", "to_list", "to_pylist")
"""Methods of columns in NumPy and pandas, Polars and PyArrow."""


def texts_of(X: Any) -> list[str] | None:
    """Return texts as a list of strings; None if X is anything else, such as a table of counts.

    Texts are a list, a tuple, a one-dimensional array, a column or a data frame of one column, with
    at least one string, or ``Documents``; those without an entry give an empty list. The code is
    ``text_not_a_string`` if another entry is no string, ``lists_of_words`` for texts that are
    already split, ``one_string`` for a single string, ``not_listed`` for collections without a
    fixed order or length and ``texts_in_dask`` for a column of strings in Dask.
    """
    if isinstance(X, str | bytes):
        raise InvalidDataError("one_string")
    if isinstance(X, Iterator | Mapping | MappingView | Set):
        raise InvalidDataError("not_listed", type=type(X).__name__)
    entries = _entries(X)
    if entries is None:
        return None
    if not len(entries):
        return []
    if not any(isinstance(entry, str | bytes) or entry is None for entry in entries):
        first = entries[0]
        if isinstance(first, list | tuple) and any(isinstance(word, str) for word in first):
            raise InvalidDataError("lists_of_words")
        return None
    return _strings(entries)


def check_texts(texts: Any) -> list[str]:
    """Return texts as a list of strings, after checking that there is at least one."""
    if isinstance(texts, str | bytes):
        raise InvalidDataError("one_string")
    entries = None if isinstance(texts, Mapping) else _entries(texts)
    if entries is None:
        raise InvalidDataError("texts_not_a_column", type=type(texts).__name__)
    if not len(entries):
        raise EmptyCorpusError("no_documents")
    return _strings(entries)


def _entries(X: Any) -> Sequence[Any] | None:
    """Return the entries of a list or column, or of a table with one; None for anything else."""
    if isinstance(X, list | tuple):
        return X
    if hasattr(X, "__dask_graph__"):
        if _is_column_of_strings(X):
            raise InvalidDataError("texts_in_dask")
        return None
    if hasattr(X, "texts") and hasattr(X, "ids") and not hasattr(X, "vocabulary"):
        return list(X.texts)  # Documents
    if hasattr(X, "columns"):
        names = list(getattr(X, "column_names", X.columns))  # PyArrow and others
        return _entries(X[names[0]]) if len(names) == 1 else None
    if isinstance(X, np.ndarray):
        X = X[:, 0] if X.ndim == 2 and X.shape[1] == 1 else X
        return X.tolist() if X.ndim == 1 and X.dtype.kind not in _NUMERIC else None
    if getattr(getattr(X, "dtype", None), "kind", "O") in _NUMERIC:
        return None
    for method in _AS_LIST:
        if hasattr(X, method):
            found = getattr(X, method)()
            return found if isinstance(found, list) else None
    return list(X) if isinstance(X, Sequence) else None


def _is_column_of_strings(X: Any) -> bool:
    """Whether a Dask collection, which is not computed, has one column, and not of numbers."""
    shape = getattr(X, "shape", None)
    if not isinstance(shape, tuple) or (len(shape) == 2 and shape[1] != 1):
        return False
    dtype = X.dtypes.iloc[0] if hasattr(X, "columns") and len(shape) == 2 else X.dtype
    return getattr(dtype, "kind", "O") not in _NUMERIC


def _strings(entries: Sequence[Any]) -> list[str]:
    for place, entry in enumerate(entries):
        if not isinstance(entry, str):
            raise InvalidDataError(
                "text_not_a_string",
                place=place,
                type=type(entry).__name__,
                remedy=Message(_remedy(entry)),
            )
    return list(entries)


def _remedy(entry: Any) -> str:
    if isinstance(entry, bytes):
        return "decode_text"
    if isinstance(entry, list | tuple | np.ndarray):
        return "join_words"
    missing = entry is None or type(entry).__name__ in ("NAType", "NaTType")
    missing = missing or (isinstance(entry, float | np.floating) and bool(np.isnan(entry)))
    return "fill_text" if missing else "make_string"

"""What states belong to: names of columns, digests, and differences in words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._validation import check_integer
from momentree.exceptions import InvalidDataError

_WORDS = {"third": "the last round", "n_iter": "step of EM", "last": "log-likelihood before"}


def setting_differences(mine: Mapping[str, Any], others: Mapping[str, Any]) -> list[str]:
    """Say which settings differ, with the values of both."""
    return [
        f"{_WORDS.get(name, name)}: {_shown(value)} and {_shown(others.get(name))}"
        for name, value in mine.items()
        if value != others.get(name)
    ]


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def column_names(columns: Any) -> NDArray[Any]:
    """Return the names of columns, or numbers as names, after checking them."""
    if np.ndim(columns) == 0:
        check_integer("columns", columns, at_least=1)
        return np.arange(columns).astype(str).astype(object)
    names = np.array([str(name) for name in columns], dtype=object)
    if not len(names):
        raise InvalidDataError("no_columns_in_state")
    unique, counts = np.unique(names.astype(str), return_counts=True)
    if len(unique) < len(names):
        raise InvalidDataError("word_repeated", word=str(unique[counts.argmax()]))
    return names


def column_difference(mine: NDArray[Any], others: NDArray[Any]) -> str:
    """Say in what two lists of names differ."""
    known, wanted = set(mine), set(others)
    missing = [str(name) for name in others if name not in known]
    more = [str(name) for name in mine if name not in wanted]
    if not missing and not more:
        return "columns: the same ones in another order"
    parts = [f"columns: {len(mine):,} and {len(others):,}"]
    parts += [f"only the first has {more[0]!r}"] if more else []
    parts += [f"only the second has {missing[0]!r}"] if missing else []
    return ", ".join(parts)


def digest(start: bytes, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 digest of text and of named arrays, in 32 hexadecimal digits."""
    found = hashlib.sha256(start)
    for name, array in arrays.items():
        found.update(f"{name}{array.shape}".encode())
        found.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return found.hexdigest()[:32]

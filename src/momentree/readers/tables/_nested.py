"""Nested JSON as rows and columns: find the list of objects, and name their fields with dots."""

from __future__ import annotations

import json
from typing import Any

_DEEPEST = 30
"""Levels of nesting that get columns of their own."""
_WRAPPED = 3
"""Levels of nesting at which rows are looked for."""
_MOST = 0.5


def unwrap(value: Any, depth: int = 0) -> tuple[str, list[Any]]:
    """Return the rows of a JSON value, and the name of the field that contains them.

    A list contains one row per entry. An object contains rows if a list of objects is most of its
    content, as in the answer of a web service; if its fields are lists of equal length, one per
    column; or if its fields are objects, one per row or, as pandas writes them, per column.
    Otherwise it is one row.
    """
    if isinstance(value, list):
        return "", value
    if not isinstance(value, dict) or not value:
        return "", [value]
    fields = list(value.values())
    if len(fields) > 1 and all(isinstance(field, dict) and field for field in fields):
        rows = _of_objects(value)
        if rows:
            return "", rows
    lengths = {len(field) if isinstance(field, list) else -1 for field in fields}
    if len(lengths) == 1 and lengths.isdisjoint({-1, 0, 1}) and not _objects(fields[0]):
        return "", [dict(zip(value, row, strict=True)) for row in zip(*fields, strict=True)]
    sizes = {key: _size(field) for key, field in value.items()}
    largest = max(sizes, key=lambda key: sizes[key])
    if sizes[largest] < _MOST * sum(sizes.values()):
        return "", [value]
    inside = value[largest]
    if _objects(inside):
        return largest, inside
    if isinstance(inside, dict) and depth < _WRAPPED:
        key, rows = unwrap(inside, depth + 1)
        if key:
            return f"{largest}.{key}", rows
    return "", [value]


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _of_objects(value: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows from an object of objects; none if they have no field in common."""
    first, *others = (list(field) for field in value.values())
    if all(other == first for other in others) and all(key.isdigit() for key in first):
        return [{name: field[key] for name, field in value.items()} for key in first]
    if set(first).intersection(*others):
        return [{"id": key, **field} for key, field in value.items()]
    return []


def _size(value: Any) -> int:
    try:
        return len(json.dumps(value))
    except RecursionError:
        return 0


def flatten(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object with nested fields named with dots: "article.body".

    The fields of a list of objects are lists.
    """
    if not any(isinstance(one, dict | list) for one in value.values()):
        return value
    found: dict[str, list[Any]] = {}
    for key, one in value.items():
        _collect(one, key, found, 1)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _collect(value: Any, name: str, found: dict[str, list[Any]], depth: int) -> None:
    if isinstance(value, dict) and depth < _DEEPEST:
        for key, one in value.items():
            _collect(one, f"{name}.{key}", found, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST and _objects(value):
        for one in value:
            _collect(one, name, found, depth + 1)
    else:
        found.setdefault(name, []).append(value)

"""Read JSON Lines, one object per line, or a JSON file: a list of objects, or an object."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from momentree.exceptions import ReadError
from momentree.messages import Message, wording
from momentree.readers.tables import files, grid

_MAX_DEPTH = 30
"""Levels of nesting that get columns of their own."""
_WRAPPED = 3
"""Levels of nesting at which rows are looked for."""
_MIN_SHARE = 0.5
"""Part of an object that its rows take up, in characters."""


def open_json_lines(path: Path, *, encoding: files.Encoding, between: str) -> grid.Source:
    """Open a file and read its first objects; `between` separates the entries of lists."""
    notes: list[Message] = []
    with files.open_text(path, encoding) as file:
        first = list(islice(_objects(path, file, notes), grid.SAMPLE_ROWS))
    rows = [row for _, row in first]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [_cell(row.get(name), between) for row in rows] for name in names}
    values = {name: [row[name] for row in rows if row.get(name) is not None] for name in names}
    kinds = {
        name: _kind(cells[0])
        for name, cells in values.items()
        if cells and not any(map(_is_text, cells))
    }
    head = grid.Table(
        path, columns, len(rows), lambda row: first[row][0],
        kinds=kinds, notes=notes, complete=len(rows) < grid.SAMPLE_ROWS,
    )  # fmt: skip

    def batches(wanted: Sequence[str]) -> Iterator[grid.Table]:
        seen, above = set(names), 0
        with files.open_text(path, encoding) as file:
            objects = (value for _, value in _objects(path, file, []))
            while block := list(islice(objects, grid.rows_of_part(head.row_size))):
                seen.update(*block)
                cells = {
                    name: [_cell(value.get(name), between) for value in block]
                    for name in wanted
                    if name in seen
                }
                yield grid.Table(
                    path, cells, len(block), partial(grid.numbered_rows, above), kinds=kinds
                )
                above += len(block)

    return grid.Source(head, batches)


def _objects(
    path: Path, file: TextIO, notes: list[Message]
) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Yield the objects of a file, each with its line or its position in the list."""
    lines = ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    first = list(islice(lines, 2))
    if first and _is_whole(first[0][1], alone=len(first) == 1):
        origin = Message(wording.AT_LINE, line=first[0][0])
        value = _parse(path, origin, "".join(line for _, line in first) + file.read())
        yield from _entries(path, origin, value, notes)
        return
    for number, line in chain(first, lines):
        origin = Message(wording.AT_LINE, line=number)
        yield _checked(path, origin, _parse(path, origin, line))


def _is_whole(line: str, *, alone: bool) -> bool:
    """Return whether a file contains one value, given its first line, not one in each line."""
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return line.lstrip().startswith("[") or error.pos >= len(line.rstrip())
    except (RecursionError, ValueError):
        return False
    return alone


def _entries(
    path: Path, origin: Message, value: Any, notes: list[Message]
) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Yield the objects of one value."""
    key, entries = unwrap(value)
    if key:
        notes.append(
            Message(
                "[json_entries] read the {n_rows:~object} in field {key!r} of {source}",
                source=path.name,
                key=key,
                n_rows=len(entries),
            )
        )
    for item, entry in enumerate(entries, start=1):
        place = (
            Message("[at_item] item {item:,}", item=item)
            if key or isinstance(value, list)
            else origin
        )
        is_text = isinstance(entry, str) and isinstance(value, list)
        yield _checked(path, place, {"text": entry} if is_text else entry)


def _checked(path: Path, origin: Message, value: Any) -> tuple[Message, dict[str, Any]]:
    if not isinstance(value, dict):
        raise ReadError(
            "[not_an_object] {path}, {origin}, is of type {found}; expected one JSON object per "
            'line, such as {{"text": "..."}}',
            path=str(path),
            origin=origin,
            found=_kind(value),
        )
    return origin, flatten(value)


def _parse(path: Path, origin: Message, text: str) -> Any:
    try:
        return json.loads(text)
    except (RecursionError, ValueError) as error:  # no JSON, nested too deeply, or a long number
        raise ReadError(
            "[not_json] {path}, {origin}, is not JSON: {details}",
            path=str(path),
            origin=origin,
            details=str(error),
        ) from error


def _is_text(value: Any) -> bool:
    """Return whether a value is a string, or a list of strings such as paragraphs."""
    return isinstance(value, str) or (
        isinstance(value, list) and {type(entry) for entry in value} == {str}
    )


def _cell(value: Any, between: str) -> str:
    text = grid.as_written(value, between)
    # Only JSON can contain half of a surrogate pair.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _kind(value: Any) -> str:
    kinds = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")


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
        rows = _rows_of_objects(value)
        if rows:
            return "", rows
    lengths = {len(field) if isinstance(field, list) else -1 for field in fields}
    if len(lengths) == 1 and lengths.isdisjoint({-1, 0, 1}) and not _are_objects(fields[0]):
        return "", [dict(zip(value, row, strict=True)) for row in zip(*fields, strict=True)]
    sizes = {key: _size(field) for key, field in value.items()}
    largest = max(sizes, key=lambda key: sizes[key])
    if sizes[largest] < _MIN_SHARE * sum(sizes.values()):
        return "", [value]
    inside = value[largest]
    if _are_objects(inside):
        return largest, inside
    if isinstance(inside, dict) and depth < _WRAPPED:
        key, rows = unwrap(inside, depth + 1)
        if key:
            return f"{largest}.{key}", rows
    return "", [value]


def _are_objects(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _rows_of_objects(value: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
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
    if not any(isinstance(field, dict | list) for field in value.values()):
        return value
    fields: dict[str, list[Any]] = {}
    for key, field in value.items():
        _collect(field, key, fields, 1)
    return {name: values[0] if len(values) == 1 else values for name, values in fields.items()}


def _collect(value: Any, name: str, fields: dict[str, list[Any]], depth: int) -> None:
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for key, field in value.items():
            _collect(field, f"{name}.{key}", fields, depth + 1)
    elif depth < _MAX_DEPTH and _are_objects(value):
        for entry in value:
            _collect(entry, name, fields, depth + 1)
    else:
        fields.setdefault(name, []).append(value)

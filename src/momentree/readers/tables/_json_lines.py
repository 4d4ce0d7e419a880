"""Read JSON Lines, one object per line, or a JSON file: a list of objects, or an object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from momentree.core.limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables._encodings import Encoding
from momentree.readers.tables._nested import flatten, unwrap
from momentree.readers.tables.files import open_text
from momentree.readers.tables.table import (
    SAMPLE_ROWS,
    Source,
    Table,
    as_written,
    is_part,
)


def open_json_lines(path: Path, *, encoding: Encoding, between: str) -> Source:
    """Open a file and read its first objects; `between` separates the entries of lists."""
    notes: list[Message] = []
    with open_text(path, encoding) as file:
        first = list(islice(_objects(path, file, notes), SAMPLE_ROWS))
    names = list(dict.fromkeys(name for _, one in first for name in one))
    columns = {name: [_cell(one.get(name), between) for _, one in first] for name in names}
    kinds = {
        name: _kind(values[0])
        for name in names
        if (values := [one[name] for _, one in first if one.get(name) is not None])
        and not any(map(_is_text, values))
    }
    head = Table(
        path,
        columns,
        len(first),
        lambda row: first[row][0],
        kinds=kinds,
        notes=notes,
        complete=len(first) < SAMPLE_ROWS,
    )

    def parts(wanted: Sequence[str]) -> Iterator[Table]:
        seen = set(names)
        above = 0
        with open_text(path, encoding) as file:
            objects = (one for _, one in _objects(path, file, []))
            while True:
                cells: dict[str, list[str]] = {name: [] for name in wanted}
                n_rows = size = 0
                for one in objects:
                    seen.update(one)
                    n_rows += 1
                    for name, column in cells.items():
                        column.append(_cell(one.get(name), between))
                        size += len(column[-1])
                    if is_part(n_rows, size):
                        break
                found = {name: column for name, column in cells.items() if name in seen}
                yield Table(path, found, n_rows, partial(_origin, above), kinds=kinds)
                above += n_rows
                if not is_part(n_rows, size):
                    return

    def read(wanted: Sequence[str]) -> Table:
        cells: dict[str, list[str]] = {name: [] for name in wanted}
        n_rows = 0
        for part in parts(wanted):
            for name, column in cells.items():
                column += part.columns.get(name, [""] * part.n_rows)
            n_rows += part.n_rows
            check_memory(path, n_rows * BYTES_PER_ROW)
            found = {name: column for name, column in cells.items() if name in part.columns}
        return Table(path, found, n_rows, partial(_origin, 0), kinds=kinds)

    return Source(head, read, parts)


def _origin(above: int, row: int) -> Message:
    return Message("at_row", row=above + row + 1)


def _objects(
    path: Path, file: TextIO, notes: list[Message]
) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Yield the objects of a file, each with its line or its position in the list."""
    lines = ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    second = next(lines, None)
    value = _whole(path, *first, second, file)
    if value is not None:
        yield from _entries(path, Message("at_line", line=first[0]), value, notes)
        return
    for number, line in chain([first], [second] if second else [], lines):
        at = Message("at_line", line=number)
        yield _checked(path, at, _parse(path, at, line))


def _whole(path: Path, number: int, line: str, second: tuple[int, str] | None, file: TextIO) -> Any:
    """Return the value that a file contains; None if each line contains one, as the first does."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        if not line.lstrip().startswith("[") and error.pos < len(line.rstrip()):
            return None
    except (RecursionError, ValueError):
        return None
    else:
        return value if second is None else None
    # A list or an object over several lines.
    between = "\n" * (second[0] - number - 1) if second else ""
    rest = between + second[1] + file.read() if second else ""
    return _parse(path, Message("at_line", line=number), line + rest)


def _entries(
    path: Path, at: Message, value: Any, notes: list[Message]
) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Yield the objects of one value."""
    key, found = unwrap(value)
    if key:
        notes.append(Message("json_entries", source=path.name, key=key, n_rows=len(found)))
    for item, one in enumerate(found, start=1):
        where = Message("at_item", item=item) if key or isinstance(value, list) else at
        is_text = isinstance(one, str) and isinstance(value, list)
        yield _checked(path, where, {"text": one} if is_text else one)


def _checked(path: Path, at: Message, value: Any) -> tuple[Message, dict[str, Any]]:
    if not isinstance(value, dict):
        raise ReadError("not_an_object", path=str(path), origin=at, found=_kind(value))
    return at, flatten(value)


def _parse(path: Path, at: Message, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ReadError(
            "not_json",
            path=str(path),
            origin=at,
            details=error.msg,
            character=error.pos + 1,
            excerpt=text[max(0, error.pos - 10) : error.pos + 20].strip(),
        ) from error
    except (RecursionError, ValueError) as error:  # nested too deeply; number too long
        raise ReadError("unusual_json", path=str(path), origin=at, details=str(error)) from error


def _is_text(value: Any) -> bool:
    """Return whether a value is a string, or a list of strings such as paragraphs."""
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
    )


def _cell(value: Any, between: str) -> str:
    text = as_written(value, between)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which only JSON can contain
            text = text.encode("utf-8", "replace").decode()
    return text


def _kind(value: Any) -> str:
    kinds = {dict: "object", list: "list", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")

"""Read JSON Lines, one object per line, or a JSON list of objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from momentree._limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.files import open_text
from momentree.readers.tables.table import SAMPLE_ROWS, Source, Table, as_written


def open_json_lines(path: Path, *, encoding: str, between: str) -> Source:
    """Open a file and read its first objects; `between` separates the entries of lists."""
    with open_text(path, encoding) as file:
        first = list(islice(_objects(path, file), SAMPLE_ROWS))
    names = list(dict.fromkeys(name for _, one in first for name in one))
    columns = {name: [_cell(one.get(name), between) for _, one in first] for name in names}
    kinds = {
        name: _kind(values[0])
        for name in names
        if (values := [one[name] for _, one in first if one.get(name) is not None])
        and not any(isinstance(value, str) for value in values)
    }
    head = Table(
        path,
        columns,
        len(first),
        lambda row: first[row][0],
        kinds=kinds,
        complete=len(first) < SAMPLE_ROWS,
    )

    def read(wanted: Sequence[str]) -> Table:
        cells: dict[str, list[str]] = {name: [] for name in wanted}
        seen = set(names)
        n_rows = 0
        with open_text(path, encoding) as file:
            for _, one in _objects(path, file):
                if n_rows % 65_536 == 0:
                    check_memory(path, n_rows * BYTES_PER_ROW)
                seen.update(one)
                n_rows += 1
                for name, column in cells.items():
                    column.append(_cell(one.get(name), between))
        found = {name: column for name, column in cells.items() if name in seen}
        return Table(path, found, n_rows, lambda row: Message("at_row", row=row + 1), kinds=kinds)

    return Source(head, read)


def _objects(path: Path, file: TextIO) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Yield the objects of a file, each with its line or its position in the list."""
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        at = Message("at_line", line=number)
        if number == 1 and line.lstrip().startswith("["):
            for item, value in enumerate(_parse(path, at, line + file.read()), start=1):
                yield _checked(path, Message("at_item", item=item), value)
            return
        yield _checked(path, at, _parse(path, at, line))


def _checked(path: Path, at: Message, value: Any) -> tuple[Message, dict[str, Any]]:
    if not isinstance(value, dict):
        raise ReadError("not_an_object", path=str(path), origin=at, found=_kind(value))
    return at, value


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

"""Read documents from JSON Lines, one object a line, or from a JSON list of objects."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from momentree.exceptions import ReadError
from momentree.readers.tables.files import open_text
from momentree.readers.text.columns import SAMPLE_ROWS, Columns, choose_columns, listed
from momentree.readers.text.gather import Gatherer
from momentree.readers.text.objects import Documents

__all__ = ["read_json_lines"]

Record = tuple[int, dict[str, Any]]


def read_json_lines(
    path: Path,
    *,
    text_column: str | None,
    label_column: str | None,
    id_column: str | None,
    encoding: str,
) -> Documents:
    """Read documents from a file of JSON objects.

    Parameters
    ----------
    path : Path
        The file, one object a line or one list of objects, plain or compressed by gzip.
    text_column, label_column, id_column : str or None
        Fields of the objects; see :func:`read_documents`.
    encoding : str
        Encoding of the file.

    Returns
    -------
    Documents
        In the order of the file.

    Raises
    ------
    ReadError
        If a line is not a JSON object (with its number), or a field is in no object.
    EmptyCorpusError
        If there is not one object.
    """
    with open_text(path, encoding) as file:
        records = _records(path, file)
        first = list(itertools.islice(records, SAMPLE_ROWS))
        names = list(dict.fromkeys(name for _, record in first for name in record))
        sample = {name: [record.get(name) for _, record in first] for name in names}
        # A field may first show after the sample: then its name is taken on trust, and missed
        # by name at the end if no object has it.
        asked = [n for n in (text_column, label_column, id_column) if n is not None]
        late = [n for n in asked if n not in names] if len(first) == SAMPLE_ROWS else []
        gatherer = Gatherer(path)
        if not first:
            return gatherer.documents(Columns("text", None, None))
        columns = choose_columns(
            path,
            [*names, *late],
            sample | {name: [] for name in late},
            text_column=text_column,
            label_column=label_column,
            id_column=id_column,
        )
        found: set[str] = set(names)
        for line, record in itertools.chain(first, records):
            if late:
                found.update(record)
            gatherer.add(
                _text(path, line, columns.text, record.get(columns.text)),
                None if columns.label is None else record.get(columns.label),
                None if columns.id is None else record.get(columns.id),
            )
        lost = [name for name in late if name not in found]
        if lost:
            msg = f"no object of {path} has a field {lost[0]!r}; their fields are {listed(names)}"
            raise ReadError(msg)
    return gatherer.documents(columns)


def _records(path: Path, file: TextIO) -> Iterator[Record]:
    """Yield the objects of a file, each with the number of its line (or its place in the list)."""
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        if number == 1 and line.lstrip().startswith("["):
            yield from _records_of_list(path, line + file.read())
            return
        yield number, _object(path, f"line {number:,}", line)


def _records_of_list(path: Path, text: str) -> Iterator[Record]:
    for number, record in enumerate(_parsed(path, "the list", text), start=1):
        if not isinstance(record, dict):
            msg = f"{path}, item {number:,}, is {_kind(record)}; expected an object {{...}}"
            raise ReadError(msg)
        yield number, record


def _object(path: Path, where: str, line: str) -> dict[str, Any]:
    record = _parsed(path, where, line)
    if not isinstance(record, dict):
        msg = (
            f"{path}, {where}, holds {_kind(record)}; expected one JSON object a line, such as "
            f'{{"text": "..."}}'
        )
        raise ReadError(msg)
    return record


def _parsed(path: Path, where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        msg = (
            f"{path}, {where}, is not JSON: {error.msg} at character {error.colno:,}"
            f" ({text[max(0, error.pos - 10) : error.pos + 20].strip()!r})"
        )
        raise ReadError(msg) from error
    except (RecursionError, ValueError) as error:
        msg = f"{path}, {where}, is not JSON that can be read: {error}"
        raise ReadError(msg) from error


def _text(path: Path, line: int, name: str, value: Any) -> Any:
    if isinstance(value, dict | list):
        msg = (
            f"{path}, object {line:,}: the field {name!r} holds {_kind(value)}; expected a string. "
            f"Name the field of the text with text_column"
        )
        raise ReadError(msg)
    return None if isinstance(value, float) and math.isnan(value) else value


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return kinds.get(type(value), "null" if value is None else "a number")

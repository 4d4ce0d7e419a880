"""A program: a spreadsheet on standard input, the rows of one sheet on standard output as JSON.

The compiled reader of spreadsheets ends its whole process on some damaged files, and takes memory
for every cell between the first and the last one. Therefore it runs in a process of its own, with a
memory limit where the system has one, and imports nothing else but the standard library.

The first line describes the sheet, or says what is wrong; each other one is the number of a row
and its cells. Rows without content are left out.
"""

from __future__ import annotations

import io
import json
import sys
from datetime import date, datetime, time
from typing import Any

BYTES_OF_A_CELL = 8
"""Bytes that an empty cell takes in a table."""

_BASE = 1 << 28
"""Bytes that the process takes before it reads anything."""
_TIMES = 4
"""Bytes that it takes for each byte of a table."""


def _limit_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    known = [limit, *resource.getrlimit(resource.RLIMIT_AS)]
    least = min(one for one in known if one != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (least, known[2]))


def _plain(cell: object) -> object:
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    return cell if isinstance(cell, str | bool | int | float) else str(cell)


def _write(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")


def _read(wanted: str | None, limit: int) -> None:
    # The path to the package was given to this process alone.
    from python_calamine import CalamineWorkbook

    book: Any = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
    names = book.sheet_names
    name = wanted if wanted is not None else next(iter(names), None)
    if name not in names:
        _write({"names": names, "name": None})
        return
    sheet = book.get_sheet_by_name(name)
    takes = sheet.height * sheet.width * BYTES_OF_A_CELL
    _write({"names": names, "name": name, "end": sheet.end, "takes": takes})
    if takes > limit:
        return
    first = sheet.start[0] if sheet.start else 0
    for number, row in enumerate(sheet.to_python(), start=first):
        if any(cell != "" for cell in row):
            _write([number, [_plain(cell) for cell in row]])


def _main(folder: str, wanted: str, limit: int) -> None:
    sys.path.insert(0, folder)
    _limit_memory(_BASE + _TIMES * limit)
    try:
        _read(json.loads(wanted), limit)
    except BaseException as error:  # a panic of the reader is not an Exception
        _write({"error": " ".join(str(error).split()) or type(error).__name__})


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

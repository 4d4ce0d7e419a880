"""Program that reads a spreadsheet from standard input and prints the rows of a sheet as JSON.

The compiled spreadsheet reader crashes on some damaged files, and allocates memory for every cell
between the first and the last one. It therefore runs in a separate process, with a memory limit
where the system supports one, and imports only the standard library and the reader.

The first line of the output describes the sheet or the error; every other line contains the number
of a row and its cells. Empty rows are left out.
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
"""Bytes that the process uses before it reads anything."""
_TIMES = 4
"""Bytes that the process uses for each byte of a table."""


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
    # Only this process has the path to the package.
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
    except BaseException as error:  # a panic in the reader is not an Exception
        _write({"error": " ".join(str(error).split()) or type(error).__name__})


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

"""Sheets of Excel and its kin as rows of plain values."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from momentree._arrays import DAMAGE
from momentree._limits import check_memory, memory_limit
from momentree.exceptions import ReadError
from momentree.readers.tables import _sheet_process
from momentree.readers.text.columns import listed

__all__ = ["EXCEL_SUFFIXES", "Sheet", "other_sheets", "read_sheet"]

EXCEL_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_REMEDY = "delete what lies far from the table, or save the table as CSV"


@dataclass(frozen=True)
class Sheet:
    """The rows of a sheet that hold something."""

    names: list[str]  # of all sheets
    name: str
    numbers: list[int]  # of rows above each row in the sheet
    rows: list[list[Any]]  # of str, bool, int and float; dates as ISO 8601


def read_sheet(path: Path, name: str | None) -> Sheet:
    """Read a sheet of a spreadsheet, by its name or the first.

    Raises
    ------
    ReadError
        If the file is damaged, has no such sheet, or its cells spread over far more memory than a
        file of its size may take.
    """
    try:
        check_memory(path, _unpacked(path))
        lines = _run(path, name)
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror or error}"
        raise ReadError(msg) from error
    head = json.loads(lines[0]) if lines else {}
    if "error" in head:
        msg = f"cannot read {path} as a spreadsheet: {head['error']}"
        raise ReadError(msg)
    if not head:
        msg = (
            f"cannot read {path} as a spreadsheet: it is damaged, or its cells lie too far apart "
            f"for a table; {_REMEDY}"
        )
        raise ReadError(msg)
    names, found = head["names"], head["name"]
    if found is None:
        msg = f"cannot read {path}: it has no sheets"
        if name is not None:
            msg = f"{path} has no sheet {name!r}; its sheets are {listed(names)}"
        raise ReadError(msg)
    if head["end"] is not None:
        check_memory(path, head["takes"])
    records = [json.loads(line) for line in lines[1:]]
    return Sheet(names, found, [n for n, _ in records], [cells for _, cells in records])


def _unpacked(path: Path) -> int:
    """Return the bytes that the members of a zip file take; 0 for another form, or if damaged."""
    with suppress(*DAMAGE), zipfile.ZipFile(path) as archive:
        return sum(info.file_size for info in archive.infolist())
    return 0


def _run(path: Path, name: str | None) -> list[bytes]:
    """Return the lines that the reader's process wrote; none if it was ended."""
    spec = find_spec("python_calamine")
    assert spec is not None  # noqa: S101 - it is a dependency
    assert spec.origin is not None  # noqa: S101 - and no namespace
    folder = str(Path(spec.origin).parents[1])
    program = [sys.executable, "-I", "-S", _sheet_process.__file__]
    with path.open("rb") as file:
        done = subprocess.run(  # noqa: S603 - it runs this Python with a file of this package
            [*program, folder, json.dumps(name), str(memory_limit(path))],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    return done.stdout.splitlines() if done.returncode == 0 else []


def other_sheets(names: list[str]) -> str:
    """Say which other sheets there are, for an error about the first."""
    if len(names) < 2:
        return ""
    return f"; its sheets are {listed(names)}, and sheet={names[1]!r} reads the second"

"""Read spreadsheets (Excel, OpenDocument) with calamine in a separate process."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from momentree.core.container import DAMAGE
from momentree.core.limits import check_memory, memory_limit
from momentree.exceptions import ReadError
from momentree.messages import Message, wording
from momentree.readers.tables import extract, grid, schema


def open_spreadsheet(path: Path, opening: grid.Opening, *, check_titles: bool) -> grid.Source:
    """Read a sheet of a spreadsheet, by default the first."""
    skip_rows, header = opening.skip_rows, opening.header
    sheets, name, filled = _read_sheet(path, opening.sheet)
    more = grid.other_sheets(sheets)
    if not filled:
        raise ReadError(
            "[empty_sheet] cannot read {path}: sheet {sheet!r} is empty{sheets}",
            path=str(path),
            sheet=name,
            sheets=more,
        )
    numbers = [number for number, _ in filled if number >= skip_rows]
    rows = [row for number, row in filled if number >= skip_rows]
    if not rows:
        raise ReadError(
            "[short_sheet] cannot read {path}: sheet {sheet!r} has no more than {n_skipped:~row}",
            path=str(path),
            sheet=name,
            n_skipped=skip_rows,
        )
    written = [list(map(grid.as_written, row)) for row in rows]
    if check_titles and header is None:
        schema.check_header(
            path, written[: schema.HEADER_ROWS], numbers[: schema.HEADER_ROWS], sheets=more
        )
    notes = []
    if opening.sheet is None and len(sheets) > 1:
        notes.append(
            Message(
                "[first_sheet] read sheet {sheet!r}, the first of {n_sheets}",
                sheet=name,
                n_sheets=len(sheets),
            )
        )
    above, guessed = schema.find_header(path, written, header)
    notes += guessed
    names = grid.check_names(path, written[0] if above else [""] * len(written[0]))
    below = rows[above:]
    cells = zip(*written[above:], strict=True) if below else [()] * len(names)
    floats = {
        n: [row[j] for row in below if isinstance(row[j], float)] for j, n in enumerate(names)
    }
    table = grid.Table(
        path,
        {name: list(column) for name, column in zip(names, cells, strict=True)},
        len(below),
        lambda row: Message(wording.AT_ROW, row=numbers[row + above] + 1),
        fractional={n: len(x) for n, x in floats.items() if not all(map(float.is_integer, x))},
        sheets=sheets,
        notes=notes,
    )

    def batches(wanted: Sequence[str]) -> Iterator[grid.Table]:
        yield replace(table, columns={name: table.columns[name] for name in wanted})

    return grid.Source(table, batches, streams=False)


def _read_sheet(path: Path, name: str | None) -> tuple[list[str], str, list[tuple[int, list[Any]]]]:
    """Return the names of all sheets, the name of the sheet read, and its nonempty rows.

    A row is its number, from 0, and its cells: str, bool, int and float, dates as ISO 8601. Sheets
    that would take far more memory than the file are rejected.
    """
    try:
        check_memory(path, _unpacked(path))
        lines = _run(path, name)
    except OSError as error:
        details = error.strerror or str(error)
        raise ReadError(wording.UNREADABLE_PATH, path=str(path), error=details) from error
    head = json.loads(lines[0]) if lines else {}
    if "error" in head:
        raise ReadError(
            "[unreadable_spreadsheet] cannot read {path} as a spreadsheet: {details}",
            path=str(path),
            details=head["error"],
        )
    if not head:
        raise ReadError(
            "[damaged_spreadsheet] cannot read {path} as a spreadsheet: it is damaged, or its "
            "cells are too far apart; delete cells far from the table, or save the table as CSV",
            path=str(path),
        )
    names, sheet = head["names"], head["name"]
    if sheet is None:
        if name is None:
            raise ReadError("cannot read {path}: it has no sheets", path=str(path))
        raise ReadError(
            "[no_such_sheet] {path} has no sheet {sheet!r}; its sheets are {sheets:quoted list}",
            path=str(path),
            sheet=name,
            sheets=names,
        )
    if head["end"] is not None:
        row, column = (number + 1 for number in head["end"])
        place = {"sheet": sheet, "row": row, "column": column}
        check_memory(
            path,
            head["takes"],
            "[sheet_too_large] cannot read {path}: sheet {sheet!r} extends to row {row:,} and "
            "column {column:,} and would take {megabytes:,.0f} MB of memory, but the limit for a "
            "file of {size:~byte} is {most:,.0f} MB; delete cells far from the table, or save the "
            "table as CSV",
            **place,
        )
    return names, sheet, [json.loads(line) for line in lines[1:]]


def _unpacked(path: Path) -> int:
    """Return the total size of the members of a zip file; 0 for damaged and other files."""
    with suppress(*DAMAGE), zipfile.ZipFile(path) as archive:
        return sum(info.file_size for info in archive.infolist())
    return 0


def _run(path: Path, name: str | None) -> list[bytes]:
    """Return the lines that the reader's process wrote; none if it was killed."""
    spec = find_spec("python_calamine")
    assert spec is not None  # noqa: S101 - it is a dependency
    assert spec.origin is not None  # noqa: S101 - and not a namespace package
    folder = str(Path(spec.origin).parents[1])
    program = [sys.executable, "-I", "-S", extract.__file__, "sheet"]
    with path.open("rb") as file:
        done = subprocess.run(  # noqa: S603 - runs this Python with a file of this package
            [*program, folder, json.dumps(name), str(memory_limit(path))],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    return done.stdout.splitlines() if done.returncode == 0 else []

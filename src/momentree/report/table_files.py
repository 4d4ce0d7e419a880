"""Write a table of text as CSV, Excel or LaTeX."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from momentree._files import atomic_write
from momentree.exceptions import InvalidDataError

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".xlsx", ".tex")
# The file must be the same on every run.
_DATE = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC)
_WIDEST = 48
_IN_LATEX = {"±": r"$\pm$", "≈": r"$\approx$", "<": "$<$", "–": "--", "·": r"\textperiodcentered{}"}


def write_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    r"""Write a table, such as table one, in the format that the name of the file ends in.

    Parameters
    ----------
    table : DataFrame
        Columns of text; the index is not written.
    path : str or path-like
        File to write: .csv; .xlsx, one sheet; or .tex, a ``tabular`` for the package booktabs. An
        existing file is replaced.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InvalidDataError
        If the name ends in none of these.
    OSError
        If the folder is missing or not writable, or the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from momentree.report import write_table
    >>> table = pd.DataFrame({"Characteristic": ["death"], "All": ["31 (3.1)"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(table, f"{folder}/one.csv").read_text()
    'Characteristic,All\ndeath,31 (3.1)\n'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidDataError("not_a_table_file", path=str(path), suffixes=list(SUFFIXES))
    with atomic_write(path) as file:
        if suffix == ".xlsx":
            _write_excel(table, file)
        else:
            text = _latex(table) if suffix == ".tex" else table.to_csv(index=False)
            file.write(text.encode("utf-8", errors="backslashreplace"))
    return path


def _write_excel(table: pd.DataFrame, file: Any) -> None:
    # Imported here, because few users write a spreadsheet.
    import xlsxwriter

    # Text that looks like a formula, a link or a number stays text.
    book = xlsxwriter.Workbook(
        file, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    )
    book.set_properties({"created": _DATE})
    sheet = book.add_worksheet("Table")
    bold = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
    body = book.add_format({"valign": "top", "text_wrap": True})
    columns = [list(map(str, [name, *table[name]])) for name in table.columns]
    for at, cells in enumerate(columns):
        sheet.set_column(at, at, min(_WIDEST, 2 + max(map(len, cells))))
        for row, text in enumerate(cells):
            sheet.write_string(row, at, text[:32_767], body if row else bold)
    sheet.freeze_panes(1, 1)
    book.close()


def _latex(table: pd.DataFrame) -> str:
    text = str(table.map(_one_line).to_latex(index=False, escape=True))
    for character, command in _IN_LATEX.items():
        text = text.replace(character, command)
    return text


def _one_line(cell: object) -> str:
    return " ".join(str(cell).split())

"""The table of fits with different numbers of groups, and tables of text as files."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from momentree._files import atomic_write
from momentree.exceptions import InvalidDataError
from momentree.report.disclosure import Disclosure
from momentree.report.numbers import NO_VALUE, fixed

COLUMNS = (
    "Groups",
    "Log-likelihood",
    "Parameters",
    "AIC",
    "BIC",
    "Adjusted BIC",
    "Entropy",
    "Smallest group",
    "Stability",
)
_CRITERIA = {1: "log_likelihood", 3: "aic", 4: "bic", 5: "adjusted_bic"}
"""Columns of the criteria, and their names among the numbers."""
_CERTAIN = 0.9995
"""Entropy of 1 as it is shown."""
SUFFIXES = (".csv", ".xlsx", ".tex")
# The file must be the same on every run.
_DATE = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC)
_WIDEST = 48
_IN_LATEX = {"±": r"$\pm$", "≈": r"$\approx$", "<": "$<$", "–": "--", "·": r"\textperiodcentered{}"}


def fits_table(summary: Mapping[str, Any]) -> pd.DataFrame:
    """Return the fits with different numbers of groups as a table of text.

    Parameters
    ----------
    summary : mapping
        From `summarize_records`, with ``quality["fits"]`` of `momentree.models.compare_fits`.

    Returns
    -------
    DataFrame
        Text, ready for ``to_csv`` or `write_table`, with one row per number of groups and columns
        "Groups" (with the number found in brackets, if it is smaller), "Log-likelihood",
        "Parameters", "AIC", "BIC", "Adjusted BIC", "Entropy", "Smallest group" ("<5" if small) and
        "Stability".

    Raises
    ------
    InvalidDataError
        If the summary contains no fits.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from momentree.datasets import RecordCoder, Records
    >>> from momentree.models import BernoulliMixture, compare_fits
    >>> from momentree.report import fits_table, summarize_records
    >>> X = sp.csr_array(np.repeat([[1.0, 1, 0, 0], [0, 0, 1, 1]], [60, 40], axis=0))
    >>> codes, ids = ["401", "428", "650", "V27"], [str(i) for i in range(100)]
    >>> records = Records(X, np.array(codes), {}, ids, np.ones(100, dtype=bool), RecordCoder(codes))
    >>> fits = compare_fits(BernoulliMixture(), X, [2])
    >>> summary = summarize_records(BernoulliMixture(2).fit(X), records, quality={"fits": fits})
    >>> fits_table(summary)[["Groups", "Parameters", "Entropy", "Smallest group"]].values.tolist()
    [['2', '9', '1.000', '40']]
    """
    if not summary.get("fits"):
        raise InvalidDataError("no_fits")
    return pd.DataFrame(summary["fits"]["rows"], columns=list(COLUMNS), dtype=object)


def describe_fits(
    fits: pd.DataFrame, disclosure: Disclosure, *, sizes_known: bool = True
) -> dict[str, Any]:
    """Return the fits as text in ``rows``, and as ``numbers`` by column, with None for no value.

    ``lowest`` contains the number of groups with the lowest value of each criterion, and ``open``
    is whether BIC is lowest at the largest number, so that a larger one may be better.

    To protect small counts, numbers have the digits of the text, and no size of a smallest group is
    shown unless all sizes on the page are: a hidden size could follow from it.
    """
    criteria = [name for name in _CRITERIA.values() if name != "log_likelihood"]
    if disclosure.hides:
        digits = dict.fromkeys(_CRITERIA.values(), 1) | {"entropy": 3, "stability": 2}
        fits = fits.round(digits)
    values = {str(name): [_plain(value) for value in fits[name].tolist()] for name in fits.columns}
    values["smallest"] = [
        n if sizes_known and not disclosure.is_small(np.array(n)) else None
        for n in values["smallest"]
    ]
    rows = []
    for fit in fits.to_dict("records"):
        k, n_found = int(fit["n_groups"]), int(fit["found"])
        smallest = disclosure.count(int(fit["smallest"]))
        if not isinstance(smallest, str):
            smallest = f"{smallest:,}" if sizes_known else NO_VALUE
        rows.append(
            [
                str(k) if n_found == k else f"{k} ({n_found} found)",
                f"{fit['log_likelihood']:,.1f}",
                f"{fit['n_parameters']:,}",
                *(f"{fit[name]:,.1f}" for name in criteria),
                _short(fit["entropy"], 3),
                smallest,
                _short(fit["stability"], 2),
            ]
        )
    lowest = {name: int(fits["n_groups"].iloc[int(np.argmin(fits[name]))]) for name in criteria}
    return {
        "columns": list(COLUMNS),
        "rows": rows,
        "numbers": values,
        "lowest": lowest,
        "open": lowest["bic"] == int(fits["n_groups"].max()),
    }


def hide_certain(fits: dict[str, Any], *, totals: bool, counts: bool) -> None:
    """Remove the criteria from `describe_fits` that follow from suppressed `totals` or `counts`.

    Those of one group follow from all totals, and if each record is certain of its group, from the
    counts of groups. Other criteria depend on what occurs together, too.
    """
    numbers = fits["numbers"]
    for at, (k, entropy) in enumerate(zip(numbers["n_groups"], numbers["entropy"], strict=True)):
        if (totals and k == 1) or (counts and (entropy or 0.0) >= _CERTAIN):
            for column, name in _CRITERIA.items():
                fits["rows"][at][column], numbers[name][at] = NO_VALUE, None


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _short(value: float, digits: int) -> str:
    return fixed(value, digits) if np.isfinite(value) else NO_VALUE


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

"""Read a table of codes or of measurements, whichever it contains."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from momentree import readers
from momentree.cli._options import given
from momentree.core.choices import Form
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers import Measurements, Records
from momentree.readers.sequences.sequences import holds_steps

_FOR_CODES = (
    "code_column",
    "union_by",
    "rollup",
    "min_records",
    "cumulative_frequency",
    "min_codes",
    "keep_constant",
)
_FOR_MEASUREMENTS = ("kind", "missing")
_FOR_BOTH = ("id_column", "encoding", "separator", "sheet", "skip_rows", "header")


def contains_measurements(
    context: typer.Context,
    source: Path,
    form: Form,
    names_of_codes: str | None,
    reading: Mapping[str, Any],
) -> bool:
    """Return whether to read a table as measurements: by the options, or else by its columns.

    Options that do not apply to what the table contains are refused.
    """
    of_codes = [name for name in _FOR_CODES if given(context, name)]
    of_codes += ["names"] if names_of_codes is not None else []
    of_measurements = [name for name in _FOR_MEASUREMENTS if given(context, name)]
    if form != "auto":
        measured = form == "measurements"
    elif of_codes:
        measured = False
    else:
        opening = {name: reading[name] for name in _FOR_BOTH if name != "id_column"}
        if not of_measurements and holds_steps(source, **opening):
            raise InvalidParameterError("steps_of_sequences", path=str(source))
        measured = readers.holds_measurements(
            source,
            outcome_columns=[*reading["outcome_columns"], *reading["covariate_columns"]],
            ignore_columns=reading["ignore_columns"],
            **{name: reading[name] for name in _FOR_BOTH},
        )
    wrong = of_codes if measured else of_measurements
    if wrong:
        code = "applies_to_tables_of_codes" if measured else "applies_to_measurements"
        raise InvalidParameterError(code, parameter=wrong[0], path=str(source))
    return measured


def notes_on_form(records: Records | Measurements, form: Form) -> list[Message]:
    """Return a note if a table was guessed to contain measurements, but most may be codes."""
    if form != "auto" or not isinstance(records, Measurements):
        return []
    n_yes_no = sum(kind == "yes_no" for kind in records.kinds.values())
    if 2 * n_yes_no <= len(records.kinds):
        return []
    return [Message("may_be_codes", n_columns=n_yes_no)]


def read_table(
    source: Path, reading: Mapping[str, Any], more: Mapping[str, Any], *, measured: bool
) -> Records | Measurements:
    """Read a table with options for both contents, and `more` for one of them."""
    if measured:
        return readers.read_measurements(source, **reading, **more)
    try:
        return readers.read_records(source, **reading, **more)
    except ReadError as error:
        if error.code != "no_code_columns":
            raise
        raise ReadError("neither_codes_nor_measurements", reason=error.message) from error

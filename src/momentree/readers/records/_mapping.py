"""Read mappings from codes to groups or names, from a dictionary or a table."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Literal

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.readers.records.codes import clean_code
from momentree.readers.tables.files import check_exists
from momentree.readers.tables.reader import EXCEL, PARQUET, SEPARATED, open_table
from momentree.readers.tables.roles import pick
from momentree.readers.tables.table import Table, excerpts

Mapped = str | PathLike[str] | Mapping[str, str]

SUFFIXES = (*SEPARATED, ".txt", *PARQUET, *EXCEL)
"""Suffixes of tables of records."""


def read_mapping(
    source: Mapped, role: Literal["group", "title"], *, encoding: str, separator: str | None
) -> dict[str, str]:
    """Return the mapping of clean codes; the last entry for a code takes precedence."""
    if isinstance(source, Mapping):
        if not all(isinstance(text, str) for pair in source.items() for text in pair):
            parameter = "rollup" if role == "group" else "names"
            raise InvalidParameterError("not_a_mapping_of_strings", parameter=parameter)
        pairs = list(source.items())
    else:
        opened = open_table(
            check_exists(source),
            suffixes=SUFFIXES,
            encoding=encoding,
            separator=separator,
            check_titles=True,
        )
        table = opened.read(_columns_of_mapping(opened.head, role))
        pairs = list(zip(*table.columns.values(), strict=True))
    return {
        clean_code(code): value.strip() for code, value in pairs if code.strip() and value.strip()
    }


def _columns_of_mapping(table: Table, role: Literal["group", "title"]) -> list[str]:
    code, value = pick("code", table.names), pick(role, table.names)
    if len(table.names) == 2:
        code = code or next(name for name in table.names if name != value)
        value = value or next(name for name in table.names if name != code)
    if code is None or value is None or code == value:
        raise ReadError(
            "table_not_a_mapping",
            path=str(table.path),
            columns=excerpts(table.names),
            expected=["code", "group" if role == "group" else "name"],
        )
    return [code, value]

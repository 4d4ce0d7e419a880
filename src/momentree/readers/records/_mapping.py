"""Read mappings from codes to groups or names, from a dictionary or a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.records.codes import clean_code, lookup
from momentree.readers.tables.files import check_exists
from momentree.readers.tables.reader import EXCEL, PARQUET, SEPARATED, open_table
from momentree.readers.tables.roles import pick
from momentree.readers.tables.table import Table, excerpt, excerpts

Mapped = str | PathLike[str] | Mapping[str, str]

SUFFIXES = (*SEPARATED, ".txt", *PARQUET, *EXCEL)
"""Suffixes of tables of records."""

_PREFIX = re.compile(r"((HAS|DX|ICD|ICD9|ICD10|DIAG|DIAGNOSIS|CODE)[_ .:-]*)+")


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


def names_of(
    codes: Sequence[str],
    names: Mapped | None,
    *,
    encoding: str,
    separator: str | None,
    rolled_up: bool,
) -> tuple[dict[str, str], list[Message]]:
    """Look up the names of codes, and report how many have none."""
    if names is None:
        return {}, []
    titles = read_mapping(names, "title", encoding=encoding, separator=separator)
    clean = [code.upper() for code in codes]
    # Names of columns may begin with a prefix shared by all or some of them, as in "has_250".
    first, last = min(clean), max(clean)
    n_shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    n_shared = max(first.rfind(sign, 0, n_shared) for sign in "_: ") + 1
    bare = [_PREFIX.sub("", code[n_shared:]) for code in clean]
    found = zip(lookup(titles, clean), lookup(titles, bare), strict=True)
    named = {
        code: title if title is not None else other
        for code, (title, other) in zip(codes, found, strict=True)
    }
    known = {code: title for code, title in named.items() if title is not None}
    unnamed = [code for code in codes if code not in known]
    if not unnamed:
        return known, []
    return known, [
        Message(
            "codes_without_name",
            n_codes=len(unnamed),
            n_all=len(codes),
            code=excerpt(unnamed[0]),
            hint=Message("names_after_rollup") if rolled_up else "",
        )
    ]

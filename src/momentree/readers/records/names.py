"""Roll up and name codes by a table or a dictionary, or by what comes with the package."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Literal

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.records import icd
from momentree.readers.records.objects import RecordCoder
from momentree.readers.tables.reader import open_table
from momentree.readers.tables.roles import pick
from momentree.readers.tables.table import Table, excerpt, excerpts

Mapped = str | PathLike[str] | Mapping[str, str]
"""A mapping of codes: a dictionary, or the path of a table, or the name of a system."""

_PREFIX = re.compile(r"((HAS|DX|ICD|ICD9|ICD10|DIAG|DIAGNOSIS|CODE)[_ .:-]*)+")
NO_NAMES = "none"
_MIN_LENGTH = 3
"""Characters of the shortest code whose name is used for longer codes."""


def names_of(
    codes: Sequence[str],
    names: Mapped | None,
    *,
    encoding: str,
    separator: str | None,
    rollup: str | None,
    written: Sequence[str],
) -> tuple[dict[str, str], list[Message]]:
    """Return the names of codes, and notes on titles used and on codes without a name.

    A code has the first of these names: its own in the mapping `names`, that of the longest code
    there with which it begins, the title of its category of ICD.
    """
    if names == NO_NAMES:
        return {}, []
    given: Mapping[str, str] = {}
    if names is not None and names not in icd.SYSTEMS:
        given = read_mapping(names, "title", encoding=encoding, separator=separator)
    bare = _bare(codes)
    known = _given_names(codes, bare, given)
    system, notes = _system(names, rollup, written)
    if system is not None:
        titles = dict(zip(codes, icd.code_titles(bare, system), strict=True))
        added = {code: title for code, title in titles.items() if title and code not in known}
        if added and names not in icd.SYSTEMS:
            omit = Message(
                "[titles_omitted]  ({parameter:=value} omits titles)",
                parameter="names",
                value=NO_NAMES,
            )
            hint = omit if names is None else ""
            system_name = icd.SYSTEM_NAMES[system]
            notes.append(
                Message(
                    "[titles_used] {n_codes:~code} {n_codes:?has its title/have their titles} from "
                    "{system}{hint}",
                    n_codes=len(added),
                    system=system_name,
                    hint=hint,
                )
            )
        known |= added
    unnamed = [code for code in codes if code not in known]
    if unnamed and (given or system is not None):
        notes.append(
            Message(
                "[codes_without_name] no name for {n_codes:,} of {n_all:~code}, such as "
                "{code!r}{hint}",
                n_codes=len(unnamed),
                n_all=len(codes),
                code=excerpt(unnamed[0]),
                hint=Message("[names_after_rollup] : names are looked up after the roll-up")
                if given and rollup is not None
                else "",
            )
        )
    return {code: known[code] for code in codes if code in known}, notes


def _given_names(
    codes: Sequence[str], bare: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Return the names of codes in a mapping; a longer code has the name of a shorter one."""
    shorter = {icd.undotted(code): name for code, name in given.items()}
    whole = icd.lookup(given, [code.upper() for code in codes])
    known = {}
    for code, key, name, bare_name in zip(codes, bare, whole, icd.lookup(given, bare), strict=True):
        head = icd.undotted(key)
        heads = (head[:n] for n in range(len(head) - 1, _MIN_LENGTH - 1, -1))
        name = name or bare_name or next((shorter[h] for h in heads if h in shorter), None)
        if name is not None:
            known[code] = name
    return known


def _system(
    names: Mapped | None, rollup: str | None, written: Sequence[str]
) -> tuple[str | None, list[Message]]:
    """Return the system whose titles apply, if any."""
    if names in icd.SYSTEMS:
        return str(names), []
    if rollup == "icd9" and icd.are_procedures(written):
        return None, [
            Message(
                "[codes_like_procedures] no titles are shown, because the codes look like "
                "procedures, not diagnoses, of ICD-9 ({parameter:'icd9'} shows the titles of "
                "diagnoses)",
                parameter="names",
            )
        ]
    if rollup in icd.SYSTEMS:
        return rollup, []
    if rollup is not None:  # groups of a mapping
        return None, []
    return next((s for s in icd.SYSTEMS if icd.are_diagnoses(written, s)), None), []


def _bare(codes: Sequence[str]) -> list[str]:
    """Return codes without a prefix that all or some columns share, as in "has_250"."""
    clean = [code.upper() for code in codes]
    first, last = min(clean), max(clean)
    n_shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    n_shared = max(first.rfind(sign, 0, n_shared) for sign in "_: ") + 1
    return [_PREFIX.sub("", code[n_shared:]) for code in clean]


def with_rollup(
    rules: RecordCoder, rollup: Mapped | None, encoding: str, separator: str | None
) -> RecordCoder:
    """Return the rules with a roll-up of codes."""
    if rollup is None:
        return rules
    if isinstance(rollup, str) and rollup.lower() in icd.SYSTEMS:
        return replace(rules, rollup=rollup.lower())
    if isinstance(rollup, str) and rollup and not os.path.lexists(rollup):
        raise InvalidParameterError(wording.NOT_A_ROLLUP, parameter="rollup", value=rollup)
    mapping = read_mapping(rollup, "group", encoding=encoding, separator=separator)
    return replace(rules, rollup="mapping", mapping=mapping)


def read_mapping(
    source: Mapped, role: Literal["group", "title"], *, encoding: str, separator: str | None
) -> dict[str, str]:
    """Return the mapping of clean codes; the last entry for a code takes precedence."""
    if isinstance(source, Mapping):
        if not all(isinstance(text, str) for pair in source.items() for text in pair):
            parameter = "rollup" if role == "group" else "names"
            raise InvalidParameterError(
                "[not_a_mapping_of_strings] {parameter} contains values that are not strings",
                parameter=parameter,
            )
        pairs = list(source.items())
    else:
        opened = open_table(source, encoding=encoding, separator=separator)
        table = opened.read(_columns_of_mapping(opened.head, role))
        pairs = list(zip(*table.columns.values(), strict=True))
    return {
        icd.clean_code(code): value.strip()
        for code, value in pairs
        if code.strip() and value.strip()
    }


def _columns_of_mapping(table: Table, role: Literal["group", "title"]) -> list[str]:
    code, value = pick("code", table.names), pick(role, table.names)
    if len(table.names) == 2:
        code = code or next(name for name in table.names if name != value)
        value = value or next(name for name in table.names if name != code)
    if code is None or value is None or code == value:
        raise ReadError(
            "[table_not_a_mapping] {path} is not a mapping of codes: its columns are "
            "{columns:quoted list}; expected two, {expected:quoted and}",
            path=str(table.path),
            columns=excerpts(table.names),
            expected=["code", "group" if role == "group" else "name"],
        )
    return [code, value]

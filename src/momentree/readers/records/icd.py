"""Roll up and name codes: by the systems that come with the package, a table or a dictionary."""

import gzip
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message, wording
from momentree.readers.tables import grid, reader, roles

CodeSystem = Literal["icd9", "icd10"]
SYSTEMS = get_args(CodeSystem)
SYSTEM_NAMES = {"icd9": "ICD-9-CM", "icd10": "ICD-10-CM"}
_SHAPES = {
    # A number, a V code of health factors or an E code of external causes. A number with a dot
    # may have lost leading zeros; a number without a dot has lost them only if it is too short.
    "icd9": re.compile(r"\d{1,3}\.\d{0,2}|\d{1,5}|V\d{2}(\.?\d{1,2})?|E[089]\d{2}(\.?\d)?"),
    "icd10": re.compile(r"[A-Z]\d[0-9AB](\.?[0-9A-Z]{1,4})?\.?"),
}
EXAMPLES = {"icd9": "250.01, V10.3 or E885.9", "icd10": "I50.1"}
_MIN_CODES, _MAX_UNKNOWN = 20, 0.02
"""Codes by which a system is recognized, and the share of them that may be unknown."""


def roll_up(codes: Sequence[str], system: str) -> list[str]:
    """Roll codes up to the general diagnosis: three characters, four for E codes of ICD-9.

    Parameters
    ----------
    codes : sequence of str
        Codes with or without a dot, in upper or lower case, such as "250.01", "e885.9" or "I50.1".
    system : {"icd9", "icd10"}
        ICD-9 (also ICD-9-CM) or ICD-10 (also ICD-10-CM and other national forms): diagnoses, not
        procedures.

    Returns
    -------
    list of str
        The general diagnosis of each; codes without the form of the system are returned in upper
        case, otherwise unchanged.

    Raises
    ------
    InvalidParameterError
        If the system is unknown.

    Notes
    -----
    "We kept only the first three digits of the ICD-9 codes, which are those with more consensus
    among doctors" (section 4.6.1 of [1]). Lost leading zeros are restored where this is
    unambiguous: "38.9" is 038.9, and "8" is 008, but "389" remains 389. Time O(len(codes)).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications. PhD
       thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> from momentree.datasets import roll_up
    >>> roll_up(["250.01", "25001", "38.9", "V10.3", "e885.9", "XX"], "icd9")
    ['250', '250', '038', 'V10', 'E885', 'XX']
    >>> roll_up(["I50.1", "U07.1"], "icd10")
    ['I50', 'U07']
    """
    _check_system(system)
    cleaned = [clean_code(code) for code in codes]
    return [
        _general(code, system) if known else code
        for code, known in zip(cleaned, looks_like(cleaned, system), strict=True)
    ]


def clean_code(code: str) -> str:
    """Return a code in upper case, stripped of blanks."""
    return code.strip().upper()


def looks_like(codes: Sequence[str], system: str) -> NDArray[np.bool_]:
    """Return which of the clean codes have the form of a system."""
    shape = _SHAPES[_check_system(system)]
    return np.fromiter((shape.fullmatch(code) is not None for code in codes), bool, len(codes))


def lost_zeros(code: str) -> bool:
    """Return whether an ICD-9 number has fewer than three digits before its dot."""
    head = code.partition(".")[0]
    return head.isdigit() and len(head) < 3


def undotted(code: str) -> str:
    """Return a code without its dot, unless that would make it a different code.

    A number with fewer than three digits before its dot is a procedure, or a diagnosis that has
    lost leading zeros: 38.9 is 038.9, septicemia, and 389 is hearing loss.
    """
    return code if "." in code and lost_zeros(code) else code.replace(".", "")


def _general(code: str, system: str) -> str:
    if system == "icd9" and code[0].isdigit():
        return code.partition(".")[0].zfill(3)[:3]
    return code[:4] if system == "icd9" and code[0] == "E" else code[:3]


def _check_system(system: str) -> str:
    if system not in SYSTEMS:
        raise InvalidParameterError(wording.NOT_A_ROLLUP, parameter="rollup", value=system)
    return system


def lookup(mapping: Mapping[str, str], codes: Sequence[str]) -> list[str | None]:
    """Look up clean codes in a mapping, with or without their dots."""
    bare = {undotted(key): value for key, value in mapping.items()}
    return [mapping[code] if code in mapping else bare.get(undotted(code)) for code in codes]


def code_titles(codes: Sequence[str], system: str) -> list[str | None]:
    """Return the title of the category of each diagnosis.

    Parameters
    ----------
    codes : sequence of str
        Codes with or without a dot, in upper or lower case.
    system : {"icd9", "icd10"}
        ICD-9-CM or ICD-10-CM: diagnoses, not procedures.

    Returns
    -------
    list of str or None
        Title of the category of each code; None if it is unknown.

    Raises
    ------
    InvalidParameterError
        If the system is unknown.

    Notes
    -----
    The titles are those of the 1,234 categories of ICD-9-CM (2015) and the 1,918 categories of
    ICD-10-CM (2026), which are in the public domain. Time O(len(codes)).

    Examples
    --------
    >>> from momentree.datasets import code_titles
    >>> code_titles(["428", "584.9", "XYZ"], "icd9")
    ['Heart failure', 'Acute kidney failure', None]
    >>> code_titles(["I50"], "icd10")
    ['Heart failure']
    """
    categories = roll_up(codes, system)
    titles = _titles(system)
    return [titles.get(category) for category in categories]


@cache
def _titles(system: str) -> dict[str, str]:
    table = files(__package__).joinpath("titles", f"{system}.tsv.gz").read_bytes()
    lines = gzip.decompress(table).decode("utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def are_diagnoses(codes: Sequence[str], system: str) -> bool:
    """Return whether codes are almost surely diagnoses of a system, so that its titles apply.

    At least 98% of 20 or more codes are in a category of the system. Some begin with a letter, as
    in nearly every table of diagnoses: numbers alone could be procedures, or anything else. Most
    have no letter in fourth place, unlike those of drugs (ATC).

    Parameters
    ----------
    codes : sequence of str
        The different codes of a table, as written.
    system : {"icd9", "icd10"}
        The system.

    Returns
    -------
    bool
        Whether the titles apply.
    """
    clean = [clean_code(code) for code in codes]
    if len(clean) < _MIN_CODES or not any(code[:1].isalpha() for code in clean):
        return False
    if sum(code[3:4].isalpha() for code in clean) > len(clean) / 2:
        return False
    shaped = looks_like(clean, system).sum()
    known = sum(category in _titles(system) for category in roll_up(clean, system))
    return bool(min(shaped, known) >= (1 - _MAX_UNKNOWN) * len(clean))


def are_procedures(codes: Sequence[str]) -> bool:
    """Return whether codes look like procedures of ICD-9 rather than diagnoses.

    20 or more are numbers of at most four digits, most of exactly four.

    Parameters
    ----------
    codes : sequence of str
        The different codes of a table, as written.

    Returns
    -------
    bool
        Whether the titles of diagnoses would be wrong.
    """
    digits = [code.strip().replace(".", "", 1) for code in codes]
    return (
        len(digits) >= _MIN_CODES
        and all(code.isdecimal() and len(code) <= 4 for code in digits)
        and 2 * sum(len(code) == 4 for code in digits) > len(digits)
    )


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
    if names is not None and names not in SYSTEMS:
        given = read_mapping(names, "title", encoding=encoding, separator=separator)
    bare = _bare(codes)
    known = _given_names(codes, bare, given)
    system, notes = _system(names, rollup, written)
    if system is not None:
        titles = dict(zip(codes, code_titles(bare, system), strict=True))
        added = {code: title for code, title in titles.items() if title and code not in known}
        if added and names not in SYSTEMS:
            omit = Message(
                "[titles_omitted]  ({parameter:=value} omits titles)",
                parameter="names",
                value=NO_NAMES,
            )
            hint = omit if names is None else ""
            system_name = SYSTEM_NAMES[system]
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
                code=grid.excerpt(unnamed[0]),
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
    shorter = {undotted(code): name for code, name in given.items()}
    whole = lookup(given, [code.upper() for code in codes])
    known = {}
    for code, key, name, bare_name in zip(codes, bare, whole, lookup(given, bare), strict=True):
        head = undotted(key)
        heads = (head[:n] for n in range(len(head) - 1, _MIN_LENGTH - 1, -1))
        name = name or bare_name or next((shorter[h] for h in heads if h in shorter), None)
        if name is not None:
            known[code] = name
    return known


def _system(
    names: Mapped | None, rollup: str | None, written: Sequence[str]
) -> tuple[str | None, list[Message]]:
    """Return the system whose titles apply, if any."""
    if names in SYSTEMS:
        return str(names), []
    if rollup == "icd9" and are_procedures(written):
        return None, [
            Message(
                "[codes_like_procedures] no titles are shown, because the codes look like "
                "procedures, not diagnoses, of ICD-9 ({parameter:'icd9'} shows the titles of "
                "diagnoses)",
                parameter="names",
            )
        ]
    if rollup in SYSTEMS:
        return rollup, []
    if rollup is not None:  # groups of a mapping
        return None, []
    return next((s for s in SYSTEMS if are_diagnoses(written, s)), None), []


def _bare(codes: Sequence[str]) -> list[str]:
    """Return codes without a prefix that all or some columns share, as in "has_250"."""
    clean = [code.upper() for code in codes]
    first, last = min(clean), max(clean)
    n_shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    n_shared = max(first.rfind(sign, 0, n_shared) for sign in "_: ") + 1
    return [_PREFIX.sub("", code[n_shared:]) for code in clean]


def read_rollup(rollup: Mapped | None, encoding: str, separator: str | None) -> dict[str, Any]:
    """Return the settings of a coder for a roll-up of codes."""
    if rollup is None:
        return {}
    if isinstance(rollup, str) and rollup.lower() in SYSTEMS:
        return {"rollup": rollup.lower()}
    if isinstance(rollup, str) and rollup and not os.path.lexists(rollup):
        raise InvalidParameterError(wording.NOT_A_ROLLUP, parameter="rollup", value=rollup)
    mapping = read_mapping(rollup, "group", encoding=encoding, separator=separator)
    return {"rollup": "mapping", "mapping": mapping}


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
        opened = reader.open_table(source, encoding=encoding, separator=separator)
        table = opened.read(_columns_of_mapping(opened.head, role))
        pairs = list(zip(*table.columns.values(), strict=True))
    return {
        clean_code(code): value.strip() for code, value in pairs if code.strip() and value.strip()
    }


def _columns_of_mapping(table: grid.Table, role: Literal["group", "title"]) -> list[str]:
    code, value = roles.pick("code", table.names), roles.pick(role, table.names)
    if len(table.names) == 2:
        code = code or next(name for name in table.names if name != value)
        value = value or next(name for name in table.names if name != code)
    if code is None or value is None or code == value:
        raise ReadError(
            "[table_not_a_mapping] {path} is not a mapping of codes: its columns are "
            "{columns:quoted list}; expected two, {expected:quoted and}",
            path=str(table.path),
            columns=grid.excerpts(table.names),
            expected=["code", "group" if role == "group" else "name"],
        )
    return [code, value]

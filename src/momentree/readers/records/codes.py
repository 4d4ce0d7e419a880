"""Code systems: how codes are written, what they roll up to, and files that map codes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.readers.records._tables import excerpt, listed, read_table
from momentree.readers.tables.files import check_exists
from momentree.readers.tables.table import Table

__all__ = ["SYSTEMS", "clean_code", "looks_like", "read_mapping", "roll_up"]

SYSTEMS = ("icd9", "icd10")
_SHAPES = {
    # A number, a V code of the factors of health or an E code of external causes; a number that
    # has a dot may have lost zeros before it, one without a dot only if it is too short.
    "icd9": re.compile(r"\d{1,3}\.\d{0,2}|\d{1,5}|V\d{2}(\.?\d{1,2})?|E[089]\d{2}(\.?\d)?"),
    "icd10": re.compile(r"[A-Z]\d[0-9AB](\.?[0-9A-Z]{1,4})?\.?"),
}
_LOOKS = {"icd9": "250.01, V10.3 or E885.9", "icd10": "I50.1"}
_CODE_NAMES = ("code", "codes", "icd9_code", "icd10_code", "icd_code", "icd9", "icd10")
_VALUE_NAMES = {
    "group": ("group", "category", "rollup", "parent", "target"),
    "name": (
        "name",
        "title",
        "label",
        "description",
        "long_desc",
        "long_title",
        "short_desc",
        "short_title",
    ),
}


def roll_up(codes: Sequence[str], system: str) -> list[str]:
    """Roll codes up to the level of the general diagnosis: three characters, four for E codes.

    Parameters
    ----------
    codes : sequence of str
        Codes with or without dot, in any case, such as "250.01", "e885.9" or "I50.1".
    system : {"icd9", "icd10"}
        ICD-9 (also ICD-9-CM) or ICD-10 (also ICD-10-CM and other national forms): diagnoses, not
        procedures.

    Returns
    -------
    list of str
        The code of the general diagnosis of each; a code that does not look like one of the
        system comes back as it is, in upper case.

    Raises
    ------
    InvalidParameterError
        If the system is unknown.

    Notes
    -----
    "We kept only the first three digits of the ICD-9 codes, which are those with more consensus
    among doctors" (section 4.6.1 of [1]). Numbers that lost zeros at the front get them back where
    that can be seen: "38.9" is 038.9, and "8" is 008, but "389" stays 389. Time O(len(codes)).

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

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
    """Return a code in upper case, without blanks around it."""
    return code.strip().upper()


def looks_like(codes: Sequence[str], system: str) -> NDArray[np.bool_]:
    """Tell which clean codes have the form of a system's."""
    shape = _SHAPES[_check_system(system)]
    return np.fromiter((shape.fullmatch(code) is not None for code in codes), bool, len(codes))


def lost_zeros(code: str) -> bool:
    """Tell whether a number of ICD-9 has fewer than three digits before its dot."""
    head = code.partition(".")[0]
    return head.isdigit() and len(head) < 3


def undotted(code: str) -> str:
    """Return a code without its dot, or as it is where that would make another code of it.

    A number with fewer than three digits before its dot is a diagnosis that lost its zeros (38.9 is
    038.9, septicemia, and 389 is hearing loss) or a procedure.
    """
    return code if "." in code and lost_zeros(code) else code.replace(".", "")


def _general(code: str, system: str) -> str:
    if system == "icd9" and code[0].isdigit():
        return code.partition(".")[0].zfill(3)[:3]
    return code[:4] if system == "icd9" and code[0] == "E" else code[:3]


def _check_system(system: str) -> str:
    if system not in SYSTEMS:
        msg = (
            f"rollup={system!r}; expected 'icd9', 'icd10', a dictionary from code to group or the "
            f"path of a file with columns code and group"
        )
        raise InvalidParameterError(msg)
    return system


def check_fits(codes: Sequence[str], counts: NDArray[np.intp], system: str, where: str) -> None:
    """Refuse a system that fewer than half of the codes of the records look like.

    Raises
    ------
    InvalidDataError
        If so; the message tells of the other system if that one fits.
    """
    total = int(counts.sum())
    share = {name: counts[looks_like(codes, name)].sum() / max(total, 1) for name in SYSTEMS}
    if not total or share[system] >= 0.5:
        return
    strange = codes[int(np.argmin(looks_like(codes, system)))]
    other = next(name for name in SYSTEMS if name != system)
    todo = f"pass rollup={other!r}" if share[other] >= 0.5 else "pass no rollup, or a mapping file"
    msg = (
        f"{where}: {share[system]:.0%} of the entries look like {system} (such as "
        f"{_LOOKS[system]}), and {excerpt(strange)} does not: {todo}"
    )
    raise InvalidDataError(msg)


def read_mapping(
    source: str | PathLike[str] | Mapping[str, str],
    what: str,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
) -> dict[str, str]:
    """Read what codes map to: a dictionary, or a table with a column of codes.

    Parameters
    ----------
    source : str, path-like or mapping
        A table in any form that records have, or the mapping itself.
    what : {"group", "name"}
        What the other column is. Where a table has more than two columns, it is found by its
        name: group, category, rollup, parent or target; name, title, label, description and such.
    encoding : str, default="utf-8"
        Encoding of text.
    separator : str or None, default=None
        The character between columns; None to find out.

    Returns
    -------
    dict
        From clean codes, in upper case, to what the last row with the code says.

    Raises
    ------
    ReadError
        If the file cannot be read or its columns cannot be told.
    InvalidParameterError
        If it is no path and no mapping of strings.
    """
    if isinstance(source, Mapping):
        if not all(isinstance(text, str) for pair in source.items() for text in pair):
            msg = f"the mapping from codes to {what}s holds something else than strings"
            raise InvalidParameterError(msg)
        pairs = list(source.items())
    else:
        table = read_table(check_exists(source), encoding=encoding, separator=separator)
        code, value = _columns_of_mapping(table, what)
        columns = [table.cells(name) for name in (code, value)]
        texts = (cells.texts[cells.index].tolist() for cells in columns)
        pairs = list(zip(*texts, strict=True))
    return {clean_code(code): value.strip() for code, value in pairs if code and value.strip()}


def _columns_of_mapping(table: Table, what: str) -> tuple[str, str]:
    lower = {name.lower(): name for name in reversed(table.names)}
    code = next((lower[name] for name in _CODE_NAMES if name in lower), None)
    value = next((lower[name] for name in _VALUE_NAMES[what] if name in lower), None)
    if len(table.names) == 2:
        code = code or next(name for name in table.names if name != value)
        value = value or next(name for name in table.names if name != code)
    if code is None or value is None or code == value:
        msg = (
            f"{Path(table.path)} maps no codes to {what}s: its columns are {listed(table.names)}; "
            f"expected two, 'code' and {what!r}"
        )
        raise ReadError(msg)
    return code, value


def lookup(mapping: Mapping[str, str], codes: Sequence[str]) -> list[str | None]:
    """Look clean codes up in a mapping, also with a dot more or less."""
    bare = {undotted(key): value for key, value in mapping.items()}
    return [mapping[code] if code in mapping else bare.get(undotted(code)) for code in codes]

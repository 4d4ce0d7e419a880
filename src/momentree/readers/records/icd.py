"""Roll up and name codes: by the systems that come with the package, a table or a dictionary."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from momentree.exceptions import InvalidParameterError
from momentree.messages import wording

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

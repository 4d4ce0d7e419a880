"""Titles of ICD codes: the categories of ICD-9-CM and ICD-10-CM, which come with the package."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from momentree.readers.records.codes import clean_code, looks_like, roll_up


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


_FEWEST = 20
_MOST_UNKNOWN = 0.02


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
    if len(clean) < _FEWEST or not any(code[:1].isalpha() for code in clean):
        return False
    if sum(code[3:4].isalpha() for code in clean) > len(clean) / 2:
        return False
    shaped = looks_like(clean, system).sum()
    known = sum(category in _titles(system) for category in roll_up(clean, system))
    return bool(min(shaped, known) >= (1 - _MOST_UNKNOWN) * len(clean))


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
        len(digits) >= _FEWEST
        and all(code.isdecimal() and len(code) <= 4 for code in digits)
        and 2 * sum(len(code) == 4 for code in digits) > len(digits)
    )

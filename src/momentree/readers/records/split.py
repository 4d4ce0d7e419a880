"""Split cells with several codes, and find the dates among the parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Ints
from momentree.messages import Message
from momentree.readers.records.codes import SYSTEMS, looks_like
from momentree.readers.tables.roles import MISSING

Texts = Sequence[str] | NDArray[Any]

_INNER_BLANK = r"[^\s,;|]\s+[^\s,;|]"
_RARE_SIGNS = "^~&/"
_LOOKED_AT = 1_000
_PART = re.compile(r"(?=\D*\d)\S{1,12}")
_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ t].*)?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})( .*)?"
    rf"|\d{{1,2}}[- .]+{_MONTH}[- .]+\d{{2,4}}|{_MONTH}[- .]+\d{{1,2}},?[- .]+\d{{2,4}}",
    re.IGNORECASE,
)
_EIGHT_DIGITS = re.compile(r"\d{8}")
_DIGITS_OF_A_DATE = re.compile(r"(19|20)\d{2}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")


def are_dates(texts: Texts) -> NDArray[np.bool_]:
    """Find dates; eight digits are a date only if most such values of the column can be."""
    index, unique = pd.factorize(np.asarray(texts, dtype=object))
    unsigned = [text for text in unique if _EIGHT_DIGITS.fullmatch(text)]
    dates = {text for text in unsigned if _DIGITS_OF_A_DATE.fullmatch(text)}
    if 2 * len(dates) <= len(unsigned):
        dates = set()
    dates |= {text for text in unique if _DATE.fullmatch(text)}
    return np.array([text in dates for text in unique], dtype=bool)[index]


def split_cells(texts: NDArray[Any], pattern: str | None) -> tuple[Ints, NDArray[Any]]:
    """Split distinct values; return the index of its value, ascending, and text of each part."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    value, parts = np.arange(len(texts)), texts
    if pattern is not None:
        # Dates are split neither at their separators nor before the time of day.
        whole = np.fromiter((_DATE.fullmatch(text) is not None for text in texts), bool, len(texts))
        lists = pc.split_pattern_regex(pa.array(texts[~whole], pa.large_string()), pattern)
        flat = pc.utf8_trim_whitespace(lists.flatten()).to_numpy(zero_copy_only=False)
        value = np.flatnonzero(~whole)[pc.list_parent_indices(lists).to_numpy()]
        value = np.concatenate([value, np.flatnonzero(whole)])
        parts = np.concatenate([np.asarray(flat, dtype=object), texts[whole]])
        order = np.argsort(value, kind="stable")
        value, parts = value[order], parts[order]
    index, unique = pd.factorize(parts)
    there = np.array([part.lower() not in MISSING for part in unique], dtype=bool)[index]
    return value[there], parts[there]


def code_separators(texts: Texts) -> tuple[str | None, list[Message]]:
    """Return a pattern of the separators in a cell, None if cells have one code; and notes."""
    values = pd.Series(texts, dtype="string[pyarrow]")
    signs = _common_signs(values)
    rare, unsure = _rare_signs(values, signs)
    signs += rare.replace("^", r"\^")
    # Notes quote no cell: it may contain all codes of a record, and reports repeat the notes.
    notes = [Message("rare_separator", sign=sign) for sign in rare]
    notes += [Message("possible_separator", sign=sign) for sign in unsure]
    with_blank = values[values.str.contains(_INNER_BLANK, regex=True)].head(_LOOKED_AT)
    if len(with_blank):
        # Blanks separate codes if nearly all pieces are short and have a digit, as in "25000 4019".
        pieces = with_blank.str.split(rf"[{signs}\s]+", regex=True).explode()
        pieces = pieces[pieces != ""]
        if (pieces.str.contains(r"\d", regex=True) & (pieces.str.len() <= 12)).mean() >= 0.9:
            return rf"[{signs}\s]+", notes
    return f"[{signs}]+" if signs else None, notes


def _common_signs(values: Any) -> str:
    signs = "".join(sign for sign in ";|\n\t" if values.str.contains(sign, regex=False).any())
    with_comma = values[values.str.contains(",", regex=False)]
    # A comma may be part of a name, as in "diabetes, type 2"; codes contain no blanks.
    if len(with_comma) and with_comma.str.contains(_INNER_BLANK, regex=True).mean() <= 0.1:
        signs += ","
    return signs


def _rare_signs(values: Any, signs: str) -> tuple[str, str]:
    """Return the rare signs that separate codes here, and those that may do so.

    A slash may also be part of a code. It separates codes if the parts look like those of a system,
    or if lists differ in length and a code is first in one list and later in another.
    """
    taken = unsure = ""
    for sign in _RARE_SIGNS:
        held = values.str.contains(sign, regex=False)
        if not held.any():
            continue
        several = _lists(values[held].head(_LOOKED_AT), signs, sign)
        codes = [all(map(_PART.fullmatch, parts)) for parts in several]
        if not codes or sum(codes) < 0.9 * len(codes):
            continue
        if sign != "/":
            taken += sign
        elif 2 * held.sum() > (values != "").sum():
            if _of_a_system(several) or _of_one_kind(several):
                taken += sign
            else:
                unsure += sign
    return taken, unsure


def _lists(values: Any, signs: str, sign: str) -> list[list[str]]:
    """Split by the common signs, then by `sign`; return the lists with several parts."""
    pieces = [
        piece.strip()
        for text in values
        for piece in (re.split(f"[{signs}]+", text) if signs else [text])
    ]
    split = [
        [part for one in piece.split(sign) if (part := one.strip())]
        for piece in pieces
        if not _DATE.fullmatch(piece)
    ]
    return [parts for parts in split if len(parts) > 1]


def _of_a_system(lists: Sequence[Sequence[str]]) -> bool:
    parts = [part.upper() for one in lists for part in one]
    # Most plain numbers, as in 120/80, have the form of ICD-9 codes.
    clear = np.array([not part.isdigit() for part in parts])
    return bool(max((looks_like(parts, name) & clear).mean() for name in SYSTEMS) >= 0.9)


def _of_one_kind(lists: Sequence[Sequence[str]]) -> bool:
    first, later = {one[0] for one in lists}, {part for one in lists for part in one[1:]}
    both = len(first & later)
    return len({len(one) for one in lists}) > 1 and 4 * both >= min(len(first), len(later))

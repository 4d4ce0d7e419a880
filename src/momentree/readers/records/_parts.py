"""The parts of cells with codes: what stands between codes, and what is a date and no code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree.readers.records._names import MISSING
from momentree.readers.records.codes import SYSTEMS, looks_like

__all__ = ["are_dates", "between_codes", "on_signs", "split_cells"]

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
    """Tell dates from codes; eight digits are dates only if most such in the column can be."""
    index, unique = pd.factorize(np.asarray(texts, dtype=object))
    unsigned = [text for text in unique if _EIGHT_DIGITS.fullmatch(text)]
    dates = {text for text in unsigned if _DIGITS_OF_A_DATE.fullmatch(text)}
    if 2 * len(dates) <= len(unsigned):
        dates = set()
    dates |= {text for text in unique if _DATE.fullmatch(text)}
    return np.array([text in dates for text in unique], dtype=bool)[index]


def split_cells(texts: NDArray[Any], pattern: str | None) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the number of the value and the text of each part of different values, in order."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    value, parts = np.arange(len(texts)), texts
    if pattern is not None:
        # What is a date as a whole, with its time, or with its signs, has no parts.
        whole = np.fromiter((_DATE.fullmatch(text) is not None for text in texts), bool, len(texts))
        lists = pc.split_pattern_regex(pa.array(texts[~whole], pa.large_string()), pattern)
        value = np.flatnonzero(~whole)[pc.list_parent_indices(lists).to_numpy()]
        flat = pc.utf8_trim_whitespace(lists.flatten())
        parts = np.asarray(flat.to_numpy(zero_copy_only=False), dtype=object)
        value = np.concatenate([value, np.flatnonzero(whole)])
        parts = np.concatenate([parts, texts[whole]])
        order = np.argsort(value, kind="stable")
        value, parts = value[order], parts[order]
    index, unique = pd.factorize(parts)
    there = np.array([part.lower() not in MISSING for part in unique], dtype=bool)[index]
    return value[there], parts[there]


def between_codes(texts: Texts) -> str | None:
    """Find what stands between codes in one cell, as a pattern; None where each holds one."""
    values = pd.Series(texts, dtype="string[pyarrow]")
    signs = _common_signs(values)
    signs += _rare_signs(values, signs)[0].replace("^", r"\^")
    with_blank = values[values.str.contains(_INNER_BLANK, regex=True)].head(_LOOKED_AT)
    if len(with_blank):
        # Blanks part codes where every piece has a digit and is short, as in "25000 4019".
        pieces = with_blank.str.split(rf"[{signs}\s]+", regex=True).explode()
        pieces = pieces[pieces != ""]
        if (pieces.str.contains(r"\d", regex=True) & (pieces.str.len() <= 12)).mean() >= 0.9:
            return rf"[{signs}\s]+"
    return f"[{signs}]+" if signs else None


def on_signs(texts: Texts) -> list[str]:
    """Tell of signs that seldom part codes: which were taken to, and which may."""
    values = pd.Series(texts, dtype="string[pyarrow]")
    taken, unsure = _rare_signs(values, _common_signs(values))
    # No cell is quoted: it may hold all codes of a record, and notes stand in the report.
    return [f"took {sign!r} for the sign between codes" for sign in taken] + [
        f"took cells with {sign!r} in them for one code each: write ';' where it parts codes"
        for sign in unsure
    ]


def _common_signs(values: Any) -> str:
    signs = "".join(sign for sign in ";|\n\t" if values.str.contains(sign, regex=False).any())
    with_comma = values[values.str.contains(",", regex=False)]
    # A comma may be part of a name, as in "diabetes, type 2"; codes hold no blanks.
    if len(with_comma) and with_comma.str.contains(_INNER_BLANK, regex=True).mean() <= 0.1:
        signs += ","
    return signs


def _rare_signs(values: Any, signs: str) -> tuple[str, str]:
    """Return the signs, of those that seldom do, that part codes, and those that may.

    A slash may also be part of a code: it parts codes where they look like those of a system, or
    where lists differ in length and a code is now the first and now a later one.
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
    """Return the parts by a sign of what the common signs leave, where there are several."""
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
    # Of bare numbers, such as 120/80, most have the form of ICD-9.
    clear = np.array([not part.isdigit() for part in parts])
    return bool(max((looks_like(parts, name) & clear).mean() for name in SYSTEMS) >= 0.9)


def _of_one_kind(lists: Sequence[Sequence[str]]) -> bool:
    first, later = {one[0] for one in lists}, {part for one in lists for part in one[1:]}
    both = len(first & later)
    return len({len(one) for one in lists}) > 1 and 4 * both >= min(len(first), len(later))

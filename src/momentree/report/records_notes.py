"""Which notes of the reader of records a page repeats: none that counts few records."""

from __future__ import annotations

import re
from collections.abc import Sequence

from momentree.report.documents import clean_text

__all__ = ["shown_left_out", "shown_notes"]

_COUNTED = re.compile(
    r"(?<!fewer than )(?<![\w.,:])(\d[\d,]*) (?:repeated )?"
    r"(?:record|row|entr|pair|patient|subject|visit|admission|case|stay|customer)",
    re.IGNORECASE,
)
"""A number of records, or of rows or entries, which may be one in each record."""


def shown_left_out(n_left_out: int, min_cell: int) -> int | str:
    """Return a number of records that were not fitted, as "<5" where it is small.

    Parameters
    ----------
    n_left_out : int >= 0
        Records with too few codes.
    min_cell : int >= 1
        The smallest number above zero that may be shown.

    Returns
    -------
    int or str
        The number, or what stands for it.

    Examples
    --------
    >>> shown_left_out(0, 5), shown_left_out(3, 5), shown_left_out(5, 5)
    (0, '<5', 5)
    """
    return f"<{min_cell}" if 0 < n_left_out < min_cell else n_left_out


def shown_notes(notes: Sequence[str], n_fitted: int, n_left_out: int, min_cell: int) -> list[str]:
    """Return the notes that tell no small number of records, with a word on the others.

    Parameters
    ----------
    notes : sequence of str
        What the reader found and repaired.
    n_fitted, n_left_out : int
        Records that were fitted, and those with too few codes.
    min_cell : int >= 1
        The smallest number above zero that may be shown.

    Returns
    -------
    list of str
        Whole notes: one that tells a number of records, rows or entries below `min_cell` is left
        out, and so is one with the number of all records where that of the fitted ones would tell
        by it how few were left out.

    Examples
    --------
    >>> notes = ["no id for 2 records", "joined 90 rows into 54 records", "read as UTF-8"]
    >>> shown_notes(notes, 54, 0, 5)
    ['joined 90 rows into 54 records', 'read as UTF-8', '1 note that tells a number below 5 is \
left out here']
    >>> shown_notes(notes, 50, 4, 5)
    ['read as UTF-8', '2 notes that tell a number below 5 are left out here']
    """
    total = n_fitted + n_left_out if 0 < n_left_out < min_cell else None

    def told(note: str) -> bool:
        counts = [int(found.replace(",", "")) for found in _COUNTED.findall(note)]
        if any(0 < count < min_cell for count in counts):
            return True
        numbers = re.findall(r"(?<![\w.])\d[\d,]*", note)
        return total is not None and any(n.replace(",", "") == str(total) for n in numbers)

    cleaned = [clean_text(note) for note in notes]
    kept = [note for note in cleaned if not told(note)]
    gone = len(cleaned) - len(kept)
    if not gone:
        return kept
    what = "note that tells" if gone == 1 else "notes that tell"
    verb = "is" if gone == 1 else "are"
    return [*kept, f"{gone} {what} a number below {min_cell} {verb} left out here"]

"""The notes on reading that a page, a screen or a file may show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from momentree.messages import Message
from momentree.report.disclosure import Disclosure

if TYPE_CHECKING:
    from momentree.datasets import Measurements, Records


def notes_shown(records: Records | Measurements, min_cell: int) -> list[Message]:
    """Return the notes on reading, without those from which a small count could be derived.

    A reader of the notes also knows the number of records of the fit, and how many of them have no
    known value of an outcome, and could subtract them.

    Parameters
    ----------
    records : Records or Measurements
        As returned by `momentree.datasets.read_records` or `read_measurements`.
    min_cell : int >= 1
        Smallest nonzero count that may be shown.

    Returns
    -------
    list of Message
        Notes in the order of the records, and one with the number of notes left out, if any.
    """
    enough = np.asarray(records.enough, dtype=bool)
    shown = {int(enough.sum()), int((~enough).sum())}
    for values in records.outcomes.values():
        known = np.asarray(values)[enough]
        shown.add(int((pd.isna(known) | (known == "")).sum()))
    return Disclosure(min_cell).notes(tuple(records.notes or ()), shown - set(range(min_cell)))

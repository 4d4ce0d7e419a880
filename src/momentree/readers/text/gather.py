"""Collect the rows of a table as documents, mending what can be mended."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from momentree._limits import BYTES_OF_A_ROW, check_unfolded
from momentree.exceptions import EmptyCorpusError
from momentree.readers.objects import Documents
from momentree.readers.text.columns import Columns

__all__ = ["Gatherer"]

_CHECK_EVERY = 1 << 16
"""Rows between two looks at what they take."""


class Gatherer:
    """Collect texts, labels and ids row by row.

    Parameters
    ----------
    path : Path
        The file they come from.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts: list[str] = []
        self._labels: list[str] = []
        self._ids: list[str] = []
        self._missing = 0

    def add(self, text: Any, label: Any, identity: Any) -> None:
        """Add a row; None and NaN are missing values.

        Parameters
        ----------
        text : object
            The text; a missing one is an empty document.
        label : object
            Missing labels are "".
        identity : object
            Missing ids are the number of the row, from 1.

        Raises
        ------
        ReadError
            If the rows so far take more memory than a file of its size may.
        """
        if len(self._texts) % _CHECK_EVERY == 0:
            check_unfolded(self._path, len(self._texts) * BYTES_OF_A_ROW, "its rows")
        text = _string(text)
        if not text or text.isspace():
            self._missing += 1
        self._texts.append(text)
        self._labels.append(_string(label))
        self._ids.append(_string(identity) or str(len(self._texts)))

    def documents(self, columns: Columns) -> Documents:
        """Return what was collected.

        Parameters
        ----------
        columns : Columns
            Where it was collected from.

        Returns
        -------
        Documents
            With notes on what was mended.

        Raises
        ------
        EmptyCorpusError
            If nothing was.
        """
        if not self._texts:
            msg = f"no documents in {self._path}: it has no rows"
            raise EmptyCorpusError(msg)
        notes = [columns.note] if columns.note else []
        n = len(self._texts)
        if self._missing:
            notes.append(f"{self._missing:,} of {n:,} rows of {self._path.name} have no text")
        if columns.label is not None:
            unlabelled = self._labels.count("")
            if unlabelled:
                notes.append(f"{unlabelled:,} of {n:,} rows of {self._path.name} have no label")
        labels = None if columns.label is None else self._labels
        return Documents(self._texts, self._ids, labels, self._path.name, tuple(notes))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _string(value: Any) -> str:
    if _is_missing(value):
        return ""
    if isinstance(value, list | tuple):  # several labels
        return ", ".join(map(_string, value))
    text = value if isinstance(value, str) else str(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # half a character, which JSON can write and files cannot
            text = text.encode("utf-8", "replace").decode()
    return text

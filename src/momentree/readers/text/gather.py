"""Collect the rows of a table as documents, mending what can be mended."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from momentree._limits import BYTES_PER_ROW, check_memory
from momentree.exceptions import EmptyCorpusError
from momentree.messages import Message
from momentree.readers.text.columns import Columns
from momentree.readers.text.objects import Documents

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
            check_memory(self._path, len(self._texts) * BYTES_PER_ROW)
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
            raise EmptyCorpusError("table_without_rows", path=str(self._path))
        notes = [columns.note] if columns.note else []
        of = {"n_documents": len(self._texts), "name": self._path.name}
        if self._missing:
            notes.append(Message("rows_without_text", n_rows=self._missing, **of))
        if columns.label is not None and (n_unlabelled := self._labels.count("")):
            notes.append(Message("rows_without_label", n_rows=n_unlabelled, **of))
        labels = None if columns.label is None else self._labels
        return Documents(self._texts, self._ids, labels, self._path.name, notes)


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

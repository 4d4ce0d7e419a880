"""Which column of a table holds the text, the labels and the ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentree.exceptions import ReadError
from momentree.messages import Message

__all__ = ["SAMPLE_ROWS", "Columns", "choose_columns", "listed"]

SAMPLE_ROWS = 1_000
_TEXT_NAMES = (
    "text",
    "texts",
    "content",
    "contents",
    "body",
    "fulltext",
    "full_text",
    "document",
    "abstract",
    "article",
    "description",
    "message",
    "review",
    "comment",
    "summary",
)
_ID_NAME = "id"


@dataclass(frozen=True)
class Columns:
    """Names of the columns to read.

    Parameters
    ----------
    text : str
        Column of the text.
    label : str or None
        Column of the label, if any.
    id : str or None
        Column of the id, if any.
    note : Message or None, default=None
        How the text column was found if not by its name.
    """

    text: str
    label: str | None
    id: str | None
    note: Message | None = None

    def used(self) -> list[str]:
        """List the columns that are read, each once.

        Returns
        -------
        list of str
            The text column first.
        """
        names = (self.text, self.label, self.id)
        return list(dict.fromkeys(name for name in names if name is not None))


def choose_columns(
    path: Path,
    names: Sequence[str],
    sample: Mapping[str, Sequence[Any]],
    *,
    text_column: str | None,
    label_column: str | None,
    id_column: str | None,
    any_text: bool = False,
) -> Columns:
    """Find the columns of a table.

    Parameters
    ----------
    path : Path
        The file, for errors.
    names : sequence of str
        All columns.
    sample : mapping from name to sequence
        The first values of each column.
    text_column, label_column, id_column : str or None
        What the caller asked for. Without a text column the first of the usual names is taken
        ("text", "content", "body", "abstract", ...), else the column with the longest strings;
        without an id column the one called "id", if there is one.
    any_text : bool, default=False
        Whether there are no rows to tell text by, so that any column will do.

    Returns
    -------
    Columns
        The names.

    Raises
    ------
    ReadError
        If a column that was asked for is not there, or none holds text.
    """
    for argument, name in (("text", text_column), ("label", label_column), ("id", id_column)):
        if name is not None and name not in names:
            raise ReadError(
                "no_such_column",
                path=str(path),
                parameter=f"{argument}_column",
                value=name,
                columns=[str(name)[:60] for name in names],
            )
    note = None
    if text_column is None:
        by_name = {name.strip().lower(): name for name in reversed(names)}
        usual = [by_name[name] for name in _TEXT_NAMES if name in by_name]
        if usual:
            text_column = usual[0]
        else:
            text_column = _longest(path, names, sample, {label_column, id_column}, any_text)
            note = Message("text_column_guessed", column=text_column, name=path.name)
    if id_column is None:
        id_column = next((n for n in names if n.lower() == _ID_NAME and n != text_column), None)
    return Columns(text_column, label_column, id_column, note)


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names for an error message, not more than a person reads.

    Parameters
    ----------
    names : sequence of str
        Names of columns.
    most : int, default=20
        How many are shown.

    Returns
    -------
    str
        Quoted names with commas between them.
    """
    shown = ", ".join(repr(str(name)[:60]) for name in names[:most])
    more = len(names) - most
    return f"{shown} and {more:,} more" if more > 0 else shown or "none"


def _longest(
    path: Path,
    names: Sequence[str],
    sample: Mapping[str, Sequence[Any]],
    taken: set[str | None],
    any_text: bool,
) -> str:
    lengths = {
        name: sum(len(value) for value in sample[name] if isinstance(value, str))
        for name in names
        if name not in taken
    }
    best = max(lengths, key=lambda name: lengths[name], default=None)
    if best is not None and any_text:
        return best
    if best is None or not lengths[best]:
        raise ReadError(
            "no_text_column", path=str(path), columns=[str(name)[:60] for name in names]
        )
    return best

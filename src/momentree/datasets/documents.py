"""Read documents from files: one entry for all forms of text."""

from __future__ import annotations

from os import PathLike

from momentree.datasets.files import check_encoding, check_exists, suffix
from momentree.datasets.json_lines import read_json_lines
from momentree.datasets.objects import Documents
from momentree.exceptions import ReadError

__all__ = ["read_documents"]

JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")


def read_documents(
    path: str | PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
) -> Documents:
    """Read texts from a folder of text files or from a table.

    Parameters
    ----------
    path : str or path-like
        JSON Lines (.jsonl, .ndjson, .json).
    text_column : str or None, default=None
        Column with the text.
    label_column : str or None, default=None
        Column with labels; None for no labels.
    id_column : str or None, default=None
        Column with ids.
    encoding : str, default="utf-8"
        Encoding of text files.
    separator : str or None, default=None
        What stands between the columns of a CSV file.

    Returns
    -------
    Documents
        In the order of the file.

    Raises
    ------
    ReadError
        If something cannot be read.
    EmptyCorpusError
        If there are no documents.
    """
    found = check_exists(path)
    check_encoding(encoding)
    if suffix(found) in JSON_SUFFIXES:
        return read_json_lines(
            found,
            text_column=text_column,
            label_column=label_column,
            id_column=id_column,
            encoding=encoding,
        )
    msg = f"{found} is of no form that is read here {separator or ''}"
    raise ReadError(msg)

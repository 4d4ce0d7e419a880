"""Read documents from files in any supported format."""

from __future__ import annotations

from os import PathLike

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.tables.files import check_exists, suffix
from momentree.readers.tables.reader import JSON_LINES, PARQUET, SEPARATED, open_table
from momentree.readers.tables.roles import pick
from momentree.readers.tables.table import Table, excerpts
from momentree.readers.text._folder import read_folder
from momentree.readers.text.objects import Documents

SUFFIXES = (*SEPARATED, *JSON_LINES, *PARQUET)


def read_documents(
    path: str | PathLike[str],
    *,
    text_column: str | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    encoding: str = "utf-8",
    separator: str | None = None,
) -> Documents:
    r"""Read texts, with their ids and labels if any, from a folder or a table.

    Parameters
    ----------
    path : str or path-like
        One of these, by its suffix; all except Parquet may be compressed with gzip (.csv.gz):

        - a folder of text files, one document per file; names of sub-folders are labels,
        - CSV, TSV (.csv, .tsv, .tab): the first line names the columns,
        - JSON Lines (.jsonl, .ndjson, .json): one object per line, or one list of objects,
        - Parquet (.parquet, .pq).
    text_column : str or None, default=None
        Column of the text. None uses the first column with a common name (text, content, body,
        document, abstract, ...), or else the column with the longest strings.
    label_column : str or None, default=None
        Column of known labels; None for no labels.
    id_column : str or None, default=None
        Column with the names of the documents. None uses the column "id", or else numbers the rows
        from 1.
    encoding : str, default="utf-8"
        Encoding of text; a byte order mark at the start is ignored.
    separator : str or None, default=None
        For CSV and TSV: the character between columns. None detects comma, semicolon, tab or pipe.

    Returns
    -------
    Documents
        In the order of the file, or in alphabetical order for a folder. Empty and missing texts
        become empty documents; `notes` list what was guessed, repaired or left out.

    Raises
    ------
    ReadError
        If the file does not exist, is empty, damaged, binary, malformed, in another encoding or in
        an unknown format; if a column is missing or the separator is wrong.
    EmptyCorpusError
        If there are no rows.
    InvalidParameterError
        If the encoding is unknown, the separator is not one character, or a column is given with a
        folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import read_documents
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.csv"
    ...     _ = file.write_text('id,text,kind\na,"The cat, again",cat\nb,A dog,dog\n')
    ...     pets = read_documents(file, label_column="kind")
    >>> pets.texts, pets.ids, pets.labels
    (['The cat, again', 'A dog'], ['a', 'b'], ['cat', 'dog'])
    """
    found = check_exists(path)
    columns = {"text_column": text_column, "label_column": label_column, "id_column": id_column}
    if found.is_dir():
        for parameter, name in columns.items():
            if name is not None:
                raise InvalidParameterError(
                    "column_of_folder", parameter=parameter, value=name, path=str(found)
                )
        return read_folder(found, encoding=encoding)
    end = suffix(found)
    if end not in SUFFIXES:
        raise ReadError("unknown_document_suffix", path=str(found), suffixes=", ".join(SUFFIXES))
    source = open_table(
        found, suffixes=SUFFIXES, encoding=encoding, separator=separator, between=", "
    )
    head = source.head
    _require(head, columns)
    notes = []
    if text_column is None:
        text_column = pick("text", head.names)
    if text_column is None:
        text_column = _longest(head, {label_column, id_column})
        notes.append(Message("guessed_text_column", column=text_column, source=head.path.name))
    if id_column is None:
        names = [name for name in head.names if name.lower() == "id" and name != text_column]
        id_column = names[0] if names else None
    used = [name for name in (text_column, label_column, id_column) if name is not None]
    table = source.read(list(dict.fromkeys(used)))
    _require(table, columns)
    if text_column in table.kinds:
        raise ReadError(
            "not_text",
            path=str(table.path),
            column=text_column,
            kind=table.kinds[text_column],
            parameter="text_column",
        )
    n = table.n_rows
    texts = table.columns[text_column]
    labels = None if label_column is None else table.columns[label_column]
    ids = [""] * n if id_column is None else table.columns[id_column]
    missing = {
        "rows_without_text": sum(not text or text.isspace() for text in texts),
        "rows_without_label": 0 if labels is None else labels.count(""),
    }
    notes += [
        Message(code, n_rows=n_missing, n_all=n, source=table.path.name)
        for code, n_missing in missing.items()
        if n_missing
    ]
    ids = [name or str(i) for i, name in enumerate(ids, start=1)]
    return Documents(texts, ids, labels, table.path.name, notes)


def _require(table: Table, given: dict[str, str | None]) -> None:
    for parameter, name in given.items():
        if name is not None:
            table.require(name, parameter)


def _longest(head: Table, taken: set[str | None]) -> str:
    """Return the column of text with the most characters."""
    free = [name for name in head.names if name not in taken and name not in head.kinds]
    names = [name for name in free if any(head.columns[name])]
    if not names:
        raise ReadError(
            "no_text_column",
            path=str(head.path),
            columns=excerpts(head.names),
            parameter="text_column",
        )
    return max(names, key=lambda name: sum(map(len, head.columns[name])))

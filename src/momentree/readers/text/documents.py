"""Read documents from files in any supported format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path

from momentree._validation import check_flag, check_integer
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.tables.files import (
    AUTO,
    check_encoding,
    check_exists,
    note_encoding,
    suffix,
)
from momentree.readers.text._files import FILES, FileReader
from momentree.readers.text._folder import stream_folder
from momentree.readers.text._table import SUFFIXES, Options, stream_table
from momentree.readers.text.objects import Documents, DocumentStream


def read_documents(
    path: str | PathLike[str],
    *,
    text_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    encoding: str = AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
) -> Documents:
    r"""Read texts, with their ids and labels if any, from a folder, a table or a file of text.

    Parameters
    ----------
    path : str or path-like
        One of these, by its suffix; plain text and HTML, CSV and JSON may be compressed with gzip
        (.csv.gz):

        - a folder of files, one document per file, or several for mailboxes and JSON; names of
          sub-folders are labels,
        - CSV, TSV (.csv, .tsv, .tab),
        - JSON Lines (.jsonl, .ndjson): one object per line; JSON (.json): a list of objects, an
          object that contains one, or an object of lists,
        - Parquet (.parquet, .pq), Excel (.xlsx, .xlsm, .xlsb, .xls), OpenDocument (.ods),
        - a mailbox (.mbox), one document per message,
        - one text: .txt, .md, .rst, .tex, .html, .eml, .pdf, .docx, .odt, .rtf.
    text_column : str, sequence of str or None, default=None
        Column of the text; fields of nested JSON are named with dots, "article.body". The text of a
        row joins several columns as paragraphs, in this order, without empty cells. None uses
        the first column with a common name (text, content, body, document, abstract, ...) that
        contains words, or else the column with most words.
    label_column : str or None, default=None
        Column of known labels; None for no labels.
    id_column : str or None, default=None
        Column with the names of the documents. None uses the column "id", or else numbers the rows
        from 1.
    encoding : str, default="auto"
        Encoding of text; "auto" guesses it for each file.
    separator : str or None, default=None
        For CSV and TSV: the character between columns. None detects comma, semicolon, tab or pipe.
    sheet : str or None, default=None
        For spreadsheets: name of the sheet; None reads the first.
    skip_rows : int, default=0
        For CSV, TSV and spreadsheets: number of rows above the names of the columns.
    header : bool or None, default=None
        For CSV, TSV and spreadsheets: whether the first row names the columns. None finds out;
        without names, they are "column 1", "column 2" and so on.

    Returns
    -------
    Documents
        In the order of the file, or in alphabetical order for a folder. Empty and missing texts
        become empty documents; `notes` list what was guessed, repaired or left out. Files of a
        folder that cannot be read are left out, with a note of code "files_unreadable".

    Raises
    ------
    ReadError
        If the file does not exist, is empty, damaged, binary, malformed, in another encoding or in
        an unknown format; if a column is missing or the separator is wrong; if no file of a folder
        can be read.
    EmptyCorpusError
        If there are no rows.
    InvalidParameterError
        If the encoding is unknown, the separator is not one character, or an option for tables is
        given with something else.

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
    return stream_documents(
        path,
        text_column=text_column,
        label_column=label_column,
        id_column=id_column,
        encoding=encoding,
        separator=separator,
        sheet=sheet,
        skip_rows=skip_rows,
        header=header,
        in_parts=False,
    ).together()


def stream_documents(
    path: str | PathLike[str],
    *,
    text_column: str | Sequence[str] | None = None,
    label_column: str | None = None,
    id_column: str | None = None,
    encoding: str = AUTO,
    separator: str | None = None,
    sheet: str | None = None,
    skip_rows: int = 0,
    header: bool | None = None,
    in_parts: bool = True,
) -> DocumentStream:
    r"""Read texts as :func:`read_documents` does, in batches that fit in memory.

    CSV, JSON Lines, Parquet and folders are read in batches of about 8 MB of text. All other files
    are read as a whole.

    Parameters
    ----------
    path : str or path-like
        As in :func:`read_documents`.
    text_column, label_column, id_column, encoding, separator, sheet, skip_rows, header : optional
        As in :func:`read_documents`.
    in_parts : bool, default=True
        Whether to read tables in batches; False gives one batch, and limits its memory by the size
        of the file.

    Returns
    -------
    DocumentStream
        An iterable of :class:`Documents`, to be read once.

    Raises
    ------
    ReadError, EmptyCorpusError, InvalidParameterError
        As in :func:`read_documents`, here or while the batches are read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from momentree.datasets import stream_documents
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "pets.csv"
    ...     _ = file.write_text("id,text\na,The cat\nb,A dog\n")
    ...     [batch.texts for batch in stream_documents(file)]
    [['The cat', 'A dog']]
    """
    check_integer("skip_rows", skip_rows, at_least=0)
    check_flag("header", header, optional=True)
    found = check_exists(path)
    options = Options(
        {"text_column": text_column, "label_column": label_column, "id_column": id_column},
        {
            "encoding": encoding,
            "separator": separator,
            "sheet": sheet,
            "skip_rows": skip_rows,
            "header": header,
        },
    )
    if encoding != AUTO:
        check_encoding(encoding)
    if found.is_dir():
        return stream_folder(found, encoding=encoding, options=options, in_parts=in_parts)
    end = suffix(found)
    if end in SUFFIXES:
        return stream_table(found, options, in_parts=in_parts)
    if end not in FILES:
        expected = ", ".join((*FILES, *SUFFIXES))
        raise ReadError("unknown_document_suffix", path=str(found), suffixes=expected)
    for parameter, value in options.given().items():
        raise InvalidParameterError(
            "not_for_text_files", parameter=parameter, value=value, path=str(found)
        )
    return _stream_file(found, encoding)


def _stream_file(path: Path, encoding: str) -> DocumentStream:
    """Read a file of text as one document, or a mailbox as several."""
    notes: list[Message] = []

    def documents() -> Iterator[Documents]:
        with closing(FileReader(encoding)) as reader:
            texts = reader.read(path)
        for one in reader.guessed.values():
            notes.extend(note_encoding(one, path.name))
        ids = [str(i) for i in range(1, len(texts) + 1)] if len(texts) > 1 else [path.name]
        yield Documents(texts, ids)

    return DocumentStream(path.name, documents(), notes)

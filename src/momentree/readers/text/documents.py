"""Read documents from files in any supported format."""

from __future__ import annotations

from contextlib import closing
from os import PathLike
from pathlib import Path

from momentree._validation import check_flag, check_integer
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.readers.tables.files import (
    AUTO,
    check_encoding,
    check_exists,
    note_encoding,
    suffix,
)
from momentree.readers.text._files import FILES, FileReader
from momentree.readers.text._folder import read_folder
from momentree.readers.text._table import SUFFIXES, Options, read_table
from momentree.readers.text.objects import Documents


def read_documents(
    path: str | PathLike[str],
    *,
    text_column: str | None = None,
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
    text_column : str or None, default=None
        Column of the text; fields of nested JSON are named with dots, "article.body". None uses
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
        return read_folder(found, encoding=encoding, options=options)
    end = suffix(found)
    if end in SUFFIXES:
        return read_table(found, options)
    if end not in FILES:
        expected = ", ".join((*FILES, *SUFFIXES))
        raise ReadError("unknown_document_suffix", path=str(found), suffixes=expected)
    for parameter, value in options.given().items():
        raise InvalidParameterError(
            "not_for_text_files", parameter=parameter, value=value, path=str(found)
        )
    return _read_file(found, encoding)


def _read_file(path: Path, encoding: str) -> Documents:
    """Read a file of text as one document, or a mailbox as several."""
    with closing(FileReader(encoding)) as reader:
        texts = reader.read(path)
    notes = [note for one in reader.guessed.values() for note in note_encoding(one, path.name)]
    ids = [str(i) for i in range(1, len(texts) + 1)] if len(texts) > 1 else [path.name]
    return Documents(texts, ids, None, path.name, notes)

"""Read documents from a file or folder, in any supported format."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path

from momentree._files import check_readable, is_special
from momentree._validation import check_flag, check_integer
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.tables.files import (
    AUTO,
    check_encoding,
    check_exists,
    note_encoding,
    open_bytes,
    suffix,
)
from momentree.readers.tables.reader import JSON_LINES
from momentree.readers.tables.table import is_part
from momentree.readers.text.formats import FILES, FileReader
from momentree.readers.text.objects import Documents, DocumentStream
from momentree.readers.text.tables import SUFFIXES, TABLES, Options, stream_table

_EXPLAINED = 3
"""Files that cannot be read whose reason is given."""
_OUTPUT = re.compile(
    rb'(?s:.*<meta name="generator" content="momentree )'
    rb'|\{\s*"format": "momentree\.'
    rb"|[^\r\n]*\b(leaf|topic|group),name,probability\b"
)
"""How reports, JSON files and tables of groups that momentree writes begin."""
_COUNTS = ("rows_without_text", "rows_without_label", "json_entries")
"""Notes on single tables that say nothing on a folder."""


@dataclass
class _Found:
    """Files of a folder, by what they contain."""

    files: list[str] = field(default_factory=list)  # text, mail, word processor files, JSON
    tables: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    faults: dict[str, Message] = field(default_factory=dict)


def stream_folder(
    path: Path, *, encoding: str, options: Options, in_parts: bool = True
) -> DocumentStream:
    """Read the files in a folder and its sub-folders as documents, about 8 MB at a time.

    Ids are the paths within the folder, in alphabetical order; rows and messages follow their file,
    with their own id or number after a colon. If there are files in sub-folders, labels are the
    names of the sub-folders of `path`, and "" for files in `path`.

    Documents are files of text, with one of the suffixes ``FILES``, JSON, and files without a
    suffix or with a number as suffix, as in newsgroups and mail folders, unless they are binary.
    Tables are read only if there are more of them than of documents: otherwise they usually
    describe the documents. Hidden files and folders, and lock files of word processors, are
    skipped; notes count files left out, such as images and what momentree wrote, and name those
    that cannot be read. Links to folders are not followed.
    """
    name = path.resolve().name or str(path)
    notes: list[Message] = []
    return DocumentStream(name, _batches(path, name, encoding, options, notes, in_parts), notes)


def _batches(
    path: Path, source: str, encoding: str, options: Options, notes: list[Message], in_parts: bool
) -> Iterator[Documents]:
    found = _find(path)
    with_tables = len(found.tables) > len(found.files)
    names = sorted([*found.files, *found.tables]) if with_tables else found.files
    alike: dict[str, Message] = {}  # notes on tables by their words, so that each is once
    has_rows = False
    n = n_blank = 0
    batch = _Batch()
    with closing(FileReader(encoding)) as reader:
        for name in names:
            try:
                is_table = suffix(path / name) in (*TABLES, *JSON_LINES)
                has_rows |= is_table
                parts = (
                    _rows(path, name, options, alike, in_parts)
                    if is_table
                    else iter([_texts(name, reader.read(path / name))])
                )
                for part in parts:
                    batch.add(part, _top(name))
                    if batch.is_full:
                        n, n_blank = n + len(batch.texts), n_blank + batch.n_blank
                        yield batch.documents(source)
                        batch = _Batch()
            except (ReadError, EmptyCorpusError) as error:
                found.faults[name] = _named(error, name)
    n, n_blank = n + len(batch.texts), n_blank + batch.n_blank
    _refuse_options(path, options, has_rows=has_rows)
    if not n:
        raise _nothing(path, found)
    if batch.texts:
        yield batch.documents(source)
    notes += [
        *_notes_on_files(source, found, names),
        *_notes_on_encodings(source, reader, len(names)),
        *alike.values(),
    ]
    if n_blank:
        notes.append(Message("files_empty", n_rows=n_blank, n_all=n, source=source))


class _Batch:
    """Documents of a folder that are passed on together."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []
        self._size = 0

    def add(self, part: Documents, label: str) -> None:
        self.texts += part.texts
        self.ids += part.ids
        self.labels += part.labels or [label] * len(part)
        self._size += sum(map(len, part.texts))

    @property
    def is_full(self) -> bool:
        return is_part(len(self.texts), self._size)

    @property
    def n_blank(self) -> int:
        return sum(not text or text.isspace() for text in self.texts)

    def documents(self, source: str) -> Documents:
        labels = self.labels if any(self.labels) else None
        return Documents(self.texts, self.ids, labels, source)


def _find(path: Path) -> _Found:
    found = _Found()
    for name in _list_files(path, found):
        file = path / name
        try:
            kind = _kind(file)
        except ReadError as error:
            found.faults[name] = _named(error, name)
            continue
        if kind == "text":
            found.files.append(name)
        elif kind == "table":
            found.tables.append(name)
        else:
            found.others[kind] += 1
    return found


def _kind(file: Path) -> str:
    """Return "text", "table", or what else a file is."""
    if is_special(file):  # a pipe may never end
        return "special"
    end = suffix(file)
    if end in TABLES or end in (*FILES, *JSON_LINES):
        with check_readable(file).open("rb") as content:
            if _OUTPUT.match(content.read(8192)):
                return "written by momentree"
        return "table" if end in TABLES else "text"
    if end and not end[1:].isdigit():
        return end
    with open_bytes(file) as content:
        return "binary" if b"\0" in content.read(8192) else "text"


def _texts(name: str, texts: list[str]) -> Documents:
    numbered = [f"{name}:{i}" for i in range(1, len(texts) + 1)] if len(texts) > 1 else [name]
    return Documents(texts, numbered)


def _rows(
    path: Path, name: str, options: Options, notes: dict[str, Message], in_parts: bool
) -> Iterator[Documents]:
    """Yield the rows of a table; a table of one row is named like its file."""
    check_exists(path / name)
    rows = stream_table(
        path / name, options.applicable(path / name), in_parts=in_parts, alone=False
    )
    parts = (part for part in rows if len(part))
    first = next(parts, None)
    if first is not None:
        second = next(parts, None)
        alone = second is None and len(first) == 1
        for part in chain([first], [] if second is None else [second], parts):
            ids = [name] if alone else [f"{name}:{one}" for one in part.ids]
            yield replace(part, ids=ids)
    for note in rows.notes:
        if note.code not in _COUNTS:
            # Files made alike give the same note, once.
            alike = Message(note.code, **{**note.values, "source": path.resolve().name})
            notes.setdefault(str(alike), alike)


def _top(name: str) -> str:
    return name.partition("/")[0] if "/" in name else ""


def _named(error: ReadError | EmptyCorpusError, name: str) -> Message:
    """Return the message of an error with the path within the folder."""
    return Message(error.code, **{**error.message.values, "path": name})


def _refuse_options(path: Path, options: Options, *, has_rows: bool) -> None:
    for parameter, value in options.given().items():
        if not has_rows:
            code = "column_of_folder" if parameter in options.columns else "not_for_text_files"
            raise InvalidParameterError(code, parameter=parameter, value=value, path=str(path))


def _nothing(path: Path, found: _Found) -> ReadError:
    left_out = [f"{n:,} {kind}" for kind, n in sorted(found.others.items())]
    if found.faults:
        return ReadError(
            "no_readable_file",
            path=str(path),
            n_files=len(found.faults),
            reasons=list(islice(found.faults.values(), _EXPLAINED)),
        )
    return ReadError(
        "no_text_file", path=str(path), left_out=left_out or ["none"], suffixes=list(FILES)
    )


def _notes_on_files(name: str, found: _Found, names: Collection[str]) -> list[Message]:
    notes = []
    n_read = len(set(names) - set(found.faults))
    if found.faults:
        notes.append(
            Message(
                "files_unreadable",
                source=name,
                n_files=len(found.faults),
                n_all=len(found.faults) + n_read,
                names=list(found.faults),
            )
        )
        notes += islice(found.faults.values(), _EXPLAINED)
    if found.others:
        left_out = [f"{n:,} {kind}" for kind, n in sorted(found.others.items())]
        n_others = found.others.total()
        notes.append(
            Message(
                "files_left_out", source=name, n_all=n_read, n_files=n_others, left_out=left_out
            )
        )
    if left := [table for table in found.tables if table not in set(names)]:
        notes.append(Message("tables_left_out", source=name, n_files=len(left), names=left))
    return notes


def _notes_on_encodings(name: str, reader: FileReader, n_all: int) -> list[Message]:
    guesses = Counter(
        "UTF-8 with damaged bytes" if one.n_bad else one.name for one in reader.guessed.values()
    )
    if not guesses:
        return []
    return [
        Message(
            "guessed_encodings",
            source=name,
            n_files=guesses.total(),
            n_all=n_all,
            read_as=[f"{n:,} as {kind}" for kind, n in sorted(guesses.items())],
            parameter="encoding",
        )
    ]


def _list_files(folder: Path, found: _Found) -> list[str]:
    """Return the relative paths of all files in a folder, with "/", in alphabetical order."""
    names: list[str] = []

    def refuse(error: OSError) -> None:
        place = Path(error.filename)
        fault = ReadError("folder_unreadable", path=str(place), error=error.strerror)
        if place == folder:
            raise fault from error
        below = place.relative_to(folder).as_posix()
        found.faults[below] = _named(fault, below)

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        shown = (file for file in files if not file.startswith((".", "~$")))
        names.extend((below / file).as_posix() for file in shown)
    return sorted(names)


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

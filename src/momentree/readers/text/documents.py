"""Read documents from a file or folder, in any supported format."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any

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
from momentree.readers.tables.grid import is_part
from momentree.readers.tables.reader import JSON_LINES
from momentree.readers.text import formats, objects, tables

_NOT_FOR_TEXT_FILES = (
    "[not_for_text_files] {parameter:=value} applies only to tables, but {path} has none; leave it "
    "out"
)


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


def stream_folder(
    path: Path, *, encoding: str, options: tables.Options, in_parts: bool = True
) -> objects.DocumentStream:
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
    folder = _Folder(path, encoding, options, in_parts=in_parts)
    return objects.DocumentStream(folder.name, folder.batches(), folder.notes)


class _Folder:
    """The files of a folder and its sub-folders, and what is found when they are read."""

    def __init__(
        self, path: Path, encoding: str, options: tables.Options, *, in_parts: bool
    ) -> None:
        self.path, self.encoding, self.options, self.in_parts = path, encoding, options, in_parts
        self.name = path.resolve().name or str(path)
        self.notes: list[Message] = []
        self.documents: list[str] = []  # text, mail, word processor files, JSON
        self.tables: list[str] = []
        self.others: Counter[str] = Counter()
        self.faults: dict[str, Message] = {}
        self.alike: dict[str, Message] = {}  # notes on tables by their words, so that each is once

    def batches(self) -> Iterator[objects.Documents]:
        """Read the files, about 8 MB at a time."""
        self.find()
        with_tables = len(self.tables) > len(self.documents)
        names = sorted([*self.documents, *self.tables]) if with_tables else self.documents
        held: list[objects.Documents] = []
        n = n_blank = size = 0
        with closing(formats.FileReader(self.encoding)) as reader:
            for name in names:
                label = name.partition("/")[0] if "/" in name else ""
                try:
                    for part in self.read(name, reader):
                        held.append(replace(part, labels=part.labels or [label] * len(part)))
                        n += len(part)
                        n_blank += sum(not text or text.isspace() for text in part.texts)
                        size += sum(map(len, part.texts))
                        if is_part(sum(map(len, held)), size):
                            yield self.joined(held)
                            held, size = [], 0
                except (ReadError, EmptyCorpusError) as error:
                    self.faults[name] = _named(error, name)
        if not any(map(_is_table, names)):
            self.refuse_options()
        if not n:
            raise self.nothing()
        if held:
            yield self.joined(held)
        self.notes += [
            *self.notes_on_files(names),
            *_notes_on_encodings(self.name, reader, len(names)),
            *self.alike.values(),
        ]
        if n_blank:
            self.notes.append(
                Message(
                    "[files_empty] {n_rows:,} of {n_all:~document} in {source} {n_rows:?is/are} "
                    "empty",
                    n_rows=n_blank,
                    n_all=n,
                    source=self.name,
                )
            )

    def joined(self, parts: Sequence[objects.Documents]) -> objects.Documents:
        """Return documents that are passed on together."""
        texts, ids, labels = (
            list(chain.from_iterable(getattr(part, what) for part in parts))
            for what in ("texts", "ids", "labels")
        )
        return objects.Documents(texts, ids, labels if any(labels) else None, self.name)

    def find(self) -> None:
        """List the files by their kinds, in alphabetical order, and those that cannot be read."""

        def refuse(error: OSError) -> None:
            place = Path(error.filename)
            fault = ReadError(
                "cannot read the folder {path}: {error}", path=str(place), error=error.strerror
            )
            if place == self.path:
                raise fault from error
            below = place.relative_to(self.path).as_posix()
            self.faults[below] = _named(fault, below)

        names: list[str] = []
        for place, folders, files in os.walk(self.path, onerror=refuse):
            folders[:] = [name for name in folders if not name.startswith(".")]
            below = Path(place).relative_to(self.path)
            shown = (file for file in files if not file.startswith((".", "~$")))
            names.extend((below / file).as_posix() for file in shown)
        for name in sorted(names):
            try:
                kind = _kind(self.path / name)
            except ReadError as error:
                self.faults[name] = _named(error, name)
                continue
            if kind in ("text", "table"):
                (self.documents if kind == "text" else self.tables).append(name)
            else:
                self.others[kind] += 1

    def read(self, name: str, reader: formats.FileReader) -> Iterator[objects.Documents]:
        """Read a file; a file of one text, or a table of one row, gives its name to it."""
        path = self.path / name
        if not _is_table(name):
            texts = reader.read(path)
            several = [f"{name}:{i}" for i in range(1, len(texts) + 1)]
            yield objects.Documents(texts, several if len(texts) > 1 else [name])
            return
        check_exists(path)
        options = self.options.applicable(path)
        rows = tables.stream_table(path, options, in_parts=self.in_parts, alone=False)
        parts = (part for part in rows if len(part))
        first = list(islice(parts, 2))
        alone = sum(map(len, first)) == 1
        for part in chain(first, parts):
            yield replace(part, ids=[name] if alone else [f"{name}:{row}" for row in part.ids])
        for note in rows.notes:
            if note.code not in _COUNTS:
                # Files made alike give the same note, once.
                alike = note.replace(source=self.path.resolve().name)
                self.alike.setdefault(str(alike), alike)

    def refuse_options(self) -> None:
        """Refuse options of tables."""
        for parameter, value in self.options.given().items():
            raise InvalidParameterError(
                _NOT_FOR_TEXT_FILES, parameter=parameter, value=value, path=str(self.path)
            )

    def nothing(self) -> ReadError:
        """Return the error for a folder without documents."""
        if self.faults:
            reasons = list(islice(self.faults.values(), _EXPLAINED))
            n_files = len(self.faults)
            return ReadError(
                "[no_readable_file] none of {n_files:~file} in {path} can be read: "
                "{reasons:sentences}",
                path=str(self.path),
                n_files=n_files,
                reasons=reasons,
            )
        left_out = _listed(self.others) or ["none"]
        return ReadError(
            "[no_text_file] the folder {path} contains no documents (other files: "
            "{left_out:list}); expected files that end in {suffixes:all}",
            path=str(self.path),
            left_out=left_out,
            suffixes=list(formats.FILES),
        )

    def notes_on_files(self, names: Collection[str]) -> list[Message]:
        """Return notes on the files that were not read."""
        notes, source = [], self.name
        n_read, n_faults = len(set(names) - set(self.faults)), len(self.faults)
        if self.faults:
            facts = {"n_all": n_faults + n_read, "names": list(self.faults)}
            notes.append(
                Message(
                    "[files_unreadable] left out {n_files:,} of {n_all:~file} in {source}, which "
                    "cannot be read: {names:list}",
                    source=source,
                    n_files=n_faults,
                    **facts,
                )
            )
            notes += islice(self.faults.values(), _EXPLAINED)
        if self.others:
            facts = {"n_files": self.others.total(), "left_out": _listed(self.others)}
            notes.append(
                Message(
                    "[files_left_out] read {n_all:~file} in {source}, left out {n_files:~other "
                    "file} ({left_out:list})",
                    source=source,
                    n_all=n_read,
                    **facts,
                )
            )
        if left := [table for table in self.tables if table not in set(names)]:
            notes.append(
                Message(
                    "[tables_left_out] left out {n_files:~table} beside the documents in {source} "
                    "({names:list}); to read the rows of a table, give it alone",
                    source=source,
                    n_files=len(left),
                    names=left,
                )
            )
        return notes


def _is_table(name: str) -> bool:
    return suffix(Path(name)) in (*tables.TABLES, *JSON_LINES)


def _kind(file: Path) -> str:
    """Return "text", "table", or what else a file is."""
    if is_special(file):  # a pipe may never end
        return "special"
    end = suffix(file)
    if end in tables.TABLES or end in (*formats.FILES, *JSON_LINES):
        with check_readable(file).open("rb") as content:
            if _OUTPUT.match(content.read(8192)):
                return "written by momentree"
        return "table" if end in tables.TABLES else "text"
    if end and not end[1:].isdigit():
        return end
    with open_bytes(file) as content:
        return "binary" if b"\0" in content.read(8192) else "text"


def _listed(counts: Counter[str]) -> list[str]:
    return [f"{n:,} {kind}" for kind, n in sorted(counts.items())]


def _named(error: ReadError | EmptyCorpusError, name: str) -> Message:
    """Return the message of an error with the path within the folder."""
    return error.message.replace(path=name)


def _notes_on_encodings(name: str, reader: formats.FileReader, n_all: int) -> list[Message]:
    guesses = Counter(
        "UTF-8 with damaged bytes" if guess.n_bad else guess.name
        for guess in reader.guessed.values()
    )
    if not guesses:
        return []
    read_as = [f"{n:,} as {kind}" for kind, n in sorted(guesses.items())]
    facts = {"n_files": guesses.total(), "n_all": n_all, "read_as": read_as}
    return [
        Message(
            "[guessed_encodings] {n_files:,} of {n_all:~file} in {source} {n_files:?is/are} not "
            "UTF-8; read {read_as:list}. If letters look wrong, pass {parameter}",
            source=name,
            **facts,
            parameter="encoding",
        )
    ]


def read_documents(
    path: str | PathLike[str],
    **options: Any,
) -> objects.Documents:
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
    **options
        Those of :func:`stream_documents`: `text_column`, `label_column`, `id_column`, `encoding`,
        `separator`, `sheet`, `skip_rows` and `header`.

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
    return stream_documents(path, in_parts=False, **options).together()


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
) -> objects.DocumentStream:
    r"""Read texts as :func:`read_documents` does, in batches that fit in memory.

    CSV, JSON Lines, Parquet and folders are read in batches of about 8 MB of text. All other files
    are read as a whole.

    Parameters
    ----------
    path : str or path-like
        A file or folder, see :func:`read_documents`.
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
    options = tables.Options(
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
    if end in tables.SUFFIXES:
        return tables.stream_table(found, options, in_parts=in_parts)
    if end not in formats.FILES:
        expected = ", ".join((*formats.FILES, *tables.SUFFIXES))
        raise ReadError(
            "[unknown_document_suffix] cannot determine the format of {path} from its suffix; "
            "expected a folder of documents, a file that ends in {suffixes} (text may be "
            "compressed, .gz), or word counts: .npz, .mtx, .svm or docword.NAME.txt",
            path=str(found),
            suffixes=expected,
        )
    for parameter, value in options.given().items():
        raise InvalidParameterError(
            _NOT_FOR_TEXT_FILES, parameter=parameter, value=value, path=str(found)
        )
    return _stream_file(found, encoding)


def _stream_file(path: Path, encoding: str) -> objects.DocumentStream:
    """Read a file of text as one document, or a mailbox as several."""
    notes: list[Message] = []

    def documents() -> Iterator[objects.Documents]:
        with closing(formats.FileReader(encoding)) as reader:
            texts = reader.read(path)
        for one in reader.guessed.values():
            notes.extend(note_encoding(one, path.name))
        ids = [str(i) for i in range(1, len(texts) + 1)] if len(texts) > 1 else [path.name]
        yield objects.Documents(texts, ids)

    return objects.DocumentStream(path.name, documents(), notes)

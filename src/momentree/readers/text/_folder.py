"""Read folders of documents, in files of any format."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from momentree._files import check_readable, is_special
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.tables.files import check_exists, open_bytes, suffix
from momentree.readers.tables.reader import JSON_LINES
from momentree.readers.tables.table import is_part
from momentree.readers.text._files import FILES, FileReader
from momentree.readers.text._table import TABLES, Options, stream_table
from momentree.readers.text.objects import Documents, DocumentStream

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
    path: Path,
    source: str,
    encoding: str,
    options: Options,
    notes: list[Message],
    in_parts: bool,
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

"""Read folders of text files, one document per file."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.files import open_bytes, open_text, suffix
from momentree.readers.text.objects import Documents

TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".rst", ".tex", ".asc")


def read_folder(path: Path, *, encoding: str) -> Documents:
    """Read each text file in a folder and its sub-folders as a document.

    Ids are the paths within the folder, in alphabetical order. If there are text files in
    sub-folders, labels are the names of the sub-folders of `path`, and "" for files in `path`.

    Text files are those with one of ``TEXT_SUFFIXES``, plain or compressed with gzip (.txt.gz), and
    those without a suffix or with a number as suffix, as in newsgroups and mail folders, unless
    they are binary. Hidden files and folders are skipped; a note counts all other files left out,
    such as pipes and images. Links to folders are not followed.
    """
    found: list[str] = []
    others: Counter[str] = Counter()
    for name in _list_files(path):
        file = path / name
        if file.exists() and not file.is_file():  # a pipe may never end
            others["special"] += 1
        elif _is_text(file):
            found.append(name)
        else:
            others[suffix(file) or "binary"] += 1
    left_out = [f"{n:,} {kind}" for kind, n in sorted(others.items())]
    if not found:
        raise ReadError(
            "no_text_file",
            path=str(path),
            left_out=left_out or ["none"],
            suffixes=list(TEXT_SUFFIXES),
        )
    texts = []
    for name in found:
        with open_text(path / name, encoding) as text_file:
            texts.append(text_file.read())
    tops = [name.partition("/")[0] if "/" in name else "" for name in found]
    name = path.resolve().name or str(path)
    notes = []
    if others:
        notes.append(
            Message(
                "files_left_out",
                source=name,
                n_all=len(found),
                n_files=others.total(),
                left_out=left_out,
            )
        )
    if n_blank := sum(not text.strip() for text in texts):
        notes.append(Message("files_empty", n_rows=n_blank, n_all=len(texts), source=name))
    return Documents(texts, found, tops if any(tops) else None, name, notes)


def _list_files(folder: Path) -> list[str]:
    """Return the relative paths of all files in a folder, with "/", in alphabetical order."""
    names: list[str] = []
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        names.extend((below / file).as_posix() for file in files if not file.startswith("."))
    return sorted(names)


def _refuse(error: OSError) -> None:
    raise ReadError("folder_unreadable", path=error.filename, error=error.strerror) from error


def _is_text(path: Path) -> bool:
    end = suffix(path)
    if end in TEXT_SUFFIXES:
        return True
    if end and not end[1:].isdigit():
        return False
    with open_bytes(path) as file:
        return b"\0" not in file.read(8192)

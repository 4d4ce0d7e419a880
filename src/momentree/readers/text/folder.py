"""Read documents from a folder of text files."""

from __future__ import annotations

import os
from pathlib import Path

from momentree.exceptions import ReadError
from momentree.readers.objects import Documents
from momentree.readers.tables.files import open_bytes, open_text, suffix

__all__ = ["TEXT_SUFFIXES", "read_folder"]

TEXT_SUFFIXES = (".txt", ".text", ".md", ".markdown", ".rst", ".tex", ".asc")


def read_folder(path: Path, *, encoding: str) -> Documents:
    """Read each text file of a folder, and of the folders in it, as a document.

    Parameters
    ----------
    path : Path
        The folder.
    encoding : str
        Encoding of the files.

    Returns
    -------
    Documents
        Ids are the paths from the folder on, in alphabetical order. If there are text files in
        sub-folders, labels are the names of the sub-folders of `path`, and "" for files that are
        in none.

    Raises
    ------
    ReadError
        If there is no text file, or one cannot be read, is binary or in another encoding.

    Notes
    -----
    Text files are those with one of ``TEXT_SUFFIXES``, also compressed by gzip (.txt.gz), and
    those whose names have no suffix or a number as suffix, as in newsgroups and mail folders,
    unless they are binary. Hidden files and folders, pipes, sockets and devices are left out.
    `skipped` says how many other files were left out. Links to folders are not followed.
    """
    found: list[str] = []
    others: dict[str, int] = {}
    for name in _names(path):
        special = (path / name).exists() and not (path / name).is_file()  # a pipe may never end
        if not special and _is_text(path / name):
            found.append(name)
        else:
            kind = "special" if special else suffix(Path(name)) or "binary"
            others[kind] = others.get(kind, 0) + 1
    left_out = ", ".join(f"{n:,} {kind}" for kind, n in sorted(others.items()))
    if not found:
        msg = (
            f"no text file in {path} (there is {left_out or 'nothing'}); expected files that end "
            f"in {', '.join(TEXT_SUFFIXES)}"
        )
        raise ReadError(msg)
    texts = []
    for name in found:
        with open_text(path / name, encoding) as file:
            texts.append(file.read())
    tops = [name.partition("/")[0] if "/" in name else "" for name in found]
    notes = []
    if others:
        n = sum(others.values())
        kinds = f"{n:,} other file{'s' * (n > 1)} ({left_out})"
        notes.append(f"read {len(found):,} text files of {path.name}, left out {kinds}")
    blank = sum(not text.strip() for text in texts)
    if blank:
        notes.append(f"{blank:,} of {len(texts):,} text files of {path.name} are empty")
    name = path.resolve().name or str(path)
    return Documents(texts, found, tops if any(tops) else None, name, tuple(notes))


def _names(folder: Path) -> list[str]:
    """List the files below a folder by their paths from it, with "/", in alphabetical order."""
    names: list[str] = []
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(place).relative_to(folder)
        names.extend((below / file).as_posix() for file in files if not file.startswith("."))
    return sorted(names)


def _refuse(error: OSError) -> None:
    msg = f"cannot read the folder {error.filename}: {error.strerror}"
    raise ReadError(msg) from error


def _is_text(path: Path) -> bool:
    end = suffix(path)
    if end in TEXT_SUFFIXES:
        return True
    if end and not end[1:].isdigit():
        return False
    with open_bytes(path) as file:
        return b"\0" not in file.read(8192)

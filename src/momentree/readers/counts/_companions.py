"""Read the files next to a matrix that contain its words, document ids and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from momentree._files import check_readable
from momentree._validation import check_lengths
from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.counts._raw import fault_in_line
from momentree.readers.counts._stored import is_stored
from momentree.readers.stored.counts import MARK
from momentree.readers.tables.files import find_encoding, note_encoding, open_text

Lines = str | PathLike[str] | Sequence[str]
"""Words, labels or ids, or the path of a file with one per line."""

# Names of the files, in the order in which they are searched.
NAMES = {
    "vocabulary": ("vocab", "vocabulary", "codes"),
    "labels": ("labels",),
    "ids": ("ids", "titles"),
}


def read_vocabulary(
    path: Path, given: Lines | None, notes: list[Message], encoding: str
) -> tuple[str, list[str]] | None:
    """Return the source of the words of a matrix, and the words; None if there are none."""
    if given is not None and not isinstance(given, str | PathLike):
        return "vocabulary", list(given)
    source = find_companion(path, "vocabulary") if given is None else check_readable(given)
    if source is None:
        return None
    words = list(lines_of(source, notes, encoding))
    while words and not words[-1]:
        words.pop()
    if "" in words:
        raise fault_in_line(source, words.index("") + 1, Message("empty_line_for_word"))
    return str(source), words


def read_row_names(
    path: Path, given: Lines | None, what: str, n: int, notes: list[Message], encoding: str
) -> list[str] | None:
    """Return the labels or ids of `n` documents; None if there are none.

    Values given by the caller must match the number of documents; a file found next to the
    matrix with a different number of lines is ignored, with a note.
    """
    if given is not None and not isinstance(given, str | PathLike):
        values = [str(value) for value in given]
        check_lengths(n, "document", **{what: values})
        return values
    source = find_companion(path, what) if given is None else check_readable(given)
    if source is None:
        return None
    values = list(lines_of(source, notes, encoding))
    while len(values) > n and not values[-1]:
        values.pop()
    if len(values) == n:
        return values
    found = {"path": str(source), "n_lines": len(values), "n_rows": n}
    if given is not None:
        raise ReadError("wrong_number_of_lines", **found)
    notes.append(Message("companion_ignored", **found))
    return None


def find_matrices(folder: Path) -> list[Path]:
    """Return the matrices in a folder that have a vocabulary, or the mark of stored counts."""
    if is_stored(folder):
        return [folder / MARK]

    def is_matrix(path: Path) -> bool:
        name = path.name.lower().removesuffix(".gz")
        named = name.endswith((".npz", ".mtx")) or name.startswith("docword.")
        return named and path.is_file() and find_companion(path, "vocabulary") is not None

    return sorted(filter(is_matrix, folder.iterdir()))


def lines_of(path: Path, notes: list[Message], encoding: str) -> Iterator[str]:
    """Yield the lines of a file, stripped."""
    found = find_encoding(path, encoding)
    notes += note_encoding(found, path.name)
    # Only line feeds end lines: a word may contain other Unicode line separators.
    with open_text(path, found, newline="\n") as file:
        yield from (line.strip() for line in file)


def find_companion(path: Path, what: str) -> Path | None:
    """Return the file of words, labels or ids that belongs to a matrix; None if there is none."""
    stem = path.name.removesuffix(".gz")
    stem = stem.removesuffix(Path(stem).suffix)
    # Companions of docword.NAME or X_NAME have the same name after the first part.
    cut = next((i for i, character in enumerate(stem) if character in "._-"), len(stem))
    for ending in dict.fromkeys([stem[cut:], ""]):
        for name in NAMES[what]:
            for suffix in (".txt", ".txt.gz"):
                candidate = path.with_name(f"{name}{ending}{suffix}")
                if candidate.is_file():
                    return candidate
    return None

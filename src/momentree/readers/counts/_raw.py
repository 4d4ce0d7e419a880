"""Result of the count readers, and the search for the faulty line.

A fast parser reads the file; only if it fails, a slow parser searches for the faulty line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.files import open_bytes


@dataclass(frozen=True)
class RawCounts:
    """Content of a file of counts, with words, labels and ids if the file has them.

    If it is `numbered`, its words are numbers of words in a vocabulary.
    """

    X: Any
    words: list[str] | None = None
    labels: list[str] | None = None
    ids: list[str] | None = None
    numbered: bool = False


def fault_in_line(path: Path, line: int, problem: Message) -> ReadError:
    """Return the error for a faulty line."""
    return ReadError("counts_line", path=str(path), line=line, problem=problem)


def fault_in_file(
    path: Path,
    find_fault: Callable[[bytes], Message | None],
    error: Exception | None = None,
    *,
    n_header: int = 0,
) -> ReadError:
    """Return the error for the first faulty line, or else the error of the fast parser."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if number > n_header and (problem := find_fault(line)) is not None:
                return fault_in_line(path, number, problem)
    return ReadError("unreadable_path", path=str(path), error=" ".join(str(error).split()))


def quoted(line: bytes) -> str:
    """Return a line for a message, truncated if it is long."""
    text = line.strip().decode("utf-8", "backslashreplace")
    return text if len(text) <= 60 else f"{text[:57]}..."

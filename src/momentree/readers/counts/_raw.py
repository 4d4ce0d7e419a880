"""What readers of counts share: their answer, and the search for the line at fault.

A fast parser reads the file; only when it fails does a slow one look for the line at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentree.exceptions import ReadError
from momentree.readers.tables.files import open_bytes

__all__ = ["RawCounts", "first_fault", "one_line", "shown"]


@dataclass(frozen=True)
class RawCounts:
    """What a file of counts holds; a file that names words or labels gives them too."""

    X: Any
    words: list[str] | None = None
    labels: list[str] | None = None


def first_fault(
    path: Path, fault_of: Callable[[int, bytes], str | None], error: Exception
) -> ReadError:
    """Find the first line at fault; where there is none, repeat what the fast parser said."""
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if (fault := fault_of(number, line)) is not None:
                return ReadError(f"{path}, line {number}: {fault}")
    return ReadError(f"{path} cannot be read: {one_line(error)}")


def shown(line: bytes) -> str:
    """Quote a line in a message, cut if it is long."""
    text = line.strip().decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def one_line(error: Exception) -> str:
    """Say in one line what an error of a library says."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__

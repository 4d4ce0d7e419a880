"""Check that sequences have one entry for each row or column."""

from __future__ import annotations

from typing import Any

from momentree.exceptions import InvalidDataError


def check_lengths(needed: int, each: str, **sequences: Any) -> None:
    """Raise ``InvalidDataError`` unless each sequence is None or has `needed` entries."""
    for name, values in sequences.items():
        if values is not None and len(values) != needed:
            raise InvalidDataError(
                "wrong_length", name=name, n_entries=len(values), needed=needed, each=each
            )

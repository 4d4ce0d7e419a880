"""Count states and codes in the most likely paths, and decide what may be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree.report.disclosure import Disclosure

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class PathCounts:
    """Steps and sequences of the most likely paths of k states, with d codes.

    Counts of sequences decide what is shown: many steps may belong to one person.
    """

    steps: Ints  # (k,) steps in each state
    sequences: Ints  # (k,) sequences that visit each state
    starts: Ints  # (k,) sequences that start there
    moves: Ints  # (k, k) sequences that go from one state to another, or stay
    codes: Ints  # (d,) sequences with each code
    emissions: Ints  # (k, d) sequences with a code in a state

    @classmethod
    def of(cls, path: Ints, symbols: Ints, lengths: Ints, k: int, d: int) -> PathCounts:
        """Count the states of a path, concatenated like the symbols."""
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        inside = np.diff(sequence) == 0
        moves = path[:-1] * k + path[1:]
        return cls(
            steps=np.bincount(path, minlength=k),
            sequences=_distinct(sequence, path, k),
            starts=np.bincount(path[np.cumsum(lengths) - lengths], minlength=k),
            moves=_distinct(sequence[1:][inside], moves[inside], k * k).reshape(k, k),
            codes=_distinct(sequence, symbols, d),
            emissions=_distinct(sequence, path * d + symbols, k * d).reshape(k, d),
        )


def _distinct(sequence: Ints, value: Ints, n_values: int) -> Ints:
    """Return the number of sequences with each value."""
    keys = np.unique(sequence.astype(np.int64) * n_values + value)
    return np.bincount(keys % n_values, minlength=n_values)


def hidden_cells(counts: Ints, shares: Floats, disclosure: Disclosure) -> Mask:
    """Return which cells of each row of shares are hidden: those of few sequences.

    If a row has one such cell, its smallest other one is hidden too, because the shares of a row
    sum to 1.
    """
    hidden = disclosure.is_small(counts)
    for row, values in zip(hidden, shares, strict=True):
        if row.sum() == 1 and len(row) > 1:
            row[np.argmin(np.where(row | (values <= 0), np.inf, values))] = True
    return hidden


def shown(values: Any, hidden: Mask, digits: int) -> Any:
    """Return rounded values as lists, with None where they are hidden."""
    if np.ndim(values) > 1:
        return [shown(row, gone, digits) for row, gone in zip(values, hidden, strict=True)]
    return [
        None if gone else round(float(value), digits)
        for value, gone in zip(values, hidden, strict=True)
    ]

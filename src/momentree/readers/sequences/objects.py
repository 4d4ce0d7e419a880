"""Result of the reader of sequences: symbols in order, with codes and ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_lengths
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.sequences.coder import SequenceCoder


@dataclass(frozen=True, eq=False)
class Sequences:
    """Sequences of codes: the symbol of each step, with the names of symbols and sequences.

    Parameters
    ----------
    symbols : ndarray of int, shape (n,)
        Symbol of each step, 0 to d - 1; the steps of a sequence are consecutive, in order.
    lengths : ndarray of int, shape (m,)
        Number of steps of each sequence, at least 1; sum n.
    codes : ndarray of str, shape (d,)
        Code of each symbol, in alphabetical order.
    ids : list of str
        Id of each sequence.
    coder : SequenceCoder
        Turns codes into symbols, in the same way for new sequences, and names codes.
    times : list of str or None, default=None
        Time of each step, as written; None if the order of the rows is that of the steps.
    name : str, default="sequences"
        Source of the sequences.
    notes : sequence of Message, default=()
        What the reader guessed, merged or left out.

    Raises
    ------
    InvalidDataError
        If lengths do not match, or a symbol is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.datasets import SequenceCoder, Sequences
    >>> codes = np.array(["cart", "home"], dtype=object)
    >>> coder = SequenceCoder(codes.tolist())
    >>> visits = Sequences(np.array([1, 0, 1]), np.array([2, 1]), codes, ["ann", "bob"], coder)
    >>> len(visits), visits.n_steps
    (2, 3)
    """

    symbols: Ints
    lengths: Ints
    codes: NDArray[Any]
    ids: list[str]
    coder: SequenceCoder
    times: list[str] | None = None
    name: str = "sequences"
    notes: Sequence[Message] = ()

    def __post_init__(self) -> None:
        check_lengths(len(self.lengths), "sequence", ids=self.ids)
        total = int(np.sum(self.lengths))
        check_lengths(total, "step", symbols=self.symbols)
        if self.times is not None:
            check_lengths(total, "step", times=self.times)
        outside = total and not 0 <= self.symbols.min() <= self.symbols.max() < len(self.codes)
        if outside or (np.asarray(self.lengths) < 1).any():
            raise InvalidDataError("invalid_sequences", n_codes=len(self.codes))

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        n, d = len(self), len(self.codes)
        return f"Sequences({self.name!r}, {n:,} sequences, {self.n_steps:,} steps, {d:,} codes)"

    @property
    def n_steps(self) -> int:
        """Number of steps of all sequences."""
        return len(self.symbols)

    @property
    def sequence_of(self) -> Ints:
        """Sequence of each step, shape (n,)."""
        return np.repeat(np.arange(len(self)), self.lengths)

    @property
    def names(self) -> dict[str, str]:
        """Name of each code that has one."""
        return self.coder.names

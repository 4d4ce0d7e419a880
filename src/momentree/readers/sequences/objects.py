"""Sequences of codes, and the coder that turns codes into symbols in the same way for new ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_lengths
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.records.objects import RecordCoder, Rollup
from momentree.readers.tables.schema import Coder


@dataclass
class SequenceCoder(Coder):
    """The symbols of codes, and the columns of their table.

    Parameters
    ----------
    codes : list of str
        Code of each symbol.
    id_column, time_column, code_column : str or None, default=None
        Columns of the table; None for no column.
    time_format : str or None, default=None
        Format of the times, as of ``strptime``; None if it was guessed.
    other : str or None, default=None
        The one of `codes` that stands for all codes that have no symbol; None to leave them out.
    rollup : {"icd9", "icd10", "mapping"} or None, default=None
        Roll-up applied to the codes.
    mapping : dict of str to str, default={}
        Group of each code, in upper case, for ``rollup="mapping"``.
    names : dict of str to str, default={}
        Names of codes.

    Raises
    ------
    InvalidDataError
        If a value has the wrong type, two symbols have the same code, or `other` is none of them.

    Examples
    --------
    >>> from momentree.datasets import SequenceCoder
    >>> coder = SequenceCoder(["(other)", "cart", "home"], other="(other)")
    >>> coder.symbols_of(["home", "cart", "help"]).tolist()
    [2, 1, 0]
    >>> SequenceCoder.from_dict(coder.to_dict()) == coder
    True
    """

    kind: ClassVar[str] = "sequences"
    codes: list[str]
    id_column: str | None = None
    time_column: str | None = None
    code_column: str | None = None
    time_format: str | None = None
    other: str | None = None
    rollup: Rollup | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def is_consistent(self) -> bool:
        """Whether each code has one symbol, and the other code is one of them."""
        others = {*self.codes, None}
        return self.other in others and len(others) == len(self.codes) + 1

    @property
    def _rules(self) -> RecordCoder:
        return RecordCoder(self.codes, rollup=self.rollup, mapping=self.mapping, names=self.names)

    def group(self, codes: Sequence[str]) -> list[str]:
        """Roll codes up; without a roll-up, they stay as they are written.

        Parameters
        ----------
        codes : sequence of str
            Codes as written in the table.

        Returns
        -------
        list of str
            Their groups, whether or not they have a symbol.
        """
        return list(codes) if self.rollup is None else self._rules.group(codes)

    def symbols_of(self, codes: Sequence[str]) -> Ints:
        """Find the symbols of codes.

        Parameters
        ----------
        codes : sequence of str
            Codes as written in the table.

        Returns
        -------
        ndarray of intp, shape (len(codes),)
            Symbol of each code: that of `other` if it has none of its own; -1 for none.
        """
        symbol = {code: j for j, code in enumerate(self.codes)}
        rest = -1 if self.other is None else symbol[self.other]
        return np.array([symbol.get(code, rest) for code in self.group(codes)], dtype=np.intp)


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
            raise InvalidDataError(
                "lengths must be at least 1, and symbols whole numbers from 0 to below {n_codes}, "
                "the number of codes",
                n_codes=len(self.codes),
            )

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

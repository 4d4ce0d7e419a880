"""Result of the records reader: coded records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._validation import check_lengths
from momentree.messages import Message
from momentree.readers.records.coder import RecordCoder


@dataclass(frozen=True, eq=False)
class Records:
    """Coded records: which record has which codes, with names, ids and outcomes.

    Parameters
    ----------
    X : csr_array of float64, shape (n, d)
        1 if record i has code j; NaN, as a stored entry, if unknown.
    codes : ndarray of str, shape (d,)
        Code of each column, in alphabetical order.
    names : dict of str to str
        Name of each code that has one.
    ids : sequence of str
        Names of the records, not necessarily unique.
    enough : ndarray of bool, shape (n,)
        Whether a record has enough codes to be fitted; the others can be assigned to a group.
    coder : RecordCoder
        Assigns codes to columns, in the same way for new records.
    outcomes : dict of str to ndarray of shape (n,), default={}
        Values of each outcome: float with NaN where missing, or str with "" where missing.
    outcome_names : dict of str to (str, str), default={}
        Names of 0 and 1 in outcomes of two words, such as ("No", "Yes").
    name : str, default="records"
        Source of the records.
    form : {"long", "lists", "slots", "wide"}, default="long"
        Form of the table.
    notes : sequence of Message, default=()
        What the reader guessed, repaired or left out.
    covariates : sequence of str, default=()
        Names of the outcomes that are covariates, such as age and sex.

    Raises
    ------
    InvalidDataError
        If lengths do not match.
    """

    X: sp.csr_array[Any]
    codes: NDArray[Any]
    names: dict[str, str]
    ids: Sequence[str]
    enough: NDArray[np.bool_]
    coder: RecordCoder
    outcomes: dict[str, NDArray[Any]] = field(default_factory=dict)
    outcome_names: dict[str, tuple[str, str]] = field(default_factory=dict)
    name: str = "records"
    form: str = "long"
    notes: Sequence[Message] = ()
    covariates: Sequence[str] = ()

    def __post_init__(self) -> None:
        n, d = self.X.shape
        check_lengths(d, "column of X", codes=self.codes)
        check_lengths(n, "row of X", ids=self.ids, enough=self.enough, **self.outcomes)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def fitted(self) -> sp.csr_array[Any]:
        """The rows of X with enough codes."""
        return sp.csr_array(self.X)[np.flatnonzero(self.enough)]

    def blocks(self) -> Iterator[sp.csr_array[Any]]:
        """Yield X in order, in parts of a size that fits in memory."""
        yield self.X

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Records({self.name!r}, {n:,} records, {d:,} codes, {self.X.nnz:,} entries)"

    def title(self, code: str) -> str:
        """Return a code with its name.

        Parameters
        ----------
        code : str
            Code of a column.

        Returns
        -------
        str
            Such as "250 Diabetes mellitus"; only the code if it has no name.
        """
        name = self.names.get(code, "")
        return f"{code} {name}" if name and name != code else code

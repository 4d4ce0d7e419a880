"""Coded records, and the coder that assigns codes to columns in the same way for new ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree._types import Ints
from momentree._validation import check_lengths
from momentree.core.choices import Empty
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.records.icd import clean_code, lookup, roll_up, undotted
from momentree.readers.stored.counts import StoredCounts
from momentree.readers.tables.schema import Coder

Form = Literal["long", "lists", "slots", "wide"]
Rollup = Literal["icd9", "icd10", "mapping"]

EMPTY = get_args(Empty)


@dataclass
class RecordCoder(Coder):
    """The columns of coded records, and how codes are assigned to them.

    Parameters
    ----------
    codes : list of str
        Code of each column.
    form : {"long", "lists", "slots", "wide"}, default="long"
        The form of the table; see :func:`read_records`.
    id_column : str or None, default=None
        Column with the ids of the records.
    code_columns : list of str, default=[]
        Columns with codes, by name or pattern.
    union_by : str or None, default=None
        Column that joins rows: those with equal values form one record.
    rollup : {"icd9", "icd10", "mapping"} or None, default=None
        Roll-up applied to the codes.
    mapping : dict of str to str, default={}
        Group of each code, in upper case, for ``rollup="mapping"``.
    undotted : bool, default=False
        Whether dots were removed from codes, except from numbers with fewer than three digits
        before the dot, which would become different codes.
    names : dict of str to str, default={}
        Names of codes.
    empty : {"missing", "zero"}, default="missing"
        Meaning of an empty cell in a wide table.

    Raises
    ------
    InvalidDataError
        If a value has the wrong type, or two columns have the same code.

    Examples
    --------
    >>> from momentree.datasets import RecordCoder
    >>> coder = RecordCoder(["250", "401"], rollup="icd9")
    >>> coder.transform([["250.01", "401.9"], ["25002"], ["V10"]]).toarray()
    array([[1., 1.],
           [1., 0.],
           [0., 0.]])
    >>> RecordCoder.from_dict(coder.to_dict()) == coder
    True
    """

    kind: ClassVar[str] = "records"
    codes: list[str]
    form: Form = "long"
    id_column: str | None = None
    code_columns: list[str] = field(default_factory=list)
    union_by: str | None = None
    rollup: Rollup | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    undotted: bool = False
    names: dict[str, str] = field(default_factory=dict)
    empty: Empty = "missing"

    @property
    def is_consistent(self) -> bool:
        """Whether each code has one column."""
        return len(set(self.codes)) == len(self.codes)

    def group(self, codes: Sequence[str]) -> list[str]:
        """Roll codes up to the level of the columns.

        Parameters
        ----------
        codes : sequence of str
            Codes as written in records.

        Returns
        -------
        list of str
            Their groups, in upper case unless from a mapping, whether or not they have a column.
        """
        clean = [clean_code(code) for code in codes]
        if self.rollup == "mapping":
            groups = zip(clean, lookup(self.mapping, clean), strict=True)
            return [code if group is None else group for code, group in groups]
        if self.rollup is not None:
            return roll_up(clean, self.rollup)
        return [undotted(code) for code in clean] if self.undotted else clean

    def columns_of(self, codes: Sequence[str]) -> Ints:
        """Find the columns of codes.

        Parameters
        ----------
        codes : sequence of str
            Codes as written in records.

        Returns
        -------
        ndarray of intp, shape (len(codes),)
            Column of each code; -1 for none.
        """
        # Groups of a mapping and columns of a wide table are not in upper case.
        column = {code.upper(): j for j, code in reversed(list(enumerate(self.codes)))}
        bare = {undotted(code): j for code, j in column.items()}
        groups = (group.upper() for group in self.group(codes))
        columns = [column.get(code, bare.get(undotted(code), -1)) for code in groups]
        return np.array(columns, dtype=np.intp)

    def transform(self, records: Sequence[Sequence[str]]) -> sp.csr_array[Any]:
        """Encode new records given as lists of codes.

        Parameters
        ----------
        records : sequence of sequences of str
            The codes of each record.

        Returns
        -------
        csr_array of float64, shape (len(records), len(codes))
            1 where a record has a code; codes without a column are ignored.

        Raises
        ------
        InvalidDataError
            If a record is not a sequence of strings.
        """
        for i, record in enumerate(records):
            if isinstance(record, str) or not all(isinstance(code, str) for code in record):
                raise InvalidDataError(
                    "[not_a_list_of_codes] record {record} is {type}; expected a list of codes as "
                    "strings",
                    record=i,
                    type=type(record).__name__,
                )
        column = self.columns_of([code for record in records for code in record])
        row = np.repeat(np.arange(len(records)), [len(record) for record in records])
        known = column >= 0
        shape = (len(records), len(self.codes))
        X = sp.csr_array((np.ones(known.sum()), (row[known], column[known])), shape=shape)
        X.sum_duplicates()
        X.data[:] = 1.0
        return X


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
    stored : StoredCounts or None, default=None
        The codes of all records on disk, from which X is mapped; None if they are in memory.

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
    stored: StoredCounts | None = None

    def __post_init__(self) -> None:
        n, d = self.X.shape
        check_lengths(d, "column of X", codes=self.codes)
        check_lengths(n, "row of X", ids=self.ids, enough=self.enough, **self.outcomes)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def fitted(self) -> sp.csr_array[Any]:
        """The rows of X with enough codes."""
        if self.stored is None:
            return sp.csr_array(self.X)[np.flatnonzero(self.enough)]
        if self.enough.all():
            return self.X
        return StoredCounts.open(self.stored.folder / "fitted").X

    def blocks(self) -> Iterator[sp.csr_array[Any]]:
        """Yield X in order, in parts of a size that fits in memory."""
        return self.stored.blocks() if self.stored is not None else iter([self.X])

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

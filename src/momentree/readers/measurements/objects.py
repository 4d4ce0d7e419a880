"""Measurements, columns of any kind, and the coder that reads new records in the same way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_lengths
from momentree.core.choices import ColumnKind, Empty
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.readers.tables.schema import Coder

if TYPE_CHECKING:
    import pandas as pd

KINDS = get_args(ColumnKind)


@dataclass
class MeasurementCoder(Coder):
    """The columns of a table of measurements, and what each of them contains.

    Parameters
    ----------
    kinds : dict of str to {"number", "yes_no", "category", "count"}
        Kind of each column, in the order of the features.
    categories : dict of str to list of str, default={}
        Values of each category.
    id_column : str or None, default=None
        Column with the ids of the records.
    missing : list of str, default=[]
        Texts that stand for a missing value, besides the usual ones, in lower case.
    empty : {"missing", "zero"}, default="missing"
        Meaning of an empty cell in a column of yes and no.

    Raises
    ------
    InvalidDataError
        If a value has the wrong type.

    Examples
    --------
    >>> from momentree.datasets import MeasurementCoder
    >>> coder = MeasurementCoder({"age": "number", "sex": "category"}, {"sex": ["f", "m"]})
    >>> MeasurementCoder.from_dict(coder.to_dict()) == coder
    True
    """

    kind: ClassVar[str] = "measurements"
    kinds: dict[str, ColumnKind]
    categories: dict[str, list[str]] = field(default_factory=dict)
    id_column: str | None = None
    missing: list[str] = field(default_factory=list)
    empty: Empty = "missing"

    @property
    def is_consistent(self) -> bool:
        """Whether there are columns, and values of each category."""
        categories = {name for name, kind in self.kinds.items() if kind == "category"}
        return bool(self.kinds) and categories == set(self.categories)


@dataclass(frozen=True)
class Sample:
    """Which rows of a table were read, and how all are read.

    Parameters
    ----------
    rows : ndarray of int, shape (n,)
        Numbers of the records in the table, from 0.
    n_all : int
        Number of records in the table.
    blocks : callable
        Yields all records of the table in order, without outcomes, and which of them were read.
    """

    rows: Ints
    n_all: int
    blocks: Callable[[], Iterator[tuple[Measurements, NDArray[np.bool_]]]]


@dataclass(frozen=True, eq=False)
class Measurements:
    """Records with measurements: one value of each column per record, some of them missing.

    Parameters
    ----------
    columns : dict of str to ndarray of shape (n,)
        Values by column: floats of numbers, counts and yes or no (1 is yes), NaN where missing;
        texts of categories, "" where missing.
    coder : MeasurementCoder
        The kind of each column; reads new records in the same way.
    ids : list of str
        Names of the records, not necessarily unique.
    enough : ndarray of bool, shape (n,)
        Whether a record has any known value; the others are not fitted.
    units : dict of str to str, default={}
        Unit of the columns in which numbers have one.
    words : dict of str to (str, str), default={}
        Words for no and yes in columns of them.
    outcomes : dict of str to ndarray of shape (n,), default={}
        Values of each outcome: float with NaN where missing, or str with "" where missing.
    outcome_names : dict of str to (str, str), default={}
        Names of 0 and 1 in outcomes of two words, such as ("No", "Yes").
    left_out : dict of str to str, default={}
        Columns left out, with the code of the reason.
    name : str, default="measurements"
        Source of the records.
    notes : sequence of Message, default=()
        What the reader guessed, repaired or left out.
    covariates : sequence of str, default=()
        Names of the outcomes that are covariates, such as age and sex.
    sample : Sample or None, default=None
        Where these records are in a table that may have more; None if all are in memory.

    Raises
    ------
    InvalidDataError
        If lengths or columns do not match.
    """

    columns: dict[str, NDArray[Any]]
    coder: MeasurementCoder
    ids: list[str]
    enough: NDArray[np.bool_]
    units: dict[str, str] = field(default_factory=dict)
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    outcomes: dict[str, NDArray[Any]] = field(default_factory=dict)
    outcome_names: dict[str, tuple[str, str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    name: str = "measurements"
    notes: Sequence[Message] = ()
    covariates: Sequence[str] = ()
    sample: Sample | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        check_lengths(n, "record", enough=self.enough)
        for values in (*self.columns.values(), *self.outcomes.values()):
            check_lengths(n, "record", values=values)
        if list(self.columns) != list(self.coder.kinds):
            raise InvalidDataError(
                "[not_columns_of_coder] the columns of measurements are not those of their coder"
            )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        counts = Counter(self.kinds.values()).most_common()
        parts = ", ".join(f"{n:,} {kind}" for kind, n in counts)
        return f"Measurements({self.name!r}, {len(self):,} records, columns: {parts})"

    @property
    def kinds(self) -> Mapping[str, ColumnKind]:
        """Kind of each column."""
        return self.coder.kinds

    @property
    def only_numbers(self) -> bool:
        """Whether all columns contain numbers or counts."""
        return set(self.kinds.values()) <= {"number", "count"}

    @property
    def n_missing(self) -> int:
        """Number of missing cells in records with any known value."""
        return sum(int(is_missing(values)[self.enough].sum()) for values in self.columns.values())

    def blocks(self) -> Iterator[tuple[Measurements, NDArray[np.bool_]]]:
        """Yield all records in order, in blocks, and which of them these measurements contain.

        Of a table larger than memory, they are read from it, without outcomes.
        """
        if self.sample is not None:
            return self.sample.blocks()
        return iter([(self, np.ones(len(self), dtype=np.bool_))])

    def to_matrix(self) -> Floats:
        """Return the columns as floats, shape (n, d): categories by the place of their values."""
        columns = []
        for name, values in self.columns.items():
            if self.kinds[name] == "category":
                place = {text: float(j) for j, text in enumerate(self.coder.categories[name])}
                values = np.array([place.get(text, np.nan) for text in values])
            columns.append(np.asarray(values, dtype=np.float64))
        return np.column_stack(columns)

    @property
    def frame(self) -> pd.DataFrame:
        """The columns as a data frame: categories are texts, and None where missing."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: [text or None for text in values]
                if self.kinds[name] == "category"
                else values
                for name, values in self.columns.items()
            }
        )


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are missing: NaN, or an empty text."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=np.bool_)
    return np.asarray(values == "", dtype=np.bool_)

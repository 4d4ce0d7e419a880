"""Assign codes to columns, in the same way for new records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from momentree._types import Ints
from momentree.core.choices import Empty
from momentree.exceptions import InvalidDataError
from momentree.readers.records.codes import SYSTEMS, clean_code, lookup, roll_up, undotted

Form = Literal["long", "lists", "slots", "wide"]

FORMS = get_args(Form)
EMPTY = get_args(Empty)


@dataclass
class RecordCoder:
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

    codes: list[str]
    form: Form = "long"
    id_column: str | None = None
    code_columns: list[str] = field(default_factory=list)
    union_by: str | None = None
    rollup: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    undotted: bool = False
    names: dict[str, str] = field(default_factory=dict)
    empty: Empty = "missing"

    def __post_init__(self) -> None:
        good = (
            _strings(self.codes)
            and _strings(self.code_columns)
            and all(isinstance(pairs, dict) for pairs in (self.mapping, self.names))
            and _strings([*self.mapping, *self.mapping.values()])
            and _strings([*self.names, *self.names.values()])
            and all(x is None or isinstance(x, str) for x in (self.id_column, self.union_by))
            and self.form in FORMS
            and self.rollup in (None, "mapping", *SYSTEMS)
            and isinstance(self.undotted, bool)
            and self.empty in EMPTY
        )
        if not good or len(set(self.codes)) < len(self.codes):
            raise InvalidDataError(
                "invalid_coder_settings",
                forms=list(FORMS),
                rollups=[*SYSTEMS, "mapping"],
                empty=list(EMPTY),
            )

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
            found = zip(clean, lookup(self.mapping, clean), strict=True)
            return [code if group is None else group for code, group in found]
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
        at = {code.upper(): j for j, code in reversed(list(enumerate(self.codes)))}
        bare = {undotted(code): j for code, j in at.items()}
        found = (group.upper() for group in self.group(codes))
        columns = [at.get(code, bare.get(undotted(code), -1)) for code in found]
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
                raise InvalidDataError("not_a_list_of_codes", record=i, type=type(record).__name__)
        column = self.columns_of([code for record in records for code in record])
        row = np.repeat(np.arange(len(records)), [len(record) for record in records])
        known = column >= 0
        shape = (len(records), len(self.codes))
        X = sp.csr_array((np.ones(known.sum()), (row[known], column[known])), shape=shape)
        X.sum_duplicates()
        X.data[:] = 1.0
        return X

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, and "kind": "records", as plain values for JSON."""
        return {"kind": "records", **asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RecordCoder:
        """Return a coder from the result of :meth:`to_dict`.

        Parameters
        ----------
        values : mapping
            Parameters, and "kind".

        Returns
        -------
        RecordCoder
            An equal coder.

        Raises
        ------
        InvalidDataError
            If the kind is different, or an entry is unknown or has the wrong type.
        """
        kind = values.get("kind")
        if kind != "records":
            raise InvalidDataError("other_settings", expected="records", found=str(kind))
        known = [one.name for one in fields(cls)]
        unknown = sorted(map(str, set(values) - {*known, "kind"}))
        if unknown or "codes" not in values:
            raise InvalidDataError("unknown_coder_settings", unknown=unknown, known=known)
        return cls(**{name: values[name] for name in known if name in values})


def _strings(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

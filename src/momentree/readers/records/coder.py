"""How records became columns of zeros and ones, to do the same with new records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from momentree.exceptions import InvalidDataError
from momentree.readers.records.codes import SYSTEMS, clean_code, lookup, roll_up, undotted

__all__ = ["RecordCoder"]

KIND = "records"
EMPTY = ("missing", "zero")
FORMS = ("long", "lists", "slots", "wide")


@dataclass
class RecordCoder:
    """Columns of coded records: which code each is, and how codes are brought to them.

    Parameters
    ----------
    codes : list of str
        The code of each column.
    form : {"long", "lists", "slots", "wide"}, default="long"
        How the records lay in their file; see :func:`read_records`.
    id_column : str or None, default=None
        Column of the ids of records.
    code_columns : list of str, default=[]
        Columns of the codes, by name or pattern.
    union_by : str or None, default=None
        Column whose equal values make one record.
    rollup : {"icd9", "icd10", "mapping"} or None, default=None
        What codes were rolled up by.
    mapping : dict of str to str, default={}
        Group of each code, in upper case, for ``rollup="mapping"``.
    undotted : bool, default=False
        Whether dots were taken out of codes (but for a number with fewer than three digits before
        its dot, which would become another code).
    names : dict of str to str, default={}
        Names of codes.
    empty : {"missing", "zero"}, default="missing"
        What an empty cell of a wide table means.

    Raises
    ------
    InvalidDataError
        If a value is of the wrong type, or two columns have one code.

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
    form: str = "long"
    id_column: str | None = None
    code_columns: list[str] = field(default_factory=list)
    union_by: str | None = None
    rollup: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    undotted: bool = False
    names: dict[str, str] = field(default_factory=dict)
    empty: str = "missing"

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
            msg = (
                "these are no settings of a reader of records: expected different codes as a list "
                f"of strings, a form of {FORMS}, columns as strings, a roll-up of "
                f"{(*SYSTEMS, 'mapping', None)}, mapping and names from string to string, empty of "
                f"{EMPTY}"
            )
            raise InvalidDataError(msg)

    def group(self, codes: Sequence[str]) -> list[str]:
        """Bring codes to the level of the columns, whether there is one for them or not.

        Parameters
        ----------
        codes : sequence of str
            Codes as they are in records.

        Returns
        -------
        list of str
            Their groups by the roll-up; in upper case.
        """
        clean = [clean_code(code) for code in codes]
        if self.rollup == "mapping":
            groups = self.mapped(clean)
            return [
                code if group is None else group for code, group in zip(clean, groups, strict=True)
            ]
        if self.rollup is not None:
            return roll_up(clean, self.rollup)
        return [undotted(code) for code in clean] if self.undotted else clean

    def mapped(self, codes: Sequence[str]) -> list[str | None]:
        """Look codes up in the mapping.

        Parameters
        ----------
        codes : sequence of str
            Codes in upper case.

        Returns
        -------
        list of str or None
            The group of each; None where the mapping has none, neither with nor without dots.
        """
        return lookup(self.mapping, codes)

    def columns_of(self, codes: Sequence[str]) -> NDArray[np.intp]:
        """Find the columns of codes.

        Parameters
        ----------
        codes : sequence of str
            Codes as they are in records: in any case, before the roll-up.

        Returns
        -------
        ndarray of intp, shape (len(codes),)
            Position of the column of each; -1 for a code without one.
        """
        # Groups of a mapping and columns of a wide table keep the case they were written in.
        at = {code.upper(): j for j, code in reversed(list(enumerate(self.codes)))}
        bare = {undotted(code): j for code, j in at.items()}
        found = (group.upper() for group in self.group(codes))
        columns = [at.get(code, bare.get(undotted(code), -1)) for code in found]
        return np.array(columns, dtype=np.intp)

    def transform(self, records: Sequence[Sequence[str]]) -> sp.csr_array[Any]:
        """Code new records that are at hand as lists of codes.

        Parameters
        ----------
        records : sequence of sequences of str
            The codes of each record.

        Returns
        -------
        csr_array of float64, shape (len(records), len(codes))
            1 where a record has a code; codes without a column are left out.

        Raises
        ------
        InvalidDataError
            If a record is no sequence of strings.
        """
        for i, record in enumerate(records):
            if isinstance(record, str) or not all(isinstance(code, str) for code in record):
                msg = f"record {i} is {type(record).__name__}; expected a list of codes as strings"
                raise InvalidDataError(msg)
        column = self.columns_of([code for record in records for code in record])
        row = np.repeat(np.arange(len(records)), [len(record) for record in records])
        known = column >= 0
        shape = (len(records), len(self.codes))
        X = sp.csr_array((np.ones(known.sum()), (row[known], column[known])), shape=shape)
        X.sum_duplicates()
        X.data[:] = 1.0
        return X

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values for JSON.

        Returns
        -------
        dict
            One entry a parameter, and "kind": "records".
        """
        return {"kind": KIND, **asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RecordCoder:
        """Make a coder from what :meth:`to_dict` returned.

        Parameters
        ----------
        values : mapping
            Entries named as the parameters, and "kind".

        Returns
        -------
        RecordCoder
            An equal coder.

        Raises
        ------
        InvalidDataError
            If the kind is another, or an entry is unknown or of the wrong type.
        """
        if values.get("kind") != KIND:
            msg = f"expected settings of the kind {KIND!r}, got {values.get('kind')!r}"
            raise InvalidDataError(msg)
        known = [one.name for one in fields(cls)]
        unknown = sorted(map(str, set(values) - {*known, "kind"}))
        if unknown or "codes" not in values:
            msg = f"settings of a reader of records: unknown {unknown}; the known ones are {known}"
            raise InvalidDataError(msg)
        return cls(**{name: values[name] for name in known if name in values})


def _strings(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

"""Turn codes into symbols, in the same way for new sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from momentree._types import Ints
from momentree.exceptions import InvalidDataError
from momentree.readers.records.coder import RecordCoder


@dataclass
class SequenceCoder:
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

    codes: list[str]
    id_column: str | None = None
    time_column: str | None = None
    code_column: str | None = None
    time_format: str | None = None
    other: str | None = None
    rollup: str | None = None
    mapping: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        columns = (self.id_column, self.time_column, self.code_column, self.time_format)
        good = all(x is None or isinstance(x, str) for x in (*columns, self.other))
        if not good or (self.other is not None and self.other not in self.codes):
            raise InvalidDataError("invalid_sequence_settings")
        self._rules  # noqa: B018 - it checks the other values

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
        at = {code: j for j, code in enumerate(self.codes)}
        rest = -1 if self.other is None else at[self.other]
        found = [at.get(code, rest) for code in self.group(codes)]
        return np.array(found, dtype=np.intp)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, and "kind": "sequences", as plain values for JSON."""
        return {"kind": "sequences", **asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SequenceCoder:
        """Return a coder from the result of :meth:`to_dict`.

        Parameters
        ----------
        values : mapping
            Parameters, and "kind".

        Returns
        -------
        SequenceCoder
            An equal coder.

        Raises
        ------
        InvalidDataError
            If the kind is different, or an entry is unknown or has the wrong type.
        """
        kind = values.get("kind")
        if kind != "sequences":
            raise InvalidDataError("other_settings", expected="sequences", found=str(kind))
        known = [one.name for one in fields(cls)]
        unknown = sorted(map(str, set(values) - {*known, "kind"}))
        if unknown or "codes" not in values:
            raise InvalidDataError("unknown_coder_settings", unknown=unknown, known=known)
        return cls(**{name: values[name] for name in known if name in values})

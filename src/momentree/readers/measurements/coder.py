"""Read the columns of a table of measurements in the same way for new records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, get_args

from momentree.core.choices import ColumnKind, Empty
from momentree.exceptions import InvalidDataError

KINDS = get_args(ColumnKind)


@dataclass
class MeasurementCoder:
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

    kinds: dict[str, ColumnKind]
    categories: dict[str, list[str]] = field(default_factory=dict)
    id_column: str | None = None
    missing: list[str] = field(default_factory=list)
    empty: Empty = "missing"

    def __post_init__(self) -> None:
        good = (
            isinstance(self.kinds, dict)
            and bool(self.kinds)
            and all(isinstance(name, str) for name in self.kinds)
            and all(kind in KINDS for kind in self.kinds.values())
            and isinstance(self.categories, dict)
            and all(_strings(values) for values in self.categories.values())
            and {name for name, kind in self.kinds.items() if kind == "category"}
            == set(self.categories)
            and isinstance(self.id_column, str | None)
            and _strings(self.missing)
            and self.empty in get_args(Empty)
        )
        if not good:
            raise InvalidDataError("invalid_measurement_settings", kinds=list(KINDS))

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, and "kind": "measurements", as plain values for JSON."""
        return {"kind": "measurements", **asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MeasurementCoder:
        """Return a coder from the result of :meth:`to_dict`.

        Parameters
        ----------
        values : mapping
            Parameters, and "kind".

        Returns
        -------
        MeasurementCoder
            An equal coder.

        Raises
        ------
        InvalidDataError
            If the kind is different, or an entry is unknown or has the wrong type.
        """
        if values.get("kind") != "measurements":
            found = str(values.get("kind"))
            raise InvalidDataError("other_settings", expected="measurements", found=found)
        known = {one.name for one in fields(cls)}
        if "kinds" not in values or set(values) - known - {"kind"}:
            raise InvalidDataError("invalid_measurement_settings", kinds=list(KINDS))
        return cls(**{name: values[name] for name in known if name in values})


def _strings(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

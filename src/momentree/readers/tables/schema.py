"""Profile the columns of a table by their names and first values; what coders of tables share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, ClassVar, Self

from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.readers.tables.roles import MISSING, fits, is_binary, mostly_binary
from momentree.readers.tables.table import SAMPLE_ROWS, Table, excerpt


@dataclass(frozen=True, eq=False)
class Column:
    """A column with what is known of it; each fact is found once, when it is first needed."""

    name: str
    cells: Sequence[str]

    @cached_property
    def known(self) -> list[str]:
        """Its first values, without blanks around them and without missing ones."""
        return known_values(self.cells[:SAMPLE_ROWS])

    @cached_property
    def is_unique(self) -> bool:
        """Whether all its values are different."""
        return len(set(self.cells)) == len(self.cells)

    @cached_property
    def is_binary(self) -> bool:
        """Whether all its first values are yes or no."""
        return is_binary(self.known)

    @cached_property
    def is_mostly_binary(self) -> bool:
        """Whether it has values, and at least half of the first ones are yes or no."""
        return mostly_binary(self.known)

    @property
    def is_id(self) -> bool:
        """Whether it contains ids of records or patients, by its name."""
        return (fits("id", self.name) or fits("patient", self.name)) and not self.is_binary

    @property
    def is_key(self) -> bool:
        """Whether it contains ids of single rows, or of patients."""
        return self.is_id and (self.is_unique or fits("patient", self.name))


class Schema:
    """The columns of a table, by name."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns = {name: Column(name, cells) for name, cells in table.columns.items()}

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def codes(self, names: Iterable[str]) -> list[str]:
        """Return the columns whose names and first values look like codes."""
        return [name for name in names if fits("code", name, self[name].known)]

    def unique_id(self, ids: Iterable[str]) -> str | None:
        """Return a column of ids that are unique; row numbers are the last choice."""
        unique = [name for name in ids if self[name].is_unique]
        return min(unique, key=lambda name: fits("row number", name), default=None)


def known_values(cells: Sequence[str]) -> list[str]:
    """Return the values that are not missing, without blanks around them."""
    stripped = {cell: cell.strip() for cell in set(cells)}
    return [stripped[cell] for cell in cells if stripped[cell].lower() not in MISSING]


def as_names(parameter: str, value: str | Sequence[str] | None) -> list[str]:
    """Return names of columns as a list, after checking that they are strings."""
    names = [value] if isinstance(value, str) else list(value or ())
    if not all(isinstance(name, str) for name in names):
        raise InvalidParameterError(
            "[not_column_names] {parameter:=value}; expected the name of one or more columns",
            parameter=parameter,
            value=value,
        )
    return names


def fits_pattern(name: str, patterns: Iterable[str]) -> bool:
    """Return whether the name of a column equals or matches one of some patterns."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def matching(table: Table, parameter: str, patterns: Iterable[str]) -> list[str]:
    """Return the columns whose names equal or match a pattern; each pattern must match one."""
    matches: dict[str, None] = {}
    for pattern in patterns:
        names = [name for name in table.names if fnmatchcase(name, pattern)]
        if pattern in table.columns:
            names = [pattern]
        if not names:
            raise table.lacks(pattern, parameter)
        matches.update(dict.fromkeys(names))
    return list(matches)


def columns_read(
    head: Table, ignore_columns: str | Sequence[str], others: Iterable[str | None]
) -> list[str]:
    """Return the columns without those to ignore, unless `others` gives them another role."""
    patterns = as_names("ignore_columns", ignore_columns)
    ignored = set(matching(head, "ignore_columns", patterns)) - set(others)
    return [name for name in head.names if name not in ignored]


def known_column(table: Table, asked: str | None, before: str | None) -> str | None:
    """Return the requested column, or else that of a coder if the table has it."""
    return before if asked is None and before in table.columns else asked


def id_as_outcome(table: Table, name: str) -> ReadError:
    """Return the error that a column of ids is not an outcome."""
    return ReadError(
        "[id_as_outcome] {path}: column {column!r} contains the ids of records or patients, so it "
        "cannot be an outcome or a covariate: leave it out",
        path=str(table.path),
        column=excerpt(name),
    )


class Coder:
    """Reads new records in the same way as those before; its parameters are the fields."""

    kind: ClassVar[str]
    """What it reads."""

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters, and the "kind" of coder, as plain values for JSON."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return a coder from the result of :meth:`to_dict`.

        Parameters
        ----------
        values : mapping
            Parameters, and "kind".

        Returns
        -------
        Coder
            An equal coder of this class.

        Raises
        ------
        InvalidDataError
            If the kind is different, or an entry is unknown or has the wrong type.
        """
        kind = values.get("kind")
        if kind != cls.kind:
            raise InvalidDataError(
                "[other_settings] expected settings of type {expected!r}, got {found!r}",
                expected=cls.kind,
                found=str(kind),
            )
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        unknown = sorted(map(str, set(values) - {*known, "kind"}))
        if unknown or known[0] not in values:
            raise InvalidDataError(
                "[unknown_coder_settings] unknown settings of the records reader: {unknown:quoted "
                "list}; expected {known:quoted list}",
                unknown=unknown,
                known=known,
            )
        return cls(**{name: values[name] for name in known if name in values})


def check_coder(coder: object, kind: type[Coder], **options: object) -> None:
    """Refuse something other than a coder of a kind, and options that a coder settles."""
    if coder is None:
        return
    if not isinstance(coder, kind):
        code = (
            "[not_a_sequence_coder] {parameter} is of type {type}; expected a SequenceCoder"
            if kind.kind == "sequences"
            else (
                "[not_a_coder] {parameter} is {type}; expected the coder of previously read records"
            )
        )
        raise InvalidParameterError(code, parameter="coder", type=type(coder).__name__)
    for name, value in options.items():
        if value is not None and value != [] and value != {}:
            raise InvalidParameterError(
                "[coder_has_its_own] {parameter} cannot be combined with a coder, which has its "
                "own setting",
                parameter=name,
            )


def are_strings(values: object) -> bool:
    """Return whether a value is a list of strings."""
    return isinstance(values, list) and all(isinstance(value, str) for value in values)

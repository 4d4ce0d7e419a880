"""Profile the columns of a table: their names, if it has any, and what coders of tables share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import median
from types import UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import Message
from momentree.readers.tables import grid, roles

_MIN_LETTERS = 0.3
"""Share of the characters of a column of text that are in words."""


@dataclass(frozen=True, eq=False)
class Column:
    """A column with what is known of it; each fact is found once, when it is first needed."""

    name: str
    cells: Sequence[str]
    n_examined: int
    """Number of cells whose words are counted."""

    @cached_property
    def known(self) -> list[str]:
        """Its first values, without blanks around them and without missing ones."""
        return known_values(self.cells[: grid.SAMPLE_ROWS])

    @cached_property
    def is_filled(self) -> bool:
        """Whether a cell has content."""
        return any(map(str.strip, self.cells))

    @cached_property
    def n_characters(self) -> int:
        """Number of characters in the first cells."""
        return sum(map(len, self.cells[: self.n_examined]))

    @cached_property
    def n_letters(self) -> float:
        """Number of their characters that are in words."""
        return sum(map(roles.n_letters, self.cells[: self.n_examined]))

    @property
    def has_words(self) -> bool:
        """Whether enough of their characters are in words."""
        return self.n_letters >= _MIN_LETTERS * self.n_characters

    @cached_property
    def is_unique(self) -> bool:
        """Whether all its values are different."""
        return len(set(self.cells)) == len(self.cells)

    @cached_property
    def is_binary(self) -> bool:
        """Whether all its first values are yes or no."""
        return roles.is_binary(self.known)

    @cached_property
    def is_mostly_binary(self) -> bool:
        """Whether it has values, and at least half of the first ones are yes or no."""
        return roles.mostly_binary(self.known)

    @property
    def is_id(self) -> bool:
        """Whether it contains ids of records or patients, by its name."""
        return (
            roles.fits("id", self.name) or roles.fits("patient", self.name)
        ) and not self.is_binary

    @property
    def is_key(self) -> bool:
        """Whether it contains ids of single rows, or of patients."""
        return self.is_id and (self.is_unique or roles.fits("patient", self.name))


class Schema:
    """The columns of a table, by name."""

    def __init__(self, table: grid.Table) -> None:
        self.table = table
        n = grid.rows_examined(len(table.names))
        self.columns = {name: Column(name, cells, n) for name, cells in table.columns.items()}

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def codes(self, names: Iterable[str]) -> list[str]:
        """Return the columns whose names and first values look like codes."""
        return [name for name in names if roles.fits("code", name, self[name].known)]

    def unique_id(self, ids: Iterable[str]) -> str | None:
        """Return a column of ids that are unique; row numbers are the last choice."""
        unique = [name for name in ids if self[name].is_unique]
        return min(unique, key=lambda name: roles.fits("row number", name), default=None)


def known_values(cells: Sequence[str]) -> list[str]:
    """Return the values that are not missing, without blanks around them."""
    stripped = {cell: cell.strip() for cell in set(cells)}
    return [stripped[cell] for cell in cells if stripped[cell].lower() not in roles.MISSING]


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


def matching(table: grid.Table, parameter: str, patterns: Iterable[str]) -> list[str]:
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
    head: grid.Table, ignore_columns: str | Sequence[str], others: Iterable[str | None]
) -> list[str]:
    """Return the columns without those to ignore, unless `others` gives them another role."""
    patterns = as_names("ignore_columns", ignore_columns)
    ignored = set(matching(head, "ignore_columns", patterns)) - set(others)
    return [name for name in head.names if name not in ignored]


def known_column(table: grid.Table, asked: str | None, before: str | None) -> str | None:
    """Return the requested column, or else that of a coder if the table has it."""
    return before if asked is None and before in table.columns else asked


def id_as_outcome(table: grid.Table, name: str) -> ReadError:
    """Return the error that a column of ids is not an outcome."""
    return ReadError(
        "[id_as_outcome] {path}: column {column!r} contains the ids of records or patients, so it "
        "cannot be an outcome or a covariate: leave it out",
        path=str(table.path),
        column=grid.excerpt(name),
    )


class Coder:
    """Reads new records in the same way as those before; its parameters are the fields."""

    kind: ClassVar[str]
    """What it reads."""

    def __post_init__(self) -> None:
        types = get_type_hints(type(self))
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        wrong = [name for name in names if not _is_of_type(getattr(self, name), types[name])]
        if wrong or not self.is_consistent:
            raise InvalidDataError(
                "[invalid_coder_settings] invalid settings of the {kind} reader: the values of "
                "{names:quoted list} are of another type, or do not match",
                kind=self.kind,
                names=wrong or names,
            )

    @property
    def is_consistent(self) -> bool:
        """Whether parameters of the right types match each other."""
        return True

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
        raise InvalidParameterError(
            "[not_a_coder] {parameter} is of type {type}; expected {expected}",
            parameter="coder",
            type=type(coder).__name__,
            expected=kind.__name__,
        )
    for name, value in options.items():
        if value is not None and value != [] and value != {}:
            raise InvalidParameterError(
                "[coder_has_its_own] {parameter} cannot be combined with a coder, which has its "
                "own setting",
                parameter=name,
            )


def _is_of_type(value: Any, kind: Any) -> bool:
    """Return whether a value is of a type: a choice, a union, a list, a dictionary or a class."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin in (Union, UnionType):
        return any(_is_of_type(value, part) for part in parts)
    if origin is list:
        return isinstance(value, list) and all(_is_of_type(entry, parts[0]) for entry in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            _is_of_type(entry, part)
            for pair in value.items()
            for entry, part in zip(pair, parts, strict=True)
        )
    return isinstance(value, kind)


HEADER_ROWS = 30
"""Rows in which to look for the names of the columns."""

HEADER_SAMPLE = 200
"""Rows by which to judge whether the first one is a header."""

_MANY_WORDS = 5
_MIN_SHARE = 0.9


def check_header(
    path: Path, rows: Sequence[Sequence[str]], n_above: Sequence[int], *, sheets: Message | str = ""
) -> None:
    """Reject a first row that names few columns if a later row names most of them.

    `n_above` contains the number of rows above each row in the file.
    """
    n_columns = max(map(len, rows))
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    # R and pandas leave the header above row numbers blank.
    named = filled[0] + (not rows[0][0].strip())
    if n_columns < 2 or 2 * named > n_columns:
        return
    for row, n, above in zip(rows[1:], filled[1:], n_above[1:], strict=True):
        if n > filled[0] and 5 * n >= 4 * n_columns and _may_be_names(row):
            raise ReadError(
                "[title_above_header] {path}: the first row names {named} of {n_columns} columns, "
                "and row {row:,} looks like the header ({names:quoted list}): pass "
                "{parameters.skip_rows:{above}}, or name all columns in the first row{sheets}",
                path=str(path),
                named=filled[0],
                n_columns=n_columns,
                row=above + 1,
                names=grid.excerpts(row),
                above=above,
                sheets=sheets,
            )


def _may_be_names(row: Sequence[str]) -> bool:
    """Return whether all cells differ, some are words, and numbers are long enough for codes."""
    cells = [cell.strip() for cell in row if cell.strip()]
    numbers = [cell for cell in cells if cell.replace(",", ".").replace(".", "", 1).isdigit()]
    short = any(len(number) < 3 for number in numbers)
    return len(numbers) < len(cells) == len(set(cells)) and not short


def find_header(
    path: Path, rows: Sequence[Sequence[str]], header: bool | None
) -> tuple[int, list[Message]]:
    """Return the number of header rows, 0 or 1, as given or guessed, and a note on a guess."""
    if header is None and not has_header(rows[:HEADER_SAMPLE]):
        return 0, [
            Message(
                "[no_header] the first row of {source} looks like data, not like names of columns: "
                "read it as data, with columns named 'column 1', 'column 2' and so on; "
                "{parameter:True} takes it as names",
                source=path.name,
                parameter="header",
            )
        ]
    return int(header is not False), []


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row names the columns, judged by the rows below.

    Each cell of the first row is compared with those below it. A header differs from a column of
    numbers, dates, links or a few repeated values; a row of data resembles it. The first row is
    data only if a cell shows it and none contradicts.
    """
    if len(rows) < 3:
        return True
    first, *below = rows[: grid.rows_examined(len(rows[0]))]
    votes = [
        _vote(cell.strip(), [value for row in below if j < len(row) and (value := row[j].strip())])
        for j, cell in enumerate(first)
    ]
    numbers = [roles.number(cell) for cell in first]
    if None not in numbers and (len(first) == 1 or _successive(numbers)):
        return True  # columns named 0, 1, 2, ... as pandas does
    # A column of numbers below a number may be a header of years or codes among others.
    shown = votes.count("data") > 0 or (len(first) > 1 and votes.count("number") == len(first))
    return not shown or "name" in votes


def _vote(cell: str, values: Sequence[str]) -> str:
    """Return "name" or "data" if a cell is that, "number" if it may be either, or ""."""
    if not cell or len(values) < 2:
        return ""
    if roles.is_name(cell):
        return "name"
    for test in (roles.is_date, roles.is_link):
        if sum(map(test, values)) >= _MIN_SHARE * len(values):
            return "data" if test(cell) else "name"
    numbers = [x for x in map(roles.number, values) if x is not None]
    if len(numbers) >= _MIN_SHARE * len(values):
        x, low, high = roles.number(cell), min(numbers), max(numbers)
        if x is None or not 2 * low - high <= x <= 2 * high - low:
            return "name"
        return "number" if x.is_integer() else "data"
    lengths = list(map(roles.count_words, values))
    if median(lengths) >= _MANY_WORDS:
        if cell.endswith(("?", ":")):  # a question, above its answers
            return ""
        return "data" if roles.count_words(cell) >= _MANY_WORDS else ""
    counts = Counter(values)
    if 2 <= len(counts) <= len(values) / 4:
        return "data" if cell in counts else "name"
    return ""


def _successive(numbers: Sequence[float | None]) -> bool:
    known = [x for x in numbers if x is not None]
    return all(b - a == 1 for a, b in pairwise(known))

"""Guess what columns contain from names and values, by one table of rules; what coders share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal, Self

from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.readers.tables.table import SAMPLE_ROWS, Table, excerpt

Role = Literal[
    "text", "row number", "id", "possible id", "patient", "sequence", "time", "code", "event",
    "outcome", "group", "title",
]  # fmt: skip

MARKS = frozenset({"x", "+", "✓", "✔"})
ONES = frozenset({"1", "1.0", "true", "t", "yes", "y"}) | MARKS
ZEROS = frozenset({"0", "0.0", "false", "f", "no", "n", "-"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", ".", "<na>"})
"""Values of single cells, in lower case."""


def _n_binary(values: Sequence[str]) -> int:
    return sum(n for value, n in Counter(values).items() if value.lower() in ONES | ZEROS)


def is_binary(values: Sequence[str]) -> bool:
    """Return whether all values are yes or no."""
    return len(values) == _n_binary(values)


def mostly_binary(values: Sequence[str]) -> bool:
    """Return whether there are values, and at least half of them are yes or no."""
    return 0 < len(values) <= 2 * _n_binary(values)


def _long(values: Sequence[str]) -> bool:
    """Return whether most values are long or have a letter: ids, not counts such as days."""
    long = sum(len(value) > 3 or not value.isdigit() for value in values)
    return 2 * long > len(values) and not is_binary(values)


def _any_code(values: Sequence[str]) -> bool:
    return not mostly_binary(values)


def _codes(values: Sequence[str]) -> bool:
    """Return whether nearly all words are short and contain a digit: codes, not sentences."""
    if mostly_binary(values):
        return False
    parts = [part for value in values[:200] for part in re.split(r"[;,|^~&/\s]+", value) if part]
    codes = sum(len(part) <= 16 and any(map(str.isdigit, part)) for part in parts)
    return bool(parts) and codes >= 0.9 * len(parts)


@dataclass(frozen=True)
class Rule:
    """The role of columns whose name matches and whose values pass the test."""

    role: Role
    name: str  # a pattern for the whole name as `_plain` writes it
    test: Callable[[Sequence[str]], bool] = lambda _: True


def _exactly(role: Role, names: str) -> Iterable[Rule]:
    return (Rule(role, name) for name in names.split(", "))


_SOMEBODY = "patient|pat|person|subject|member|beneficiary"
_STAY = "record|case|visit|encounter|admission|hadm|stay|episode|fall|aufenthalt"
_NUMBER = "id|no|nr|nbr|num|number|nummer|key|identifier"
_PATIENT_NUMBER = "mrn|nhc|patientid|patientnr|patientennummer|patientennr"
_STAY_NUMBER = "fallnummer|fallnr|fallid|aufenthaltsnummer|aufenthaltsnr|caseid|visitid"
_SYSTEM = "icd|dx|diag|cpt|atc|snomed"
# Payment groups, and the count, type and order of codes.
_ABOUT_CODES = "drg|n|no|nr|num|number|count|type|version|system|seq|sequence"
_PLACE = "post|postal|zip|area|region|country|state|ward|unit|department|hospital|site|provider"
_SOURCE = (
    "user|visitor|customer|client|session|sequence|trajectory|sentence|player|student|device|"
    "cookie|account|trace"
)
_TIME = "time|date|datetime|timestamp|day|month|year|week|datum|zeit|dttm|ts"
_DURATION = "in|to|of|since|spent|birth|dob|death|updated|end|until|discharge"
_OUTCOME = (
    "died|death|dead|deceased|decease|mortality|survived|survival|alive|expired|expire|outcome|"
    "icu|readmitted|readmission|readmit|sex|gender|female|male|woman|man|emergency|elective"
)


def _without(words: str) -> str:
    """Return a pattern that rejects names with one of the words, even if digits follow it."""
    return rf"(?!(.* )?({words})\d*( |$))"


RULES = (
    *_exactly(
        "text",
        "text, texts, content, contents, body, fulltext, full text, document, abstract, article, "
        "description, message, review, comment, summary",
    ),
    # R and pandas write row numbers in a first column without a name.
    Rule("row number", r"column 1|unnamed 0|index|(row|seq|line) ?(id|no|nr|num|number)?"),
    Rule("patient", rf"{_SOMEBODY}|{_PATIENT_NUMBER}"),
    Rule(
        "patient", rf"(\S+ )?({_SOMEBODY}|{_PATIENT_NUMBER}) (\S+ )?({_NUMBER}|{_PATIENT_NUMBER})"
    ),
    Rule("patient", rf"(\S+ ){{1,2}}({_PATIENT_NUMBER})"),
    Rule("id", rf"(.* )?id|column 1|unnamed 0|index|(row|seq|line) ?({_NUMBER})?"),
    Rule("id", rf"record|patient|person|subject|case|visit|encounter|admission|{_PATIENT_NUMBER}"),
    Rule("id", rf"(\S+ )?({_SOMEBODY}|{_STAY}) (\S+ )?({_NUMBER})|{_STAY_NUMBER}"),
    # These columns may also contain the length of a stay, or whether a patient fell.
    Rule("possible id", "stay|fall|aufenthalt|episode", _long),
    Rule("sequence", rf"({_SOURCE})( ({_NUMBER}))?"),
    Rule("sequence", rf"(\S+ )?({_SOURCE}) ({_NUMBER})"),
    *_exactly("time", "time, timestamp, datetime, date time, date, event time, event date"),
    Rule("time", rf"{_without(_DURATION)}(\S+ ){{0,2}}({_TIME})( time)?"),
    Rule("time", rf"{_without(_DURATION)}({_TIME}) (\S+)"),
    Rule("time", r"admit ?time|chart ?time|start ?time|(seq|sequence|visit) ?(num|number|no|nr)"),
    Rule("time", r"step|position|order|rank|t"),
    Rule(
        "event", r"(.* )?(event|action|activity|page|state|url|symbol|item|tag|word)( name| type)?"
    ),
    Rule("code", "codes?", _any_code),
    Rule("code", rf"{_without(_ABOUT_CODES)}(.*[^a-z])?({_SYSTEM}).*", _codes),
    Rule("code", rf"{_without(f'{_ABOUT_CODES}|{_PLACE}')}(.*[^a-z])?codes?([^a-z].*)?", _codes),
    Rule("outcome", rf"(?=(\S+ ?){{1,3}}$)(.* )?({_OUTCOME})(\d.*| .*)?"),
    *_exactly("group", "group, category, rollup, parent, target"),
    *_exactly(
        "title", "name, title, label, description, long desc, long title, short desc, short title"
    ),
)


_MAX_WORDS = 3
_SURE: tuple[Role, ...] = ("text", "row number", "id", "patient", "code", "title", "group")
"""Roles whose names are hardly ever values."""
_MAX_NAME = 100


@lru_cache(1 << 16)
def _plain(name: str) -> str:
    """Return a name in lower case, with one blank between words: "patient id"."""
    if len(name) > _MAX_NAME:
        return ""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", words)).lower()


def fits(role: Role, name: str, values: Sequence[str] | None = None) -> bool:
    """Return whether a column may have a role, by its name and, if given, its values."""
    plain = _plain(name)
    rules = (rule for rule in RULES if rule.role == role and re.fullmatch(rule.name, plain))
    return any(values is None or rule.test(values) for rule in rules)


def first_role(role: Role, names: Sequence[str]) -> list[str]:
    """Return the names that match the earliest rule of a role that any of them matches."""
    for rule in RULES:
        if rule.role == role:
            matches = [name for name in names if re.fullmatch(rule.name, _plain(name))]
            if matches:
                return matches
    return []


def pick(role: Role, names: Sequence[str]) -> str | None:
    """Return a name that matches the earliest rule of a role; None if no name matches a rule."""
    return next(iter(first_role(role, names)), None)


def is_name(cell: str) -> bool:
    """Return whether a cell is a common name of a column, whatever it would contain."""
    return _plain(cell).count(" ") < _MAX_WORDS and any(fits(role, cell) for role in _SURE)


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

"""Find the layout of a table of records: its form, and the columns of ids, codes, outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.readers.records._guesses import (
    Guess,
    holds_one_code,
    id_as_outcome,
    matching,
    two_roles,
)
from momentree.readers.records.coder import Form
from momentree.readers.tables.roles import mostly_binary
from momentree.readers.tables.table import Table, excerpt

_DESCRIPTIONS: Mapping[str, Message] = {
    "long": Message("form_long"),
    "lists": Message("form_lists"),
    "slots": Message("form_slots"),
    "wide": Message("form_wide"),
}


@dataclass(frozen=True)
class Layout:
    """Form of a table of records, and the roles of its columns."""

    form: Form
    key: str | None  # ids of records; if `joined`, rows with the same id are one record
    joined: bool
    codes: list[str]
    outcomes: list[str]
    chosen: bool  # whether the caller named the code columns
    notes: list[Message] = field(default_factory=list)

    def described(self) -> Message:
        """Return a note that describes the form and the code columns."""
        first, last = excerpt(self.codes[0]), excerpt(self.codes[-1])
        n = len(self.codes)
        return Message(
            "form",
            form=self.form,
            description=_DESCRIPTIONS[self.form],
            joined=Message("form_joined") if self.joined and self.form != "long" else "",
            columns=Message("one_column", column=first)
            if n == 1
            else Message("several_columns", n_columns=n, first=first, last=last),
        )


def as_names(parameter: str, value: str | Sequence[str] | None) -> list[str]:
    """Return names of columns as a list, after checking that they are strings."""
    names = [value] if isinstance(value, str) else list(value or ())
    if not all(isinstance(name, str) for name in names):
        raise InvalidParameterError("not_column_names", parameter=parameter, value=value)
    return names


def columns_read(
    head: Table, ignore_columns: str | Sequence[str], others: Iterable[str | None]
) -> list[str]:
    """Return the columns without those to ignore, unless `others` gives them another role."""
    patterns = as_names("ignore_columns", ignore_columns)
    ignored = set(matching(head, "ignore_columns", patterns)) - set(others)
    return [name for name in head.names if name not in ignored]


def find_layout(
    table: Table,
    *,
    id_column: str | None,
    code_columns: Sequence[str],
    union_by: str | None,
    outcome_columns: Sequence[str],
) -> Layout:
    """Find the layout from the arguments, and from the names and values of columns.

    Raise an error if the layout cannot be guessed safely.
    """
    for parameter, name in (("id_column", id_column), ("union_by", union_by)):
        if name is not None:
            table.require(name, parameter)
    codes = matching(table, "code_columns", code_columns)
    keys = {name for name in (id_column, union_by) if name is not None}
    guess = Guess(table)
    outcomes, notes = guess.outcomes(outcome_columns, keys, codes)
    for name in outcomes:
        if name in keys:
            raise id_as_outcome(table, name)
    for name in codes:
        if name in keys or name in outcomes:
            raise two_roles(table, name)
    chosen = bool(codes)
    form: Form | None = None
    if not chosen:
        free = [name for name in table.names if name not in keys and name not in outcomes]
        form, codes, more = guess.codes(free)
        notes += more
    elif mostly_binary([value for name in codes for value in guess.sample[name]]):
        form = "wide"
    elif len(codes) > 1:
        form = "slots"
    single = form is None and holds_one_code(guess.sample[codes[0]])
    if union_by is not None:
        form = form or ("long" if single else "lists")
        return Layout(form, union_by, True, codes, outcomes, chosen, notes)
    used = {*codes, *outcomes}
    others = [name for name in table.names if name not in used]
    if form is not None:
        guess.refuse_ids(outcomes, alone=False)
        key = id_column or guess.unique_id(others)
        return Layout(form, key, False, codes, outcomes, chosen, notes)
    # One code column: the form is "long" if ids repeat, else "lists".
    if id_column is None:
        id_column = guess.record_id(others, codes[0], single=single)
        if id_column is not None:
            notes.append(Message("guessed_id_column", column=excerpt(id_column)))
    guess.refuse_ids(outcomes, alone=single and id_column is None)
    joined = id_column is not None and not table.is_unique(id_column)
    form = "long" if joined and single else "lists"
    return Layout(form, id_column, joined, codes, outcomes, chosen, notes)

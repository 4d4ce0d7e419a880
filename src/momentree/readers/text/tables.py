"""Read the rows of a table as documents; the column of the text is chosen by its name and words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momentree.exceptions import ReadError
from momentree.messages import Message, wording
from momentree.readers.tables import files, grid, reader, roles
from momentree.readers.tables.schema import Column, Schema
from momentree.readers.text.objects import Documents, DocumentStream

_MUCH_MORE = 10
"""How many times longer another column must be to win against a common name for text."""
_MIN_CELLS, _OFTEN, _WORDS_OF_CATEGORY, _CATEGORIES = 50, 0.05, 3, 10
"""Cells from which a column of a few values, so rare among them, and so short, is categories."""
_COMPARABLE = 0.25
"""Length of another column of text, relative to the one chosen, from which it is named."""


def as_list(columns: str | Sequence[str] | None) -> list[str]:
    """Return one column, several or none as a list, each once."""
    return [columns] if isinstance(columns, str) else list(dict.fromkeys(columns or ()))


def joined(columns: Sequence[Sequence[str]]) -> list[str]:
    """Return the texts of rows: the cells with content, as paragraphs."""
    if len(columns) == 1:
        return list(columns[0])
    rows = zip(*columns, strict=True)
    return ["\n\n".join(cell for cell in row if cell and not cell.isspace()) for row in rows]


def choose_text_column(
    head: grid.Table, taken: Collection[str | None]
) -> tuple[str, list[Message]]:
    """Return the column of the text, and notes on the choice if it is not obvious.

    Columns of words come first: links, ids, dates and numbers are not words. Among them, one with a
    common name for text wins unless another is far longer.
    """
    schema = Schema(head)
    free = [name for name in head.names if name not in taken and name not in head.kinds]
    filled = [name for name in free if schema[name].is_filled]
    if not filled:
        named = roles.pick("text", free)
        if named is None:
            raise ReadError(
                wording.NO_TEXT_COLUMN,
                path=str(head.path),
                columns=_others(schema, None),
                parameter="text_column",
            )
        return named, []
    with_words = [name for name in filled if schema[name].has_words]
    if with_words:
        length = {name: schema[name].n_letters for name in with_words}
    else:
        length = {name: float(schema[name].n_characters) for name in filled}
    chosen = max(length, key=lambda name: length[name])
    named = roles.pick("text", list(length))
    if named is not None and _MUCH_MORE * length[named] >= length[chosen]:
        chosen = named
    least = _COMPARABLE * length[chosen]
    others = [name for name in with_words if name != chosen and length[name] >= least]
    others.sort(key=lambda name: -length[name])
    if not others and (not with_words or chosen != roles.pick("text", head.names)):
        others = _others(schema, chosen)
    if not others:
        return chosen, []
    note = Message(
        "[chose_text_column] read the text of {source} from column {column!r}; {parameter} chooses "
        "another, or joins several ({columns:quoted all})",
        source=head.path.name,
        column=chosen,
        columns=grid.excerpts(others),
        parameter="text_column",
    )
    return chosen, [note]


def check_texts(head: grid.Table, column: str) -> None:
    """Raise ``ReadError`` if a guessed text column is one of codes, numbers or categories."""
    cells = [cell.strip() for cell in head.columns[column] if cell.strip()]
    wordless = not Column(column, cells, len(cells)).has_words
    values = set(cells)
    few = len(cells) >= _MIN_CELLS and len(values) <= min(_OFTEN * len(cells), _CATEGORIES)
    short = all(len(value.split()) <= _WORDS_OF_CATEGORY for value in values)
    named = wordless and roles.pick("text", [column]) is not None
    if len(head.names) > 1 and not named and (wordless or (few and short)):
        raise ReadError(
            "[not_documents] {path}: no column contains texts; {column!r}, which comes closest, "
            "has {n_values:~different value} in {n_rows:~row}{words}. To group rows by their codes "
            "or measurements, use momentree clusters {path}; to read them as texts all the same, "
            "pass {parameters.text_column:=column}",
            path=str(head.path),
            column=column,
            n_values=len(values),
            n_rows=len(cells),
            words=", none of them words" if wordless else "",
        )


def _others(schema: Schema, chosen: str | None) -> list[str]:
    """Return the other columns, those with most letters first, so that a long list shows them."""
    others = [column for name, column in schema.columns.items() if name != chosen]
    others.sort(key=lambda column: -column.n_letters)
    return grid.excerpts(column.name for column in others)


TABLES = (*reader.SEPARATED, *reader.PARQUET, *reader.EXCEL)
SUFFIXES = (*TABLES, *reader.JSON_LINES)


@dataclass(frozen=True)
class Options:
    """How to read tables: columns by their role, and options of `open_table`."""

    columns: Mapping[str, str | Sequence[str] | None]
    opening: Mapping[str, Any] = field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """Return the options for tables that differ from their defaults."""
        values = {**self.columns, **self.opening}
        without = {"encoding"} if values.get("skip_rows") else {"encoding", "skip_rows"}
        return {
            name: value if name in self.opening else ", ".join(as_list(value))
            for name, value in values.items()
            if value is not None and name not in without
        }

    def applicable(self, path: Path) -> Options:
        """Return the options that apply to a file, one of several in a folder."""
        end = files.suffix(path)
        without: tuple[str, ...] = () if end in reader.EXCEL else ("sheet",)
        if end in (*reader.PARQUET, *reader.JSON_LINES):
            without += ("skip_rows", "header")
        kept = {name: value for name, value in self.opening.items() if name not in without}
        return Options(self.columns, kept)


_WITHOUT_TEXT = (
    "[rows_without_text] {n_rows:,} of {n_all:~row} in {source} {n_rows:?has/have} no text"
)
_WITHOUT_LABEL = (
    "[rows_without_label] {n_rows:,} of {n_all:~row} in {source} {n_rows:?has/have} no label"
)


def stream_table(
    path: Path, options: Options, *, in_parts: bool = True, alone: bool = True
) -> DocumentStream:
    """Read each row of a table as a document, in parts or all together.

    One that is `alone`, not in a folder, must not look like a table of categories.

    The file is opened, and its columns are chosen, before the first part is requested.
    """
    text_columns = as_list(options.columns["text_column"])
    label_column, id_column = (
        next(iter(as_list(options.columns[f"{role}_column"])), None) for role in ("label", "id")
    )
    source = reader.open_table(
        path,
        suffixes=SUFFIXES,
        between=", ",
        # In text files, a line of one cell may also be the first of a column of sentences.
        check_titles=files.suffix(path) in reader.EXCEL,
        **options.opening,
    )
    head = source.head
    _require(head, options.columns)
    notes = list(head.notes)
    if not text_columns:
        column, remarks = choose_text_column(head, {label_column, id_column})
        text_columns = [column]
        notes += remarks
        if alone:
            check_texts(head, column)
    elif len(text_columns) > 1:
        columns = grid.excerpts(text_columns)
        notes.append(Message(wording.JOINED_TEXT_COLUMNS, columns=columns, source=head.path.name))
    if id_column is None:
        names = [name for name in head.names if name.lower() == "id" and name not in text_columns]
        id_column = names[0] if names else None
    others = [name for name in (label_column, id_column) if name is not None]
    used = list(dict.fromkeys([*text_columns, *others]))
    parts = source.batches(used) if in_parts and source.streams else iter([source.read(used)])
    name = head.path.name

    def documents() -> Iterator[Documents]:
        n = 0
        without_text = without_label = 0
        for table in parts:
            _require_strings(table, text_columns)
            empty = [""] * table.n_rows
            texts = joined([table.columns.get(column, empty) for column in text_columns])
            labels = None if label_column is None else table.columns.get(label_column, empty)
            ids = empty if id_column is None else table.columns.get(id_column, empty)
            without_text += sum(not text or text.isspace() for text in texts)
            without_label += 0 if labels is None else labels.count("")
            ids = [one or str(i) for i, one in enumerate(ids, start=n + 1)]
            n += table.n_rows
            yield Documents(texts, ids, labels, name)
        _require(table, options.columns)
        notes.extend(
            Message(code, n_rows=n_missing, n_all=n, source=name)
            for code, n_missing in ((_WITHOUT_TEXT, without_text), (_WITHOUT_LABEL, without_label))
            if n_missing
        )

    return DocumentStream(name, documents(), notes, source.n_rows)


def _require_strings(table: grid.Table, columns: Sequence[str]) -> None:
    for column in columns:
        if column in table.kinds:
            raise ReadError(
                wording.NOT_TEXT,
                path=str(table.path),
                column=column,
                kind=table.kinds[column],
                parameter="text_column",
            )


def _require(table: grid.Table, given: Mapping[str, str | Sequence[str] | None]) -> None:
    for parameter, names in given.items():
        for name in as_list(names):
            table.require(name, parameter)

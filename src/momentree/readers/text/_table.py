"""Read the rows of a table as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.files import suffix
from momentree.readers.tables.reader import EXCEL, JSON_LINES, PARQUET, SEPARATED, open_table
from momentree.readers.tables.table import Table, excerpts
from momentree.readers.text._columns import as_list, check_texts, choose_text_column, joined
from momentree.readers.text.objects import Documents, DocumentStream

TABLES = (*SEPARATED, *PARQUET, *EXCEL)
SUFFIXES = (*TABLES, *JSON_LINES)


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
        end = suffix(path)
        without: tuple[str, ...] = () if end in EXCEL else ("sheet",)
        if end in (*PARQUET, *JSON_LINES):
            without += ("skip_rows", "header")
        kept = {name: value for name, value in self.opening.items() if name not in without}
        return Options(self.columns, kept)


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
    source = open_table(
        path,
        suffixes=SUFFIXES,
        between=", ",
        # In text files, a line of one cell may also be the first of a column of sentences.
        check_titles=suffix(path) in EXCEL,
        **options.opening,
    )
    head = source.head
    _require(head, options.columns)
    notes = list(head.notes)
    if not text_columns:
        column, remarks = choose_text_column(head, {label_column, id_column})
        text_columns = [column]
        notes += [*remarks, *(check_texts(head, column) if alone else ())]
    elif len(text_columns) > 1:
        columns = excerpts(text_columns)
        notes.append(Message("joined_text_columns", columns=columns, source=head.path.name))
    if id_column is None:
        names = [name for name in head.names if name.lower() == "id" and name not in text_columns]
        id_column = names[0] if names else None
    others = [name for name in (label_column, id_column) if name is not None]
    used = list(dict.fromkeys([*text_columns, *others]))
    parts = source.parts(used) if in_parts and source.parts else iter([source.read(used)])
    name = head.path.name

    def documents() -> Iterator[Documents]:
        n = 0
        missing = dict.fromkeys(("rows_without_text", "rows_without_label"), 0)
        for table in parts:
            for column in text_columns:
                if column in table.kinds:
                    raise ReadError(
                        "not_text",
                        path=str(table.path),
                        column=column,
                        kind=table.kinds[column],
                        parameter="text_column",
                    )
            empty = [""] * table.n_rows
            texts = joined([table.columns.get(column, empty) for column in text_columns])
            labels = None if label_column is None else table.columns.get(label_column, empty)
            ids = empty if id_column is None else table.columns.get(id_column, empty)
            missing["rows_without_text"] += sum(not text or text.isspace() for text in texts)
            missing["rows_without_label"] += 0 if labels is None else labels.count("")
            ids = [one or str(i) for i, one in enumerate(ids, start=n + 1)]
            n += table.n_rows
            yield Documents(texts, ids, labels, name)
        _require(table, options.columns)
        notes.extend(
            Message(code, n_rows=n_missing, n_all=n, source=name)
            for code, n_missing in missing.items()
            if n_missing
        )

    return DocumentStream(name, documents(), notes, source.n_rows)


def _require(table: Table, given: Mapping[str, str | Sequence[str] | None]) -> None:
    for parameter, names in given.items():
        for name in as_list(names):
            table.require(name, parameter)

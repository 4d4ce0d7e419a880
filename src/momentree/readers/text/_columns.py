"""Documents from a table: its columns of texts, labels and ids, and notes on missing values."""

from __future__ import annotations

from momentree.exceptions import ReadError
from momentree.messages import Message
from momentree.readers.tables.roles import pick
from momentree.readers.tables.table import Source, Table, excerpts
from momentree.readers.text.objects import Documents


def documents_of(
    source: Source,
    *,
    text_column: str | None,
    label_column: str | None,
    id_column: str | None,
) -> Documents:
    """Return the documents of a table; :func:`read_documents` describes the columns."""
    given = {"text_column": text_column, "label_column": label_column, "id_column": id_column}
    head = source.head
    _require(head, given)
    notes = []
    if text_column is None:
        text_column = pick("text", head.names)
    if text_column is None:
        text_column = _longest(head, {label_column, id_column})
        notes.append(Message("guessed_text_column", column=text_column, source=head.path.name))
    if id_column is None:
        names = [name for name in head.names if name.lower() == "id" and name != text_column]
        id_column = names[0] if names else None
    used = [name for name in (text_column, label_column, id_column) if name is not None]
    table = source.read(list(dict.fromkeys(used)))
    _require(table, given)
    if text_column in table.kinds:
        raise ReadError(
            "not_text",
            path=str(table.path),
            column=text_column,
            kind=table.kinds[text_column],
            parameter="text_column",
        )
    n = table.n_rows
    texts = table.columns[text_column]
    labels = None if label_column is None else table.columns[label_column]
    ids = [""] * n if id_column is None else table.columns[id_column]
    missing = {
        "rows_without_text": sum(not text or text.isspace() for text in texts),
        "rows_without_label": 0 if labels is None else labels.count(""),
    }
    notes += [
        Message(code, n_rows=n_missing, n_total=n, source=table.path.name)
        for code, n_missing in missing.items()
        if n_missing
    ]
    ids = [name or str(i) for i, name in enumerate(ids, start=1)]
    return Documents(texts, ids, labels, table.path.name, notes)


def _require(table: Table, given: dict[str, str | None]) -> None:
    for parameter, name in given.items():
        if name is not None:
            table.require(name, parameter)


def _longest(head: Table, taken: set[str | None]) -> str:
    """Return the column of text with the most characters."""
    free = [name for name in head.names if name not in taken and name not in head.kinds]
    names = [name for name in free if any(head.columns[name])]
    if not names:
        raise ReadError(
            "no_text_column",
            path=str(head.path),
            columns=excerpts(head.names),
            parameter="text_column",
        )
    return max(names, key=lambda name: sum(map(len, head.columns[name])))

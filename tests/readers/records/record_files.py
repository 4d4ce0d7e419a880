"""Tables of records in all forms, for the tests of their reader."""

from __future__ import annotations

from momentree.datasets import read_records
from momentree.messages import Message

ALL = {"min_records": 1, "drop_constant": False}
VISITS = {"a": {"B1", "C2"}, "b": {"C2"}, "c": set(), "d": {"A3", "B1", "C2"}}


def written(folder, text, name="table.csv", **options):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return read_records(file, **{**ALL, **options})


def as_sets(records):
    rows = records.X.toarray() == 1
    return {
        name: set(records.codes[row].tolist()) for name, row in zip(records.ids, rows, strict=True)
    }


def notes_of(records):
    """The values of each note, by its code."""
    return {note.code: dict(note.values) for note in records.notes}


def at(line, **values):
    """The place of a line in a message."""
    return {"origin": Message("[at_line]", line=line), **values}


def long(visits):
    pairs = [(v, c) for v, codes in visits.items() for c in sorted(codes) or [""]]
    return "visit_id,code\n" + "".join(f"{v},{c}\n" for v, c in pairs)


def lists(visits, sign=";"):
    return "visit_id,codes\n" + "".join(
        f'{v},"{sign.join(sorted(codes))}"\n' for v, codes in visits.items()
    )


def slots(visits):
    rows = "".join(
        f"{v},{','.join((sorted(codes) + [''] * 20)[:20])}\n" for v, codes in visits.items()
    )
    return "visit_id," + ",".join(f"dx{i}" for i in range(20)) + "\n" + rows


def wide(visits, yes="1", no="0"):
    names = sorted(set().union(*visits.values()))
    rows = "".join(
        f"{v},{','.join(yes if c in codes else no for c in names)}\n" for v, codes in visits.items()
    )
    return f"visit_id,{','.join(names)}\n{rows}"

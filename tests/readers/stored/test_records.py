"""Records read in bounded memory are those read in memory."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import read_records, store_records
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.readers.tables import grid as tables
from tests.raising import raises

rng = np.random.default_rng(0)
CODES = ["250.01", "401.9", "428.0", "V27", "650", "038.9", "25000"]
SETS = [sorted(rng.choice(CODES, size=rng.integers(0, 4), replace=False)) for _ in range(60)] + [
    ["250.01"],
    ["rare"],
]


def written(path, rows):
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def long(path, ids=str):
    rows = [
        ("visit_id", "icd"),
        ("", "428.0"),
        *((ids(i), code) for i, codes in enumerate(SETS) for code in [*codes, *codes[:1]]),
    ]
    return written(path, rows)


def lists(path):
    rows = [(str(i), "; ".join(codes).lower()) for i, codes in enumerate(SETS)]
    return written(path, [("visit_id", "codes"), *rows])


def slots(path):
    rows = [(str(i), *[*codes, "", "", ""][:3]) for i, codes in enumerate(SETS)]
    return written(path, [("visit_id", "DX1", "DX2", "DX3"), *rows])


def wide(path, marks="01"):
    def row(i, codes):
        cells = [marks[code in codes] for code in CODES]
        return str(i), *cells, "", "NA" if i == 9 else marks[i % 2], f"a note {i}"

    rows = [row(i, codes) for i, codes in enumerate(SETS)]
    return written(path, [("visit_id", *CODES, "none", "smoker", "remark"), *rows])


def ticks(path):
    return wide(path, (" ", "x"))


def same(stored, whole):
    np.testing.assert_array_equal(stored.X.toarray(), whole.X.toarray())
    np.testing.assert_array_equal(stored.fitted.toarray(), whole.fitted.toarray())
    np.testing.assert_array_equal(stored.enough, whole.enough)
    for name in ("form", "coder", "names", "name"):
        assert getattr(stored, name) == getattr(whole, name)
    assert stored.codes.tolist() == whole.codes.tolist()
    assert list(stored.ids) == list(whole.ids)
    assert sorted(map(str, stored.notes)) == sorted(map(str, whole.notes))


@pytest.mark.parametrize("part", [7, 1000])
@pytest.mark.parametrize(
    ("write", "options"),
    [
        (long, {}),
        (long, {"rollup": "icd9", "min_codes": 2}),
        (long, {"ids": lambda i: "" if i == 5 else f" {i}"}),
        (lists, {"cumulative_frequency": 0.8}),
        (slots, {}),
        (wide, {}),
        (wide, {"code_columns": "[0-9V]*", "empty": "zero"}),
        (ticks, {}),
        (wide, {"id_column": "visit_id", "ignore_columns": ["visit*", "remark"]}),
    ],
)
def test_records_are_those_in_memory(tmp_path, monkeypatch, part, write, options):
    monkeypatch.setattr(tables, "PART_ROWS", part)
    ids = {"ids": options.pop("ids")} if "ids" in options else {}
    path = write(tmp_path / "table.csv", **ids)
    stored = store_records(path, tmp_path / "work", **options)
    same(stored, read_records(path, **options))


def test_ids_that_first_repeat_after_the_first_rows_join_rows(tmp_path):
    rows = [(f"v{i}", CODES[i % 5]) for i in range(tables.SAMPLE_ROWS)]
    path = written(tmp_path / "t.csv", [("id", "code"), *rows, ("last", "650"), ("last", "V27")])
    whole = read_records(path)
    assert whole.form == "long"
    same(store_records(path, tmp_path / "work"), whole)


def test_a_parquet_table(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(wide(tmp_path / "table.csv"))
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=10)
    path = tmp_path / "table.parquet"
    same(store_records(path, tmp_path / "work"), read_records(path))


def test_rows_of_a_record_that_are_not_together_are_refused(tmp_path):
    path = written(
        tmp_path / "t.csv", [("id", "code"), ("a", "401"), ("a", "428"), ("b", "401"), ("a", "250")]
    )
    with raises(InvalidDataError, "rows_not_together", n_returns=1, column="id"):
        store_records(path, tmp_path / "work")


def test_a_table_that_is_read_as_a_whole_is_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"id": [1, 1], "code": ["401", "428"]}).to_excel(tmp_path / "t.xlsx")
    with raises(InvalidParameterError, "table_not_streamed"):
        store_records(tmp_path / "t.xlsx", tmp_path / "work")


def test_more_different_cells_than_memory_holds_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("momentree.readers.stored.cells.SHARE_OF_CELLS", 1e-6)
    with raises(InvalidDataError, "too_many_different_cells", most=5):
        store_records(lists(tmp_path / "t.csv"), tmp_path / "work")

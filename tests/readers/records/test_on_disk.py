"""Records read in bounded memory are those read in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.datasets import read_records
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    MomentreeError,
)
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
    stored = read_records(path, folder=tmp_path / "work", **options)
    same(stored, read_records(path, **options))


def test_ids_that_first_repeat_after_the_first_rows_join_rows(tmp_path):
    rows = [(f"v{i}", CODES[i % 5]) for i in range(tables.SAMPLE_ROWS)]
    path = written(tmp_path / "t.csv", [("id", "code"), *rows, ("last", "650"), ("last", "V27")])
    whole = read_records(path)
    assert whole.form == "long"
    same(read_records(path, folder=tmp_path / "work"), whole)


def test_a_parquet_table(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(wide(tmp_path / "table.csv"))
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=10)
    path = tmp_path / "table.parquet"
    same(read_records(path, folder=tmp_path / "work"), read_records(path))


def test_rows_of_a_record_that_are_not_together_are_refused(tmp_path):
    path = written(
        tmp_path / "t.csv", [("id", "code"), ("a", "401"), ("a", "428"), ("b", "401"), ("a", "250")]
    )
    with raises(InvalidDataError, "rows_not_together", n_returns=1, column="id"):
        read_records(path, folder=tmp_path / "work")


def test_a_table_that_is_read_as_a_whole_is_refused(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"id": [1, 1], "code": ["401", "428"]}).to_excel(tmp_path / "t.xlsx")
    with raises(InvalidParameterError, "table_not_streamed"):
        read_records(tmp_path / "t.xlsx", folder=tmp_path / "work")


def test_more_different_cells_than_memory_holds_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("momentree.readers.records.records.SHARE_OF_CELLS", 1e-6)
    with raises(InvalidDataError, "too_many_different_cells", most=5):
        read_records(lists(tmp_path / "t.csv"), folder=tmp_path / "work")


CELLS = {
    "wide": st.sampled_from(["0", "1", "yes", "no", "", "NA", "x"]),
    "codes": st.lists(st.sampled_from([*CODES, "a1", " B2", ""]), max_size=3).map("; ".join),
}


@given(
    kind=st.sampled_from(["wide", "codes"]),
    n_columns=st.integers(1, 4),
    ids=st.lists(st.integers(0, 9), min_size=1, max_size=25).map(sorted),
    part=st.integers(1, 30),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_any_table_is_read_alike_in_memory_and_on_disk(kind, n_columns, ids, part, data):
    names = ["A", "B", "C", "D"][:n_columns]
    rows = [(f"p{i}", *(data.draw(CELLS[kind]) for _ in names)) for i in ids]
    how = {
        "id_column": "id",
        "code_columns": names,
        "union_by": data.draw(st.sampled_from([None, "id"])),
        "rollup": data.draw(st.sampled_from([None, {"A1": "group"}])),
        "min_codes": data.draw(st.sampled_from([None, 0, 2])),
        "min_records": data.draw(st.sampled_from([None, 1])),
        "empty": data.draw(st.sampled_from(["missing", "zero"])),
    }

    def read(**more):
        try:
            return read_records(path, **how, **more)
        except MomentreeError as error:
            return str(error)

    with tempfile.TemporaryDirectory() as place, patch.object(tables, "PART_ROWS", part):
        path = written(Path(place) / "table.csv", [("id", *names), *rows])
        whole, stored = read(), read(folder=Path(place) / "work")
        if isinstance(whole, str) or isinstance(stored, str):
            assert stored == whole
        else:
            same(stored, whole)


def test_a_coder_reads_new_records_on_disk_too(tmp_path):
    coder = read_records(wide(tmp_path / "first.csv"), rollup="icd9").coder
    rows = [("visit_id", "401.9", "other"), *((f"n{i}", "01"[i % 2], "1") for i in range(9))]
    new = written(tmp_path / "new.csv", rows)
    same(read_records(new, folder=tmp_path / "work", coder=coder), read_records(new, coder=coder))


@pytest.mark.parametrize(
    "bad",
    [
        {"min_records": 0},
        {"cumulative_frequency": 1.5},
        {"min_codes": -1},
        {"empty": "none"},
    ],
)
def test_bad_options_are_refused_on_disk_too(tmp_path, bad):
    path = long(tmp_path / "t.csv")
    for more in ({}, {"folder": tmp_path / "work"}):
        with pytest.raises(InvalidParameterError, match=next(iter(bad))):
            read_records(path, **bad, **more)
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    "option", [{"outcome_columns": "icd"}, {"covariate_columns": "icd"}, {"join": "t.csv"}]
)
def test_options_that_need_all_rows_are_refused(tmp_path, option):
    with raises(InvalidParameterError, "needs_all_rows", parameter=next(iter(option))):
        read_records(long(tmp_path / "t.csv"), folder=tmp_path / "work", **option)


def test_no_codes_kept_is_an_error_on_disk_too(tmp_path):
    path = written(tmp_path / "t.csv", [("id", "code"), ("a", "401"), ("b", "428")])
    with raises(EmptyCorpusError, "no_codes_kept"):
        read_records(path, folder=tmp_path / "work")
    assert not (tmp_path / "work").exists()

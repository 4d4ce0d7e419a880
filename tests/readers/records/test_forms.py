"""Every form of a table gives the same records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from momentree.datasets import read_records
from momentree.exceptions import InvalidDataError, ReadError
from momentree.messages import Message
from tests.raising import raises

from .record_files import ALL, VISITS, as_sets, lists, long, notes_of, slots, wide, written


@pytest.mark.parametrize("form", [long, lists, slots, wide])
def test_forms_are_recognized(tmp_path, form):
    records = written(tmp_path, form(VISITS))
    assert records.form == form.__name__
    assert as_sets(records) == VISITS
    assert records.ids == list("abcd")
    assert records.codes.tolist() == ["A3", "B1", "C2"]
    # Only in a wide table, no codes at all are a complete answer.
    assert records.enough.tolist() == [True, True, form is wide, True]
    assert records.X.dtype == np.float64
    assert records.X.has_canonical_format
    assert set(records.X.data) == {1.0}
    assert len(records) == 4
    assert repr(records) == "Records('table.csv', 4 records, 3 codes, 6 entries)"
    note = "records_without_codes" if form is wide else "too_few_codes"
    assert notes_of(records)[note]["n_records"] == 1


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(
        st.sets(st.sampled_from([f"{c}{i}" for c in "ABV" for i in range(4)]), max_size=6),
        min_size=4,
        max_size=12,
    ).filter(lambda sets: any(len(codes) > 1 for codes in sets)),
    st.randoms(use_true_random=False),
)
def test_every_form_gives_the_same_records(tmp_path, sets, random):
    visits = {f"r{i}": codes for i, codes in enumerate(sets)}
    mixed = list(visits.items())
    random.shuffle(mixed)
    read = [
        written(tmp_path, text, code_columns=columns, id_column="visit_id")
        for text, columns in (
            (long(visits), "code"),
            (lists(visits), "codes"),
            (lists(visits, " "), "codes"),
            (lists(dict(mixed), ", "), "codes"),
            (slots(visits), "dx*"),
            (wide(visits), None if len(set().union(*sets)) > 1 else "[ABV]*"),
            (wide(visits, "x", ""), "[ABV]*"),
            (wide(dict(mixed), "Yes", "no"), "[ABV]*"),
        )
    ]
    for records in read:
        assert as_sets(records) == visits
        assert not np.isnan(records.X.data).any()


def test_cells_of_lists(tmp_path):
    text = 'id,codes\n1,"250.00; 401.9"\n2,V10 4019\n3,"401.9|428,250.00"\n4,\n'
    records = written(tmp_path, text, rollup="icd9")
    assert as_sets(records) == {
        "1": {"250", "401"},
        "2": {"401", "V10"},
        "3": {"250", "401", "428"},
        "4": set(),
    }
    # Names hold commas and blanks, codes do not.
    names = written(tmp_path, 'id,code\n1,"heart failure, acute; gout"\n2,gout\n')
    assert names.codes.tolist() == ["GOUT", "HEART FAILURE, ACUTE"]


def test_missing_values_are_not_zeros(tmp_path):
    text = "id,a,b,tick\n1,1,NA,x\n2,0,1,\n3,,0,x\n"
    records = written(tmp_path, text)
    expected = [[1, np.nan, 1], [0, 1, 0], [np.nan, 0, 1]]
    np.testing.assert_array_equal(records.X.toarray(), expected)
    assert notes_of(records)["missing_cells"] == {"n_missing": 2}
    assert notes_of(records)["empty_is_zero"]["n_columns"] == 1
    assert records.enough.all()


def test_union_of_wide_rows_follows_three_valued_or(tmp_path):
    """Yes if one row says so; unknown if one is unknown and none says yes; else no."""
    rng = np.random.default_rng(0)
    cells = rng.choice(["1", "0", ""], size=(60, 5), p=[0.25, 0.6, 0.15])
    patients = rng.integers(0, 20, 60)
    text = "patient,a,b,c,d,e\n" + "".join(
        f"p{p},{','.join(row)}\n" for p, row in zip(patients, cells, strict=True)
    )
    records = written(tmp_path, text, union_by="patient")
    for i, name in enumerate(records.ids):
        rows = cells[patients == int(name[1:])]
        for j in range(5):
            column = set(rows[:, j])
            expected = 1.0 if "1" in column else np.nan if "" in column else 0.0
            np.testing.assert_equal(records.X[i, j], expected)


def test_roll_up_joins_columns_of_a_wide_table(tmp_path):
    records = written(tmp_path, "id,25000,25001,4019\n1,1,,0\n2,0,,1\n3,0,0,1\n", rollup="icd9")
    np.testing.assert_array_equal(records.X.toarray(), [[1, 0], [np.nan, 1], [0, 1]])


def test_repeated_and_missing_ids(tmp_path):
    text = "id,dx1,dx2\na,A1,B1\na,A1,\n,B1,C1\n"
    records = written(tmp_path, text, id_column="id")
    assert records.ids == ["a", "a", ""]
    form, repeated, lacking = records.notes[:3]
    assert form.values["columns"].values == {"n_columns": 2, "first": "dx1", "last": "dx2"}
    assert repeated.values == {"n_rows": 1, "column": "id", "parameter": "union_by"}
    assert (lacking.code, lacking.values["n_records"]) == ("records_without_id", 1)
    numbered = written(tmp_path, "dx1,dx2\nA1,B1\nA1,\n")
    assert numbered.ids == ["1", "2"]
    assert "no_ids" in notes_of(numbered)


def test_guess_names_the_slots(tmp_path):
    text = "visit_id,age,n_diagnoses,diag_1,diag_2,lab_1,lab_2\n1,40,2,A1,B1,7,8\n2,50,1,B1,,8,9\n"
    records = written(tmp_path, text)
    assert (records.form, records.codes.tolist()) == ("slots", ["A1", "B1"])


def test_columns_of_row_numbers_and_empty_columns(tmp_path):
    """As R and pandas write tables; a sign after the last name makes a column."""
    records = written(tmp_path, ",A,B,\n7,1,0,\n8,0,1,\n9,1,1,\n")
    assert records.ids == ["7", "8", "9"]
    assert records.codes.tolist() == ["A", "B"]
    assert notes_of(records)["columns_without_values"]["columns"] == ["column 4"]
    assert notes_of(records)["form"]["form"] == "wide"


def test_parquet(tmp_path):
    file = tmp_path / "a.parquet"
    pd.DataFrame(
        {"id": [7, 8, 9], "code": [250.0, 38.9, None], "died": [True, False, None]}
    ).to_parquet(file)
    records = read_records(file, rollup="icd9", outcome_columns="died", **ALL)
    assert as_sets(records) == {"7": {"250"}, "8": {"038"}, "9": set()}
    np.testing.assert_array_equal(records.outcomes["died"], [1, 0, np.nan])
    pd.DataFrame({"id": ["x", "y", "z"], "dx": [["A1", "B1"], [], ["b1"]]}).to_parquet(file)
    assert as_sets(read_records(file, code_columns="dx", **ALL)) == {
        "x": {"A1", "B1"},
        "y": set(),
        "z": {"B1"},
    }
    pd.DataFrame({"id": [1, 2], "dx": ["A1", "B1"], "at": [{"x": 1}, None]}).to_parquet(file)
    assert as_sets(read_records(file, **ALL)) == {"1": {"A1"}, "2": {"B1"}}
    pd.DataFrame({"id": [1, 2], "a": [True, None], "b": [1, 0]}).to_parquet(file)
    np.testing.assert_array_equal(read_records(file, **ALL).X.toarray(), [[1, 1], [np.nan, 0]])


def test_spreadsheets(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl, which writes the table, is not installed")
    file = tmp_path / "a.xlsx"
    frame = pd.DataFrame(
        {"id": [1, 2, 3], "code": ["00845", 250.0, None], "died": [True, False, True]}
    )
    with pd.ExcelWriter(file) as writer:
        pd.DataFrame({"about": ["this file"]}).to_excel(writer, sheet_name="Read me", index=False)
        frame.to_excel(writer, sheet_name="Codes", index=False, startrow=3)
    records = read_records(file, sheet="Codes", outcome_columns="died", **ALL)
    assert as_sets(records) == {"1": {"00845"}, "2": {"250"}, "3": set()}
    assert records.outcomes["died"].tolist() == [1, 0, 1]
    with raises(ReadError, "no_such_column", column="code", columns=["about"]):
        read_records(file, code_columns="code", **ALL)
    with pd.ExcelWriter(file) as writer:
        frame.to_excel(writer, sheet_name="Codes", index=False)
        frame.to_excel(writer, sheet_name="More", index=False)
    assert read_records(file, **ALL).notes[0] == Message("[first_sheet]", sheet="Codes", n_sheets=2)


def test_a_long_table_of_many_rows(tmp_path):
    rng = np.random.default_rng(0)
    n = 50_000
    frame = pd.DataFrame(
        {"id": np.sort(rng.integers(0, 5_000, n)), "code": rng.integers(100, 999, n)}
    )
    frame.to_csv(tmp_path / "long.csv", index=False)
    records = read_records(tmp_path / "long.csv", rollup="icd9")
    expected = frame.drop_duplicates()
    assert records.X.nnz == len(expected)
    i = records.ids.index("17")
    assert {int(c) for c in records.codes[records.X[[i]].indices]} == set(
        expected.code[expected.id == 17]
    )


def test_wrong_lengths_are_refused(tmp_path):
    records = written(tmp_path, long(VISITS))
    with pytest.raises(InvalidDataError):
        type(records)(records.X, records.codes, {}, records.ids[:3], records.enough, records.coder)


def test_wide_tables_are_read_alike(tmp_path):
    """Many columns take another way, which ends as the usual one does."""
    rng = np.random.default_rng(0)
    values = (rng.random((12, 1200)) < 0.5).astype(int).astype(str)
    values[3, 5] = '"1"'
    names = [f'"c ""{j}"""' for j in range(1200)]
    lines = [",".join(row) for row in [names, *values]]
    (tmp_path / "a.csv").write_text("\r\n".join(lines), encoding="utf-8")
    wide = read_records(tmp_path / "a.csv", **ALL)
    (tmp_path / "b.csv").write_text("\n".join(lines).replace("\n", "\n\n"), encoding="utf-8")
    blank = read_records(tmp_path / "b.csv", **ALL)
    lines[4] = lines[4].rpartition(",")[0]  # a cell too few: an empty one
    (tmp_path / "c.csv").write_text("\n".join(lines), encoding="utf-8")
    short = read_records(tmp_path / "c.csv", **ALL)
    assert wide.codes.tolist() == blank.codes.tolist() == short.codes.tolist()
    assert set(wide.codes.tolist()) == {f'c "{j}"' for j in range(1200)}
    order = [int(code.split('"')[1]) for code in wide.codes]
    expected = np.char.strip(values, '"').astype(float)[:, order]
    np.testing.assert_array_equal(wide.X.toarray(), expected)
    np.testing.assert_array_equal(blank.X.toarray(), expected)
    last = np.array(order) == 1199
    np.testing.assert_array_equal(short.X.toarray()[:, ~last], expected[:, ~last])
    lines[5] += ",1"
    (tmp_path / "d.csv").write_text("\n".join(lines), encoding="utf-8")
    with raises(
        ReadError,
        "too_many_fields",
        origin=Message("[at_line]", line=6),
        found=1201,
        expected=1200,
    ):
        read_records(tmp_path / "d.csv", **ALL)

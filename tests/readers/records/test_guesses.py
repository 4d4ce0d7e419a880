"""Guesses about columns that the caller did not name, and the notes on them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from momentree.datasets import RecordCoder, read_records
from momentree.exceptions import ReadError
from momentree.messages import Message
from tests.raising import raises

from .record_files import ALL, as_sets, notes_of, written

WARDS = "id,patient,A,B,died,ward\n1,p,1,0,1,x\n2,p,0,1,0,y\n3,q,1,1,0,x\n"


def test_a_column_that_is_ignored_may_have_another_role(tmp_path):
    roles = {"outcome_columns": "died", "covariate_columns": "ward", "union_by": "patient"}
    records = written(tmp_path, WARDS, **roles, ignore_columns=["died", "w*", "patient", "id"])
    assert records.codes.tolist() == ["A", "B"]
    assert (records.ids, list(records.outcomes)) == (["p", "q"], ["died", "ward"])
    named = written(tmp_path, WARDS, id_column="id", ignore_columns=["id", "patient", "ward"])
    assert (named.ids, named.codes.tolist()) == (["1", "2", "3"], ["A", "B", "died"])


ROWS = "1001,A1\n1001,B1\n1002,A1\n1003,C1\n1003,A1\n"
SETS = {"1001": {"A1", "B1"}, "1002": {"A1"}, "1003": {"A1", "C1"}}


@pytest.mark.parametrize(
    "name",
    ["Case no.", "MRN", "Stay", "Fall", "Fallnummer", "Aufenthalt", "NHC", "HADM_ID", "patientNbr"],
)
def test_names_of_ids(tmp_path, name):
    records = written(tmp_path, f"{name},Diagnosis\n{ROWS}")
    assert (records.form, as_sets(records)) == ("long", SETS)
    assert notes_of(records)["guessed_id_column"] == {"column": name}


def test_one_code_per_row_beside_an_unknown_id_is_refused(tmp_path):
    """Rows of one code would be records of one code."""
    text = f"Behandlung,Diagnosis\n{ROWS}"
    with raises(ReadError, "no_id_column", codes="Diagnosis", columns=["Behandlung"]):
        written(tmp_path, text)
    assert as_sets(written(tmp_path, text, id_column="Behandlung")) == SETS
    alone = written(tmp_path, text, ignore_columns="Beh*")
    assert (alone.form, alone.ids) == ("lists", list("12345"))
    # Neither row numbers nor days in hospital are ids of records, nor are yes and no.
    rows = "".join(f"{i},{days},{i % 2},A{i % 3}\n" for i, days in enumerate([3, 3, 7, 7, 12, 3]))
    with raises(ReadError, "no_id_column", columns=["stay"]):
        written(tmp_path, f",stay,death,icd\n{rows}")
    # Each list of codes is a record.
    lists = written(tmp_path, "Behandlung,Diagnosis\n1,A1;B1\n1,C1\n2,A1 B1\n")
    assert lists.ids == ["1", "2", "3"]


def test_ids_of_two_values(tmp_path):
    """Two records may be numbered 0 and 1; many rows of yes and no are not ids."""
    two = written(tmp_path, "case,code\n1,A1\n1,B1\n0,A1\n")
    assert as_sets(two) == {"1": {"A1", "B1"}, "0": {"A1"}}
    many = written(tmp_path, "case,code\n" + "1,A1\n0,B1\n0,A1\n" * 80)
    assert len(many) == 240


def test_lists_of_codes_and_patients(tmp_path):
    text = "visit_id,patient_id,codes\n1,p,A1;B1\n2,p,A1\n3,q,A1;B1\n"
    records = written(tmp_path, text)
    assert (records.form, records.ids) == ("lists", ["1", "2", "3"])
    shared = notes_of(records)["shared_patients"]
    assert (shared["n_records"], shared["n_patients"]) == (3, 2)
    joined = written(tmp_path, "patient_id,codes\np,A1;B1\np,A1;C1\nq,A1;B1\n")
    assert as_sets(joined) == {"p": {"A1", "B1", "C1"}, "q": {"A1", "B1"}}
    form = notes_of(joined)["form"]
    assert (form["form"], form["joined"]) == ("lists", Message("[form_joined]"))


def test_records_that_share_a_patient_are_reported(tmp_path):
    text = "SUBJECT_ID,HADM_ID,ICD9_CODE\np,1,A1\np,1,B1\np,2,A1\nq,3,A1\n,4,B1\n"
    records = written(tmp_path, text, id_column="HADM_ID")
    assert notes_of(records)["shared_patients"]["column"] == "SUBJECT_ID"
    joined = written(tmp_path, text, id_column="HADM_ID", union_by="SUBJECT_ID")
    once = written(tmp_path, text.replace("p,2", "r,2"), id_column="HADM_ID")
    kind = written(tmp_path, text.replace("SUBJECT_ID", "patient type"), id_column="HADM_ID")
    for other in (joined, once, kind):
        assert "shared_patients" not in notes_of(other)


def test_outcomes_among_the_codes_are_reported(tmp_path):
    text = "id,A,B,died,in_icu,sex\n1,1,0,0,1,m\n2,0,1,1,0,f\n3,1,1,0,1,m\n"
    records = written(tmp_path, text)
    assert notes_of(records)["possible_outcomes"]["columns"] == ["died", "in_icu"]
    # Neither for columns that the caller named, nor for new records.
    named = written(tmp_path, text, code_columns=["A", "B", "died", "in_icu"])
    again = written(tmp_path, text, coder=records.coder, min_records=None)
    left = written(tmp_path, text, outcome_columns="died", ignore_columns="*icu")
    for other in (named, again, left):
        assert "possible_outcomes" not in notes_of(other)
    assert left.codes.tolist() == ["A", "B"]
    assert left.outcomes["died"].tolist() == [0, 1, 0]


def test_patterns_of_outcomes_do_not_match_codes(tmp_path):
    text = "id,diagnoses,died,days\n1,A1;B1,0,3\n2,A1,1,4\n3,B1,0,5\n"
    records = written(tmp_path, text, outcome_columns="d*")
    assert list(records.outcomes) == ["died", "days"]
    assert records.codes.tolist() == ["A1", "B1"]
    assert notes_of(records)["codes_not_outcomes"]["columns"] == ["diagnoses"]
    # The name of a column, unlike a pattern, takes codes too.
    with raises(ReadError, "no_code_columns"):
        written(tmp_path, text, outcome_columns="diagnoses")
    with raises(ReadError, "column_of_two_roles", column="diagnoses"):
        written(tmp_path, text, outcome_columns="diag*")


def test_ids_are_no_outcomes(tmp_path):
    rows = "1,p,A1,7\n1,p,B1,8\n2,p,A1,7\n3,q,A1,9\n"
    long = f"visit_id,patient,code,type_id\n{rows}"
    for table, name, options in (
        ("visit_id,A,B\n1,1,0\n2,0,1\n", "visit_id", {}),
        ("id,dx1,dx2\n1,A1,B1\n2,A1,\n", "id", {"id_column": "id"}),
        (long, "visit_id", {"ignore_columns": ["p*", "type_id"]}),
        (long, "patient", {"id_column": "visit_id"}),
        (long, "patient", {"union_by": "patient"}),
    ):
        with raises(ReadError, "id_as_outcome", column=name):
            written(tmp_path, table, outcome_columns=name, **options)
    # Classes may be named like ids; patterns skip ids.
    options = {"id_column": "visit_id", "code_columns": "code"}
    assert list(written(tmp_path, long, outcome_columns="type_id", **options).outcomes)
    wide = written(tmp_path, "visit_id,A,B,C\n1,1,0,1\n2,0,1,0\n", outcome_columns="[!AB]*")
    assert (list(wide.outcomes), wide.ids) == (["C"], ["1", "2"])


def test_why_no_columns_of_codes_are_found(tmp_path):
    why = Message("[prose_among_codes]", column="dx", value="12 (POA)")
    with raises(ReadError, "no_code_columns", why=why):
        written(tmp_path, "id,dx\n1,12 (POA)\n2,13 (POA); 14 (POA)\n")
    why = Message("[several_may_hold_codes]", columns=["icd", "procedure_code"])
    with raises(ReadError, "no_code_columns", why=why):
        written(tmp_path, "id,icd,procedure_code\n1,A1,5.1\n2,B1,5.2\n")
    # A payment group is no code of the record.
    drg = written(tmp_path, "id,DRG code,Diagnosis\n1,470,A1;B1\n2,871,A1\n")
    assert drg.codes.tolist() == ["A1", "B1"]


def test_ids_in_a_wide_table_are_left_out(tmp_path):
    text = "visit_id,MRN,A,B\n1,77,1,0\n2,77,0,1\n3,78,1,1\n"
    records = written(tmp_path, text)
    assert (records.ids, records.codes.tolist()) == (["1", "2", "3"], ["A", "B"])
    assert notes_of(records)["columns_of_ids"]["columns"] == ["MRN"]
    assert notes_of(records)["shared_patients"]["column"] == "MRN"


def test_empty_cells_that_mean_no(tmp_path):
    text = "id,A,B,C,death\n1,1,,NA,0\n2,,1,1,1\n3,1,1,,0\n"
    expected = [[1, 0, np.nan], [0, 1, 1], [1, 1, 0]]
    options = {"empty": "zero", "outcome_columns": "death"}
    records = written(tmp_path, text, **options)
    np.testing.assert_array_equal(records.X.toarray(), expected)
    assert notes_of(records)["empty_is_zero"]["n_columns"] == 3
    assert notes_of(records)["missing_cells"] == {"n_missing": 1}
    # New records are read in the same way, also where a column is empty.
    coder = RecordCoder.from_dict(json.loads(json.dumps(records.coder.to_dict())))
    new = written(tmp_path, "id,A,B,C\n7,,,1\n8,1,,\n", coder=coder, min_records=None)
    np.testing.assert_array_equal(new.X.toarray(), [[0, 0, 1], [1, 0, 0]])
    # Of a model that takes them for missing, new records may have no zero at all.
    zeros = written(tmp_path, "id,A,B\n1,1,0\n2,0,1\n3,,1\n")
    new = written(tmp_path, "id,A,B\n7,1,\n8,,1\n", coder=zeros.coder, min_records=None)
    np.testing.assert_array_equal(new.X.toarray(), [[1, np.nan], [np.nan, 1]])


def test_a_table_without_the_columns_of_the_model_is_refused(tmp_path):
    coder = written(tmp_path, "id,dx1,dx2\n1,A1,B1\n2,B1,\n").coder
    (tmp_path / "new.csv").write_text("id,n_codes,codes\n1,12,A1\n2,3,B1\n")
    with raises(ReadError, "columns_of_coder_missing", expected=["dx1", "dx2"]):
        read_records(tmp_path / "new.csv", coder=coder)
    named = read_records(tmp_path / "new.csv", coder=coder, code_columns="codes")
    np.testing.assert_array_equal(named.X.toarray(), [[1, 0], [0, 1]])


def test_names_of_columns_with_a_prefix(tmp_path):
    names = {"250": "Diabetes", "401": "Pressure", "428": "Failure"}
    for columns in ("has_250,has_401", "dx250,icd_401", "my_own_250,my_own_401"):
        records = written(tmp_path, f"id,{columns}\n1,1,0\n2,0,1\n", names=names)
        assert sorted(records.names.values()) == ["Diabetes", "Pressure"]
        assert "codes_without_name" not in notes_of(records)
    # What is after the dot, or the digits that all codes share, is no prefix.
    dots = written(tmp_path, "id,code\n1,250.401\n2,250.428\n", names=names)
    assert dots.names == {"250.401": "Diabetes", "250.428": "Diabetes"}
    rolled = written(
        tmp_path, "id,c,code\n1,x,99900\n2,y,E6900\n", names={"25000": "X"}, rollup="icd9"
    )
    assert notes_of(rolled)["codes_without_name"]["hint"] == Message("[names_after_rollup]")


def test_new_defaults_change_nothing(tmp_path):
    """The settings of a model that was saved without the newer ones are as good."""
    values = written(tmp_path, "id,A,B\n1,1,0\n2,0,1\n", **ALL).coder.to_dict()
    del values["empty"]
    assert RecordCoder.from_dict(values).empty == "missing"

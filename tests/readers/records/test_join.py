"""Outcomes come from another table, by a key."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentree.datasets import read_records
from momentree.exceptions import InvalidDataError, InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises
from tests.readers.records.record_files import ALL, notes_of

CODES = "visit,patient,icd\n1,p,A1\n1,p,B2\n2,p,A1\n3,q,B2\n3,q,C3\n"
STAYS = "visit,patient,died,days,text\n1,p,no,3,x\n2,p,yes,5,y\n3,q,no,2.5,z\n"


@pytest.fixture
def joined(tmp_path):
    def joined(other=STAYS, codes=CODES, **options):
        (tmp_path / "codes.csv").write_text(codes, encoding="utf-8")
        (tmp_path / "other.csv").write_text(other, encoding="utf-8")
        options = {"join": tmp_path / "other.csv", "on": "visit", **options}
        return read_records(tmp_path / "codes.csv", **ALL, **options)

    return joined


def test_outcomes_of_another_table(joined):
    records = joined(outcome_columns=["died", "days"])
    assert records.ids == ["1", "2", "3"]
    assert records.form == "long"
    assert records.outcomes["died"].tolist() == [0, 1, 0]
    assert records.outcome_names == {"died": ("no", "yes")}
    assert records.outcomes["days"].tolist() == [3, 5, 2.5]
    assert notes_of(records)["joined"] == {"source": "other.csv", "column": "visit"}
    # Its other columns are neither codes nor ids.
    assert records.codes.tolist() == ["A1", "B2", "C3"]


def test_a_name_that_looks_like_a_pattern_is_found_by_itself(joined):
    records = joined(STAYS.replace("days", "stay [days]"), outcome_columns="stay [days]")
    assert records.outcomes["stay [days]"].tolist() == [3, 5, 2.5]


def test_keys_without_a_row_and_rows_without_records(joined):
    other = "visit,died\n1,no\n9,yes\n3,yes\n"
    records = joined(other, outcome_columns="died")
    np.testing.assert_array_equal(records.outcomes["died"], [0, np.nan, 1])
    lacking = {"n_missing": 1, "n_all": 3, "column": "visit", "source": "other.csv"}
    assert notes_of(records)["keys_without_row"] == lacking


def test_a_key_with_several_rows_has_the_largest_number_or_the_last_class(joined):
    other = "patient,died,ward\np,no,A\np,yes,B\nq,no,C\nq,no,C\n"
    records = joined(other, on="patient", outcome_columns=["died", "ward"], id_column="visit")
    assert records.outcomes["died"].tolist() == [1, 1, 0]
    assert records.outcomes["ward"].tolist() == ["B", "B", "C"]
    differing = [note for note in records.notes if note.code == "outcome_differs"]
    assert [note.values["outcome"] for note in differing] == ["died", "ward"]


def test_keys_written_in_another_way(joined):
    other = "VISIT,died\n0001,no\n2.0,yes\n03,no\n"
    records = joined(other, outcome_columns="died")
    assert records.outcomes["died"].tolist() == [0, 1, 0]
    assert notes_of(records)["keys_rewritten"]["n_records"] == 3
    # 1 and 01 are different keys here.
    other = "visit,died\n1,no\n01,yes\n2,no\n"
    records = joined(other, outcome_columns="died")
    np.testing.assert_array_equal(records.outcomes["died"], [0, 0, np.nan])


def test_two_names_of_a_key_and_several_tables(joined, tmp_path):
    (tmp_path / "people.csv").write_text("number,sex\np,f\nq,m\n", encoding="utf-8")
    records = joined(
        join=[tmp_path / "other.csv", tmp_path / "people.csv"],
        on=["visit", "patient = number"],
        outcome_columns=["d*", "sex"],
    )
    assert list(records.outcomes) == ["died", "days", "sex"]
    assert records.outcomes["sex"].tolist() == ["f", "f", "m"]


def test_the_key_is_guessed_only_if_it_is_clear(joined):
    assert joined("visit,died\n1,no\n2,yes\n", on=(), outcome_columns="died").outcomes
    with raises(InvalidParameterError, "which_key", columns=["visit", "patient"]):
        joined(on=(), outcome_columns="died")
    with raises(InvalidParameterError, "which_key", columns=["none"]):
        joined("nothing,died\n1,no\n", on=(), outcome_columns="died")


def test_a_table_without_an_outcome_says_which_it_has(joined):
    note = notes_of(joined())["joined_without_outcome"]
    assert note["columns"] == ["died"]
    assert note["parameter"] == "outcome_columns"


@pytest.mark.parametrize(
    ("other", "options", "error", "code"),
    [
        (STAYS, {"on": "nothing"}, ReadError, "no_such_column"),
        (STAYS, {"on": "visit=nothing"}, ReadError, "no_such_column"),
        (STAYS, {"on": ["visit", "patient"]}, InvalidParameterError, "not_one_key_each"),
        (STAYS, {"join": ()}, InvalidParameterError, "key_without_table"),
        (STAYS, {"outcome_columns": "dead"}, ReadError, "no_such_column_joined"),
        ("visit,died\nx,no\n", {}, ReadError, "no_key_matches"),
        ("visit,died\n,no\n", {}, ReadError, "no_key_matches"),
        ("visit,visit,died\n1,1,no\n", {}, ReadError, "duplicate_columns"),
        ("visit,died\n", {}, InvalidDataError, "no_rows"),
    ],
)
def test_bad_joins(joined, other, options, error, code):
    options = {"outcome_columns": "died", **options}
    with raises(error, code):
        joined(other, **options)


@given(st.permutations(range(3)), st.permutations(range(5)))
def test_the_order_of_rows_has_no_effect(tmp_path_factory, rows, lines):
    folder = tmp_path_factory.mktemp("join")
    header, *codes = CODES.splitlines()
    first, *stays = STAYS.splitlines()
    text = "\n".join([header, *(codes[i] for i in lines)])
    (folder / "codes.csv").write_text(text + "\n", encoding="utf-8")
    text = "\n".join([first, *(stays[i] for i in rows)])
    (folder / "other.csv").write_text(text + "\n", encoding="utf-8")
    records = read_records(
        folder / "codes.csv", join=folder / "other.csv", on="visit", outcome_columns="died", **ALL
    )
    found = dict(zip(records.ids, records.outcomes["died"].tolist(), strict=True))
    assert found == {"1": 0, "2": 1, "3": 0}


def test_the_finer_of_two_ids_identifies_records(joined):
    records = joined(outcome_columns="died")
    assert records.coder.id_column == "visit"
    assert Message("[guessed_id_column]", column="visit") in records.notes
    # Neither determines the other.
    crossed = "visit_id,patient_id,icd\n1,p,A1\n1,q,B2\n2,p,A1\n2,p,C3\n"
    with raises(ReadError, "several_id_columns", columns=["visit_id", "patient_id"]):
        joined("visit_id,died\n1,no\n", crossed, on="visit_id", outcome_columns="died")


def test_mimic_as_it_comes(shared_data):
    folder = shared_data / "mimic3_demo"
    records = read_records(
        folder / "DIAGNOSES_ICD.csv",
        join=folder / "ADMISSIONS.csv",
        on="HADM_ID",
        outcome_columns="HOSPITAL_EXPIRE_FLAG",
        names=folder / "D_ICD_DIAGNOSES.csv",
        rollup="icd9",
    )
    assert len(records) == 129
    assert records.outcomes["HOSPITAL_EXPIRE_FLAG"].sum() == 40
    assert len(records.names) == len(records.codes)

"""New records get the columns of those that were read before."""

from __future__ import annotations

import json

import numpy as np
import pytest

from momentree.datasets import RecordCoder, read_records
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from tests.raising import raises

ALL = {"min_records": 1, "drop_constant": False}


@pytest.fixture
def write(tmp_path):
    def write(text, name="new.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def through_json(coder):
    return RecordCoder.from_dict(json.loads(json.dumps(coder.to_dict())))


def test_the_same_table_gives_the_same_matrix(write):
    tables = {
        "long": "id,code\na,250.1\na,401\nb,401\nb,V10\nc,250\n",
        "lists": "id,codes\na,250.1;401\nb,401;V10\nc,250\n",
        "slots": "id,dx1,dx2\na,250.1,401\nb,401,V10\nc,250,\n",
        "wide": "id,250,401,V10\na,1,1,0\nb,0,1,1\nc,1,,0\n",
    }
    for form, text in tables.items():
        path = write(text)
        first = read_records(path, rollup="icd9", names={"250": "Diabetes"}, **ALL)
        assert first.form == first.coder.form == form
        again = read_records(path, coder=through_json(first.coder))
        np.testing.assert_array_equal(again.X.toarray(), first.X.toarray())
        assert again.codes.tolist() == first.codes.tolist() == ["250", "401", "V10"]
        assert again.names == first.names
        assert again.title("250") == "250 Diabetes"


def test_new_records_of_any_form(write):
    path = write("visit,DX1,DX2\na,250.1,401\nb,401,V10\nc,250,\n")
    coder = read_records(path, code_columns="DX*", rollup="icd9", **ALL).coder
    assert coder.code_columns == ["DX*"]
    expected = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    more = write("DX1,DX2,DX3,note\nv10.1,25002,v10.2,x\nE885.1,,,y\n,,4019,z\n")
    records = read_records(more, coder=coder)
    np.testing.assert_array_equal(records.X.toarray(), expected)
    assert records.enough.tolist() == [True, False, True]
    unknown = Message("[unknown_codes]", n_codes=1, n_entries=1, code="E885.1")
    assert unknown in records.notes
    lists = write("icd,name\n250;V10,p\nE8,q\n401,r\n")
    records = read_records(lists, coder=coder, code_columns="icd")
    np.testing.assert_array_equal(records.X.toarray(), expected)
    np.testing.assert_array_equal(
        coder.transform([["250", " v10.3", "250.9"], [], ["4011", "xx"]]).toarray(), expected
    )


def test_columns_that_a_wide_table_lacks_are_missing_values(write):
    first = read_records(write("id,A,b,C\n1,1,0,1\n2,0,1,0\n3,1,1,0\n"), **ALL)
    assert first.codes.tolist() == ["A", "C", "b"]
    new = read_records(write("b,A,age\n1,0,50\n0,NA,61\n"), coder=first.coder)
    np.testing.assert_array_equal(new.X.toarray(), [[0, np.nan, 1], [np.nan, np.nan, 0]])
    assert Message("[missing_columns]", n_columns=1, column="C") in new.notes
    codes = read_records(write("id,codes\n1,a;B\n2,c\n"), coder=first.coder, code_columns="codes")
    np.testing.assert_array_equal(codes.X.toarray(), [[1, 0, 1], [0, 1, 0]])


def test_one_new_record_is_enough(write):
    first = read_records(write("id,codes\n1,A1;B1\n2,B1\n3,A1\n"), **ALL)
    one = read_records(write("id,codes\n9,B1\n"), coder=first.coder)
    assert one.X.toarray().tolist() == [[0, 1]]
    assert one.ids == ["9"]


def test_union_and_mapping_apply_to_new_records(write):
    rules = {"id_column": "visit", "code_columns": "code", "union_by": "patient"}
    text = "patient,visit,code\np,1,x1\np,2,x2\nq,3,x3\n"
    mapping = {"x1": "Low", "X2": "low heart", "x3": "High"}
    first = read_records(write(text), rollup=mapping, **rules, **ALL)
    assert first.X.toarray().tolist() == [[0, 1, 1], [1, 0, 0]]
    assert first.codes.tolist() == ["High", "Low", "low heart"]
    again = read_records(write(text), coder=through_json(first.coder))
    assert again.ids == ["p", "q"]
    np.testing.assert_array_equal(again.X.toarray(), first.X.toarray())


def test_removed_dots_stay_removed(write):
    first = read_records(write("id,code\na,250.01\nb,25001\nc,401.9\n"), **ALL)
    assert first.coder.undotted
    assert first.coder.group(["401.9.", " e10 "]) == ["4019", "E10"]
    assert first.coder.transform([["401.9"], ["25001"]]).toarray().tolist() == [[0, 1], [1, 0]]


def test_a_dot_that_distinguishes_two_codes_is_kept(write):
    """38.9 is 038.9, septicemia, or a procedure; 389 is hearing loss."""
    coder = RecordCoder(["389", "4019"], undotted=True)
    assert coder.group(["38.9", "401.9"]) == ["38.9", "4019"]
    for one in (coder, RecordCoder(["389", "4019"]), RecordCoder(["38.9", "4019"])):
        known = one.columns_of(["38.9", "389", "401.9"]).tolist()
        assert known == ([0, -1, 1] if "38.9" in one.codes else [-1, 0, 1])


@pytest.mark.parametrize(
    "values",
    [
        {"codes": ["a", "a"]},
        {"codes": "ab"},
        {"codes": [1]},
        {"rollup": "icd11"},
        {"form": "deep"},
        {"mapping": []},
        {"names": {"a": None}},
        {"id_column": 3},
    ],
)
def test_damaged_settings_are_refused(values):
    with raises(InvalidDataError, "invalid_coder_settings"):
        RecordCoder.from_dict({"kind": "records", "codes": ["a"], **values})


def test_settings_of_another_kind_are_refused():
    with raises(InvalidDataError, "other_settings", found="text"):
        RecordCoder.from_dict({"kind": "text", "codes": []})
    with raises(InvalidDataError, "unknown_coder_settings", unknown=[]):
        RecordCoder.from_dict({"kind": "records"})
    with raises(InvalidDataError, "unknown_coder_settings", unknown=["cods"]):
        RecordCoder.from_dict({"kind": "records", "codes": ["a"], "cods": 1})


def test_options_that_conflict_with_a_coder(write):
    path = write("id,codes\n1,A1;B1\n2,B1\n3,A1\n")
    coder = read_records(path, **ALL).coder
    with raises(InvalidParameterError, "coder_has_its_own", parameter="rollup"):
        read_records(path, coder=coder, rollup="icd9", min_records=2)
    with raises(InvalidParameterError, "not_a_coder", type="dict"):
        read_records(path, coder=coder.to_dict())
    with raises(InvalidDataError, "not_a_list_of_codes", record=0, type="str"):
        coder.transform(["A1"])

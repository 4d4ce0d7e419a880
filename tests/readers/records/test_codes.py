"""Codes roll up to general diagnoses, or to the groups and names of a file."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentree.datasets import roll_up
from momentree.exceptions import InvalidParameterError, ReadError
from tests.raising import raises

from .record_files import written

ICD9 = {
    "250.01": "250",
    "25001": "250",
    "250": "250",
    " v10.3 ": "V10",
    "V103": "V10",
    "E885.9": "E885",
    "e8859": "E885",
    "E885": "E885",
    "038.9": "038",
    "38.9": "038",
    "8.45": "008",
    "0389": "038",
    "389": "389",
    "38": "038",
    "8": "008",
    "E08.1": "E08.1",  # of ICD-10
    "I50": "I50",
    "1234567": "1234567",
    "": "",
}
ICD10 = {
    "I50.1": "I50",
    "i501": "I50",
    "I50": "I50",
    "C7A.1": "C7A",
    "U07.1": "U07",
    "S72.001A": "S72",
    "250.01": "250.01",
    "I5": "I5",
    "": "",
}


@pytest.mark.parametrize(("system", "table"), [("icd9", ICD9), ("icd10", ICD10)])
def test_codes_roll_up(system, table):
    assert roll_up(list(table), system) == list(table.values())
    # A general diagnosis is its own group.
    assert roll_up(list(table.values()), system) == list(table.values())


@given(
    st.one_of(
        st.from_regex(r"[0-9]{3}[0-9]{0,2}", fullmatch=True),
        st.from_regex(r"V[0-9]{2}[0-9]{0,2}", fullmatch=True),
        st.from_regex(r"E[89][0-9]{2}[0-9]?", fullmatch=True),
    )
)
def test_dot_case_and_blanks_change_no_group(code):
    head = 4 if code[0] == "E" else 3
    dotted = f"{code[:head]}.{code[head:]}"
    groups = roll_up([code, code.lower(), f" {code}\t", dotted.rstrip(".")], "icd9")
    assert groups == [code[:head]] * 4


@given(st.text(string.ascii_letters + string.digits + ". é", max_size=8))
def test_roll_up_is_idempotent(code):
    for system in ("icd9", "icd10"):
        once = roll_up([code], system)
        assert roll_up(once, system) == once


def test_real_codes_are_of_their_system(shared_data):
    lines = (shared_data / "vermont_icd9" / "codes_full.txt").read_text().split()
    rolled = sorted(set(roll_up(lines, "icd9")))
    assert rolled == (shared_data / "vermont_icd9" / "codes_3digit.txt").read_text().split()


def test_mapping_files(tmp_path):
    two = tmp_path / "two.csv"
    two.write_text("from;to\n 250.1 ;diabetes\nv10;\n401;pressure\n")
    text = "id,codes\n1,2501;v10\n2,401\n"
    assert written(tmp_path, text, rollup=two).codes.tolist() == ["V10", "diabetes", "pressure"]
    many = tmp_path / "many.csv"
    many.write_text("billable,code,short_desc,long_desc,group\n1,a1,S,Long,G\n1,b2,,,H\n")
    text = "id,codes\n1,A1;B2\n2,B2\n"
    assert written(tmp_path, text, names=str(many)).names == {"A1": "Long"}
    assert written(tmp_path, text, rollup=many).codes.tolist() == ["G", "H"]
    assert written(tmp_path, text, names={" a1": " x "}).names == {"A1": "x"}


def test_lookup_ignores_dots(tmp_path):
    titles = {"250.01": "a", "4019": "b", "389": "c", "38.1": "d"}
    codes = ["25001", "401.9", "250.02", "9", "38.9", "389", "381", "38.1"]
    text = "id,codes\n" + "".join(f"{i},{code}\n" for i, code in enumerate(codes))
    named = written(tmp_path, text, names=titles, id_column="id")
    # A number with two digits before its dot is not the one of three digits.
    assert named.names == {"25001": "a", "401.9": "b", "389": "c", "38.1": "d"}


def test_mappings_that_cannot_be_read(tmp_path):
    file = tmp_path / "map.csv"
    file.write_text("a,b,c\n1,2,3\n")
    text = "id,codes\n1,A1\n2,B1\n"
    with raises(
        ReadError, "table_not_a_mapping", columns=["a", "b", "c"], expected=["code", "group"]
    ):
        written(tmp_path, text, rollup=file)
    with raises(InvalidParameterError, "not_a_mapping_of_strings", parameter="names"):
        written(tmp_path, text, names={"a": 1})
    with raises(InvalidParameterError, "not_a_rollup", value="icd11"):
        roll_up(["a"], "icd11")

"""Names given by hand: numbers that exist, names that can be shown, and files of them."""

import pytest

from momentree.exceptions import InvalidParameterError, ReadError
from momentree.naming import check_names, parse_names, read_names

from ..raising import raises

KNOWN = {"0": 1, "1": 1, "2": 1, "0-1": 1}


def test_numbers_in_all_forms():
    assert check_names({0: " A  b ", "2": "C", " 0 – 1 ": "D"}, KNOWN) == {
        "0": "A b",
        "2": "C",
        "0-1": "D",
    }


@pytest.mark.parametrize(
    ("names", "code"),
    [
        ({3: "A"}, "no_number_to_name"),
        ({-1: "A"}, "no_number_to_name"),
        ({True: "A"}, "no_number_to_name"),
        ({0.0: "A"}, "no_number_to_name"),
        ({"x": "A"}, "no_number_to_name"),
        ({"9" * 30: "A"}, "no_number_to_name"),
        ({"0-2": "A"}, "no_number_to_name"),
        ({0: "  "}, "bad_name"),
        ({0: None}, "bad_name"),
        ({0: "x" * 121}, "bad_name"),
        ({0: "a\x1b[31m"}, "bad_name"),
        ({0: "a\u202eb"}, "bad_name"),
        ({0: "a\ud800"}, "bad_name"),
        ({0: "A", "0": "B"}, "named_twice"),
        ({0: "A", 1: "A "}, "same_name"),
        ([(0, "A")], "names_not_a_mapping"),
        ("0=A", "names_not_a_mapping"),
    ],
)
def test_names_that_are_refused(names, code):
    with raises(InvalidParameterError, code):
        check_names(names, KNOWN)


def test_names_as_typed():
    assert parse_names(["3=Climate", "0-1=A = b"]) == {"3": "Climate", "0-1": "A = b"}
    for value in ("", "3", "3=", "=A", "x=A", "3= "):
        with raises(InvalidParameterError, "not_a_rename"):
            parse_names([value])
    with raises(InvalidParameterError, "named_twice"):
        parse_names(["3=A", "03=B"])


def test_a_file_of_names(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text('\ufeffnumber,name\r\n0,"Trade, law"\r\n1,\r\n0-1,Été\r\n', encoding="utf-8")
    assert read_names(path) == {"0": "Trade, law", "0-1": "Été"}


@pytest.mark.parametrize(
    ("content", "error", "code"),
    [
        ("code,name\n250,Diabetes\n", ReadError, "not_a_table_of_names"),
        ("number,name\n0,A\n0,B\n", InvalidParameterError, "named_twice_in_file"),
    ],
)
def test_other_files(tmp_path, content, error, code):
    path = tmp_path / "names.csv"
    path.write_text(content, encoding="utf-8")
    with raises(error, code):
        read_names(path)


def test_a_file_of_another_kind(tmp_path):
    path = tmp_path / "names.xlsx"
    path.write_bytes(b"PK")
    with raises(ReadError, "unknown_suffix"):
        read_names(path)

"""Files that are no records are refused with the file, the line and the column."""

from __future__ import annotations

import gzip

import pytest

from momentree.datasets import read_records
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)
from momentree.messages import Message
from tests.raising import raises

from .record_files import ALL, at, notes_of

LONG = "id,code\na,A1\na,B1\nb,A1\n"
WIDE = "id,A,B\n1,1,0\n2,0,1\n3,1,1\n"


def read(folder, text, name="t.csv", **options):
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_records(file, **{**ALL, **options})


CASES = {
    "not binary": (
        "id,A,B\n1,1,0\n2,0,3\n",
        {},
        InvalidDataError,
        "cell_not_binary",
        at(3, column="B", value="3", others=""),
    ),
    "not binary where the caller named the columns": (
        "id,A,B\n1,1,0\n2,0,1\n3,maybe,1\n",
        {"code_columns": ["A", "B"]},
        InvalidDataError,
        "cell_not_binary",
        at(4, column="A"),
    ),
    "line after a field of several lines": (
        'id,note,A,B\n1,"x\ny",1,0\n\n2,z,0,3\n',
        {},
        InvalidDataError,
        "cell_not_binary",
        at(5, column="B"),
    ),
    "all columns that do not hold codes": (
        "key,A,B,C,age,days\n71,1,0,1,41,\n72,0,1,1,38,9\n",
        {},
        InvalidDataError,
        "cell_not_binary",
        at(2, column="key", others=Message("[other_columns]", columns=["age", "days"])),
    ),
    "ones and nothing beside an outcome": (
        "id,A,B,C,death\n1,1,,,0\n2,,1,,1\n3,,1,1,0\n",
        {},
        InvalidDataError,
        "no_zeros",
        {"n_columns": 3, "n_code_columns": 4, "column": "A"},
    ),
    "what empty means": (WIDE, {"empty": "no"}, InvalidParameterError, "not_a_choice", {}),
    "nothing to ignore": (
        WIDE,
        {"ignore_columns": ["A", "D*"]},
        ReadError,
        "no_such_column",
        {"column": "D*", "parameter": "ignore_columns", "columns": ["id", "A", "B"]},
    ),
    "a code that is ignored": (
        WIDE,
        {"ignore_columns": "A", "code_columns": "A"},
        ReadError,
        "no_such_column",
        {"column": "A", "parameter": "code_columns", "columns": ["id", "B"]},
    ),
    "dates": (
        "id,code\n1,\n2,2020-03-01\n2,2020-04-01\n",
        {},
        InvalidDataError,
        "dates_among_codes",
        at(3, column="code", value="2020-03-01", n_dates=2, n_entries=2),
    ),
    "dates of other countries in lists": (
        "id,dx1,dx2\n1,A1,24.12.2020\n2,B1,1.2.20\n3,C1,5-Mar-2021\n",
        {},
        InvalidDataError,
        "dates_among_codes",
        {"column": "dx2", "value": "24.12.2020"},
    ),
    "dates without signs": (
        "id,code\n1,20200301\n2,20191224\n",
        {},
        InvalidDataError,
        "dates_among_codes",
        {"n_dates": 2},
    ),
    "other system": (
        "id,code\n1,I50.1\n2,E11.9\n3,Z95.5\n",
        {"rollup": "icd9"},
        InvalidDataError,
        "other_code_system",
        {"share": 0.0, "value": "I50.1", "other": "icd10"},
    ),
    "no system": (
        "id,code\n1,gout\n2,asthma\n",
        {"rollup": "icd10"},
        InvalidDataError,
        "other_code_system",
        {"share": 0.0},
    ),
    "mapping of other codes": (
        LONG,
        {"rollup": {"X9": "Y"}},
        InvalidDataError,
        "no_code_in_mapping",
        {"n_entries": 3, "value": "A1"},
    ),
    "no such roll-up": (LONG, {"rollup": "icd-9"}, InvalidParameterError, "not_a_rollup", {}),
    "no such column": (
        LONG,
        {"code_columns": "DX*"},
        ReadError,
        "no_such_column",
        {"column": "DX*", "parameter": "code_columns"},
    ),
    "no such id": (LONG, {"id_column": "i?"}, ReadError, "no_such_column", {"column": "i?"}),
    "no such union": (LONG, {"union_by": "p"}, ReadError, "no_such_column", {"column": "p"}),
    "no such outcome": (LONG, {"outcome_columns": "died"}, ReadError, "no_such_column", {}),
    "codes as outcome": (
        LONG,
        {"code_columns": "code", "outcome_columns": "c*"},
        ReadError,
        "column_of_two_roles",
        {"column": "code"},
    ),
    "several ids": (
        "visit_id,patient_id,code\n1,p,A1\n1,q,B1\n2,p,A1\n3,q,A1\n",
        {},
        ReadError,
        "several_id_columns",
        {"columns": ["visit_id", "patient_id"]},
    ),
    "nothing that looks like codes": (
        "name,age\nAnn,40\nBob,50\n",
        {},
        ReadError,
        "no_code_columns",
        {"columns": ["name", "age"], "why": ""},
    ),
    "one column": ("id\n1\n2\n", {}, ReadError, "no_code_columns", {"columns": ["id"]}),
    "one row": (
        "id,code\n1,A1\n",
        {"min_records": None},
        EmptyCorpusError,
        "one_record",
        {},
    ),
    "rare codes": (
        "id,code\n1,A1\n2,A2\n",
        {"min_records": None},
        EmptyCorpusError,
        "no_codes_kept",
        {"n_codes": 2, "n_rare": 2, "least": 2, "n_records": 2, "n_constant": 0},
    ),
    "the same codes": (
        "id,code\n1,A1\n2,A1\n",
        {"drop_constant": True},
        EmptyCorpusError,
        "same_codes",
        {"n_records": 2, "n_codes": 1},
    ),
    "no codes": ("id,code\n1,\n2,NA\n", {}, EmptyCorpusError, "no_codes", {"n_records": 2}),
    "no ids": ("id,code\n,A1\n,B1\n", {"id_column": "id"}, EmptyCorpusError, "empty_key", {}),
    "no strings": (LONG, {"code_columns": [1]}, InvalidParameterError, "not_column_names", {}),
    "cumulative frequency": (
        LONG,
        {"cumulative_frequency": 0},
        InvalidParameterError,
        "not_a_number",
        {},
    ),
    "records": (LONG, {"min_records": 0}, InvalidParameterError, "not_a_number", {}),
    # Faults of tables
    "equal names": ("id,A,A\n1,1,0\n", {}, ReadError, "duplicate_columns", {"columns": ["A"]}),
    "empty": ("", {}, ReadError, "empty_file", {}),
    "blank": (" \n\n", {}, ReadError, "empty_file", {}),
    "header only": ("id,code\n", {}, EmptyCorpusError, "no_rows", {}),
    "too many fields": (
        LONG + "b,A1,B1\n",
        {},
        ReadError,
        "too_many_fields",
        at(5, found=3, expected=2),
    ),
    "open quote": (LONG + 'b,"A1\n', {}, ReadError, "unclosed_quote", at(5)),
    "wrong separator": (LONG, {"separator": ";"}, ReadError, "wrong_separator", {"found": ","}),
    "a sheet of no workbook": (
        LONG,
        {"sheet": "x"},
        InvalidParameterError,
        "spreadsheets_only",
        {"value": "x"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_faults_are_named(tmp_path, case):
    text, options, error, code, values = CASES[case]
    with raises(error, code, **values):
        read(tmp_path, text, **options)


@pytest.mark.parametrize("option", ["min_codes", "skip_rows"])
def test_negative_options(tmp_path, option):
    with pytest.raises(InvalidParameterError):
        read(tmp_path, LONG, **{option: -1})


def test_a_cell_of_a_hundred_thousand_characters(tmp_path):
    with raises(ReadError, "too_long_for_a_code", **at(3, length=100_000)) as caught:
        read(tmp_path, f"id,code\n1,B1\n2,{'A' * 100_000}\n3,B1\n")
    assert len(str(caught.value)) < 400
    with raises(InvalidDataError, "cell_not_binary", column="B") as caught:
        read(tmp_path, f"{WIDE}4,1,{'A' * 100_000}\n", code_columns=["A", "B"])
    assert len(str(caught.value)) < 400
    # As a list of codes it is fine.
    records = read(tmp_path, f"id,code\n1,B1\n2,{'A1 B2 ' * 16_700}\n")
    assert records.X.toarray().tolist() == [[0, 1, 0], [1, 0, 1]]


def test_columns_of_text_are_left_out_with_a_note(tmp_path):
    records = read(tmp_path, "id,A,B,sex,born\n1,1,0,m,1990-01-02\n2,0,1,f,1985-02-03\n")
    assert records.codes.tolist() == ["A", "B"]
    assert notes_of(records)["text_left_out"]["columns"] == ["sex", "born"]


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.parquet", b"PAR1", "unreadable_parquet"),
        ("a.xlsx", b"PK\3\4none", "unreadable_spreadsheet"),
        ("a.csv.gz", gzip.compress(LONG.encode(), mtime=0)[:-9], "damaged_gzip"),
        ("a.docx", b"none", "unknown_suffix"),
    ],
    ids=["parquet", "xlsx", "gzip", "docx"],
)
def test_damaged_files(tmp_path, name, data, code):
    with raises(ReadError, code):
        read(tmp_path, data, name)


def test_paths_that_are_not_tables(tmp_path):
    with raises(ReadError, "no_such_file"):
        read_records(tmp_path / "none.csv")
    with raises(ReadError, "folder_not_table"):
        read_records(tmp_path)
    with raises(InvalidParameterError, "not_a_path"):
        read_records(3)

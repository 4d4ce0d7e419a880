"""What cannot be read as records is refused in words that name file, line and column."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from momentree.datasets import read_documents, read_records
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)
from tests.raising import raises

ALL = {"min_records": 1, "drop_constant": False}
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
        r"t\.csv, line 3, column 'B', holds '3', expected 0 or 1 .* outcome_columns",
    ),
    "not binary where the caller named the columns": (
        "id,A,B\n1,1,0\n2,0,1\n3,maybe,1\n",
        {"code_columns": ["A", "B"]},
        InvalidDataError,
        r"line 4, column 'A', holds 'maybe', .* leave it out of code_columns",
    ),
    "line after a field of several lines": (
        'id,note,A,B\n1,"x\ny",1,0\n\n2,z,0,3\n',
        {},
        InvalidDataError,
        r"line 5, column 'B', holds '3'",
    ),
    "age among the codes": (
        "id,A,B,age\n1,1,0,41\n2,0,1,38\n",
        {},
        InvalidDataError,
        r"line 2, column 'age', holds '41'.* leave it out with ignore_columns, or choose the "
        "columns of codes with code_columns",
    ),
    "all columns that are no codes": (
        "key,A,B,C,age,days\n71,1,0,1,41,\n72,0,1,1,38,9\n",
        {},
        InvalidDataError,
        "line 2, column 'key', holds '71', .*; other columns with such values are 'age', 'days': "
        "mend them",
    ),
    "ones and nothing beside an outcome": (
        "id,A,B,C,death\n1,1,,,0\n2,,1,,1\n3,,1,1,0\n",
        {},
        InvalidDataError,
        "3 of 4 columns of codes, such as 'A', hold 1 or nothing",
    ),
    "what empty means": (WIDE, {"empty": "no"}, InvalidParameterError, "empty='no'; expected one"),
    "nothing to ignore": (
        WIDE,
        {"ignore_columns": ["A", "D*"]},
        ReadError,
        r"no column 'D\*' for ignore_columns; its columns are 'id', 'A', 'B'",
    ),
    "an id that is ignored": (
        WIDE,
        {"ignore_columns": "id", "id_column": "id"},
        ReadError,
        "no column 'id' for id_column; its columns are 'A', 'B'",
    ),
    "ones and nothing": (
        "id,A,B\n1,1,\n2,,1\n",
        {},
        InvalidDataError,
        "2 of 2 columns of codes, such as 'A', hold 1 or nothing.* pass empty='zero' if it means",
    ),
    "dates": (
        "id,code\n1,\n2,2020-03-01\n2,2020-04-01\n",
        {},
        InvalidDataError,
        r"t\.csv, line 3, column 'code', holds '2020-03-01': 2 of 2 values of the column are dates",
    ),
    "dates of other countries in lists": (
        "id,dx1,dx2\n1,A1,24.12.2020\n2,B1,1.2.20\n3,C1,5-Mar-2021\n",
        {},
        InvalidDataError,
        "column 'dx2', holds '24.12.2020'",
    ),
    "dates without signs": (
        "id,code\n1,20200301\n2,20191224\n",
        {},
        InvalidDataError,
        "2 of 2 values of the column are dates",
    ),
    "other system": (
        "id,code\n1,I50.1\n2,E11.9\n3,Z95.5\n",
        {"rollup": "icd9"},
        InvalidDataError,
        "0% of the entries look like icd9 .*'I50.1' does not: pass rollup='icd10'",
    ),
    "no system": (
        "id,code\n1,gout\n2,asthma\n",
        {"rollup": "icd10"},
        InvalidDataError,
        "pass no rollup, or a mapping file",
    ),
    "mapping of other codes": (
        LONG,
        {"rollup": {"X9": "Y"}},
        InvalidDataError,
        "the mapping knows none of 3 entries; it lacks 'A1'",
    ),
    "no such roll-up": (LONG, {"rollup": "icd-9"}, InvalidParameterError, "rollup='icd-9' is nei"),
    "no such column": (
        LONG,
        {"code_columns": "DX*"},
        ReadError,
        r"no column 'DX\*' for code_columns; its columns are 'id', 'code'",
    ),
    "no such id": (LONG, {"id_column": "i?"}, ReadError, r"no column 'i\?' for id_column"),
    "no such union": (LONG, {"union_by": "p"}, ReadError, "no column 'p' for union_by"),
    "no such outcome": (LONG, {"outcome_columns": "died"}, ReadError, "'died' for outcome_columns"),
    "codes as outcome": (
        LONG,
        {"code_columns": "code", "outcome_columns": "c*"},
        ReadError,
        "column 'code' cannot hold codes and be an id or outcome as well",
    ),
    "several ids": (
        "visit_id,patient_id,code\n1,p,A1\n1,p,B1\n2,p,A1\n3,q,A1\n",
        {},
        ReadError,
        "'visit_id', 'patient_id': name one with id_column",
    ),
    "nothing that looks like codes": (
        "name,age\nAnn,40\nBob,50\n",
        {},
        ReadError,
        "cannot tell which columns of .* hold codes; its columns are 'name', 'age'",
    ),
    "one column": (
        "id\n1\n2\n",
        {},
        ReadError,
        "its columns are 'id'. Name them with code_columns",
    ),
    "twice the same column": ("id,A,A\n1,1,0\n", {}, ReadError, "more than one column.*'A'"),
    "empty": ("", {}, ReadError, "the file is empty"),
    "blank": (" \n\n", {}, ReadError, "the file is empty"),
    "header only": ("id,code\n", {}, EmptyCorpusError, "no rows below the header"),
    "one row": ("id,code\n1,A1\n", {"min_records": None}, EmptyCorpusError, "nothing left of 1 c"),
    "one row of one code": (
        "id,code\n1,A1\n",
        {"drop_constant": True},
        EmptyCorpusError,
        "and 1 in every one; lower min_records, pass drop_constant=False",
    ),
    "one code everywhere": (
        "id,code\n1,A1\n2,A1\n3,A1\n",
        {"drop_constant": True},
        EmptyCorpusError,
        "0 in fewer than 1 of 3 records, and 1 in every one",
    ),
    "no codes": ("id,code\n1,\n2,NA\n", {}, EmptyCorpusError, "no codes in 2 records"),
    "no ids": ("id,code\n,A1\n,B1\n", {"id_column": "id"}, EmptyCorpusError, "empty in every row"),
    "too many fields": (LONG + "b,A1,B1\n", {}, ReadError, "line 5, has 3 fields where the first"),
    "open quote": (LONG + 'b,"A1\n', {}, ReadError, "line 5, opens a double quote that is never"),
    "wrong separator": (LONG, {"separator": ";"}, ReadError, "one column with separator=';'"),
    "no separator": (LONG, {"separator": "ab"}, InvalidParameterError, "separator='ab'"),
    "other encoding": (
        "id,code\n1,A\xe9\n".encode("latin-1"),
        {},
        ReadError,
        "it is not utf-8 .byte 11, line 2, is 0xe9.. Try encoding='cp1252'",
    ),
    "no such encoding": (LONG, {"encoding": "utf-9"}, InvalidParameterError, "utf-9"),
    "binary": (b"id,code\n\0\1\2", {}, ReadError, "binary file"),
    "a sheet of no workbook": (LONG, {"sheet": "x"}, InvalidParameterError, "sheet='x' applies"),
    "no strings": (LONG, {"code_columns": [1]}, InvalidParameterError, "expected the name of a"),
    "coverage": (LONG, {"coverage": 0}, InvalidParameterError, "coverage=0; expected a share"),
    "min_records": (LONG, {"min_records": 0}, InvalidParameterError, "min_records=0"),
    "min_codes": (LONG, {"min_codes": -1}, InvalidParameterError, "min_codes=-1"),
}


@pytest.mark.parametrize("case", CASES)
def test_faults_are_named(tmp_path, case):
    text, options, error, message = CASES[case]
    with pytest.raises(error, match=message):
        read(tmp_path, text, **options)


def test_a_cell_of_a_hundred_thousand_characters(tmp_path):
    with pytest.raises(ReadError, match=r"line 3, column 'code', .* 100,000 characters") as caught:
        read(tmp_path, f"id,code\n1,B1\n2,{'A' * 100_000}\n3,B1\n")
    assert len(str(caught.value)) < 400
    with pytest.raises(InvalidDataError, match="column 'B', holds 'AAAA") as caught:
        read(tmp_path, f"{WIDE}4,1,{'A' * 100_000}\n", code_columns=["A", "B"])
    assert len(str(caught.value)) < 400
    # As a list of codes it is fine.
    records = read(tmp_path, f"id,code\n1,B1\n2,{'A1 B2 ' * 16_700}\n")
    assert records.X.toarray().tolist() == [[0, 1, 0], [1, 0, 1]]


def test_columns_of_text_are_left_out_with_a_note(tmp_path):
    records = read(tmp_path, "id,A,B,sex,born\n1,1,0,m,1990-01-02\n2,0,1,f,1985-02-03\n")
    assert records.codes.tolist() == ["A", "B"]
    assert "left out 2 columns of text: 'sex', 'born'" in records.notes


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.parquet", b"PAR1", "cannot read .*a.parquet as Parquet: .*4 bytes"),
        ("a.xlsx", b"PK\3\4none", "cannot read .*a.xlsx as a spreadsheet: "),
        ("a.xls", b"none", "cannot read .*a.xls as a spreadsheet: "),
        (
            "a.csv.gz",
            gzip.compress(LONG.encode(), mtime=0)[:-9],
            "compressed file is damaged or truncated",
        ),
        ("a.docx", b"none", "cannot tell the format of .* from its suffix"),
    ],
)
def test_damaged_files(tmp_path, name, data, message):
    with pytest.raises(ReadError, match=message):
        read(tmp_path, data, name)


def parquet(path, columns):
    """Write columns, without pandas' or Arrow's own notes on them."""
    pq.write_table(pa.table(columns), path, store_schema=False)
    return path


@pytest.mark.parametrize("read", [read_records, read_documents])
def test_parquet_that_says_one_thing_very_often(tmp_path, read):
    names = pa.array(["x" * 1_000_000])
    often = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), names)
    path = parquet(tmp_path / "text.parquet", {"text": often})
    with raises(ReadError, "file_too_large"):
        read(path)
    lists = pa.ListArray.from_arrays(pa.array([0, 10_000, 20_000], pa.int32()), often)
    with raises(ReadError, "file_too_large"):
        read_records(parquet(tmp_path / "list.parquet", {"codes": lists}))
    one = pa.DictionaryArray.from_arrays(pa.array(np.zeros(40_000_000, np.int8)), pa.array(["x"]))
    long = pa.ListArray.from_arrays(pa.array([0, 40_000_000], pa.int32()), one)
    with pytest.raises(ReadError, match="would take 40 MB of memory"):
        read_records(parquet(tmp_path / "long.parquet", {"codes": long}))
    few = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10_000_000, np.int8)), pa.array(["x"]))
    with pytest.raises(ReadError, match="would take 650 MB of memory"):
        read(parquet(tmp_path / "rows.parquet", {"text": few}))


@pytest.mark.parametrize("read", [read_records, read_documents])
def test_parquet_with_damaged_strings(tmp_path, read):
    damaged = pa.array([b"A1", b"B\xff", b"C3"]).view(pa.string())
    with pytest.raises(ReadError, match=r"as Parquet: .*UTF8"):
        read(parquet(tmp_path / "a.parquet", {"id": ["a", "b", "c"], "text": damaged}))


def test_sheets_are_listed(tmp_path):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    book = openpyxl.Workbook()
    book.active.title = "Empty"
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(ReadError, match="no sheet 'x'; its sheets are 'Empty'"):
        read_records(tmp_path / "a.xlsx", sheet="x")
    with pytest.raises(ReadError, match="sheet 'Empty' is empty"):
        read_records(tmp_path / "a.xlsx")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ReadError, match="there is no such file or folder"):
        read_records(tmp_path / "none.csv")
    with pytest.raises(ReadError, match="is a folder; expected a file"):
        read_records(tmp_path)
    with pytest.raises(InvalidParameterError, match="path=3 is not a path"):
        read_records(3)

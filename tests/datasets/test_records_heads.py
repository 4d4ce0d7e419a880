"""Tables whose names of columns do not stand in the first row."""

from __future__ import annotations

import pandas as pd
import pytest

from momentree.datasets import read_records
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError

from .record_files import ALL, as_sets, written

TABLE = "visit_id,DX1,DX2\na,A1,B1\nb,A1,\nc,B1,C1\n"
SETS = {"a": {"A1", "B1"}, "b": {"A1"}, "c": {"B1", "C1"}}


@pytest.mark.parametrize(
    "above",
    [
        "Discharges of 2024\n",
        "Discharges of 2024,,\n",
        "Discharges of 2024\nHospital: North\n\n",
        "Discharges of 2024,,\n\nHospital: North,,\n",
    ],
)
def test_a_title_above_the_names_is_told_and_skipped(tmp_path, above):
    n = above.count("\n")
    told = (
        rf"table.csv: the first row names 1 of 3 columns, and row {n + 1} looks like the header "
        rf"\('visit_id', 'DX1', 'DX2'\): pass skip_rows={n}"
    )
    with pytest.raises(ReadError, match=told):
        written(tmp_path, above + TABLE)
    records = written(tmp_path, above + TABLE, skip_rows=n)
    assert as_sets(records) == SETS
    if n > 1:
        with pytest.raises(ReadError, match=rf"pass skip_rows={n}"):
            written(tmp_path, above + TABLE, skip_rows=2 if n == 3 and ",," in above else 1)


def test_codes_may_be_names_of_columns(tmp_path):
    text = "Discharges,,,\nid,250,401,428\na,1,0,0\nb,0,1,0\nc,0,0,1\n"
    with pytest.raises(ReadError, match=r"'id', '250', '401', '428'\): pass skip_rows=1"):
        written(tmp_path, text)
    assert written(tmp_path, text, skip_rows=1).codes.tolist() == ["250", "401", "428"]


def test_lines_are_counted_from_the_start_of_the_file(tmp_path):
    text = "A title\nof two lines\n" + TABLE
    with pytest.raises(ReadError, match="line 7, has 4 fields where the first line has 3"):
        written(tmp_path, text + "d,A1,B1,C1\n", skip_rows=2)
    with pytest.raises(ReadError, match="line 7, opens a double quote"):
        written(tmp_path, text + 'd,"A1\n', skip_rows=2)
    with pytest.raises(ReadError, match="line 7, column 'DX1', holds 'AAAA"):
        written(tmp_path, f"{text}d,{'A' * 200},\n", skip_rows=2, code_columns="DX*")
    with pytest.raises(ReadError, match="nothing follows its first 9 lines"):
        written(tmp_path, text, skip_rows=9)


@pytest.mark.parametrize(
    "text",
    [
        "codes\nA1;B1\nA1;C1\nB1;C1\nA1;B1\n",
        ",A,B,\n7,1,0,\n8,0,1,\n9,1,1,\n",
        "id;diagnosis\n1;A1\n2;B1\n",
        ",code\na,A1\nb,25000\n",
        "A,,\n1,0,1\n0,1,0\n",
    ],
)
def test_other_first_rows_are_names(tmp_path, text):
    assert len(written(tmp_path, text)) == text.count("\n") - 1


def test_spreadsheets_with_a_title(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl, which writes the table, is not installed")
    file = tmp_path / "title.xlsx"
    frame = pd.DataFrame({"visit_id": list("abc"), "code": ["A1", "B1", "A1"]})
    with pd.ExcelWriter(file) as writer:
        frame.to_excel(writer, sheet_name="Codes", index=False, startrow=3)
        writer.sheets["Codes"].cell(2, 1, "Discharges of 2024")
        pd.DataFrame({"about": []}).to_excel(writer, sheet_name="About", index=False)
        writer.book.create_sheet("Empty")
    # Row 1 is blank, row 2 holds the title, row 4 the names.
    told = "row 4 looks like the header .*: pass skip_rows=3, .*; its sheets are 'Codes', 'About'"
    with pytest.raises(ReadError, match=told):
        read_records(file, **ALL)
    records = read_records(file, skip_rows=3, **ALL)
    assert as_sets(records) == {"a": {"A1"}, "b": {"B1"}, "c": {"A1"}}
    sheets = "'Codes', 'About', 'Empty', and sheet='About' reads the second"
    with pytest.raises(
        EmptyCorpusError, match=f"no rows below the header; its sheets are {sheets}"
    ):
        read_records(file, sheet="About", **ALL)
    with pytest.raises(ReadError, match=f"sheet 'Empty' is empty; its sheets are {sheets}"):
        read_records(file, sheet="Empty", **ALL)
    with pytest.raises(ReadError, match="sheet 'Codes' has no more than 20 rows"):
        read_records(file, skip_rows=20, **ALL)


def test_rows_to_skip_that_cannot_be(tmp_path):
    with pytest.raises(InvalidParameterError, match="skip_rows=-1"):
        written(tmp_path, TABLE, skip_rows=-1)
    pd.DataFrame({"id": ["a"], "code": ["A1"]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InvalidParameterError, match="skip_rows=1 applies to text and spreadsheets"):
        read_records(tmp_path / "a.parquet", skip_rows=1)

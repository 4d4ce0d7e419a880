"""Tables whose first row does not name the columns."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from momentree.datasets import read_records
from momentree.exceptions import EmptyCorpusError, InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises
from tests.readers.records.record_files import ALL, as_sets, at, written

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
def test_a_title_above_the_names_is_refused_or_skipped(tmp_path, above):
    n = above.count("\n")
    names = ["visit_id", "DX1", "DX2"]
    with raises(ReadError, "title_above_header", named=1, n_columns=3, above=n, names=names):
        written(tmp_path, above + TABLE)
    records = written(tmp_path, above + TABLE, skip_rows=n)
    assert as_sets(records) == SETS
    if n > 1:
        with raises(ReadError, "title_above_header", above=n):
            written(tmp_path, above + TABLE, skip_rows=2 if n == 3 and ",," in above else 1)


@pytest.mark.parametrize("n", [3, 29, 60, 200])
@pytest.mark.parametrize("blank", ["\n", "  \n", "\r\n"])
def test_blank_lines_above_the_names_are_no_rows(tmp_path, n, blank):
    assert as_sets(written(tmp_path, n * blank + TABLE)) == SETS
    with raises(ReadError, "title_above_header", above=n + 1):
        written(tmp_path, n * blank + "Discharges of 2024\n" + TABLE)
    with raises(ReadError, "empty_file"):
        written(tmp_path, n * blank)


def test_codes_may_be_names_of_columns(tmp_path):
    text = "Discharges,,,\nid,250,401,428\na,1,0,0\nb,0,1,0\nc,0,0,1\n"
    with raises(ReadError, "title_above_header", names=["id", "250", "401", "428"], above=1):
        written(tmp_path, text)
    assert written(tmp_path, text, skip_rows=1).codes.tolist() == ["250", "401", "428"]


def test_lines_are_counted_from_the_start_of_the_file(tmp_path):
    text = "A title\nof two lines\n" + TABLE
    with raises(ReadError, "too_many_fields", **at(7, found=4, expected=3)):
        written(tmp_path, text + "d,A1,B1,C1\n", skip_rows=2)
    with raises(ReadError, "unclosed_quote", **at(7)):
        written(tmp_path, text + 'd,"A1\n', skip_rows=2)
    with raises(ReadError, "too_long_for_a_code", **at(7, column="DX1")):
        written(tmp_path, f"{text}d,{'A' * 200},\n", skip_rows=2, code_columns="DX*")
    with raises(ReadError, "no_rows_below", n_skipped=9):
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
    with pd.ExcelWriter(file, engine="openpyxl") as writer:
        frame.to_excel(writer, sheet_name="Codes", index=False, startrow=3)
        writer.sheets["Codes"].cell(2, 1, "Discharges of 2024")
        pd.DataFrame({"about": []}).to_excel(writer, sheet_name="About", index=False)
        writer.book.create_sheet("Empty")
    # Row 1 is blank, row 2 holds the title, row 4 the names.
    sheets = Message(
        "[other_sheets]", sheets=["Codes", "About", "Empty"], parameter="sheet", second="About"
    )
    with raises(ReadError, "title_above_header", row=4, above=3, sheets=sheets):
        read_records(file, **ALL)
    records = read_records(file, skip_rows=3, **ALL)
    assert as_sets(records) == {"a": {"A1"}, "b": {"B1"}, "c": {"A1"}}
    with raises(EmptyCorpusError, "no_rows", sheets=sheets):
        read_records(file, sheet="About", **ALL)
    with raises(ReadError, "empty_sheet", sheet="Empty", sheets=sheets):
        read_records(file, sheet="Empty", **ALL)
    with raises(ReadError, "short_sheet", n_skipped=20):
        read_records(file, skip_rows=20, **ALL)


def test_rows_that_cannot_be_skipped(tmp_path):
    with pytest.raises(InvalidParameterError):
        written(tmp_path, TABLE, skip_rows=-1)
    pd.DataFrame({"id": ["a"], "code": ["A1"]}).to_parquet(tmp_path / "a.parquet")
    with raises(InvalidParameterError, "always_names_columns"):
        read_records(tmp_path / "a.parquet", skip_rows=1)


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_a_table_that_is_emptied_while_it_is_read(tmp_path, monkeypatch, content):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    original = pd.read_csv

    def emptied(*args, **kwargs):
        return original(io.StringIO(content), *args[1:], **kwargs)

    monkeypatch.setattr(pd, "read_csv", emptied)
    with raises(ReadError, "unreadable_table"):
        read_records(path)

"""Tables without names of columns are noticed by the content of their first row."""

from __future__ import annotations

import pandas as pd
import pytest

from momentree.datasets import read_documents, read_records
from momentree.exceptions import InvalidParameterError, ReadError
from momentree.messages import Message
from tests.raising import raises

NEWS = [
    (1, "2024-01-05", "https://a.org/1", "The parliament votes on the budget today", "politics"),
    (2, "2024-01-06", "https://a.org/2", "A striker scores twice in the final match", "sport"),
    (3, "2024-01-07", "https://a.org/3", "Shares of the bank fall after the report", "business"),
    (4, "2024-01-08", "https://a.org/4", "The minister resigns over the tax affair", "politics"),
    (5, "2024-01-09", "https://a.org/5", "Rain stops play on the third day at Lord's", "sport"),
    (6, "2024-01-10", "https://a.org/6", "Oil prices rise as the output is reduced", "business"),
    (7, "2024-01-11", "https://a.org/7", "Voters go to the polls in four regions", "politics"),
    (8, "2024-01-12", "https://a.org/8", "The champion wins her first title abroad", "sport"),
]


@pytest.fixture
def save(tmp_path):
    def write(rows, header=None, end="csv", sep=","):
        path = tmp_path / f"t.{end}"
        frame = pd.DataFrame(rows, columns=header)
        if end == "xlsx":
            frame.to_excel(path, header=header is not None, index=False, engine="openpyxl")
        else:
            frame.to_csv(path, header=header is not None, index=False, sep=sep)
        return path

    return write


@pytest.mark.parametrize("end", ["csv", "xlsx"])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3, 4], [3], [1, 3], [2, 3], [0, 3], [3, 4]])
def test_a_first_row_of_data_is_data(save, columns, end):
    rows = [[row[j] for j in columns] for row in NEWS]
    documents = read_documents(save(rows, end=end))
    assert documents.texts == [row[3] for row in NEWS]
    note = Message("[no_header]", source=f"t.{end}", parameter="header")
    assert note in documents.notes


@pytest.mark.parametrize("end", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "header",
    [
        ["id", "date", "link", "text", "section"],
        ["Nr.", "wann", "wo", "Inhalt", "Ressort"],
        ["0", "1", "2", "3", "4"],
        ["2019", "x", "y", "What would you like to say about our hospital?", "z"],
        ["a", "b", "c", "d", "e"],
    ],
)
def test_a_first_row_of_names_is_names(save, header, end):
    documents = read_documents(save(NEWS, header, end=end))
    assert documents.texts == [row[3] for row in NEWS]
    assert "no_header" not in {note.code for note in documents.notes}


@pytest.mark.parametrize(
    "text",
    [
        "words\nsome more words here today\nand yet more words here too\nthe end of all words\n",
        "country,2019,2020\nItaly,10,20\nSpain,2500,30\nMalta,7,1\n",
        "id,250,401\na,0,1\nb,1,0\nc,1,1\n",
        "250,401,428\n0,1,1\n1,0,0\n1,1,0\n",
        "name,score\nann,3\nbob,4\n",
        "name,score,more\nann,3\nbob,4\n",
        "text,kind\na,x\n",
    ],
)
def test_other_tables_keep_their_names(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    column = text.splitlines()[0].split(",")[0]
    assert len(read_documents(path, text_column=column)) == text.count("\n") - 1


def test_the_user_decides(save):
    path = save(NEWS)
    assert read_documents(path, header=False).notes == read_documents(path).notes[1:]
    named = read_documents(path, header=True)
    assert len(named) == len(NEWS) - 1
    assert "no_header" not in {note.code for note in named.notes}
    path = save(NEWS, ["id", "date", "link", "text", "section"])
    assert read_documents(path, header=False).texts[0] == "text"
    assert read_documents(path, header=False, skip_rows=1).texts == [row[3] for row in NEWS]
    assert read_documents(save(NEWS), text_column="column 5").texts[0] == "politics"


def test_records_without_names(save):
    rows = [(1, "2024-01-05", "I50"), (1, "2024-01-05", "N17"), (2, "2024-02-01", "I50")] * 4
    records = read_records(
        save(rows),
        id_column="column 1",
        code_columns="column 3",
        min_records=1,
        min_codes=0,
        drop_constant=False,
    )
    assert set(records.codes) == {"I50", "N17"}
    assert "no_header" in {note.code for note in records.notes}


def test_formats_that_always_have_names(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": "a"}\n')
    with raises(InvalidParameterError, "always_names_columns", value=False):
        read_documents(tmp_path / "t.jsonl", header=False)
    with pytest.raises(InvalidParameterError):
        read_documents(tmp_path / "t.jsonl", header=1)


def test_a_longer_row_below_is_a_fault(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("2024-01-01,a\n2024-01-02,b\n2024-01-03,c,d\n")
    with raises(ReadError, "too_many_fields", found=3, expected=2):
        read_documents(path)

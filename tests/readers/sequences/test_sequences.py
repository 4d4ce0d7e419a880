"""Sequences of codes from tables: columns, times, order, rare codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from momentree.datasets import SequenceCoder, read_sequences
from momentree.exceptions import (
    EmptyCorpusError,
    InvalidDataError,
    InvalidParameterError,
    ReadError,
)

from ...raising import raises

CLICKS = """user,time,page
ann,2024-03-01 09:20,cart
bob,2024-03-02 11:00,home
ann,2024-03-01 09:10,home
bob,2024-03-02 11:05,cart
ann,2024-03-01 09:30,pay
bob,2024-03-02 11:09,home
"""


def write(folder, text, name="table.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def told(sequences):
    """The codes of each sequence, by id."""
    ends = np.cumsum(sequences.lengths)
    codes = sequences.codes[sequences.symbols].tolist()
    return {
        key: codes[end - n : end]
        for key, n, end in zip(sequences.ids, sequences.lengths, ends, strict=True)
    }


def codes_of(sequences):
    return [note.code for note in sequences.notes]


def test_rows_are_ordered_by_time_within_each_sequence(tmp_path):
    found = read_sequences(write(tmp_path, CLICKS), min_sequences=1)
    assert told(found) == {"ann": ["home", "cart", "pay"], "bob": ["home", "cart", "home"]}
    assert found.times[:3] == ["2024-03-01 09:10", "2024-03-01 09:20", "2024-03-01 09:30"]
    assert found.name == "table.csv"
    assert codes_of(found) == ["guessed_sequence_columns"]


def test_order_of_the_rows_does_not_matter_with_times(tmp_path):
    header, *rows = CLICKS.strip().split("\n")
    found = [
        told(read_sequences(write(tmp_path, "\n".join([header, *some])), min_sequences=1))
        for some in (rows, rows[::-1])
    ]
    assert found[0] == found[1]


def test_a_data_frame_and_its_file_are_the_same(tmp_path):
    frame = pd.read_csv(write(tmp_path, CLICKS), parse_dates=["time"])
    assert told(read_sequences(frame)) == told(read_sequences(tmp_path / "table.csv"))


@pytest.mark.parametrize(
    ("times", "note"),
    [
        (["1", "10", "2"], None),
        (["2024-01-31", "2024-12-01", "2024-02-01"], None),
        (["2024-01-31T10:00:00Z", "2024-12-01", "2024-02-01T00:00+02:00"], None),
        (["31.01.2024", "01.12.2024", "01.02.2024"], "%d.%m.%Y"),
        (["31/01/2024", "01/12/2024", "01/02/2024"], "%d/%m/%Y"),
        (["01/31/2024 10:00", "12/01/2024 08:30", "02/01/2024 09:00"], "%m/%d/%Y %H:%M"),
        (["31 Jan 2024", "1 Dec 2024", "1 Feb 2024"], "%d %b %Y"),
        (["9:05", "12:10", "10:00"], "%H:%M"),
    ],
)
def test_times(times, note):
    frame = pd.DataFrame({"id": ["a"] * 3, "time": times, "code": ["first", "last", "second"]})
    found = read_sequences(frame, min_sequences=1)
    assert told(found) == {"a": ["first", "second", "last"]}
    formats = [n.values["format"] for n in found.notes if n.code == "guessed_time_format"]
    assert formats == ([] if note is None else [note])


def test_dates_with_two_readings_are_refused_and_a_format_decides():
    frame = pd.DataFrame({"id": "a", "date": ["03/02/2024", "01/05/2024"], "code": ["x", "y"]})
    with raises(InvalidDataError, "day_or_month_first") as caught:
        read_sequences(frame)
    formats = [caught.value.message.values[name] for name in ("first", "second")]
    orders = [told(read_sequences(frame, time_format=one, min_sequences=1))["a"] for one in formats]
    assert sorted(orders) == [["x", "y"], ["y", "x"]]


def test_a_value_that_is_no_time_is_refused_with_its_place(tmp_path):
    path = write(tmp_path, CLICKS.replace("2024-03-02 11:05", "later"))
    with raises(InvalidDataError, "cell_not_a_time") as caught:
        read_sequences(path, time_column="time")
    assert "line 5" in str(caught.value)
    with raises(InvalidDataError, "not_a_time_format"):
        read_sequences(path, time_column="time", time_format="%")


def test_rows_without_a_value_are_left_out_and_counted(tmp_path):
    lines = ["id,time,code", ",1,x", "a,,x", "a,2,", "a,3,y", "a,1,x", "a,4,NA"]
    found = read_sequences(write(tmp_path, "\n".join(lines)), min_sequences=1)
    assert told(found) == {"a": ["x", "y"]}
    left_out = {n.values["column"]: n.values["n_rows"] for n in found.notes if "n_rows" in n.values}
    assert left_out == {"id": 1, "time": 1, "code": 2}


def test_equal_times_keep_the_order_of_the_rows_with_a_note():
    frame = pd.DataFrame({"id": "a", "time": [1, 1, 0, 1], "code": ["y", "x", "z", "y"]})
    found = read_sequences(frame, min_sequences=1)
    assert told(found) == {"a": ["z", "y", "x", "y"]}
    counts = {note.code: note.values.get("n_rows") for note in found.notes}
    assert (counts["equal_times"], counts["repeated_steps"]) == (2, 1)


def test_without_times_the_rows_are_in_order():
    frame = pd.DataFrame({"user": list("abab"), "page": list("wxyz")})
    found = read_sequences(frame, min_sequences=1)
    assert told(found) == {"a": ["w", "y"], "b": ["x", "z"]}
    assert "ordered_by_rows" in codes_of(found)
    ordered = frame.assign(time=[4, 3, 2, 1])
    assert told(read_sequences(ordered, min_sequences=1)) == {"a": ["y", "w"], "b": ["z", "x"]}
    assert told(read_sequences(ordered, time_column="none", min_sequences=1)) == told(found)


@pytest.mark.parametrize(
    "cells",
    [
        ["home > cart > pay", "home > home", "cart > pay"],
        ["home -> cart -> pay", "home -> home", "cart -> pay"],
        ["home;cart;pay", "home; home", "cart;pay"],
        ["home cart pay", "home home", "cart pay"],
    ],
)
def test_one_row_per_sequence(cells):
    found = read_sequences(pd.DataFrame({"id": ["a", "b", "c"], "codes": cells}), min_sequences=1)
    assert told(found) == {
        "a": ["home", "cart", "pay"],
        "b": ["home", "home"],
        "c": ["cart", "pay"],
    }


def test_codes_are_strings_as_they_are_written(tmp_path):
    text = "id,time,code\na,1,007\na,2,7\na,3,7.0\nb,1,007\nb,2,7\nb,3,7.0\n"
    assert told(read_sequences(write(tmp_path, text)))["a"] == ["007", "7", "7.0"]


def test_rare_codes_are_merged_with_a_note():
    frame = pd.DataFrame({"id": list("aabbc"), "time": range(5), "code": list("xyxzx")})
    found = read_sequences(frame)
    assert found.codes.tolist() == ["(other)", "x"]
    assert told(found) == {"a": ["x", "(other)"], "b": ["x", "(other)"], "c": ["x"]}
    (note,) = (note for note in found.notes if note.code == "rare_codes_merged")
    assert (note.values["n_codes"], note.values["share"]) == (2, 0.4)
    assert len(read_sequences(frame, min_sequences=1).codes) == 3


def test_new_sequences_get_the_same_symbols():
    frame = pd.DataFrame({"id": list("aabb"), "time": range(4), "code": list("xyxy")})
    coder = read_sequences(frame).coder
    later = pd.DataFrame({"id": list("cccc"), "time": [3, 1, 2, 0], "code": list("xqyx")})
    found = read_sequences(later, coder=SequenceCoder.from_dict(coder.to_dict()))
    assert (found.codes.tolist(), found.symbols.tolist()) == (["x", "y"], [0, 1, 0])
    assert "unknown_codes_in_sequences" in codes_of(found)
    with raises(InvalidParameterError, "coder_has_its_own"):
        read_sequences(later, coder=coder, min_sequences=2)


def test_codes_roll_up_and_have_names():
    frame = pd.DataFrame(
        {"patient": list("aabb"), "date": [1, 2, 1, 2], "icd": ["25001", "4280", "25000", "428.0"]}
    )
    found = read_sequences(frame, rollup="icd9")
    assert told(found) == {"a": ["250", "428"], "b": ["250", "428"]}
    assert found.names["250"].startswith("Diabetes")


def test_the_id_with_distinct_times_forms_the_sequences():
    # As in MIMIC, where the codes of each admission are numbered from 1.
    frame = pd.DataFrame(
        {
            "SUBJECT_ID": [1, 1, 1, 1],
            "HADM_ID": [10, 10, 11, 11],
            "SEQ_NUM": [1, 2, 1, 2],
            "ICD9_CODE": ["4280", "25000", "4280", "5849"],
        }
    )
    assert read_sequences(frame).ids == ["10", "11"]


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ("user,session,time,page\na,1,1,x\na,1,2,y\nb,2,1,x\nb,2,1,x", "several_sequence_ids"),
        ("id,date,time,visit_date,day,page\na,1,1,1,1,x\na,2,2,2,2,y", None),
        ("id,start_date,visit_date,page\na,1,1,x\na,2,2,y", "several_time_columns"),
        ("id,time,page,state\na,1,x,u\na,2,y,v", "several_sequence_codes"),
        ("id,time\na,1\na,2", "no_sequence_codes"),
        ("page\nx\ny", "no_sequence_ids"),
    ],
)
def test_unclear_columns_are_refused(tmp_path, table, code):
    path = write(tmp_path, table)
    if code is None:
        assert told(read_sequences(path, min_sequences=1)) == {"a": ["x", "y"]}
    else:
        with raises(ReadError, code):
            read_sequences(path)


def test_wrong_columns_and_empty_tables_are_refused(tmp_path):
    path = write(tmp_path, CLICKS)
    with raises(ReadError, "no_such_column") as caught:
        read_sequences(path, code_column="pages")
    assert caught.value.message.values["columns"][0] == "page"  # the nearest name first
    with raises(ReadError, "sequence_column_of_two_roles"):
        read_sequences(path, id_column="user", code_column="user")
    with raises(EmptyCorpusError, "no_rows"):
        read_sequences(write(tmp_path, "id,time,code\n"))
    with raises(EmptyCorpusError, "no_steps"):
        read_sequences(write(tmp_path, "id,time,code\na,,x\na,,y\n"), time_column="time")

"""Separators of codes in a cell, and dates among codes."""

from __future__ import annotations

import pytest

from momentree.exceptions import InvalidDataError
from tests.raising import raises

from .record_files import VISITS, as_sets, at, lists, notes_of, written


def _long(dates, codes):
    """Return a long table with its dates after the codes."""
    entries = [f"A{i % 7}" for i in range(codes)] + dates
    return "id,code\n" + "".join(f"r{i // 4},{entry}\n" for i, entry in enumerate(entries))


def test_a_few_dates_among_codes_are_left_out(tmp_path):
    records = written(tmp_path, _long(["2024-01-05", "3.4.2023"], 98))
    assert records.codes.tolist() == [f"A{i}" for i in range(7)]
    assert notes_of(records)["dates_left_out"] == at(100, n_entries=2, column="code")


@pytest.mark.parametrize(
    ("dates", "codes", "code", "values"),
    [
        (["2024-01-05"] * 6, 94, "dates_among_codes", at(96, n_dates=6, n_entries=100)),
        (["2024-01-05"] * 8, 7, "dates_among_codes", {"n_dates": 8, "n_entries": 15}),
        (["5-Mar-2021", "20240105"], 18, "dates_among_codes", {"value": "5-Mar-2021"}),
    ],
)
def test_many_dates_among_codes_are_refused(tmp_path, dates, codes, code, values):
    with raises(InvalidDataError, code, **values):
        written(tmp_path, _long(dates, codes))


def test_dates_in_lists_and_in_one_of_several_columns(tmp_path):
    rows = "".join(f"r{i},A1;B{i % 3}\n" for i in range(40))
    records = written(tmp_path, f"id,codes\n{rows}x,A1;2024-01-05;B1\ny,2024-01-05 10:30\n")
    assert as_sets(records)["x"] == {"A1", "B1"}
    assert as_sets(records)["y"] == set()
    assert notes_of(records)["dates_left_out"] == at(42, n_entries=2, column="codes")
    slots = "id," + ",".join(f"dx{i}" for i in range(1, 11)) + "\n"
    slots += "".join(f"{i},A1,B2,C3,D4,E5,F6,G7,H8,I9,\n" for i in range(8))
    with raises(InvalidDataError, "dates_among_codes", column="dx10", value="1/2/20"):
        written(tmp_path, f"{slots}8,A1,B2,C3,,,,,,,1/2/20\n")


def test_eight_digits_are_codes_beside_other_codes(tmp_path):
    rows = "".join(f"r{i},{20010001 + 1009 * i}\n" for i in range(90))
    records = written(tmp_path, f"id,code\nr1,20010101\n{rows}", id_column="id")
    assert "20010101" in records.codes
    assert len(records.codes) == 91


@pytest.mark.parametrize("sign", ["^", "~", "&", "/", " / ", "^ "])
def test_rare_separators(tmp_path, sign):
    records = written(tmp_path, lists(VISITS, sign), id_column="visit_id")
    assert as_sets(records) == VISITS
    assert notes_of(records)["rare_separator"] == {"sign": sign.strip()}


def test_slashes_in_lists_of_numbers(tmp_path):
    """Numbers are codes of their own where they stand now first and now later."""
    text = "visit_id,codes\na,250/401/272\nb,401/250\nc,272\nd,401/272\n"
    assert as_sets(written(tmp_path, text))["a"] == {"250", "401", "272"}


def test_slashes_in_codes_stay(tmp_path):
    text = "visit_id,codes\na,120/80\nb,130/85\nc,120/80\n"
    records = written(tmp_path, text)
    assert records.codes.tolist() == ["120/80", "130/85"]
    assert notes_of(records)["possible_separator"] == {"sign": "/"}
    few = written(tmp_path, "visit_id,codes\na,A1/B1\nb,A1\nc,B1\nd,C1\n")
    assert "A1/B1" in few.codes
    assert not {"rare_separator", "possible_separator"} & {*notes_of(few)}


def test_signs_beside_words_separate_nothing(tmp_path):
    records = written(tmp_path, "visit_id,codes\na,I10^Hypertension\nb,R&D 1\n")
    assert records.codes.tolist() == ["I10^HYPERTENSION", "R&D 1"]

"""What stands between codes in a cell, and dates among codes."""

from __future__ import annotations

import pytest

from momentree.exceptions import InvalidDataError
from tests.datasets.record_files import VISITS, as_sets, lists, written


def _long(dates, codes):
    """Return a long table with its dates after the codes."""
    entries = [f"A{i % 7}" for i in range(codes)] + dates
    return "id,code\n" + "".join(f"r{i // 4},{entry}\n" for i, entry in enumerate(entries))


def test_a_few_dates_among_codes_are_left_out(tmp_path):
    records = written(tmp_path, _long(["2024-01-05", "3.4.2023"], 98))
    assert records.codes.tolist() == [f"A{i}" for i in range(7)]
    told = "left out 2 dates among the codes, the first in line 100, column 'code'"
    assert told in records.notes


@pytest.mark.parametrize(
    ("dates", "codes", "told"),
    [
        (["2024-01-05"] * 6, 94, r"line 96, column 'code', holds '2024-01-05': 6 of 100 entries"),
        (["2024-01-05"] * 8, 7, "8 of 15 values of the column are dates, not codes"),
        (["5-Mar-2021", "20240105"], 18, "holds '5-Mar-2021': 2 of 20 entries are dates"),
    ],
)
def test_more_dates_than_a_slip_are_refused(tmp_path, dates, codes, told):
    with pytest.raises(InvalidDataError, match=told):
        written(tmp_path, _long(dates, codes))


def test_dates_in_lists_and_in_one_of_several_columns(tmp_path):
    rows = "".join(f"r{i},A1;B{i % 3}\n" for i in range(40))
    records = written(tmp_path, f"id,codes\n{rows}x,A1;2024-01-05;B1\ny,2024-01-05 10:30\n")
    assert as_sets(records)["x"] == {"A1", "B1"}
    assert as_sets(records)["y"] == set()
    assert "left out 2 dates among the codes, the first in line 42, column 'codes'" in records.notes
    slots = "id," + ",".join(f"dx{i}" for i in range(1, 11)) + "\n"
    slots += "".join(f"{i},A1,B2,C3,D4,E5,F6,G7,H8,I9,\n" for i in range(8))
    with pytest.raises(InvalidDataError, match=r"column 'dx10', holds '1/2/20': 1 of 1 values"):
        written(tmp_path, f"{slots}8,A1,B2,C3,,,,,,,1/2/20\n")


def test_eight_digits_are_codes_among_such(tmp_path):
    rows = "".join(f"r{i},{20010001 + 1009 * i}\n" for i in range(90))
    records = written(tmp_path, f"id,code\nr1,20010101\n{rows}", id_column="id")
    assert "20010101" in records.codes
    assert len(records.codes) == 91


@pytest.mark.parametrize("sign", ["^", "~", "&", "/", " / ", "^ "])
def test_signs_that_seldom_part_codes(tmp_path, sign):
    records = written(tmp_path, lists(VISITS, sign), id_column="visit_id")
    assert as_sets(records) == VISITS
    assert f"took {sign.strip()!r} for the sign between codes" in records.notes


def test_slashes_in_lists_of_numbers(tmp_path):
    """Numbers are codes of their own where they stand now first and now later."""
    text = "visit_id,codes\na,250/401/272\nb,401/250\nc,272\nd,401/272\n"
    assert as_sets(written(tmp_path, text))["a"] == {"250", "401", "272"}


def test_slashes_in_codes_stay_and_are_told(tmp_path):
    text = "visit_id,codes\na,120/80\nb,130/85\nc,120/80\n"
    records = written(tmp_path, text)
    assert records.codes.tolist() == ["120/80", "130/85"]
    told = "took cells with '/' in them for one code each: write ';' where it parts codes"
    assert told in records.notes
    few = written(tmp_path, "visit_id,codes\na,A1/B1\nb,A1\nc,B1\nd,C1\n")
    assert "A1/B1" in few.codes
    assert not any("'/'" in note for note in few.notes)


def test_signs_beside_words_part_nothing(tmp_path):
    records = written(tmp_path, "visit_id,codes\na,I10^Hypertension\nb,R&D 1\n")
    assert records.codes.tolist() == ["I10^HYPERTENSION", "R&D 1"]

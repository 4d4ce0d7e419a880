"""Codes are repaired, rolled up and chosen, and each step is reported."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from momentree.datasets import make_patient_records, read_records
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from tests.raising import raises

from .record_files import ALL, as_sets, lists, notes_of, written


def test_repairs_are_reported(tmp_path):
    text = "id,code\na,i50\na, I50 \nb,I51\nb,I51\nc,I50.\n,I52\nc,i51\nd,\n"
    records = written(tmp_path, text, rollup="icd10")
    assert as_sets(records) == {"a": {"I50"}, "b": {"I51"}, "c": {"I50", "I51"}, "d": set()}
    assert [(note.code, *counts(note)) for note in records.notes] == [
        ("form",),
        ("guessed_id_column",),
        ("rows_without_id", 1),
        ("rows_joined", 7, 4),
        ("blanks_removed", 1),
        ("upper_case", 2),
        ("repeated_entries", 2),
        ("titles_used",),
        ("too_few_codes", 1),
    ]


def counts(note):
    """The numbers that disclosure control looks at."""
    return [n for name, n in note.values.items() if name in ("n_rows", "n_records", "n_entries")]


def test_dots_are_removed_only_where_codes_occur_with_and_without(tmp_path):
    both = written(tmp_path, "id,code\na,250.01\nb,25001\nc,401.9\n")
    assert both.codes.tolist() == ["25001", "4019"]
    assert notes_of(both)["dots_removed"] == {"n_codes": 1}
    dotted = written(tmp_path, "id,code\na,250.01\nb,250.02\nc,401.9\n")
    assert dotted.codes.tolist() == ["250.01", "250.02", "401.9"]
    # Septicemia (038.9, its zero lost) is not hearing loss, with what else there may be.
    short = written(tmp_path, "id,code\na,38.9\nb,389\nc,250.01\nd,25001\nd,38.9\n")
    assert short.codes.tolist() == ["250.01", "25001", "38.9", "389"]
    kept = notes_of(short)["dots_kept"]
    assert (kept["n_codes"], kept["n_entries"], kept["value"]) == (1, 2, "38.9")
    named = written(tmp_path, "id,code\na,38.9\nb,389\n", names={"389": "Hearing loss"})
    assert named.names == {"389": "Hearing loss"}
    # Not a code system whose dots mean nothing: versions 1.11 and 11.1 differ.
    other = written(tmp_path, "id,code\na,Q.1.11\nb,Q1.11\nc,Q11.1\n")
    assert other.codes.tolist() == ["Q.1.11", "Q1.11", "Q11.1"]


def test_lost_zeros_come_back(tmp_path):
    records = written(tmp_path, "id,code\na,38.9\nb,038.1\nc,8\nd,250\n", rollup="icd9")
    assert records.codes.tolist() == ["008", "038", "250"]
    assert notes_of(records)["zeros_restored"] == {"n_entries": 2}


def test_codes_that_are_numbers_lose_zeros(tmp_path):
    """Of a spreadsheet or Parquet, 250.00 comes as 250, and 038.9 as 38.9."""
    file = tmp_path / "a.parquet"
    ids, codes = ["a", "b", "c", "d"], [38.9, 250.0, 389.0, np.nan]
    pd.DataFrame({"id": ids, "code": codes}).to_parquet(file)
    expected = Message("[codes_as_numbers]", n_entries=3, column="code")
    with raises(InvalidDataError, "mostly_numbers", reason=expected, parameter="rollup"):
        read_records(file, **ALL)
    rolled = read_records(file, rollup="icd9", **ALL)
    assert as_sets(rolled) == {"a": {"038"}, "b": {"250"}, "c": {"389"}, "d": set()}
    mapped = read_records(file, rollup={"389": "Ear", "250": "Sugar"}, **ALL)
    assert as_sets(mapped) == {"a": {"38.9"}, "b": {"Sugar"}, "c": {"Ear"}, "d": set()}
    assert expected in mapped.notes
    # Few of many entries are reported and kept apart.
    words = pd.DataFrame(
        {"id": ids, "dx1": ["V10", "V11", "250.00", "401.9"], "dx2": [38.9, np.nan, np.nan, 250.0]}
    )
    words.to_parquet(file)
    few = read_records(file, **ALL)
    assert few.codes.tolist() == ["250", "250.00", "38.9", "401.9", "V10", "V11"]
    assert notes_of(few)["codes_as_numbers"] == {"n_entries": 2, "column": "dx2"}
    # Whole numbers only, or no codes of ICD-9: nothing to report.
    pd.DataFrame({"id": ids, "code": [250.0, 401.0, 428.0, 250.0]}).to_parquet(file)
    assert "codes_as_numbers" not in notes_of(read_records(file, **ALL))
    pd.DataFrame({"id": ids, "code": [1000.5, 1000.5, 2000.5, 3000.5]}).to_parquet(file)
    assert "codes_as_numbers" not in notes_of(read_records(file, **ALL))


def test_numbers_of_a_spreadsheet_are_codes_only_after_a_roll_up(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl, which writes the table, is not installed")
    file = tmp_path / "a.xlsx"
    codes = [38.9, 250.0, 389.0, "V10.3"]
    pd.DataFrame({"id": list("abcd"), "code": codes}).to_excel(file, index=False)
    expected = Message("[codes_as_numbers]", n_entries=3, column="code")
    with raises(InvalidDataError, "mostly_numbers", reason=expected):
        read_records(file, **ALL)
    rolled = read_records(file, rollup="icd9", **ALL)
    assert rolled.codes.tolist() == ["038", "250", "389", "V10"]


def test_codes_of_every_record_are_dropped(tmp_path):
    text = "id,codes\n1,A1;B1\n2,A1\n3,A1;B1\n4,\n"
    records = written(tmp_path, text, drop_constant=True)
    assert records.codes.tolist() == ["B1"]
    assert notes_of(records)["constant_codes_dropped"] == {"n_codes": 1, "codes": ["A1"]}
    np.testing.assert_array_equal(records.enough, [True, False, True, False])
    # In a table of zeros and ones a row of zeros says that a record lacks the code.
    zeros = written(tmp_path, "id,A,B,C\n1,1,1,1\n2,1,0,\n3,0,0,1\n", drop_constant=True)
    assert zeros.codes.tolist() == ["A", "B"]


def test_rare_codes_and_cumulative_frequency(tmp_path):
    """A literal reading of section 6.4.1: most frequent first until the share is reached."""
    sample = make_patient_records(400, 60, 4, 6.0, random_state=0)
    visits = {
        f"r{i}": set(sample.codes[row.indices].tolist())
        for i, row in enumerate(sample.X[[j]] for j in range(400))
    }
    counts = {c: sum(c in codes for codes in visits.values()) for c in sample.codes.tolist()}
    records = written(tmp_path, lists(visits), min_records=7)
    assert records.codes.tolist() == sorted(c for c, n in counts.items() if n >= 7)
    kept, total = [], 0
    for code in sorted(counts, key=lambda c: (-counts[c], c)):
        if total >= 0.7 * sum(counts.values()):
            break
        kept.append(code)
        total += counts[code]
    records = written(tmp_path, lists(visits), cumulative_frequency=0.7, min_codes=3)
    assert records.codes.tolist() == sorted(kept)
    has = [len(visits[name] & set(kept)) for name in records.ids]
    np.testing.assert_array_equal(records.enough, np.array(has) >= 3)
    assert notes_of(records)["frequent_codes_kept"]["n_kept"] == len(kept)
    assert set(written(tmp_path, lists(visits), cumulative_frequency=1.0).codes) == {
        c for c, n in counts.items() if n
    }


def test_threshold_for_rare_codes_depends_on_the_number_of_records(tmp_path):
    codes = {f"r{i}": {"A1"} if i % 2 else set() for i in range(1000)}
    for i, extra in ((0, "B1"), (2, "C1")):
        for j in range(4 if extra == "B1" else 5):
            codes[f"r{10 + 2 * (5 * i + j)}"] = {extra}
    assert written(tmp_path, lists(codes), min_records=None).codes.tolist() == ["A1", "C1"]
    few = dict(list(codes.items())[:-1])
    assert written(tmp_path, lists(few), min_records=None).codes.tolist() == ["A1", "B1", "C1"]


def test_names_and_titles(tmp_path):
    names = tmp_path / "names.csv"
    names.write_text('code,name\n250,"Diabetes ""mellitus"" <b>"\n428.0,Heart failure\n')
    text = "id,codes\n1,250;4280\n2,250;401\n3,4280\n"
    records = written(tmp_path, text, names=names)
    assert records.names == {"250": 'Diabetes "mellitus" <b>', "4280": "Heart failure"}
    assert records.title("250") == '250 Diabetes "mellitus" <b>'
    assert records.title("401") == "401"
    unnamed = notes_of(records)["codes_without_name"]
    assert (unnamed["n_codes"], unnamed["n_all"], unnamed["code"]) == (1, 3, "401")


def test_mapping_rolls_up(tmp_path):
    mapping = tmp_path / "groups.csv"
    mapping.write_text("code,group\nE10,Diabetes\ne11,Diabetes\nI50,Heart\n")
    text = "id,codes\n1,E10;I50\n2,E11\n3,E11;Z9\n"
    for rollup in (mapping, str(mapping), {"E10": "Diabetes", "E11": "Diabetes", "I50": "Heart"}):
        records = written(tmp_path, text, rollup=rollup)
        assert as_sets(records) == {
            "1": {"Diabetes", "Heart"},
            "2": {"Diabetes"},
            "3": {"Diabetes", "Z9"},
        }
        assert notes_of(records)["codes_not_in_mapping"] == {"n_codes": 1, "n_entries": 1}


def test_outcomes(tmp_path):
    text = "visit_id,codes,died,stay,ward\n1,A1,Yes,3,X\n2,B1,no,,Y\n3,A1;B1,,4.5,\n"
    records = written(tmp_path, text, outcome_columns=["died", "st*", "ward"])
    np.testing.assert_array_equal(records.outcomes["died"], [1, 0, np.nan])
    np.testing.assert_array_equal(records.outcomes["stay"], [3, np.nan, 4.5])
    assert records.outcomes["ward"].tolist() == ["X", "Y", ""]
    assert records.outcome_names == {"died": ("no", "Yes")}
    assert Message("[binary_outcome]", outcome="died", zero="no", one="Yes") in records.notes
    assert Message("[outcome_missing]", outcome="stay", n_missing=1, n_all=3) in records.notes


def test_outcomes_of_joined_rows(tmp_path):
    text = "p,dx1,dx2,stay,ward,ok\n1,A1,,2,X,f\n2,B1,A1,1,Y,f\n1,B1,,7,Z,t\n2,B1,,,,f\n"
    records = written(
        tmp_path, text, union_by="p", code_columns="dx*", outcome_columns=("stay", "ward", "ok")
    )
    assert records.outcomes["stay"].tolist() == [7, 1]
    assert records.outcomes["ward"].tolist() == ["Z", "Y"]
    assert records.outcomes["ok"].tolist() == [1, 0]
    differ = [note for note in records.notes if note.code == "outcome_differs"]
    assert differ == [
        Message("[outcome_differs]", outcome="stay", n_records=1, rule="largest"),
        Message("[outcome_differs]", outcome="ward", n_records=1, rule="last"),
        Message("[outcome_differs]", outcome="ok", n_records=1, rule="largest"),
    ]


def test_mapping_of_few_codes_is_reported(tmp_path):
    text = "id,code\n1,A1\n1,B1\n2,A1\n2,C1\n3,B1\n"
    few = written(tmp_path, text, rollup={"A1": "Low"})
    assert as_sets(few) == {"1": {"Low", "B1"}, "2": {"Low", "C1"}, "3": {"B1"}}
    assert notes_of(few)["few_codes_in_mapping"]["share"] == pytest.approx(0.4)
    half = written(tmp_path, text, rollup={"A1": "Low", "C1": "High"})
    assert "few_codes_in_mapping" not in notes_of(half)


def test_repeats_are_counted_in_new_records_too(tmp_path):
    """After the roll-up and of the codes that are kept: so the numbers are the same."""
    rows = "".join(f"r{i},250.0{i % 3}\nr{i},250.1\nr{i},41{i % 2}.9\n" for i in range(8))
    text = f"id,code\n{rows}r1,785.1\nr1,785.2\n"
    first = written(tmp_path, text, rollup="icd9", min_records=2)
    note = Message("[repeated_entries]", n_entries=8, when=Message("[after_rollup]"))
    again = read_records(tmp_path / "table.csv", coder=first.coder)
    assert note in first.notes
    assert note in again.notes
    # In a union of admissions codes come again; so they do in that of new ones.
    union = written(tmp_path, text.replace("id,", "patient,"), rollup="icd9", union_by="patient")
    for records in (union, read_records(tmp_path / "table.csv", coder=union.coder)):
        assert "repeated_entries" not in notes_of(records)


def test_records_whose_codes_were_all_dropped(tmp_path):
    rows = "".join(f"r{i},A{i}\n" for i in range(9))
    text, options = "x,B1\ny,B1\ny,B2\nz,B2\n", {"min_records": 2, "min_codes": 2}
    rare = written(tmp_path, f"id,code\n{rows}{text}", **options)
    assert notes_of(rare)["records_without_codes"] == {"n_records": 9, "n_all": 12}
    rows = "".join(f"r{i},\n" for i in range(6))
    none = written(tmp_path, f"id,code\n{rows}{text}", **options)
    assert notes_of(none)["records_without_codes"] == {"n_records": 6, "n_all": 9}
    assert notes_of(none)["too_few_codes"]["n_records"] == 8


def test_records_without_codes_are_noted_once(tmp_path):
    (note,) = written(tmp_path, "id,code\nw,\nx,B1\ny,B1\ny,B2\nz,B2\n").notes[-1:]
    assert str(note).startswith("1 of 4 records has none of the codes: excluded from fitting")


def test_columns_left_out_are_not_among_those_of_codes(tmp_path):
    text = "id,admitted,A1,B1,V30\n1,2020-01-02,1,0,0\n2,2021-05-06,0,1,1\n3,2020-01-02,1,1,0\n"
    records = written(tmp_path, text)
    columns = Message("[several_columns]", n_columns=3, first="A1", last="V30")
    assert notes_of(records)["form"]["columns"] == columns
    assert notes_of(records)["text_left_out"]["columns"] == ["admitted"]

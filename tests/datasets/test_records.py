"""Records come out the same from every form that they are written in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from momentree.datasets import make_patient_records, read_records
from momentree.exceptions import InvalidDataError, ReadError

ALL = {"min_records": 1, "drop_constant": False}
VISITS = {"a": {"B1", "C2"}, "b": {"C2"}, "c": set(), "d": {"A3", "B1", "C2"}}


def written(folder, text, name="table.csv", **options):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return read_records(file, **{**ALL, **options})


def as_sets(records):
    rows = records.X.toarray() == 1
    return {
        name: set(records.codes[row].tolist()) for name, row in zip(records.ids, rows, strict=True)
    }


def long(visits):
    pairs = [(v, c) for v, codes in visits.items() for c in sorted(codes) or [""]]
    return "visit_id,code\n" + "".join(f"{v},{c}\n" for v, c in pairs)


def lists(visits, sign=";"):
    return "visit_id,codes\n" + "".join(
        f'{v},"{sign.join(sorted(codes))}"\n' for v, codes in visits.items()
    )


def slots(visits):
    rows = "".join(
        f"{v},{','.join((sorted(codes) + [''] * 20)[:20])}\n" for v, codes in visits.items()
    )
    return "visit_id," + ",".join(f"dx{i}" for i in range(20)) + "\n" + rows


def wide(visits, yes="1", no="0"):
    names = sorted(set().union(*visits.values()))
    rows = "".join(
        f"{v},{','.join(yes if c in codes else no for c in names)}\n" for v, codes in visits.items()
    )
    return f"visit_id,{','.join(names)}\n{rows}"


@pytest.mark.parametrize("form", [long, lists, slots, wide])
def test_forms_are_told_apart(tmp_path, form):
    records = written(tmp_path, form(VISITS))
    assert records.form == form.__name__
    assert as_sets(records) == VISITS
    assert records.ids == list("abcd")
    assert records.codes.tolist() == ["A3", "B1", "C2"]
    assert records.enough.tolist() == [True, True, False, True]
    assert records.X.dtype == np.float64
    assert records.X.has_canonical_format
    assert set(records.X.data) == {1.0}
    assert len(records) == 4
    assert repr(records) == "Records('table.csv', 4 records, 3 codes, 6 entries)"
    assert "no code in 1 record of 4" in records.notes


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.sets(st.sampled_from([f"{c}{i}" for c in "ABV" for i in range(4)]), max_size=6),
        min_size=4,
        max_size=12,
    ).filter(lambda sets: any(len(codes) > 1 for codes in sets)),
    st.randoms(use_true_random=False),
)
def test_every_form_gives_the_same_records(tmp_path, sets, random):
    visits = {f"r{i}": codes for i, codes in enumerate(sets)}
    mixed = list(visits.items())
    random.shuffle(mixed)
    read = [
        written(tmp_path, text, code_columns=columns, id_column="visit_id")
        for text, columns in (
            (long(visits), "code"),
            (lists(visits), "codes"),
            (lists(visits, " "), "codes"),
            (lists(dict(mixed), ", "), "codes"),
            (slots(visits), "dx*"),
            (wide(visits), None if len(set().union(*sets)) > 1 else "[ABV]*"),
            (wide(visits, "x", ""), "[ABV]*"),
            (wide(dict(mixed), "Yes", "no"), "[ABV]*"),
        )
    ]
    for records in read:
        assert as_sets(records) == visits
        assert not np.isnan(records.X.data).any()


def test_cells_of_lists(tmp_path):
    text = 'id,codes\n1,"250.00; 401.9"\n2,V10 4019\n3,"401.9|428,250.00"\n4,\n'
    records = written(tmp_path, text, rollup="icd9")
    assert as_sets(records) == {
        "1": {"250", "401"},
        "2": {"401", "V10"},
        "3": {"250", "401", "428"},
        "4": set(),
    }
    # Names hold commas and blanks, codes do not.
    names = written(tmp_path, 'id,code\n1,"heart failure, acute; gout"\n2,gout\n')
    assert names.codes.tolist() == ["GOUT", "HEART FAILURE, ACUTE"]


def test_missing_values_are_not_zeros(tmp_path):
    text = "id,a,b,tick\n1,1,NA,x\n2,0,1,\n3,,0,x\n"
    records = written(tmp_path, text)
    expected = [[1, np.nan, 1], [0, 1, 0], [np.nan, 0, 1]]
    np.testing.assert_array_equal(records.X.toarray(), expected)
    assert "nothing or NA in 2 cells: missing values, not zeros" in records.notes
    assert "took empty cells for no in 1 column of ticks" in records.notes
    assert records.enough.all()


def test_union_of_wide_rows_follows_three_valued_or(tmp_path):
    """Yes if one row says so; unknown if one is unknown and none says yes; else no."""
    rng = np.random.default_rng(0)
    cells = rng.choice(["1", "0", ""], size=(60, 5), p=[0.25, 0.6, 0.15])
    patients = rng.integers(0, 20, 60)
    text = "patient,a,b,c,d,e\n" + "".join(
        f"p{p},{','.join(row)}\n" for p, row in zip(patients, cells, strict=True)
    )
    records = written(tmp_path, text, union_by="patient")
    for i, name in enumerate(records.ids):
        rows = cells[patients == int(name[1:])]
        for j in range(5):
            column = set(rows[:, j])
            expected = 1.0 if "1" in column else np.nan if "" in column else 0.0
            np.testing.assert_equal(records.X[i, j], expected)


def test_roll_up_joins_columns_of_a_wide_table(tmp_path):
    records = written(tmp_path, "id,25000,25001,4019\n1,1,,0\n2,0,,1\n3,0,0,1\n", rollup="icd9")
    np.testing.assert_array_equal(records.X.toarray(), [[1, 0], [np.nan, 1], [0, 1]])


def test_repairs_are_reported(tmp_path):
    text = "id,code\na,i50\na, I50 \nb,I51\nb,I51\nc,I50.\n,I52\nc,i51\nd,\n"
    records = written(tmp_path, text, rollup="icd10")
    assert as_sets(records) == {"a": {"I50"}, "b": {"I51"}, "c": {"I50", "I51"}, "d": set()}
    assert records.notes == (
        "form long, a row for each code of a record: codes in column 'code'",
        "took column 'id' for the ids of records",
        "left out 1 row with nothing in column 'id'",
        "joined 7 rows into 4 records by 'id'",
        "took away the blanks around the content of 1 cell",
        "put 2 codes in upper case",
        "counted 2 repeated pairs of a record and a code once",
        "no code in 1 record of 4",
        "too few to learn from, but to be assigned: 1 record of 4 with fewer than 1 code",
    )


def test_dots_are_taken_out_only_where_they_part_one_code_in_two(tmp_path):
    both = written(tmp_path, "id,code\na,250.01\nb,25001\nc,401.9\n")
    assert both.codes.tolist() == ["25001", "4019"]
    assert "took the dots out: 1 code stood with and without one" in both.notes
    dotted = written(tmp_path, "id,code\na,250.01\nb,250.02\nc,401.9\n")
    assert dotted.codes.tolist() == ["250.01", "250.02", "401.9"]
    # Not a code system whose dots mean nothing: versions 1.11 and 11.1 differ.
    other = written(tmp_path, "id,code\na,Q.1.11\nb,Q1.11\nc,Q11.1\n")
    assert other.codes.tolist() == ["Q.1.11", "Q1.11", "Q11.1"]


def test_lost_zeros_come_back(tmp_path):
    records = written(tmp_path, "id,code\na,38.9\nb,038.1\nc,8\nd,250\n", rollup="icd9")
    assert records.codes.tolist() == ["008", "038", "250"]
    assert "gave 2 entries the zeros back that were lost in front (38: 038)" in records.notes


def test_codes_of_every_record_are_dropped(tmp_path):
    text = "id,codes\n1,A1;B1\n2,A1\n3,A1;B1\n4,\n"
    records = written(tmp_path, text, drop_constant=True)
    assert records.codes.tolist() == ["B1"]
    assert "dropped 1 code that every record has: 'A1'" in records.notes
    np.testing.assert_array_equal(records.enough, [True, False, True, False])
    # In a table of zeros and ones a row of zeros says that a record lacks the code.
    zeros = written(tmp_path, "id,A,B,C\n1,1,1,1\n2,1,0,\n3,0,0,1\n", drop_constant=True)
    assert zeros.codes.tolist() == ["A", "B"]


def test_rare_codes_and_coverage(tmp_path):
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
    records = written(tmp_path, lists(visits), coverage=0.7, min_codes=3)
    assert records.codes.tolist() == sorted(kept)
    has = [len(visits[name] & set(kept)) for name in records.ids]
    np.testing.assert_array_equal(records.enough, np.array(has) >= 3)
    assert any(note.startswith(f"kept the {len(kept)} commonest of") for note in records.notes)
    assert set(written(tmp_path, lists(visits), coverage=1.0).codes) == {
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
    assert "no name for 1 code of 3" in records.notes


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
        assert "kept 1 code (1 entry) as written: not in the mapping" in records.notes


def test_outcomes(tmp_path):
    text = "visit_id,codes,died,stay,ward\n1,A1,Yes,3,X\n2,B1,no,,Y\n3,A1;B1,,4.5,\n"
    records = written(tmp_path, text, outcome_columns=["died", "st*", "ward"])
    np.testing.assert_array_equal(records.outcomes["died"], [1, 0, np.nan])
    np.testing.assert_array_equal(records.outcomes["stay"], [3, np.nan, 4.5])
    assert records.outcomes["ward"].tolist() == ["X", "Y", ""]
    assert records.outcome_names == {"died": ("no", "Yes")}
    assert "outcome 'died': Yes is 1, no is 0" in records.notes
    assert "outcome 'stay' is missing in 1 record of 3" in records.notes


def test_outcomes_of_joined_rows(tmp_path):
    text = "p,dx1,dx2,stay,ward,ok\n1,A1,,2,X,f\n2,B1,A1,1,Y,f\n1,B1,,7,Z,t\n2,B1,,,,f\n"
    records = written(
        tmp_path, text, union_by="p", code_columns="dx*", outcome_columns=("stay", "ward", "ok")
    )
    assert records.outcomes["stay"].tolist() == [7, 1]
    assert records.outcomes["ward"].tolist() == ["Z", "Y"]
    assert records.outcomes["ok"].tolist() == [1, 0]
    assert "outcome 'stay' differs between rows of 1 record; the largest value is taken" in (
        records.notes
    )
    assert "outcome 'ward' differs between rows of 1 record; the last value is taken" in (
        records.notes
    )


def test_ids_that_repeat_or_lack(tmp_path):
    text = "id,dx1,dx2\na,A1,B1\na,A1,\n,B1,C1\n"
    records = written(tmp_path, text, id_column="id")
    assert records.ids == ["a", "a", ""]
    assert records.notes[:3] == (
        "form slots, a row for each record with a code in each column: codes in 2 columns, "
        "'dx1' to 'dx2'",
        "an id of column 'id' is repeated in 1 row; each is a record of its own "
        "(union_by='id' would join them)",
        "no id in column 'id' for 1 record",
    )
    numbered = written(tmp_path, "dx1,dx2\nA1,B1\nA1,\n")
    assert numbered.ids == ["1", "2"]
    assert "numbered by row" in numbered.notes[1]


def test_guess_names_the_slots(tmp_path):
    text = "visit_id,age,n_diagnoses,diag_1,diag_2,lab_1,lab_2\n1,40,2,A1,B1,7,8\n2,50,1,B1,,8,9\n"
    records = written(tmp_path, text)
    assert (records.form, records.codes.tolist()) == ("slots", ["A1", "B1"])


def test_columns_of_row_numbers_and_of_nothing(tmp_path):
    """As R and pandas write tables; a sign after the last name makes a column."""
    records = written(tmp_path, ",A,B,\n7,1,0,\n8,0,1,\n9,1,1,\n")
    assert records.ids == ["7", "8", "9"]
    assert records.codes.tolist() == ["A", "B"]
    assert "left out 1 column without a value: 'column 4'" in records.notes
    assert (
        "form wide, a row for each record with yes or no for each code: codes in 3 columns, "
        in (records.notes[0])
    )


def test_parquet(tmp_path):
    file = tmp_path / "a.parquet"
    pd.DataFrame(
        {"id": [7, 8, 9], "code": [250.0, 38.9, None], "died": [True, False, None]}
    ).to_parquet(file)
    records = read_records(file, rollup="icd9", outcome_columns="died", **ALL)
    assert as_sets(records) == {"7": {"250"}, "8": {"038"}, "9": set()}
    np.testing.assert_array_equal(records.outcomes["died"], [1, 0, np.nan])
    pd.DataFrame({"id": ["x", "y", "z"], "dx": [["A1", "B1"], [], ["b1"]]}).to_parquet(file)
    assert as_sets(read_records(file, code_columns="dx", **ALL)) == {
        "x": {"A1", "B1"},
        "y": set(),
        "z": {"B1"},
    }
    pd.DataFrame({"id": [1, 2], "dx": ["A1", "B1"], "at": [{"x": 1}, None]}).to_parquet(file)
    assert as_sets(read_records(file, **ALL)) == {"1": {"A1"}, "2": {"B1"}}
    pd.DataFrame({"id": [1, 2], "a": [True, None], "b": [1, 0]}).to_parquet(file)
    np.testing.assert_array_equal(read_records(file, **ALL).X.toarray(), [[1, 1], [np.nan, 0]])


def test_spreadsheets(tmp_path):
    pytest.importorskip("openpyxl", reason="openpyxl, which writes the table, is not installed")
    file = tmp_path / "a.xlsx"
    frame = pd.DataFrame(
        {"id": [1, 2, 3], "code": ["00845", 250.0, None], "died": [True, False, True]}
    )
    with pd.ExcelWriter(file) as writer:
        pd.DataFrame({"about": ["this file"]}).to_excel(writer, sheet_name="Read me", index=False)
        frame.to_excel(writer, sheet_name="Codes", index=False, startrow=3)
    records = read_records(file, sheet="Codes", outcome_columns="died", **ALL)
    assert as_sets(records) == {"1": {"00845"}, "2": {"250"}, "3": set()}
    assert records.outcomes["died"].tolist() == [1, 0, 1]
    with pytest.raises(ReadError, match=r"has no column 'code' for code_columns; .* 'about'"):
        read_records(file, code_columns="code", **ALL)
    with pd.ExcelWriter(file) as writer:
        frame.to_excel(writer, sheet_name="Codes", index=False)
        frame.to_excel(writer, sheet_name="More", index=False)
    assert read_records(file, **ALL).notes[0] == "read sheet 'Codes', the first of 2"


def test_three_hundred_thousand_rows_are_read_in_a_second_or_two(tmp_path):
    import time

    rng = np.random.default_rng(0)
    n = 300_000
    frame = pd.DataFrame(
        {"id": np.sort(rng.integers(0, 30_000, n)), "code": rng.integers(100, 999, n)}
    )
    frame.to_csv(tmp_path / "long.csv", index=False)
    started = time.process_time()
    records = read_records(tmp_path / "long.csv", rollup="icd9")
    assert time.process_time() - started < 3
    expected = frame.drop_duplicates()
    assert records.X.nnz == len(expected)
    i = records.ids.index("17")
    assert {int(c) for c in records.codes[records.X[[i]].indices]} == set(
        expected.code[expected.id == 17]
    )


def test_wrong_lengths_are_refused(tmp_path):
    records = written(tmp_path, long(VISITS))
    with pytest.raises(InvalidDataError, match="3 ids for 4 rows of X"):
        type(records)(records.X, records.codes, {}, records.ids[:3], records.enough, records.coder)


def stored(file):
    """A stored matrix with its codes in the order of the alphabet."""
    X = sp.load_npz(file).tocsc()
    codes = (file.parent / f"codes{file.stem.removeprefix('X')}.txt").read_text().split()
    codes = [c.zfill(3) if c.isdigit() else c for c in codes]
    order = np.argsort(codes)
    return X[:, order].tocsr(), [codes[j] for j in order]


@pytest.mark.parametrize("options", [{}, {"code_columns": "DX*", "id_column": "visit_id"}])
def test_vermont(shared_data, options):
    folder = shared_data / "vermont_icd9"
    records = read_records(
        folder / "vermont_dx.csv.gz",
        rollup="icd9",
        min_records=1,
        outcome_columns="death",
        names=folder / "icd9cm_hierarchy.csv.gz",
        **options,
    )
    X, codes = stored(folder / "X_3digit.npz")
    assert (records.form, records.codes.tolist()) == ("slots", codes)
    assert abs(records.X - X).max() == 0
    assert records.title("250") == "250 Diabetes mellitus"
    assert records.outcomes["death"].sum() == 31


def test_mimic(shared_data):
    folder = shared_data / "mimic3_demo"
    options = {"code_columns": "ICD9_CODE", "id_column": "HADM_ID", **ALL}
    records = read_records(folder / "DIAGNOSES_ICD.csv", **options)
    order = np.argsort(records.ids)
    assert [records.ids[i] for i in order] == (folder / "hadm_id.txt").read_text().split()
    assert records.codes.tolist() == sorted((folder / "codes.txt").read_text().split())
    columns = np.argsort((folder / "codes.txt").read_text().split())
    assert abs(records.X[order] - sp.load_npz(folder / "X.npz")[:, columns]).max() == 0
    joined = read_records(folder / "DIAGNOSES_ICD.csv", union_by="SUBJECT_ID", **options)
    assert joined.X.shape == (100, 581)
    of_patient = pd.read_csv(folder / "DIAGNOSES_ICD.csv", dtype=str).groupby("SUBJECT_ID")
    expected = {name: set(group.ICD9_CODE) for name, group in of_patient}
    assert as_sets(joined) == expected


def test_diabetes(shared_data):
    folder = shared_data / "diabetes130"
    records = read_records(
        folder / "encounters.csv.gz",
        code_columns="diag_?",
        union_by="patient_nbr",
        rollup="icd9",
        min_records=1,
    )
    X, codes = stored(folder / "X_patient_3digit.npz")
    assert records.codes.tolist() == codes
    assert abs(records.X - X).max() == 0

"""Codes are named by the user's table, then by the titles of ICD, if they belong to it."""

from __future__ import annotations

import csv
import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentree.datasets import code_titles, make_hospital_visits, read_records
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.readers.records.icd import are_diagnoses, are_procedures
from tests.raising import raises
from tests.readers.records.record_files import notes_of, written

ICD9 = ["4280", "42731", "4019", "25000", "5849", "V5861", "41401", "496", "2724", "E8859"]
MANY = [*ICD9, "2859", "486", "3051", "5990", "2449", "0389", "51881", "V4581", "41400", "53081"]


def table_of(codes):
    return "id,dx\n" + "".join(f"{i},{code}\n" for code in codes for i in "ab")


def test_titles_of_categories():
    assert code_titles(["428", "428.0", "4280", " v58.61 ", "e885.9", "8.45"], "icd9") == [
        "Heart failure",
        "Heart failure",
        "Heart failure",
        "Encounter for other and unspecified procedures and aftercare",
        "Accidental fall on same level from slipping tripping or stumbling",
        "Intestinal infections due to other organisms",
    ]
    assert code_titles(["I50", "i50.22", "Z3A.39", "C4A.0", "U07.1", "B5", "XYZ"], "icd10") == [
        "Heart failure",
        "Heart failure",
        "Weeks of gestation",
        "Merkel cell carcinoma",
        "Emergency use of U07",
        None,
        None,
    ]
    with raises(InvalidParameterError, "not_a_rollup", value="icd11"):
        code_titles(["428"], "icd11")


def test_titles_are_used_only_for_diagnoses(tmp_path):
    shown = Message("[titles_omitted]", parameter="names", value="none")
    clear = written(tmp_path, table_of(MANY))
    assert notes_of(clear)["titles_used"] == {
        "n_codes": len(MANY), "system": "ICD-9-CM", "hint": shown
    }  # fmt: skip
    assert clear.title("42731") == "42731 Cardiac dysrhythmias"
    # A few codes, or numbers without a letter among them, may be anything.
    for codes in (ICD9, [code for code in MANY if code[0].isdigit()]):
        records = written(tmp_path, table_of(codes))
        assert records.names == {}
        assert "titles_used" not in notes_of(records)
    # With the roll-up, the user says what they are.
    rolled = written(tmp_path, table_of(ICD9), rollup="icd9")
    assert rolled.names["428"] == "Heart failure"
    assert written(tmp_path, table_of(MANY), names="none").names == {}
    assert written(tmp_path, table_of(ICD9), names="icd9").names["4280"] == "Heart failure"


def test_procedures_and_drugs_get_no_titles_of_diagnoses(tmp_path):
    procedures = [f"{n}.{m:02}" for n in range(36, 41) for m in (5, 6, 7, 11, 12)]
    assert are_procedures(procedures)
    records = written(tmp_path, table_of(procedures), rollup="icd9")
    assert records.names == {}
    assert "codes_like_procedures" in notes_of(records)
    assert written(tmp_path, table_of(procedures), rollup="icd9", names="icd9").names
    drugs = [f"J01{a}{b}{n:02}" for a in "ACDE" for b in "AC" for n in range(1, 5)]
    assert not are_diagnoses(drugs, "icd10")
    assert written(tmp_path, table_of(drugs)).names == {}


def test_a_table_of_names_comes_first_and_shorter_codes_name_longer_ones(tmp_path):
    names = {"428": "Weak heart", "42731": "Fibrillation", "4010": "Malignant hypertension"}
    records = written(tmp_path, table_of(MANY), names=names)
    assert records.names["4280"] == "Weak heart"
    assert records.names["42731"] == "Fibrillation"
    assert records.names["4019"] == "Essential hypertension"
    assert notes_of(records)["titles_used"]["hint"] == ""
    drugs = written(
        tmp_path,
        table_of(["A10BA02", "A10BB01", "C09AA05"]),
        names={"A10": "Diabetes", "A10BB": "S"},
    )
    assert drugs.names == {"A10BA02": "Diabetes", "A10BB01": "S"}
    assert notes_of(drugs)["codes_without_name"]["code"] == "C09AA05"


@given(st.lists(st.text(alphabet="0123456789.VEAZX", max_size=8), max_size=40))
def test_any_codes_have_a_title_or_none(codes):
    for system in ("icd9", "icd10"):
        titles = code_titles(codes, system) if all(code.strip() for code in codes) else []
        assert all(title is None or title.strip() for title in titles)
        are_diagnoses([code for code in codes if code.strip()], system)


def test_made_up_visits_are_recognized():
    table = make_hospital_visits(500, random_state=1).table
    codes = sorted(set(table.filter(like="DX").to_numpy().ravel()) - {""})
    assert are_diagnoses(codes, "icd10")
    assert not are_diagnoses(codes, "icd9")
    assert None not in code_titles(codes, "icd10")


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "columns"),
    [
        ("mimic3_demo/DIAGNOSES_ICD.csv", ["ICD9_CODE"]),
        ("vermont_icd9/vermont_dx.csv.gz", [f"DX{i}" for i in range(1, 21)]),
        ("diabetes130/encounters.csv.gz", ["diag_1", "diag_2", "diag_3"]),
    ],
)
def test_real_diagnoses_are_recognized(shared_data, file, columns):
    path = shared_data / file
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        codes = Counter(row[name] for row in csv.DictReader(lines) for name in columns)
    known = sorted(set(codes) - {"", "?"})
    assert are_diagnoses(known, "icd9")
    assert not are_procedures(known)
    assert code_titles(known, "icd9").count(None) == 0


def test_real_procedures_are_not_diagnoses(shared_data):
    with (shared_data / "mimic3_demo" / "PROCEDURES_ICD.csv").open(encoding="utf-8") as lines:
        codes = sorted({row["ICD9_CODE"] for row in csv.DictReader(lines)})
    assert are_procedures(codes)
    assert not are_diagnoses(codes, "icd9")


def test_names_of_mimic_as_they_come(shared_data):
    folder = shared_data / "mimic3_demo"
    records = read_records(
        folder / "DIAGNOSES_ICD.csv", rollup="icd9", names=folder / "D_ICD_DIAGNOSES.csv"
    )
    assert set(records.names) == set(records.codes)
    assert records.names["428"] == "Heart failure"

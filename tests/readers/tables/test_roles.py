"""Roles of columns, guessed from their names and values."""

from __future__ import annotations

import pytest

from momentree.readers.tables.roles import fits, pick

NAMES = {
    "id": (
        "id, visit_id, Patient number, encounterID, row_id, subject, Case no., unnamed: 0",
        "age, admission type, number of visits, stay, ward, , paid",
    ),
    "possible id": ("Stay, fall, Aufenthalt", "length of stay, id, "),
    "patient": (
        "SUBJECT_ID, patient_nbr, MRN, patient mrn, PatientID, mrn number",
        "visit_id, patient type, id, hospital, ",
    ),
    "row number": ("column 1, Unnamed: 0, index, SEQ_NUM, row", "id, sequence of events, "),
    "code": (
        "ICD9_CODE, Diagnosis, dx1, code, Hospital dx, icdCode",
        "DRG code, n_codes, icd_version, diag_type, postal code, n_diagnoses, barcodes",
    ),
    "outcome": (
        "died, HOSPITAL_EXPIRE_FLAG, in_icu, death30d",
        "age, V58, family history of sudden death, ",
    ),
}


@pytest.mark.parametrize("role", NAMES)
def test_names(role):
    fitting, others = (names.split(", ") for names in NAMES[role])
    assert [name for name in fitting if not fits(role, name)] == []
    assert [name for name in others if fits(role, name)] == []


def test_values():
    assert fits("code", "code", ["gout", "asthma"])
    assert not fits("code", "diagnosis", ["gout", "asthma"])
    assert fits("code", "diagnosis", ["250.01; 401.9", "V10"])
    assert not fits("code", "dx1", ["1", "0", "1"])
    assert fits("possible id", "stay", ["1001", "1002"])
    assert not fits("possible id", "stay", ["3", "12"])


def test_names_are_picked_in_the_order_of_the_rules():
    assert pick("text", ["id", "abstract", "Body"]) == "Body"
    assert pick("title", ["short_desc", "long_desc"]) == "long_desc"
    assert pick("code", ["icd9 group", "code"]) == "code"
    assert pick("group", ["code"]) is None
    assert pick("text", ["x" * 10_000]) is None

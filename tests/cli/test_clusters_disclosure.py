"""An attack: derive suppressed counts from all numbers that the command publishes."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from tests.report.disclosure_attack import Attack, attacks

from .conftest import read_json


def test_an_attack_finds_what_totals_disclose():
    died = {"classes": [{"n_records": [20, None], "n_all": 23}], "missing": [0, 0]}
    attack = Attack(died, [["", "", "", "20 (40.0)", "<5"]], [50, 60], 110)
    assert attack.bounds(1, 0) == (3, 3)


def check(content):
    """Check the bounds of all suppressed counts; return how many there are."""
    tested = 0
    for outcome, attack in attacks(content):
        for at, one in enumerate(outcome["classes"]):
            for group, count in enumerate(one["n_records"]):
                if count is not None:
                    continue
                low, high = attack.bounds(group, at)
                tested += 1
                assert low < high, (outcome["name"], one["name"], group)
                if attack.high[group, at] == attack.most:
                    assert (low, high) == (1, attack.most)
    return tested


@pytest.mark.parametrize(
    "options", [["-k", 5], ["-k", 6], ["-k", 12], ["-k", 8, "--flat"]], ids=str
)
def test_no_suppressed_count_of_real_records_can_be_derived(run, shared_data, tmp_path, options):
    source = gzip.decompress((shared_data / "vermont_icd9" / "vermont_dx.csv.gz").read_bytes())
    table, plain = tmp_path / "visits.csv", tmp_path / "groups.json"
    table.write_bytes(source)
    named = ["--outcome", "death", "--covariate", "sex", "--covariate", "age_group"]
    reading = ["--rollup", "icd9", "--ignore", "DRG", "--code-column", "DX*"]
    result = run("clusters", table, *options, *named, *reading, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 10


def test_no_suppressed_count_of_few_admissions_can_be_derived(run, shared_data, tmp_path):
    source = shared_data / "mimic3_demo"
    codes = pd.read_csv(source / "DIAGNOSES_ICD.csv", dtype=str).rename(columns=str.upper)
    stays = pd.read_csv(source / "ADMISSIONS.csv", dtype=str).rename(columns=str.upper)
    joined = codes.groupby("HADM_ID")["ICD9_CODE"].agg(";".join).rename("codes")
    stays = stays.drop(columns=["SUBJECT_ID", "DIAGNOSIS"]).join(joined, on="HADM_ID", how="inner")
    table, plain = tmp_path / "stays.csv", tmp_path / "groups.json"
    stays.to_csv(table, index=False)
    named = ["--outcome", "HOSPITAL_EXPIRE_FLAG", "--covariate", "ADMISSION_TYPE"]
    result = run("clusters", table, "-k", 4, "--rollup", "icd9", *named, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 0


def test_no_suppressed_count_of_patients_can_be_derived(run, shared_data, tmp_path):
    source = shared_data / "diabetes130" / "encounters.csv.gz"
    columns = ["race", "gender", "age", "readmitted", "diag_1", "diag_2", "diag_3"]
    patients = pd.read_csv(source, dtype=str).drop_duplicates("patient_nbr")[columns]
    table, plain = tmp_path / "patients.csv", tmp_path / "groups.json"
    patients[::4].to_csv(table, index_label="id")
    named = ["--outcome", "readmitted", "--covariate", "race", "--covariate", "age"]
    reading = ["--rollup", "icd9", "--ignore", "gender", "--code-column", "diag_*"]
    result = run("clusters", table, "-k", 8, *named, *reading, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 10


def test_no_suppressed_count_of_made_up_visits_can_be_derived(run, tmp_path):
    plain = tmp_path / "groups.json"
    assert run("demo", "--records", "--output", tmp_path / "visits.html").exit_code == 0
    reading = ["--rollup", "icd10", "--outcome", "died", "--outcome", "length_of_stay"]
    result = run("clusters", tmp_path / "visits.csv", "-k", 12, *reading, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 0

"""An attack: derive suppressed counts from all numbers that the command publishes."""

from __future__ import annotations

import re
from difflib import unified_diff

import numpy as np
import pandas as pd
import pytest

from momentree.messages import Message
from momentree.metrics.outcomes import OTHER, outcome_classes
from momentree.report.disclosure import Disclosure
from tests.report.disclosure_attack import Attack, attacks, twins

from .conftest import read_json

DISCHARGES = ["--rollup", "icd9", "--ignore", "DRG", "--code-column", "DX*"]
PATIENTS = ["--rollup", "icd9", "--ignore", "gender", "--code-column", "diag_*"]


def vermont(shared_data):
    source = shared_data / "vermont_icd9" / "vermont_dx.csv.gz"
    return pd.read_csv(source, dtype=str, keep_default_na=False).set_index("visit_id")


def mimic(shared_data):
    source = shared_data / "mimic3_demo"
    codes = pd.read_csv(source / "DIAGNOSES_ICD.csv", dtype=str).rename(columns=str.upper)
    stays = pd.read_csv(source / "ADMISSIONS.csv", dtype=str).rename(columns=str.upper)
    joined = codes.groupby("HADM_ID")["ICD9_CODE"].agg(";".join).rename("codes")
    return stays.drop(columns=["SUBJECT_ID", "DIAGNOSIS"]).join(joined, on="HADM_ID", how="inner")


def diabetes(shared_data):
    source = shared_data / "diabetes130" / "encounters.csv.gz"
    columns = ["race", "gender", "age", "readmitted", "diag_1", "diag_2", "diag_3"]
    patients = pd.read_csv(source, dtype=str).drop_duplicates("patient_nbr")[columns]
    return patients[::4].rename_axis("id")


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
    "options",
    [
        ["-k", 5],
        *(
            pytest.param(options, marks=pytest.mark.long)
            for options in (["-k", 6], ["-k", 12], ["-k", 8, "--flat"])
        ),
    ],
    ids=str,
)
def test_no_suppressed_count_of_real_records_can_be_derived(run, shared_data, tmp_path, options):
    table, plain = tmp_path / "visits.csv", tmp_path / "groups.json"
    vermont(shared_data).to_csv(table)
    named = ["--outcome", "death", "--covariate", "sex", "--covariate", "age_group"]
    result = run("clusters", table, *options, *named, *DISCHARGES, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 10


def test_no_suppressed_count_of_few_admissions_can_be_derived(run, shared_data, tmp_path):
    table, plain = tmp_path / "stays.csv", tmp_path / "groups.json"
    mimic(shared_data).to_csv(table, index=False)
    named = ["--outcome", "HOSPITAL_EXPIRE_FLAG", "--covariate", "ADMISSION_TYPE"]
    result = run("clusters", table, "-k", 4, "--rollup", "icd9", *named, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 0


@pytest.mark.long
def test_no_suppressed_count_of_patients_can_be_derived(run, shared_data, tmp_path):
    table, plain = tmp_path / "patients.csv", tmp_path / "groups.json"
    diabetes(shared_data).to_csv(table)
    named = ["--outcome", "readmitted", "--covariate", "race", "--covariate", "age"]
    result = run("clusters", table, "-k", 8, *named, *PATIENTS, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 10


@pytest.mark.long
def test_no_suppressed_count_of_made_up_visits_can_be_derived(run, tmp_path):
    plain = tmp_path / "groups.json"
    assert run("demo", "--records", "--output", tmp_path / "visits.html").exit_code == 0
    reading = ["--rollup", "icd10", "--outcome", "died", "--outcome", "length_of_stay"]
    result = run("clusters", tmp_path / "visits.csv", "-k", 12, *reading, "--json", plain)
    assert result.exit_code == 0, result.output
    assert check(read_json(plain)) > 0


def counted(values, groups):
    """Return the table of an outcome, the names of its classes, and its view by a reader."""
    names = outcome_classes(values, len(values), None)[1]
    table = np.array(pd.crosstab(groups, values).reindex(columns=[*names, ""], fill_value=0))
    binary = {*names} <= {"True", "False"}

    def view(table):
        kept = names if binary else Disclosure(5).join_rare(table, names, OTHER)[1]
        published = Disclosure(5).suppress_classes(table)
        marks = published.counts.copy()
        marks[:, 0] = 0 if binary else marks[:, 0]  # "no" is not shown
        note = Message(
            "[outcome_missing]", outcome="", n_missing=int(table[:, -1].sum()), n_all=1_000
        )
        noted = str(Disclosure(5).notes([note], [])[0])
        return marks, published.totals[binary:], np.array([kept == names, noted])

    assert view(table)[-1][0] == "True", names
    return table, [*names, ""], view, [0] if binary else []


def changed(values, groups, names, old, new):
    """Return values with other numbers of some classes in each group."""
    found = values.to_numpy(copy=True)
    values = found.copy()
    for group, change in enumerate(new - old):
        missing = np.repeat(names, change.clip(0))
        at = [
            i
            for j, less in enumerate(change)
            for i in np.flatnonzero((groups == group) & (values == names[j]))[: max(0, -less)]
        ]
        found[at] = missing
    return found


@pytest.fixture
def published(run, tmp_path):
    """Return a function that runs the command; it returns all that is published, and the groups."""

    def publish(frame, options):
        files = {end: tmp_path / f"groups.{end}" for end in ("html", "json", "csv", "txt")}
        table, one = tmp_path / "table.csv", tmp_path / "one.csv"
        frame.to_csv(table, index_label="id")
        written = ["-o", files["html"], "--json", files["json"], "--table-one", one]
        result = run(
            "clusters", table, "--id-column", "id", *options, *written, "--csv", files["csv"]
        )
        assert result.exit_code == 0, result.output
        texts = [result.output, *(files[end].read_text() for end in ("html", "json"))]
        found = pd.read_csv(files["csv"], dtype={"id": str}).set_index("id")["group"]
        groups = found.reindex(frame.index.astype(str)).fillna(-1).to_numpy()
        time = re.compile(r"\b[\d.]+ s\b")
        return [time.sub("", text) for text in (*texts, one.read_text())], groups

    return publish


def check_twins(published, frame, options, outcomes):
    """Check that for each suppressed count, other records have exactly the same publications."""
    options = [*options, *(word for name in outcomes for word in ("--covariate", name))]
    texts, groups = published(frame, options)
    found = {}
    for name in outcomes:
        inside = groups >= 0
        table, names, view, secret = counted(frame[name].to_numpy()[inside], groups[inside])
        found[name] = [
            changed(frame[name], groups, names, table, twin)
            for twin in twins(table, view, secret=secret)
        ]
    assert any(found.values())
    for at in range(max(map(len, found.values()))):
        columns = {
            name: tables[min(at, len(tables) - 1)] for name, tables in found.items() if tables
        }
        others, same = published(frame.assign(**columns), options)
        assert (same == groups).all()
        for a, b in zip(texts, others, strict=True):
            assert "\n".join(unified_diff(a.splitlines(), b.splitlines(), n=0, lineterm="")) == ""
    return found


@pytest.mark.long
def test_other_measurements_have_the_same_publications(published):
    rng, sizes = np.random.default_rng(3), [60, 45, 30, 12, 3]
    labels = np.repeat(range(5), sizes)
    centers = np.array([[5, 3, 1], [6, 3, 4], [7, 3, 6], [3, 6, 9], [12, 12, 12]])
    frame = pd.DataFrame(rng.normal(centers[labels], 0.3).round(1), columns=["a", "b", "c"])
    frame["ward"] = rng.choice(["north", "south", "west", ""], 150, p=[0.6, 0.3, 0.06, 0.04])
    frame["died"] = np.where(rng.random(150) < 0.03 + 0.1 * labels, "True", "False")
    frame.loc[rng.random(150) < 0.03, "died"] = ""
    check_twins(published, frame, ["-k", 5, "--flat"], ["ward", "died"])


@pytest.mark.long
def test_other_visits_have_the_same_publications(published, shared_data):
    frame = vermont(shared_data).rename_axis("id")
    found = check_twins(published, frame, ["-k", 5, *DISCHARGES], ["death", "sex", "age_group"])
    assert found["age_group"]


def test_other_admissions_have_the_same_publications(published, shared_data):
    frame = mimic(shared_data).fillna("").set_index("HADM_ID")
    outcomes = ["HOSPITAL_EXPIRE_FLAG", "ADMISSION_TYPE"]
    frame["HOSPITAL_EXPIRE_FLAG"] = np.where(frame["HOSPITAL_EXPIRE_FLAG"] == "1", "True", "False")
    frame["ADMISSION_TYPE"] = frame["ADMISSION_TYPE"].replace("URGENT", "")  # only two
    options = ["-k", 4, "--rollup", "icd9", "--code-column", "codes"]
    check_twins(published, frame, options, outcomes)


@pytest.mark.long
def test_other_patients_have_the_same_publications(published, shared_data):
    frame = diabetes(shared_data)[::3].fillna("")
    check_twins(published, frame, ["-k", 8, *PATIENTS], ["readmitted", "race", "age"])


@pytest.mark.long
def test_other_made_up_visits_have_the_same_publications(published, run, tmp_path):
    assert run("demo", "--records", "--output", tmp_path / "visits.html").exit_code == 0
    frame = pd.read_csv(tmp_path / "visits.csv", dtype=str, keep_default_na=False)
    frame = frame.set_index("visit_id")
    frame["died"] = frame["died"].map({"yes": "True", "no": "False"})
    frame["age"] = [f"from {10 * (int(age) // 10)}" for age in frame["age"]]
    options = ["-k", 8, "--rollup", "icd10", "--ignore", "length_of_stay"]
    found = check_twins(published, frame, options, ["died", "age", "sex"])
    assert found["age"]


def test_groups_are_no_smaller_than_a_suppressed_size_would_disclose(run, tmp_path):
    """Groups of at least 5 records would make a size of "<6" known."""
    lines = ["id;codes"]
    for group, n in zip("ABC", (60, 50, 5), strict=True):
        lines += [f"{group}{i};{group}01,{group}02" for i in range(n)]
    path, found = tmp_path / "t.csv", tmp_path / "t.json"
    path.write_text("\n".join(lines))
    assert run("clusters", path, "-k", 3, "--min-cell", 6, "--json", found).exit_code == 0
    content = read_json(found)
    assert [node["n_records"] for node in content["nodes"] if node["group"] is not None] == [60, 55]

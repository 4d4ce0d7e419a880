"""``momentree clusters``: table one, fits, covariates, and notes that disclose nothing."""

from __future__ import annotations

import csv
import gzip

import openpyxl
import pytest

from .conftest import make_records, read_json, write_csv


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """The records with age, sex and days."""
    records = make_records()
    ages = {"heart": 70, "kidney": 65, "birth": 30, "newborn": 0}
    for i, record in enumerate(records):
        record["age"] = str(ages[record["condition"]] + i % 13)
        record["sex"] = "f" if record["condition"] == "birth" or i % 3 else "m"
    return write_csv(tmp_path_factory.mktemp("described") / "visits.csv", records)


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_table_one_and_fits_are_written_shown_and_in_the_report(clusters, described, tmp_path):
    one, fits = tmp_path / "one.csv", tmp_path / "fits.xlsx"
    page, plain = tmp_path / "page.html", tmp_path / "groups.json"
    options = ["--outcome", "died", "--covariate", "age", "--covariate", "s?x", "--fits", "2-4"]
    files = ["--table-one", one, "--fits-table", fits, "--output", page, "--json", plain]
    result = clusters(*options, *files, table=described)
    assert result.exit_code == 0, result.output
    rows = table(one)
    assert rows[0] == ["Characteristic", "Value", "All", *(f"Group {j}" for j in range(4)), "SMD"]
    first = [row[0] for row in rows]
    assert [name for name in ("died", "age", "sex") if name in first] == ["died", "age", "sex"]
    age = rows[first.index("age")]
    assert age[1] == "mean ± SD"
    assert min(float(cell.split(" ")[0]) for cell in age[3:7]) < 10
    died = rows[first.index("died")]
    assert "<5" in died[3:7]  # three of the newborn
    sheet = openpyxl.load_workbook(fits).active
    assert [row[0].value for row in sheet.rows] == ["Groups", "2", "3", "4"]
    content = read_json(plain)
    assert content["fits"]["n_groups"] == [2, 3, 4]
    assert content["table_one"]["rows"][1] == rows[2]
    assert [one["name"] for one in content["corrected"]["outcomes"]][:2] == ["died", "age"]
    assert "age, mean" in result.stdout
    assert "Outcomes and covariates: rates and means" in result.stdout
    assert "adjusted bic" in result.stdout
    assert 'id="one"' in page.read_text(encoding="utf-8")
    assert 'id="fits"' in page.read_text(encoding="utf-8")
    # Covariates are described, but not predicted.
    assert [power["name"] for power in content["quality"]["predictive_power"]] == []
    (age,) = (outcome for outcome in content["outcomes"] if outcome["name"] == "age")
    assert age["numbers"]["all"]["mean"] > 0


def test_fits_of_a_flat_list_can_be_stable(clusters, described):
    result = clusters("--flat", "-k", 2, "--fits", "2-2", "--stability", table=described)
    assert result.exit_code == 0, result.output
    assert "stability" in result.stdout.split("Fits with other numbers")[1]


def test_a_table_of_text_is_escaped_on_request(clusters, described, tmp_path):
    path = tmp_path / "one.csv"
    result = clusters("--table-one", path, "--escape-formulas", table=described)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("unexpected_value", ["--fits", "10-2"]),
        ("unexpected_value", ["--fits", "4"]),
        ("unexpected_value", ["--fits", "0-4"]),
        ("option_needs", ["--fits-table", "fits.csv"]),
        ("cannot_write", ["--table-one", "one.docx"]),
    ],
)
def test_what_cannot_be_done_is_refused(refuses, records_table, code, options):
    assert code in (refuses("clusters", records_table, *options).code or "unexpected_value")


def test_a_missing_covariate_is_named_as_such(refuses, records_table):
    assert "--covariate" in refuses("clusters", records_table, "--covariate", "aeg")


def test_a_covariate_of_another_table(clusters, run, records_table, tmp_path):
    lines = ["visit_id,region", *(f"r{i:03},{'north' if i % 4 else 'south'}" for i in range(240))]
    other = tmp_path / "regions.csv"
    other.write_text("\n".join(lines) + "\n")
    plain = tmp_path / "groups.json"
    joined = ["--join", other, "--on", "visit_id"]
    result = clusters(*joined, "--covariate", "region", "--json", plain)
    assert result.exit_code == 0, result.output
    covariates = read_json(plain)["corrected"]["covariates"]
    assert [term["name"] for term in covariates["terms"]] == ["region: south"]
    assert covariates["references"] == {"region": "north"}
    missing = run("clusters", records_table, *joined, "--covariate", "regoin")
    assert missing.exit_code == 2
    assert "--covariate" in missing.stderr


def test_no_note_and_no_number_discloses_the_one_record_left_out(clusters, described, tmp_path):
    """The rows joined, minus the records on the screen, must not be the one record left out."""
    lines = described.read_text().splitlines()
    lines.append("r240," + "," * (lines[0].count(",") - 1))  # a record without codes
    lines.append(lines[1])  # a record in two rows
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(lines) + "\n")
    page, plain = tmp_path / "page.html", tmp_path / "groups.json"
    options = ["--union-by", "visit_id", "--output", page, "--json", plain, "--outcome", "died"]
    result = clusters(*options, table=path)
    assert result.exit_code == 0, result.output
    assert "240 records" in result.stdout
    shown = result.stdout + result.stderr + page.read_text() + plain.read_text()
    assert "241" not in shown.replace("#node-241", "")
    everything = clusters("--union-by", "visit_id", "--min-cell", 1, table=path)
    assert "241 records" in everything.stderr


def test_the_screen_of_real_admissions_discloses_no_record(run, shared_data, tmp_path):
    """68,188 patients, one of whom has no codes that are kept."""
    source = shared_data / "diabetes130" / "encounters.csv.gz"
    lines = gzip.decompress(source.read_bytes()).decode().splitlines()[:9001]
    path = tmp_path / "encounters.csv"
    path.write_text("\n".join(lines) + "\n")
    options = ["--union-by", "patient_nbr", "--code-column", "diag_*", "--rollup", "icd9"]
    result = run("clusters", path, *options, "-k", 3, "--outcome", "time_in_hospital")
    assert result.exit_code == 0, result.output
    n_fitted = int(result.stdout.split(" records fitted,")[0].rsplit(" ", 1)[-1].replace(",", ""))
    for line in result.stderr.splitlines():
        numbers = [
            int(word.replace(",", ""))
            for word in line.replace(".", " ").split()
            if word.replace(",", "").isdecimal()
        ]
        assert not any(0 < abs(n - n_fitted) < 5 for n in numbers), line
    assert "time_in_hospital, mean" in result.stdout

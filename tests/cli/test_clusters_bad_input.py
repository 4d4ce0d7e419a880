"""``momentree clusters`` on invalid input: one line, status 2, nothing written."""

from __future__ import annotations

import csv
import os

import pytest

from .conftest import N_RECORDS, make_records, words, write_csv


@pytest.fixture
def refused(refuses, tmp_path):
    """Run with all outputs; check that it is refused and nothing is written; return the line."""

    def invoke(table, *options):
        names = {"--output": "r.html", "--csv": "a.csv", "--json": "g.json", "--save": "m.mt"}
        folder = tmp_path / "outputs"
        folder.mkdir(exist_ok=True)
        outputs = [part for option, name in names.items() for part in (option, folder / name)]
        line = refuses("clusters", table, "--quiet", *outputs, *options)
        assert os.listdir(folder) == []
        return line

    return invoke


def test_no_such_file(refused, tmp_path):
    assert "none.csv" in refused(tmp_path / "none.csv")


@pytest.mark.parametrize("option", ["--id-column", "--code-column", "--union-by", "--outcome"])
def test_no_such_column(refused, records_table, option):
    line = refused(records_table, option, "absent")
    assert "'absent'" in line
    assert "'visit_id', 'condition'" in line


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("visit_id,note\na,fever\nb,cough\n", []),
        ("visit_id,codes\na,\nb,\n", ["--code-column", "codes"]),
        ("visit_id,codes\n", []),
        ("visit_id,codes\na,1234\nb,5678\nc,9012\n", ["--code-column", "codes"]),
        ("visit_id,DX1,DX2\na,250,2024-01-01\nb,250,2024-01-02\n", ["--code-column", "DX*"]),
    ],
)
def test_tables_without_usable_codes(refused, tmp_path, text, options):
    path = tmp_path / "t.csv"
    path.write_text(text)
    refused(path, *options)


def test_values_that_are_not_zero_or_one(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("visit_id,a,b\n" + "x,1,0\ny,0,1\n" * 4 + "z,1,7\n")
    line = refused(path, "--code-column", "a", "--code-column", "b")
    assert "'7'" in line


def wide_lines(records, yes, no):
    """The records as a table of ticks, with an outcome and an age."""
    codes = sorted({r[f"DX{j}"][:3] for r in records for j in range(1, 7)} - {""})
    lines = ["visit_id,age," + ",".join(codes) + ",died"]
    for i, r in enumerate(records):
        has = {r[f"DX{j}"][:3] for j in range(1, 7)}
        ticks = ",".join(yes if code in has else no for code in codes)
        lines.append(f"{r['visit_id']},{40 + i % 9},{ticks},{int(r['died'] == 'yes')}")
    return lines


def test_a_wide_table_of_ones_among_other_columns(refused, run, records, tmp_path):
    """A title, an age, an outcome, and nothing for no: each has an option to get past it."""
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["Visits of 2024", "", *wide_lines(records, "1", "")]) + "\n")
    refused(path)
    options = ["--skip-rows", 2]
    refused(path, *options)
    options += ["--ignore", "age"]
    refused(path, *options)
    options += ["--empty", "zero", "-k", 4]
    result = run("clusters", path, *options)
    assert result.exit_code == 0, result.output
    assert "'died'" in result.stderr
    result = run("clusters", path, *options, "--outcome", "died")
    assert result.exit_code == 0, result.output
    assert "240 records, 20 codes, 4 groups" in result.stdout


def test_another_system_of_codes(refused, records_table):
    assert "icd9" in refused(records_table, "--rollup", "icd10")
    assert "icd11" in refused(records_table, "--rollup", "icd11")


def test_all_records_too_short(refused, records_table):
    line = refused(records_table, "--min-codes", 30)
    assert words("no_record_with_enough_codes", n_records=N_RECORDS) in line


def test_fewer_records_than_groups(refused, tmp_path):
    line = refused(write_csv(tmp_path / "t.csv", make_records(6)), "--groups", 9)
    assert line.code == "more_groups_than_records"
    assert "--groups 9" in line


def test_groups_that_are_all_small(refused, records_table):
    assert "--min-cell 100" in refused(records_table, "-k", 4, "--min-cell", 100)


def test_names_for_an_outcome(refused, records, tmp_path):
    path = write_csv(tmp_path / "t.csv", [{**r, "who": f"n{i}"} for i, r in enumerate(records)])
    line = refused(path, "--outcome", "who", "--code-column", "DX*")
    assert line.code == "not_an_outcome"
    assert "--outcome who" in line
    assert "--covariate who" in refused(path, "--covariate", "who", "--code-column", "DX*")


def test_a_table_of_names_without_names(refused, records_table, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("a,b,c\n1,2,3\n")
    assert "names.csv" in refused(records_table, "--code-names", path)


@pytest.mark.parametrize(
    "options",
    [
        ["--groups", "0"],
        ["--groups", "many"],
        ["--min-records", "0"],
        ["--min-codes", "-1"],
        ["--min-cell", "0"],
        ["--cumulative-frequency", "most"],
        ["--no-such-option"],
    ],
)
def test_bad_option_is_refused_before_the_work(refuses, tmp_path, options):
    line = refuses("clusters", tmp_path / "not-read.csv", *options)
    assert options[0] in line
    assert line.endswith("; see momentree clusters --help\n")
    assert "not-read.csv" not in line


def test_a_fraction_beyond_its_range(refused, records_table):
    assert "1.5" in refused(records_table, "--cumulative-frequency", "1.5")


@pytest.mark.parametrize(
    ("option", "code"),
    [
        ("--include-records", "option_needs"),
        ("--escape-formulas", "option_needs"),
        ("--flat", "option_excluded"),
    ],
)
def test_options_without_effect(refuses, option, code):
    flat = ["--min-samples-leaf", 9] if option == "--flat" else []
    assert refuses("clusters", "not-read.csv", option, *flat).code == code


@pytest.mark.parametrize("name", ["m.json", "no/m.mt"])
def test_outputs_that_cannot_be_written(refuses, tmp_path, name):
    line = refuses("clusters", tmp_path / "x.csv", "--save", tmp_path / name)
    assert line.code == "cannot_write"


def test_no_output_over_an_input(refuses, tmp_path, records):
    table = write_csv(tmp_path / "t.csv", records)
    names = tmp_path / "names.csv"
    names.write_text("code,name\n585,Kidney\n")
    groups = tmp_path / "map.csv"
    groups.write_text("code,group\n5856,585\n")
    before = [path.read_bytes() for path in (table, names, groups)]
    options = ["--code-names", names, "--rollup", groups]
    for path in (table, names, groups):
        line = refuses("clusters", table, *options, "--csv", path)
        assert words("same_as_input", path=path) in line
    assert [path.read_bytes() for path in (table, names, groups)] == before


def test_repairs_are_noted(run, records, tmp_path):
    """Lower case, blanks, repeated pairs and records without codes stop nothing."""
    changed = [dict(r) for r in records]
    for r in changed[:80]:
        r["DX1"] = f" {r['DX1'].lower()} "
    changed[0]["DX6"] = changed[0]["DX1"]
    changed.append({**changed[0], "visit_id": "none", **{f"DX{j}": "" for j in range(1, 7)}})
    table = write_csv(tmp_path / "t.csv", changed)
    result = run("clusters", table, "-k", 4, "--rollup", "icd9", "--csv", tmp_path / "a.csv")
    assert result.exit_code == 0, result.output
    assert "20 codes, 4 groups" in result.stdout
    assert result.stderr.count("momentree: note: ") >= 3
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[-1]["id"], rows[-1]["n_codes"], rows[-1]["fitted"]) == ("none", "0", "no")


def test_errors_do_not_disclose_the_size_of_a_small_group(refused, tmp_path):
    """A group of one record cannot be split, but not because it is one."""
    rows = [{"id": str(i), "codes": "401 428"} for i in range(20)]
    rows += [{"id": str(20 + i), "codes": "650 648"} for i in range(20)]
    for n in (1, 3):
        odd = [{"id": str(40 + i), "codes": "V30 774 765"} for i in range(n)]
        path = write_csv(tmp_path / f"{n}.csv", [*rows, *odd])
        options = ["--code-column", "codes", "-k", 3, "--min-records", 1, "--min-samples-leaf", 1]
        line = refused(path, *options, "--edit", "split 2")
        assert line.code == "edit_failed"
        assert words("small_group", group=2, min_cell=5) in line


def test_a_number_of_groups_above_that_of_records_discloses_no_small_number(refused, tmp_path):
    rows = [{"id": str(i), "codes": "401 428" if i % 2 else "401 250"} for i in range(4)]
    line = refused(write_csv(tmp_path / "t.csv", rows), "--code-column", "codes", "-k", 7)
    assert line.code == "more_groups_than_records"
    assert "is <5;" in line

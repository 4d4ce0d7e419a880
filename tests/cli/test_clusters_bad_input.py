"""``momentree clusters`` on what it cannot read or group: one line, status 2, nothing written."""

from __future__ import annotations

import csv
import errno
import os
import re
import signal
import subprocess
import sys

import pytest

from .conftest import N_RECORDS, clean_environment, make_records, write_csv

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and devices")


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
        # Options of the command are named, not parameters of Python.
        assert not re.search(r"\b[a-z]+_[a-z]+=|code_columns|outcome_columns|id_column\b", line)
        return line

    return invoke


def test_no_such_file(refused, tmp_path):
    assert "none.csv" in refused(tmp_path / "none.csv")


@pytest.mark.parametrize("option", ["--id-column", "--code-column", "--union-by", "--outcome"])
def test_no_such_column(refused, records_table, option):
    line = refused(records_table, option, "absent")
    assert f"has no column 'absent' for {option}" in line
    assert "'visit_id', 'condition'" in line


def test_columns_that_cannot_be_told(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("visit_id,note\na,fever\nb,cough\n")
    line = refused(path)
    assert "--code-column" in line
    assert "--id-column" in line


def test_no_codes(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("visit_id,codes\na,\nb,\n")
    assert "no codes" in refused(path, "--code-column", "codes")
    path.write_text("visit_id,codes\n")
    assert "no records" in refused(path)


def test_codes_that_are_all_rare(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("visit_id,codes\na,1234\nb,5678\nc,9012\n")
    line = refused(path, "--code-column", "codes")
    assert "lower --min-records, pass --keep-constant" in line


def test_dates_for_codes(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("visit_id,DX1,DX2\n" + "".join(f"r{i},250,2024-01-0{i}\n" for i in range(1, 9)))
    line = refused(path, "--code-column", "DX*")
    assert "2024-01-01" in line
    assert "DX2" in line


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


def test_a_wide_table_of_ones_with_all_that_stands_in_the_way(refused, run, records, tmp_path):
    """A title, an age, an outcome, and nothing for no: each refusal names the option to take."""
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["Visits of 2024", "", *wide_lines(records, "1", "")]) + "\n")
    assert "pass --skip-rows 2," in refused(path)
    options = ["--skip-rows", 2]
    assert "leave it out with --ignore" in refused(path, *options)
    options += ["--ignore", "age"]
    assert "pass --empty zero if it means" in refused(path, *options)
    result = run("clusters", path, *options, "--empty", "zero", "-k", 4)
    assert result.exit_code == 0, result.output
    assert "may be outcomes: 'died' (name them in --outcome" in result.stderr
    result = run("clusters", path, *options, "--empty", "zero", "-k", 4, "--outcome", "died")
    assert result.exit_code == 0, result.output
    assert "240 records, 20 codes, 4 groups" in result.stdout
    assert "may be outcomes" not in result.stderr


def test_one_code_a_row_beside_an_unknown_id(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Behandlung,Diagnosis\n" + "7001,585.6\n7001,403.91\n7002,V27.0\n" * 5)
    line = refused(path)
    assert "values repeat in 'Behandlung'. Name the column of the ids with --id-column" in line


def test_another_system_of_codes(refused, records_table):
    assert "pass --rollup icd9" in refused(records_table, "--rollup", "icd10")
    assert "--rollup icd11 is neither" in refused(records_table, "--rollup", "icd11")


def test_all_records_too_short(refused, records_table):
    line = refused(records_table, "--min-codes", 30)
    assert f"none of {N_RECORDS} records has enough codes" in line
    assert "lower --min-codes" in line


def test_fewer_records_than_groups(refused, tmp_path):
    table = write_csv(tmp_path / "t.csv", make_records(6))
    line = refused(table, "--groups", 9)
    assert re.search(r"--groups 9, but only [56] of 6 records have enough codes", line)


def test_groups_that_are_all_small(refused, records_table):
    line = refused(records_table, "-k", 4, "--min-cell", 100)
    assert "--min-cell 100" in line
    assert "fewer groups" in line


def test_a_table_of_names_without_names(refused, records_table, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("a,b,c\n1,2,3\n")
    assert "names.csv maps no codes to names" in refused(records_table, "--names", path)


@pytest.mark.parametrize(
    "options",
    [
        ["--groups", "0"],
        ["--groups", "many"],
        ["--min-records", "0"],
        ["--min-codes", "-1"],
        ["--min-cell", "0"],
        ["--coverage", "most"],
        ["--leaves", "8"],
        ["--no-such-option"],
    ],
)
def test_bad_option_is_refused_before_the_work(refuses, tmp_path, options):
    line = refuses("clusters", tmp_path / "not-read.csv", *options)
    assert options[0] in line
    assert line.endswith("; see momentree clusters --help\n")
    assert "not-read.csv" not in line


def test_coverage_beyond_its_range(refused, records_table):
    assert "--coverage 1.5" in refused(records_table, "--coverage", "1.5")


@pytest.mark.parametrize(
    ("option", "name"),
    [("--output", "r.txt"), ("--csv", "a.html"), ("--json", "t.csv"), ("--save", "m.json")],
)
def test_outputs_that_cannot_be_written(refuses, tmp_path, option, name):
    assert "must end in" in refuses("clusters", tmp_path / "x.csv", option, tmp_path / name)
    right = {"--output": "r.html", "--csv": "a.csv", "--json": "g.json", "--save": "m.mt"}[option]
    line = refuses("clusters", tmp_path / "x.csv", option, tmp_path / "no" / right)
    assert "there is no folder" in line


def test_no_output_over_an_input(refuses, tmp_path, records):
    table = write_csv(tmp_path / "t.csv", records)
    names = tmp_path / "names.csv"
    names.write_text("code,name\n585,Kidney\n")
    groups = tmp_path / "map.csv"
    groups.write_text("code,group\n5856,585\n")
    before = [path.read_bytes() for path in (table, names, groups)]
    options = ["--names", names, "--rollup", groups]
    for path in (table, names, groups):
        assert "also the input" in refuses("clusters", table, *options, "--csv", path)
    assert [path.read_bytes() for path in (table, names, groups)] == before


def test_full_disk_leaves_nothing(refuses, records_table, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("momentree.cli._output.os.fsync", full)
    old = tmp_path / "a.csv"
    old.write_text("old")
    outputs = ["--csv", old, "--output", tmp_path / "r.html", "--save", tmp_path / "m.mt"]
    line = refuses("clusters", records_table, "--quiet", "-k", 4, *outputs)
    assert "No space left on device" in line
    assert old.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


# Writes half of the report, says so and waits to be stopped.
STALL = """
import sys, time
import momentree.report

def stall(summary, path):
    with open(path, "w") as file:
        file.write("<!DOCTYPE html><half")
        file.flush()
        print("half-way", file=sys.stderr, flush=True)
        time.sleep(60)

momentree.report.write_html = stall
from momentree.cli import main
main()
"""


@posix
def test_interrupted_half_way_leaves_nothing(records_table, tmp_path):
    report = tmp_path / "r.html"
    report.write_text("old")
    arguments = ["clusters", records_table, "-k", 4, "--output", report]
    arguments += ["--csv", tmp_path / "a.csv", "--verbose"]
    process = subprocess.Popen(
        [sys.executable, "-c", STALL, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    while (line := process.stderr.readline()) != b"half-way\n":
        assert line
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"momentree: interrupted\n")
    assert report.read_text() == "old"
    assert os.listdir(tmp_path) == ["r.html"]


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
    assert "repeated pair" in result.stderr
    assert "no code in fewer than 5 records\n" in result.stderr
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[-1]["id"], rows[-1]["n_codes"], rows[-1]["fitted"]) == ("none", "0", "no")

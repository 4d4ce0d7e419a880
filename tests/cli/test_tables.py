"""CSV that every reader parses back to the same cells, without formulas that a spreadsheet runs."""

from __future__ import annotations

import csv
import io
import os

import pytest

from momentree.cli.tables import CsvTable

CELLS = ["a\rb", "a\nb", "a\r\nb", '"', ",", "", " ", "\r", "\t=1", "città", "'=x", "a\x00b"]
FORMULAS = ["=1+1", "+cmd", "-1+2", "@x", "\t=1", "\r=1", "\n=1", "＝1+1", "=", "-", "--1"]
PLAIN = ["-5", "+39", "-1.5e-3", "-.5", "a=b", "1-2", "", "'=1", 0.5, -7, "é"]


def written(rows, path, escape_formulas=False):
    CsvTable(["id", "n"], rows).write(path, escape_formulas=escape_formulas)
    return path.read_bytes().decode("utf-8")


def test_every_cell_comes_back(tmp_path):
    rows = [[cell, str(i)] for i, cell in enumerate(CELLS)]
    text = written(rows, tmp_path / "t.csv")
    assert list(csv.reader(io.StringIO(text, newline=""))) == [["id", "n"], *rows]


def test_lines_end_in_lf_and_a_bare_cr_is_quoted(tmp_path):
    assert written([["a\rb", 1], ["c", 2]], tmp_path / "t.csv") == 'id,n\n"a\rb",1\nc,2\n'


def test_cells_are_unchanged_by_default(tmp_path):
    text = written([[cell, 1] for cell in FORMULAS], tmp_path / "t.csv")
    assert [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:] == FORMULAS


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_are_escaped_on_request(tmp_path, cell):
    text = written([[cell, 1]], tmp_path / "t.csv", escape_formulas=True)
    assert list(csv.reader(io.StringIO(text, newline="")))[1][0] == f"'{cell}"


@pytest.mark.parametrize("cell", PLAIN)
def test_numbers_and_other_text_are_not_escaped(tmp_path, cell):
    text = written([[cell, 1]], tmp_path / "t.csv", escape_formulas=True)
    assert list(csv.reader(io.StringIO(text, newline="")))[1][0] == str(cell)


def test_names_that_utf_8_cannot_hold_are_written_out(run, tmp_path):
    """Names of files and arguments can contain bytes that are not text."""
    folder, table, model = tmp_path / "d", tmp_path / "t.csv", tmp_path / "m.mt"
    folder.mkdir()
    for i in range(12):
        name = os.fsdecode(b"\xff%d.txt" % i)
        try:
            (folder / name).write_text("boat sail wind" if i % 2 else "oven bread flour")
        except OSError:
            pytest.skip("needs a file system that takes any bytes as names")
    pattern = os.fsdecode(rb"\w+|" + b"\xff")
    files = ["--csv", table, "--save", model, "--output", tmp_path / "r.html"]
    result = run("topics", folder, "-k", "2", "--token-pattern", pattern, *files)
    assert result.exit_code == 0, result.output
    assert r"\udcff7.txt," in table.read_text(encoding="utf-8")
    assert run("assign", model, folder, "--csv", table).exit_code == 0
    assert r"\udcff7.txt," in table.read_text(encoding="utf-8")


@pytest.fixture
def dangerous(tmp_path):
    """Documents with ids that a spreadsheet would run, and records with the same."""
    documents = tmp_path / "d.csv"
    lines = [f"=d{i},{'boat sail' if i % 2 else 'oven bread'}" for i in range(12)]
    documents.write_text("key,body\n" + "\n".join(lines) + "\n")
    records = tmp_path / "r.csv"
    lines = [f"=r{i};{'401 428' if i % 2 else '585 403'}" for i in range(12)]
    records.write_text("visit_id;codes\n" + "\n".join(lines) + "\n")
    return documents, records


def test_every_command_can_escape_formulas(run, dangerous, tmp_path):
    documents, records = dangerous
    table, model = tmp_path / "t.csv", tmp_path / "m.mt"
    topics = ["topics", documents, "--id-column", "key", "-k", "2", "--csv", table]
    clusters = ["clusters", records, "-k", "2", "--csv", table]
    assign = ["assign", model, documents, "--id-column", "key", "--csv", table]
    assert run(*topics, "--save", model).exit_code == 0
    for command, first in ((topics, "=d0,"), (clusters, "=r0,"), (assign, "=d0,")):
        for options, before in (([], ""), (["--escape-formulas"], "'")):
            assert run(*command, *options).exit_code == 0
            assert table.read_text().splitlines()[1].startswith(before + first)
    printed = run(*assign[:-2], "--escape-formulas")
    assert printed.stdout.splitlines()[1].startswith("'=d0,")


def test_escaping_requires_a_table(refuses, dangerous):
    documents, records = dangerous
    for command in (["topics", documents], ["clusters", records]):
        assert refuses(*command, "--escape-formulas").code == "option_needs"

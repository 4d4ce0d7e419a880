"""``momentree demo``: a report without any input."""

from __future__ import annotations

from momentree import datasets
from momentree.datasets import Documents


def test_demo(run, tmp_path, docstrings, monkeypatch):
    """With an eighth of the text."""
    parts = (part[::8] for part in (docstrings.texts, docstrings.ids, docstrings.labels))
    few = Documents(*parts, name=docstrings.name)
    monkeypatch.setattr(datasets, "load_docstrings", lambda: few)
    target = tmp_path / "demo.html"
    result = run("demo", "--output", target)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "12 leaves" in result.stdout
    assert target.as_uri() in result.stdout
    assert "NMI" in result.stdout
    assert 100_000 < target.stat().st_size < 3_000_000


def test_bad_target(refuses, tmp_path):
    assert refuses("demo", "-o", tmp_path / "none" / "demo.html").code == "cannot_write"


def test_demo_of_records_keeps_the_report_on_text(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = tmp_path / "momentree-demo.html"
    first.write_text("the first report")
    result = run("demo", "--records")
    assert result.exit_code == 0, result.output
    assert first.read_text() == "the first report"
    assert {path.name for path in tmp_path.iterdir()} == {
        first.name, "momentree-demo-records.html", "momentree-demo-records.csv"
    }  # fmt: skip


def test_demo_of_records(run, tmp_path):
    target = tmp_path / "visits.html"
    result = run("demo", "--records", "--output", target)
    assert result.exit_code == 0, result.output
    assert "8 groups" in result.stdout
    assert "Heart failure" in result.stdout
    assert target.stat().st_size > 50_000
    # The table that the demo writes gives the same groups again.
    table = tmp_path / "visits.csv"
    again = run("clusters", table, "--rollup", "icd10", "--title", "Made-up hospital visits")
    assert again.exit_code == 0, again.output
    groups = [line for line in again.stdout.splitlines() if "├" in line or "└" in line]
    assert groups
    assert set(groups) <= set(result.stdout.splitlines())

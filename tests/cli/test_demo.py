"""``momentree demo``: a report without any input."""

from __future__ import annotations


def test_demo(run, tmp_path):
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

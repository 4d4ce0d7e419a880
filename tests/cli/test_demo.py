"""``momentree demo``: a report from nothing, in seconds."""

from __future__ import annotations

import time


def test_demo(process, tmp_path):
    target = tmp_path / "demo.html"
    start = time.perf_counter()
    done = process("demo", "--output", target)
    took = time.perf_counter() - start
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    shown = done.stdout.decode()
    assert "12 leaves" in shown
    assert str(target) in shown
    assert "NMI" in shown
    assert took < 10
    size = target.stat().st_size
    assert 100_000 < size < 3_000_000


def test_bad_target(refuses, tmp_path):
    assert "there is no folder" in refuses("demo", "-o", tmp_path / "none" / "demo.html")

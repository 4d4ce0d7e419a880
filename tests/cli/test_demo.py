"""``momentree demo``: a report from nothing, in seconds."""

from __future__ import annotations

import os


def test_demo(process, tmp_path):
    target = tmp_path / "demo.html"
    before = os.times()
    done = process("demo", "--output", target)
    after = os.times()
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    shown = done.stdout.decode()
    assert "12 leaves" in shown
    assert str(target) in shown
    assert "NMI" in shown
    # Processor time, not the time on the wall: other work on the machine is not its fault.
    used = after.children_user + after.children_system
    assert used - before.children_user - before.children_system < 10
    size = target.stat().st_size
    assert 100_000 < size < 3_000_000


def test_bad_target(refuses, tmp_path):
    assert "there is no folder" in refuses("demo", "-o", tmp_path / "none" / "demo.html")

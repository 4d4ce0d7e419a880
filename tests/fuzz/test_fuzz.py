"""A short run of the fuzzer; ``make fuzz`` is the long one."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from . import formats, kinds, seeds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux")
REPOSITORY = Path(__file__).resolve().parents[2]


def fuzz(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_valid_inputs_are_accepted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = kinds.runner(tmp_path)
    for kind in ("arrays-bernoulli", "counts-docword", "records-lists", "measurements-mixed"):
        assert run(kind, kinds.VALID) == "accepted"


@pytest.mark.long
def test_a_short_run_finds_nothing():
    """The valid inputs of all kinds; `make fuzz` damages them."""
    n = len(kinds.names())
    done = fuzz("--inputs", str(n), "--seconds", "3600", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{n} inputs in" in done.stdout


def test_an_input_is_the_same_on_every_run():
    for files in (*seeds.texts().values(), *seeds.count_files().values()):
        for seed in range(5):
            one, two = (
                [formats.changed(rng, data) for data in files.values()]
                for rng in (random.Random(seed), random.Random(seed))
            )
            assert one == two


FAULTS = """
import os, signal, sys, time
from pathlib import Path
from tests.fuzz import workers

workers.RESIDENT = 100 << 20

def run(kind, seed):
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "memory":
        held = bytearray(200 << 20)
    if kind == "fault":
        raise workers.Fault("a fault", "here")
    if kind == "error":
        raise KeyError(kind)
    return "accepted"

tasks = [(kind, 1) for kind in ("fine", "crash", "memory", "fault", "error", "fine")]
for outcome in workers.in_workers(run, tasks, Path(sys.argv[1]), 1):
    print(outcome.kind, "|", outcome.ended, "|", outcome.where)
"""


def test_faults_are_reported(tmp_path):
    """Crashes, excessive memory and errors are reported, and the inputs after them still run."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS, str(tmp_path)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = [line.split(" | ") for line in done.stdout.splitlines()]
    assert [part[:2] for part in found] == [
        ["fine", "accepted"],
        ["crash", "SIGSEGV"],
        ["memory", "over 100 MB"],
        ["fault", "a fault"],
        ["error", "in the fuzzer: KeyError"],
        ["fine", "accepted"],
    ]

"""A folder of unfinished work belongs to one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from momentree.exceptions import InvalidParameterError
from momentree.readers import WorkFolder
from tests.raising import raises

pytest.importorskip("fcntl")

HOLDING = """
import sys, time
from pathlib import Path
from momentree.readers import WorkFolder

WorkFolder(Path(sys.argv[1])).hold()
work = WorkFolder(Path(sys.argv[1]))
work.hold()
print("held", flush=True)
time.sleep(600)
"""


@pytest.mark.long
def test_two_processes_do_not_share_a_folder(tmp_path):
    path = tmp_path / "t.work"
    command = [sys.executable, "-c", HOLDING, str(path)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with raises(InvalidParameterError, "work_in_use"):
            WorkFolder(path).hold()
        with raises(InvalidParameterError, "work_in_use"):
            WorkFolder(path).begin(Path(__file__), {}, resume=True)
    finally:
        other.kill()
        other.communicate()
    WorkFolder(path).begin(Path(__file__), {}, resume=False)  # nothing remains of a killed process
    again = WorkFolder(path)
    again.begin(Path(__file__), {}, resume=True)
    again.remove()
    assert os.listdir(tmp_path) == []
    again.hold()
    assert path.exists()


def test_other_folders_are_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with raises(InvalidParameterError, "not_a_work_folder"):
        WorkFolder(tmp_path).hold()
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_an_input_does_not_contain_the_folder(tmp_path):
    for place in (tmp_path, tmp_path / "docs" / "t.work"):
        with raises(InvalidParameterError, "work_inside_input"):
            WorkFolder(place).begin(tmp_path, {}, resume=False)
    assert os.listdir(tmp_path) == []

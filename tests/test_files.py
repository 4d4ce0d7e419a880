"""Files that are written whole or not at all, and what killed processes leave."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys

import pytest

from momentree._files import atomic_write, staging

fcntl = pytest.importorskip("fcntl", reason="needs locks of folders")

# Opens a folder for unfinished files, says so and waits to be killed.
HOLD = """
import sys
from pathlib import Path
from momentree._files import staging
with staging(Path(sys.argv[1])) as folder:
    (folder / "half").write_text("half")
    print(folder.name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that has a folder for unfinished files open, and the name of that folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_a_killed_process_is_cleaned_up_after(tmp_path, holder):
    process, name = holder
    assert os.listdir(tmp_path) == [name]
    process.kill()
    process.wait()
    assert os.listdir(tmp_path) == [name]
    with staging(tmp_path) as folder:
        assert os.listdir(tmp_path) == [folder.name]
    assert os.listdir(tmp_path) == []


def test_a_living_process_keeps_its_folder(tmp_path, holder):
    _, name = holder
    with staging(tmp_path), staging(tmp_path):
        assert len(os.listdir(tmp_path)) == 3
    with atomic_write(tmp_path / "file") as file:
        file.write(b"1")
    assert sorted(os.listdir(tmp_path)) == sorted([name, "file"])
    assert os.listdir(tmp_path / name) == ["half"]


def test_what_may_be_of_others_stays(tmp_path, monkeypatch):
    """Folders of another machine, whose locks may not be seen, and what is no folder."""
    with monkeypatch.context() as patch:
        patch.setattr(platform, "node", lambda: "elsewhere")
        with staging(tmp_path) as folder:
            other = tmp_path / folder.name
            folder.rename(tmp_path / "moved")
        (tmp_path / "moved").rename(other)
    link = tmp_path / f".momentree-{platform.node()}-link"
    (tmp_path / "mine").mkdir()
    link.symlink_to(tmp_path / "mine")
    (tmp_path / ".momentree-notes").write_text("")
    before = sorted(os.listdir(tmp_path))
    with staging(tmp_path):
        pass
    assert sorted(os.listdir(tmp_path)) == before


def test_without_locks_nothing_is_removed(tmp_path, holder, monkeypatch):
    process, name = holder
    process.kill()
    process.wait()
    monkeypatch.setattr("momentree._files.fcntl", None)
    with staging(tmp_path):
        pass
    assert os.listdir(tmp_path) == [name]


def test_a_folder_taken_for_abandoned_before_it_was_locked_is_made_anew(tmp_path, monkeypatch):
    lock = fcntl.flock
    removed = []

    def flock(handle, operation):
        if not removed:
            (born,) = tmp_path.iterdir()
            removed.append(born)
            born.rmdir()
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    with staging(tmp_path) as folder:
        assert folder.is_dir()
        assert folder != removed[0]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def fail():
        with atomic_write(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "file") as file:
            file.write(b"1")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640

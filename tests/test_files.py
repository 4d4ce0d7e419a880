"""Files are written whole or not at all, and leftovers of killed processes are removed."""

from __future__ import annotations

import errno
import os
import platform
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import momentree as mt
from momentree import SingleTopicModel

fcntl = pytest.importorskip("fcntl", reason="needs locks of folders")

MODEL = SingleTopicModel(2).fit([[3, 0], [0, 2], [2, 0], [0, 4]])

# Saves a model, and is killed before the file is in place.
KILLED = """
import os, signal, sys
from pathlib import Path
from momentree import SingleTopicModel
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
SingleTopicModel(2).fit([[3, 0], [0, 2], [2, 0], [0, 4]]).save(sys.argv[1])
"""


@pytest.fixture
def during(monkeypatch):
    """Save a model, and call a function with the unfinished file before it is in place."""
    replace = Path.replace

    def save(target, call):
        def pause(self, to):
            monkeypatch.setattr(Path, "replace", replace)
            call(self)
            return replace(self, to)

        monkeypatch.setattr(Path, "replace", pause)
        MODEL.save(target)

    return save


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, during, monkeypatch):
    synced, sync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: sync(file) or synced.append(os.fstat(file)))

    def check(file):
        (status,) = synced
        assert (status.st_ino, status.st_size) == (file.stat().st_ino, file.stat().st_size)

    during(tmp_path / "model.mt", check)


@pytest.fixture
def abandon(tmp_path, during):
    """Leave the folder of an unfinished file, as a killed process does; return its name."""

    def leave():
        names = []

        def move(file):
            names.append(file.parent.name)
            file.parent.rename(tmp_path / "moved")

        with pytest.raises(FileNotFoundError):
            during(tmp_path / "file", move)
        (tmp_path / "moved").rename(tmp_path / names[0])
        return names[0]

    return leave


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], check=False, timeout=60)
    (name,) = os.listdir(tmp_path)
    assert os.listdir(tmp_path / name) == ["a"]
    MODEL.save(tmp_path / "b")
    assert os.listdir(tmp_path) == ["b"]


def test_unfinished_files_of_a_running_process_stay(tmp_path, during):
    def save_others(file):
        assert len(os.listdir(tmp_path)) == 1
        for name in ("b", "c"):
            MODEL.save(tmp_path / name)
        assert file.exists()

    during(tmp_path / "a", save_others)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


def test_folders_of_other_machines_stay(tmp_path, monkeypatch, abandon):
    """Their locks may be invisible here."""
    with monkeypatch.context() as patch:
        patch.setattr(platform, "node", lambda: "elsewhere")
        name = abandon()
    MODEL.save(tmp_path / "b")
    assert sorted(os.listdir(tmp_path)) == sorted([name, "b"])


def test_links_and_files_with_similar_names_stay(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / f".momentree-{platform.node()}-link").symlink_to(tmp_path / "mine")
    (tmp_path / ".momentree-notes").write_text("")
    before = os.listdir(tmp_path)
    MODEL.save(tmp_path / "b")
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "b"])


def test_nothing_is_removed_where_locks_do_not_work(tmp_path, monkeypatch, abandon):
    name = abandon()

    def flock(*_):
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", flock)
        MODEL.save(tmp_path / "b")
    assert sorted(os.listdir(tmp_path)) == sorted([name, "b"])
    MODEL.save(tmp_path / "b")
    assert os.listdir(tmp_path) == ["b"]


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, removed = fcntl.flock, []

    def flock(handle, operation):
        if not removed:
            (folder,) = tmp_path.iterdir()
            removed.append(folder)
            folder.rmdir()
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    MODEL.save(tmp_path / "a")
    assert removed
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path, during):
    path = tmp_path / "file"
    path.write_text("old")

    def interrupt(file):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        during(path, interrupt)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_a_link(tmp_path, exists):
    (tmp_path / "files").mkdir()
    real, link = tmp_path / "files" / "real", tmp_path / "link"
    if exists:
        real.write_text("old")
    link.symlink_to(real)
    MODEL.save(link)
    assert link.is_symlink()
    assert mt.load(real).n_components == 2
    assert sorted(os.listdir(tmp_path)) == ["files", "link"]
    assert os.listdir(tmp_path / "files") == ["real"]


def test_a_loop_of_links_is_refused(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="loop"):
        MODEL.save(loop)
    assert loop.is_symlink()


def test_a_pipe_is_written_to_and_stays(tmp_path):
    pipe, link, file = tmp_path / "pipe", tmp_path / "link", tmp_path / "file"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    MODEL.save(file)
    for path in (pipe, link):
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            MODEL.save(path)
            assert os.read(reader, 1 << 16) == file.read_bytes()
        finally:
            os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()


def test_a_pipe_that_nobody_reads_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe") as caught:
        MODEL.save(tmp_path / "pipe")
    assert caught.value.errno == errno.ENXIO


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        MODEL.save(tmp_path / "file")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640

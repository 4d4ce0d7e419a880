"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import momentree as mt
from momentree import SingleTopicModel

MODEL = SingleTopicModel(2).fit([[3, 0], [0, 2], [2, 0], [0, 4]])


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


def test_unfinished_files_of_others_stay(tmp_path, during):
    def save_others(file):
        assert len(os.listdir(tmp_path)) == 1
        for name in ("b", "c"):
            MODEL.save(tmp_path / name)
        assert file.exists()

    during(tmp_path / "a", save_others)
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c"]


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


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    mask = os.umask(0o027)
    try:
        MODEL.save(tmp_path / "file")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640

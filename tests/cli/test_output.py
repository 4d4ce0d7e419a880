"""Output files are complete or absent, all of them or none, and nothing else is left behind."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from momentree.cli.output import Outputs
from momentree.exceptions import MomentreeError
from tests.raising import raises

HTML = (".html",)


def fill(text: str):
    return lambda path: path.write_text(text)


@contextmanager
def refused(reason: str):
    """Expect an output to be refused for a reason with this code."""
    with raises(MomentreeError, "cannot_write") as caught:
        yield
    assert caught.value.message.values["reason"].code == reason


def write_all(outputs: Outputs, *options: str) -> None:
    outputs.write(dict.fromkeys(options, fill("new")))


def outputs_to(**targets: Path | None) -> Outputs:
    outputs = Outputs()
    for option, path in targets.items():
        outputs.add(option, path, (path.suffix,) if path else HTML)
    return outputs


def test_files_appear_together_at_the_end(tmp_path):
    outputs = outputs_to(a=tmp_path / "a.html", b=tmp_path / "b.json")

    def second(path: Path):
        path.write_text("two")
        assert not (tmp_path / "a.html").exists()

    outputs.write({"a": fill("one"), "b": second})
    assert (tmp_path / "a.html").read_text() == "one"
    assert (tmp_path / "b.json").read_text() == "two"
    assert sorted(os.listdir(tmp_path)) == ["a.html", "b.json"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt, ValueError])
def test_an_error_leaves_all_as_it_was(tmp_path, error):
    old = tmp_path / "a.html"
    old.write_text("old")
    outputs = outputs_to(a=old, b=tmp_path / "b.json")

    def fail(path: Path):
        path.write_text("half")
        raise error

    with pytest.raises((MomentreeError, KeyboardInterrupt, ValueError)):
        outputs.write({"a": fill("new"), "b": fail})
    assert old.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.html"]


def test_error_names_option_file_and_cause(tmp_path):
    outputs = outputs_to(a=tmp_path / "a.html")

    def fail(path: Path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    values = {"path": str(tmp_path / "a.html"), "reason": os.strerror(errno.ENOSPC)}
    with raises(MomentreeError, "cannot_write", parameter="a", **values):
        outputs.write({"a": fail})


def test_failing_move_names_the_file(tmp_path, monkeypatch):
    outputs = outputs_to(a=tmp_path / "a.html")

    def replace(self, target):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "replace", replace)
    reason = os.strerror(errno.EROFS)
    with raises(MomentreeError, "cannot_write", reason=reason):
        outputs.write({"a": fill("x")})
    assert os.listdir(tmp_path) == []


def test_option_not_given_writes_nothing(tmp_path):
    outputs = outputs_to(a=None)
    outputs.write({"a": lambda path: pytest.fail("called for an option that was not given")})
    assert "a" not in outputs
    assert outputs.paths == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (".", "is_a_folder"),
        ("a.txt", "wrong_suffix"),
        ("none/a.html", "no_folder"),
        ("file/a.html", "no_folder"),
    ],
)
def test_bad_target_is_refused_at_once(tmp_path, name, reason):
    (tmp_path / "file").write_text("")
    with refused(reason):
        Outputs().add("output", tmp_path / name, HTML)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system like /proc")
def test_folder_that_takes_no_files():
    with refused("folder_not_writable"):
        Outputs().add("output", Path("/proc/a.html"), HTML)


def test_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    target = tmp_path / "a.html"
    target.write_text("kept")
    # Root may write anywhere, so that a permission alone would not be felt by all users.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != target)
    with refused("read_only"):
        Outputs().add("output", target, HTML)


def test_an_input_is_not_replaced(tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("text\nhello\n")
    with refused("same_as_input"):
        Outputs([source]).add("csv", tmp_path / "." / "a.csv", (".csv",))


def test_two_outputs_are_not_one_file(tmp_path):
    outputs = outputs_to(a=tmp_path / "a.html")
    with refused("same_as_output"):
        outputs.add("b", tmp_path / "a.html", HTML)


def test_a_link_stays_a_link(tmp_path):
    real = tmp_path / "real.html"
    real.write_text("old")
    link = tmp_path / "link.html"
    link.symlink_to(real)
    outputs_to(a=link).write({"a": fill("new")})
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_permissions(tmp_path):
    """A new file gets what the umask allows, an old one keeps what it has."""
    old = tmp_path / "old.html"
    old.write_text("")
    old.chmod(0o640)
    mask = os.umask(0o022)
    try:
        outputs_to(a=old, b=tmp_path / "new.html").write({"a": fill("x"), "b": fill("x")})
    finally:
        os.umask(mask)
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "new.html").stat().st_mode) == 0o644


def test_pipe_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    outputs_to(a=pipe).write({"a": fill("through the pipe")})
    reader.join()
    assert read == [b"through the pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_device():
    outputs = Outputs()
    outputs.add("a", Path("/dev/full"), HTML)
    reason = os.strerror(errno.ENOSPC)
    with raises(MomentreeError, "cannot_write", reason=reason):
        outputs.write({"a": fill("x")})
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_hard_link_of_the_input_is_the_input(tmp_path):
    source, link = tmp_path / "a.csv", tmp_path / "b.csv"
    source.write_text("text\nhello\n")
    link.hardlink_to(source)
    with refused("same_as_input"):
        Outputs([source]).add("csv", link, (".csv",))


def test_two_names_of_one_file_are_one_output(tmp_path):
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    first.write_text("")
    second.hardlink_to(first)
    outputs = outputs_to(a=first)
    with refused("same_as_output"):
        outputs.add("b", second, HTML)


def test_a_long_name_is_no_reason_to_fail(tmp_path):
    target = tmp_path / ("a" * 250 + ".html")
    outputs_to(a=target, b=tmp_path / "b.html").write({"a": fill("1"), "b": fill("2")})
    assert target.read_text() == "1"


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a folder in /dev")
def test_a_file_below_dev_is_replaced_whole():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        target = Path(folder) / "a.html"
        target.write_text("old")
        number = target.stat().st_ino
        outputs_to(a=target).write({"a": fill("new")})
        assert (target.read_text(), target.stat().st_ino == number) == ("new", False)

"""The command as a process: signals, pipes, terminals, start-up."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import clean_environment

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and devices")
ESCAPE = b"\x1b"

# Writes half of the report, says so and waits to be stopped.
STALL = """
import sys, time
import momentree.report

def stall(summary, path):
    with open(path, "w") as file:
        file.write("<!DOCTYPE html><half")
        file.flush()
        print("half-way", file=sys.stderr, flush=True)
        time.sleep(60)

momentree.report.write_html = stall
from momentree.cli import main
main()
"""


@posix
@pytest.mark.parametrize(
    ("name", "status", "line"),
    [("SIGINT", 130, b"momentree: interrupted\n"), ("SIGTERM", 143, b"")],
)
def test_stopped_half_way_leaves_nothing(table, tmp_path, name, status, line):
    report = tmp_path / "r.html"
    report.write_text("old")
    arguments = ["topics", table, "--output", report, "--csv", tmp_path / "a.csv"]
    process = subprocess.Popen(
        [sys.executable, "-c", STALL, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    )
    assert process.stderr.readline() == b"half-way\n"
    assert len(os.listdir(tmp_path)) == 3  # the half report lies in a folder of its own
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (status, b"", line)
    assert report.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == [table.name, "r.html"]


def test_piped_output_is_plain(process, lasting_table):
    done = process("topics", lasting_table, "--label-column", "theme")
    assert done.returncode == 0
    assert done.stderr == b""
    assert ESCAPE not in done.stdout


def test_encoding_without_tree_characters(process, lasting_table):
    done = process("topics", lasting_table, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert b"|- " in done.stdout


def test_words_that_the_encoding_lacks(process, tmp_path, documents):
    path = tmp_path / "t.csv"
    lines = [d["body"].replace("a", "à") for d in documents]
    path.write_text("text\n" + "\n".join(lines), encoding="utf-8")
    done = process("topics", path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert b"g?rlic" in done.stdout


def on_terminal(arguments, **changes):
    """Run the command on a pseudo-terminal; return its status and all that it showed."""
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from momentree.cli import main; main()", *map(str, arguments)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=clean_environment(TERM="xterm-256color", **changes),
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # Linux ends a pseudo-terminal so
            break
        if not part:
            break
        shown += part
    os.close(master)
    return process.wait(timeout=60), shown


@posix
def test_terminal_has_colours_and_progress(lasting_table):
    status, shown = on_terminal(["topics", lasting_table])
    assert status == 0
    assert b"reading documents.csv" in shown
    assert re.search(rb"\x1b\[[0-9;]*m", shown)


@posix
def test_quiet_terminal_shows_nothing(lasting_table):
    assert on_terminal(["topics", lasting_table, "--quiet"]) == (0, b"")


@posix
def test_no_color(lasting_table):
    status, shown = on_terminal(["topics", lasting_table, "--verbose"], NO_COLOR="1")
    assert status == 0
    # Weight may stay, colours may not.
    codes = {
        code for group in re.findall(rb"\x1b\[([0-9;]*)m", shown) for code in group.split(b";")
    }
    assert codes <= {b"0", b"1", b"2", b""}


@posix
def test_closed_pipe_is_quiet(model, lasting_table):
    command = [sys.executable, "-c", "from momentree.cli import main; main()", "assign"]
    with subprocess.Popen(
        [*command, model, lasting_table],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_standard_output(model, lasting_table):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from momentree.cli import main; main()",
                "assign",
                model,
                lasting_table,
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            env=clean_environment(),
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(b"momentree: error: ")
    assert b"No space left on device" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_on_a_full_device(process, lasting_table):
    done = process("topics", lasting_table, "--csv", "/dev/full")
    assert done.returncode == 2
    assert b"cannot write --csv /dev/full: No space left on device" in done.stderr
    assert b"Traceback" not in done.stderr


def test_error_as_a_process(process, tmp_path):
    done = process("topics", tmp_path / "none.csv")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"momentree: error: ")
    assert done.stderr.count(b"\n") == 1


def test_help_has_examples(process):
    for command in ("topics", "assign"):
        done = process(command, "--help")
        assert done.returncode == 0
        assert b"\\n" not in done.stdout
        assert f"momentree {command} ".encode() in done.stdout.split(b"Examples")[1]


def test_version(process):
    import momentree

    assert process("--version").stdout.decode() == f"momentree {momentree.__version__}\n"


def test_help_is_quick(process):
    """Help loads neither NumPy nor anything built on it."""
    assert b"topics" in process("--help").stdout
    code = "import sys, momentree.cli; print({'numpy', 'pandas', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"set()"

"""The command as a process: signals, closed and full streams, terminals, start-up."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from .conftest import COMMAND, clean_environment, words

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and devices")

# Commands that write half of their output, say so and wait to be stopped, or write and print.
STALL = """
import os, sys, time
from contextlib import suppress
from pathlib import Path
from momentree.cli import app, main
from momentree.cli.guard import Command
from momentree.cli.output import Outputs

def half(path):
    path.write_text("<!DOCTYPE html><half")
    print("half-way", file=sys.stderr, flush=True)
    time.sleep(60)

@app.command(cls=Command)
def stall(target: Path) -> None:
    outputs = Outputs()
    outputs.add("output", target, (".html",))
    outputs.write({"output": half})

def whole(path):
    with path.open("w") as file:
        file.write("<!DOCTYPE html>")
        file.flush()
        for number in (1, 2):
            with suppress(OSError):
                os.write(number, b"printed")

@app.command(cls=Command)
def write(target: Path) -> None:
    outputs = Outputs()
    outputs.add("output", target, (".html",))
    outputs.write({"output": whole})

main()
"""


@posix
def test_stopped_half_way_leaves_nothing(tmp_path):
    expected = {"SIGINT": (130, b"momentree: interrupted\n"), "SIGTERM": (143, b"")}
    processes = {}
    for name in expected:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "r.html").write_text("old")
        processes[name] = subprocess.Popen(
            [sys.executable, "-c", STALL, "stall", str(folder / "r.html")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(),
        )
    for name, process in processes.items():
        folder = tmp_path / name
        assert process.stderr.readline() == b"half-way\n"
        assert len(os.listdir(folder)) == 2  # the half report lies in a folder of its own
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == expected[name]
        assert out == b""
        assert (folder / "r.html").read_text() == "old"
        assert os.listdir(folder) == ["r.html"]


def redirected(arguments, redirections: str, command=COMMAND, **environment: str):
    """Run the command with redirections of a shell; return its status and what it printed."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", *command, *map(str, arguments)],
        capture_output=True,
        env=clean_environment(**environment),
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def to_closed_pipe(arguments):
    """Run the command with a standard output that nobody reads; return status and errors."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        process.stdout.close()
        err = process.stderr.read()
    return process.returncode, err


def cannot_print(number: int) -> bytes:
    return f"momentree: error: {words('cannot_print', reason=os.strerror(number))}\n".encode()


@posix
def test_help_where_it_cannot_be_printed():
    arguments = ["topics", "--help"]
    assert redirected(arguments, ">&-") == (2, b"", cannot_print(errno.EBADF))
    assert to_closed_pipe(arguments) == (128 + signal.SIGPIPE, b"")
    if os.path.exists("/dev/full"):
        assert redirected(arguments, ">/dev/full") == (2, b"", cannot_print(errno.ENOSPC))


@pytest.mark.long
@posix
def test_a_table_where_it_cannot_be_printed(model, lasting_table):
    assert to_closed_pipe(["assign", model, lasting_table]) == (128 + signal.SIGPIPE, b"")


@posix
def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path):
    command, page = [sys.executable, "-c", STALL], tmp_path / "r.html"
    closed = redirected(["write", page], "<&- >&- 2>&-", command=command)
    assert closed == (0, b"", b"")
    assert page.read_text() == "<!DOCTYPE html>"


@pytest.mark.long
@posix
def test_files_do_not_get_the_numbers_of_closed_streams(run, model, lasting_table, tmp_path):
    """What is printed must not get into a file that was opened under the number of a stream.

    Nor does a date of builds matter that is none.
    """
    arguments = ["assign", model, lasting_table]
    table = tmp_path / "a.csv"
    built = {"SOURCE_DATE_EPOCH": "abc"}
    closed = redirected([*arguments, "--csv", table, "--quiet"], "<&- >&- 2>&-", **built)
    assert closed == (0, b"", b"")
    assert table.read_bytes() == run(*arguments).stdout.encode()


@posix
def test_an_error_that_cannot_be_printed():
    assert redirected(["topics"], "2>&-") == (2, b"", b"")


def test_odd_sizes_of_the_terminal():
    sizes = {"COLUMNS": "9" * 5000, "LINES": "-1", "TERMINAL_WIDTH": "²"}
    done = subprocess.run(
        [*COMMAND, "topics", "--help"],
        capture_output=True,
        env=clean_environment(**sizes),
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_help_loads_no_libraries():
    code = "import sys, momentree.cli; print({'numpy', 'pandas', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"set()"

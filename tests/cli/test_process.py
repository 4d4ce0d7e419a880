"""The command as a process: signals, closed and full streams, terminals, start-up."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys

import pytest

import momentree

from .conftest import COMMAND, clean_environment, words

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
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (status, b"", line)
    assert report.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == [table.name, "r.html"]


def test_an_encoding_that_lacks_characters(process, tmp_path, documents):
    path = tmp_path / "t.csv"
    lines = [d["body"].replace("a", "à") for d in documents]
    path.write_text("text\n" + "\n".join(lines), encoding="utf-8")
    done = process("topics", path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"g?rlic" in done.stdout
    assert b"|- " in done.stdout
    assert ESCAPE not in done.stdout


def on_terminal(arguments, **changes):
    """Run the command on a pseudo-terminal; return its status and all that it showed."""
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
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
        except OSError:  # how Linux ends a pseudo-terminal
            break
        if not part:
            break
        shown += part
    os.close(master)
    return process.wait(timeout=60), shown


@posix
def test_a_terminal_has_colours_and_progress(table):
    # The name of an input is no markup.
    status, shown = on_terminal(["topics", table.rename(table.parent / "[bold].csv")])
    assert status == 0
    assert b"reading [bold].csv" in shown
    assert re.search(rb"\x1b\[[0-9;]*3[1-6]m", shown)


@posix
def test_no_color(lasting_table):
    status, shown = on_terminal(["topics", lasting_table, "--verbose"], NO_COLOR="1")
    assert status == 0
    codes = {
        code for group in re.findall(rb"\x1b\[([0-9;]*)m", shown) for code in group.split(b";")
    }
    assert codes <= {b"0", b"1", b"2", b""}  # bold and dim are no colours


@posix
def test_data_on_a_terminal_are_clean(run, hostile_table, tmp_path):
    model = tmp_path / "m.mt"
    assert run("topics", hostile_table, "--quiet", "--save", model).exit_code == 0
    status, shown = on_terminal(["assign", model, hostile_table, "--id-column", "key\x1b[1m", "-q"])
    assert status == 0
    assert rb"d\x1b[5m7," in shown
    assert ESCAPE not in shown


def redirected(arguments, redirections: str):
    """Run the command with redirections of a shell; return its status and what it printed."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", *COMMAND, *map(str, arguments)],
        capture_output=True,
        env=clean_environment(),
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
@pytest.mark.parametrize("arguments", [["--version"], ["topics", "--help"]])
def test_help_where_it_cannot_be_printed(arguments):
    assert redirected(arguments, ">&-") == (2, b"", cannot_print(errno.EBADF))
    assert to_closed_pipe(arguments) == (128 + signal.SIGPIPE, b"")
    if os.path.exists("/dev/full"):
        assert redirected(arguments, ">/dev/full") == (2, b"", cannot_print(errno.ENOSPC))


@posix
def test_a_table_where_it_cannot_be_printed(model, lasting_table):
    arguments = ["assign", model, lasting_table]
    assert to_closed_pipe(arguments) == (128 + signal.SIGPIPE, b"")
    if os.path.exists("/dev/full"):
        assert redirected(arguments, ">/dev/full") == (2, b"", cannot_print(errno.ENOSPC))


@posix
def test_files_do_not_get_the_numbers_of_closed_streams(run, model, lasting_table, tmp_path):
    """What is printed must not get into a file that was opened under the number of a stream."""
    arguments = ["assign", model, lasting_table]
    expected = run(*arguments).stdout.encode()
    table = tmp_path / "a.csv"
    closed = redirected([*arguments, "--csv", table, "--quiet"], "<&- >&- 2>&-")
    assert closed == (0, b"", b"")
    assert table.read_bytes() == expected
    assert redirected([*arguments, "--verbose"], "2>&-")[:2] == (0, expected)


@pytest.mark.parametrize(
    "changes",
    [
        {"COLUMNS": "²", "LINES": "9" * 5000},
        {"COLUMNS": "-1", "TERMINAL_WIDTH": "abc", "LINES": ""},
    ],
)
def test_odd_sizes_of_the_terminal(process, changes):
    done = process("topics", "--help", **changes)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_error(process, lasting_table):
    done = process("topics", lasting_table, LOKY_MAX_CPU_COUNT="abc")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"LOKY_MAX_CPU_COUNT" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_version(process):
    assert process("--version").stdout.decode() == f"momentree {momentree.__version__}\n"


def test_help_loads_no_libraries():
    code = "import sys, momentree.cli; print({'numpy', 'pandas', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert done.stdout.strip() == b"set()"

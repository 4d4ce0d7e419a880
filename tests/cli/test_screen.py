"""What reaches the screen: no control characters, and a clear end where nothing can be printed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import pytest
from rich.console import Console
from rich.text import Text

from momentree.cli import _screen
from momentree.cli._screen import printable, say, show
from momentree.cli._terminal import cut, print_text

from .conftest import clean_environment
from .test_process import on_terminal

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX descriptors and devices")
HOSTILE = "a\x1b[31mb\x07\x9b2J\u202ec\x7f"


@pytest.fixture
def hostile_table(tmp_path):
    """Documents whose ids, words, labels and names of columns hold control characters."""
    words = {"sea\x1b[2J": "boat harbour sail wind", "kit\u202echen": "oven bread flour butter"}
    lines = ["key\x1b[1m,body,theme"]
    for i in range(40):
        label = list(words)[i % 2]
        lines.append(f"d\x1b[5m{i},{words[label]} w\x1b[31mord,{label}")
    path = tmp_path / "hostile.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def is_clean(text: str) -> bool:
    return text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) <= {"\n"}


def test_printable():
    assert printable(HOSTILE) == r"a\x1b[31mb\x07\x9b2J\u202ec\x7f"
    assert printable("città · 信号 \N{SOFT HYPHEN}") == "città · 信号 \N{SOFT HYPHEN}"


def test_lines_on_both_streams_are_clean(capsys):
    say(f"{HOSTILE}\nmore")
    show(f"{HOSTILE}\nmore\n")
    out, err = capsys.readouterr()
    assert is_clean(out)
    assert is_clean(err)
    assert (out.count("\n"), err.count("\n")) == (2, 1)


def test_drawings_are_clean(capsys):
    print_text(Console(width=80), Text(f"{HOSTILE}\nmore\n", style="bold"))
    out = capsys.readouterr().out
    assert is_clean(out)
    assert out.endswith("c\ufffd\nmore\n")


def test_names_stay_on_their_line():
    assert cut("one\ntwo\r\u2028three", 40) == "one two  three"


@pytest.mark.parametrize("options", [[], ["--flat"], ["--quiet"], ["--label-column", "n\x1b[3mo"]])
def test_nothing_hostile_is_printed(run, hostile_table, options):
    label = [] if "--label-column" in options else ["--label-column", "theme"]
    result = run(
        *["topics", hostile_table, "--token-pattern", r"\S+", "--max-df", "1.0", *label, *options]
    )
    assert is_clean(result.output), repr(result.output)


def test_data_on_a_pipe_stay_as_they_are(run, hostile_table, tmp_path):
    model, table = tmp_path / "m.mt", tmp_path / "t.csv"
    assert run("topics", hostile_table, "--quiet", "--save", model).exit_code == 0
    options = ["--id-column", "key\x1b[1m"]
    result = run("assign", model, hostile_table, *options)
    assert "d\x1b[5m7," in result.stdout
    assert run("assign", model, hostile_table, *options, "--csv", table).exit_code == 0
    assert "d\x1b[5m7," in table.read_text(encoding="utf-8")


@posix
def test_data_on_a_terminal_are_clean(run, hostile_table, tmp_path):
    model = tmp_path / "m.mt"
    assert run("topics", hostile_table, "--quiet", "--save", model).exit_code == 0
    status, shown = on_terminal(["assign", model, hostile_table, "--id-column", "key\x1b[1m", "-q"])
    assert status == 0
    assert rb"d\x1b[5m7," in shown
    assert b"\x1b" not in shown


@posix
def test_the_name_of_an_input_is_no_markup(run, table):
    status, shown = on_terminal(["topics", table.rename(table.parent / "[bold].csv")])
    assert status == 0
    assert b"reading [bold].csv" in shown


def closed(arguments, descriptors: str):
    """Run the command with closed descriptors; return its status and what it printed."""
    command = [sys.executable, "-c", "from momentree.cli import main; main()"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {descriptors}', "sh", *command, *map(str, arguments)],
        capture_output=True,
        env=clean_environment(),
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["topics", "--help"], []])
def test_closed_standard_output(arguments):
    status, _, err = closed(arguments, ">&-")
    assert status == 2
    assert err.startswith(b"momentree: error: cannot write to standard output: ")
    assert err.count(b"\n") == 1


@posix
def test_closed_descriptors_take_nothing_of_the_files(model, lasting_table, tmp_path):
    """What is printed must not get into a file that was opened under the number of a stream."""
    expected = tmp_path / "expected.csv"
    arguments = ["assign", model, lasting_table, "--csv"]
    assert closed([*arguments, expected], "")[0] == 0
    for i, descriptors in enumerate(("2>&-", "<&- >&- 2>&-")):
        table = tmp_path / f"{i}.csv"
        assert closed([*arguments, table, "--quiet"], descriptors) == (0, b"", b"")
        assert table.read_bytes() == expected.read_bytes()
    status, out, _ = closed(["assign", model, lasting_table, "--verbose"], "2>&-")
    assert (status, out) == (0, expected.read_bytes())
    assert closed(["topics", lasting_table], ">&- 2>&-")[0] == 2


@posix
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["topics", "--help"], []])
def test_help_to_a_closed_pipe_and_to_a_full_device(arguments):
    command = [sys.executable, "-c", "from momentree.cli import main; main()", *arguments]
    environment = clean_environment()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE
    if not os.path.exists("/dev/full"):
        return
    status, _, err = closed(arguments, ">/dev/full")
    assert status == 2
    assert err == b"momentree: error: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"COLUMNS": "²", "LINES": "²"},
        {"COLUMNS": "9" * 5000},
        {"COLUMNS": "-1", "TERMINAL_WIDTH": "abc", "LINES": ""},
    ],
)
def test_odd_sizes_of_the_terminal(process, changes):
    done = process("topics", "--help", **changes)
    assert (done.returncode, done.stderr) == (0, b"")


def test_cores_that_are_no_number(process, lasting_table):
    done = process("topics", lasting_table, LOKY_MAX_CPU_COUNT="abc")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"LOKY_MAX_CPU_COUNT is 'abc'; expected a whole number" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_full_standard_error_stops_nothing(monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "full")

    monkeypatch.setattr(_screen.sys, "stderr", Full())
    say("a note")

"""Output on the screen contains no control characters."""

from __future__ import annotations

import io
import logging
import signal
import sys

import pytest
from rich.status import Status

from momentree import cli
from momentree.cli.screen import Progress, printable, say, show
from momentree.cli.tables import CsvTable

HOSTILE = "a\x1b[31mb\x07\x9b2J\u202ec\x7f"


def is_clean(text: str) -> bool:
    return {c for c in text if not c.isprintable()} <= {"\n"}


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


@pytest.mark.parametrize("options", [[], ["--flat"], ["--quiet"], ["--label-column", "n\x1b[3mo"]])
def test_nothing_hostile_is_printed(run, hostile_table, options):
    label = [] if "--label-column" in options else ["--label-column", "theme"]
    result = run(
        *["topics", hostile_table, "--token-pattern", r"\S+", "--max-df", "1.0", *label, *options]
    )
    assert is_clean(result.output), repr(result.output)


def test_output_in_pipes_and_files_is_not_escaped(run, hostile_table, tmp_path):
    model, table = tmp_path / "m.mt", tmp_path / "t.csv"
    assert run("topics", hostile_table, "--quiet", "--save", model).exit_code == 0
    options = ["--id-column", "key\x1b[1m"]
    assert "d\x1b[5m7," in run("assign", model, hostile_table, *options).stdout
    assert run("assign", model, hostile_table, *options, "--csv", table).exit_code == 0
    assert "d\x1b[5m7," in table.read_text(encoding="utf-8")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    with Progress(quiet=False, verbose=False).stage("reading [bold].csv"):
        pass
    assert "reading [bold].csv" in sys.stderr.getvalue()  # the name of an input is no markup


def test_steps_of_a_fit_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    fit, steps, passes = (logging.getLogger(f"momentree.{n}") for n in ("t", "steps", "backends"))
    lines: list[str] = []
    monkeypatch.setattr(Status, "update", lambda _, text: lines.append(str(text)))
    with Progress(quiet=False, verbose=False).stage("finding groups"):
        for log, level, text in (
            (passes, logging.DEBUG, "pass: 50%"),
            (passes, logging.DEBUG, ""),
            (fit, logging.INFO, "refining 3 leaves"),
            (steps, logging.DEBUG, "step 1 of at most 9"),
            (passes, logging.DEBUG, "pass: 20%"),
            (steps, logging.DEBUG, "step 2 of at most 9"),
        ):
            log.log(level, text)
    assert lines == [
        "finding groups: pass: 50%",
        "finding groups ...",
        "refining 3 leaves ...",
        "refining 3 leaves: step 1 of at most 9",
        "refining 3 leaves: step 1 of at most 9, pass: 20%",
        "refining 3 leaves: step 2 of at most 9",
    ]


def test_parts_of_steps_are_not_in_the_log(capsys):
    with Progress(quiet=False, verbose=True).stage("finding groups"):
        logging.getLogger("momentree.t").info("refining 3 leaves")
        logging.getLogger("momentree.backends").debug("pass: 20%")
    assert capsys.readouterr().err.startswith("  refining 3 leaves\nfinding groups: ")


def test_a_table_on_a_terminal_is_clean(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    CsvTable(["id"], [[HOSTILE]]).print(escape_formulas=False)
    assert is_clean(sys.stdout.getvalue())


def test_an_encoding_that_lacks_characters(lasting_table, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(lasting_table.read_text().replace("a", "à"), encoding="utf-8")
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "argv", ["momentree", "topics", str(path)])
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # leave those of the tests alone
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    shown = stream.buffer.getvalue()
    assert b"isl?nd" in shown
    assert b"|- " in shown
    assert b"\x1b" not in shown


def test_full_standard_error_stops_nothing(lasting_table, tmp_path, monkeypatch, capsys):
    class Full(io.StringIO):
        n_writes = 0

        def write(self, text):
            self.n_writes += 1
            raise OSError(28, "full")

    path = tmp_path / "r.html"
    monkeypatch.setattr(sys, "stderr", Full())
    monkeypatch.setattr(
        sys, "argv", ["momentree", "topics", str(lasting_table), "--verbose", "-o", str(path)]
    )
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # leave those of the tests alone
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert sys.stderr.n_writes
    assert path.stat().st_size

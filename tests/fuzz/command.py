"""Mutated files for the command: its exit status, its output, and the files it writes."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer.main

from . import seeds
from .formats import changed
from .mutate import mutated
from .workers import Fault, as_fault

REFUSED, INCOMPLETE = 2, 3
"""Statuses: an input was refused; files in it were left out."""
SPECIAL = ("fifo", "loop", "dangling", "folder", "bytes", "deep")
"""Entries of a folder that are not plain files."""
_SHORT_OF_MEMORY = re.compile(r"not enough memory|unable to allocate|MemoryError|bad_alloc", re.I)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_SUFFIXES = {
    "--csv": ".csv",
    "--json": ".json",
    "--output": ".html",
    "--save": ".mt",
    "--next": ".mom",
    "--sums": ".mom",
}

# Typer would build all commands again for each input, which takes a third of the time.
typer.main.get_command = functools.cache(typer.main.get_command)


@dataclass(frozen=True)
class Files:
    """Inputs of one command: the files of a valid input, and options for it."""

    command: str
    files: Mapping[str, bytes]
    options: Sequence[Sequence[str]] = ((),)
    """Alternative sets of options; "@" stands for the folder of the input."""
    second: str = ""
    """Another input after the first, as of ``assign``, which is mutated less often."""
    always: Sequence[str] = ()
    """Options of files that are always written."""
    sometimes: Sequence[str] = ("--csv", "--json", "--output", "--save")
    """The same for some inputs."""

    def run(self, rng: random.Random, folder: Path, *, valid: bool) -> str:
        """Mutate the files, run the command on them and check the outcome."""
        if valid:
            seeds.write(folder / "in", self.files)
        else:
            self._write(rng, folder / "in")
        return self.run_as_is(rng, folder, self.options[0] if valid else rng.choice(self.options))

    def run_as_is(self, rng: random.Random, folder: Path, options: Sequence[str] = ()) -> str:
        """Run the command on the files of a folder and check the outcome."""
        source, out, temporary = (folder / name for name in ("in", "out", "tmp"))
        for path in (out, temporary):
            path.mkdir()
        first, *_ = self.files
        given = source / (first.split("/")[0])
        arguments = [self.command, str(given)]
        if self.second:
            arguments.append(str(source / self.second))
        arguments += [part.replace("@", str(source)) for part in options]
        promised = [*self.always, *(name for name in self.sometimes if rng.random() < 0.3)]
        if {"--order", "--include-records", "--include-sequences"} & set(options):
            promised = sorted({*promised, "--output"})
        names = {name: f"{name[2:]}{_SUFFIXES[name]}" for name in promised}
        for name in promised:
            arguments += [name, str(out / names[name])]
        (folder / "arguments.txt").write_text(" ".join(arguments), errors="replace")
        status, stdout, stderr = command(arguments, folder, temporary)
        _check(status, stdout, stderr)
        left = sorted(os.listdir(out))
        expected = sorted(names.values()) if status != REFUSED else []
        if left != expected:
            raise Fault(
                "files left" if status == REFUSED else "other files", detail=f"{left}\n{stderr}"
            )
        if os.listdir(temporary):
            raise Fault("temporary files left", detail=str(os.listdir(temporary)))
        if status != REFUSED:
            _check_outputs(out, stdout if self.command == "assign" and not promised else "")
        return "refused" if status == REFUSED else "accepted"

    def _write(self, rng: random.Random, source: Path) -> None:
        pool = list(self.files.values())
        names = list(self.files)
        # The first file is the input; in a folder, each is.
        many = "/" in names[0]
        chosen = {names[0] if rng.random() < 0.7 and not many else rng.choice(names)}
        if many:
            chosen.update(rng.sample(names, rng.randrange(3)))
        for name, content in self.files.items():
            new = changed(rng, content, pool) if name in chosen else content
            seeds.write(source, {name: new})
        if many and rng.random() < 0.4:
            special(rng, source / names[0].split("/")[0])


def special(rng: random.Random, folder: Path) -> None:
    """Add an entry that is not a plain file to a folder."""
    kind = rng.choice(SPECIAL)
    path = folder / f"{kind}.txt"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "dangling":
        path.symlink_to("nowhere")
    elif kind == "folder":
        path.mkdir()
    elif kind == "bytes":
        with open(os.fsencode(folder) + b"/\xff\x1b[31m.txt", "wb") as file:
            file.write(mutated(rng, b"wind wave"))
    else:
        (folder / "up").symlink_to("..", target_is_directory=True)


def command(arguments: Sequence[str], folder: Path, temporary: Path) -> tuple[int, str, str]:
    """Run the command in this process; return its status and its output."""
    from momentree.cli import main

    paths = [folder / "stdout.txt", folder / "stderr.txt"]
    before, cwd = [os.dup(1), os.dup(2)], os.getcwd()
    streams = sys.stdout, sys.stderr, sys.argv, tempfile.tempdir
    status = 0
    try:
        for descriptor, path in enumerate(paths, 1):
            number = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
            os.dup2(number, descriptor)
            os.close(number)
        # They stay open while the command runs, as the streams of a process do.
        own = [open(fd, "w", encoding="utf-8", closefd=False) for fd in (1, 2)]  # noqa: SIM115
        sys.stdout, sys.stderr = own
        sys.argv = ["momentree", *arguments]
        tempfile.tempdir = str(temporary)
        os.chdir(temporary)
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        raise as_fault(error) from error
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr, sys.argv, tempfile.tempdir = streams
        for descriptor, number in enumerate(before, 1):
            os.dup2(number, descriptor)
            os.close(number)
        os.chdir(cwd)
    out, err = (path.read_bytes().decode("utf-8", "replace") for path in paths)
    return status, out, err


def _check(status: int, stdout: str, stderr: str) -> None:
    if status not in (0, REFUSED, INCOMPLETE):
        raise Fault(f"status {status}", detail=stderr)
    if "Traceback" in stderr:
        raise Fault("a traceback", detail=stderr)
    lines = stderr.split("\n")
    if _CONTROL.search(stderr):
        raise Fault("control characters on stderr", detail=repr(stderr))
    if lines.pop() or not all(line.startswith("momentree: ") for line in lines):
        raise Fault("lines on stderr that are not of momentree", detail=stderr)
    errors = [line for line in lines if line.startswith("momentree: error: ")]
    if len(errors) != (status == REFUSED):
        raise Fault(f"{len(errors)} errors on stderr", detail=stderr)
    if errors and _SHORT_OF_MEMORY.search(errors[0]):
        raise Fault("short of memory", detail=stderr)
    if status == REFUSED and stdout:
        raise Fault("output before a refusal", detail=stdout)


def _no_number(name: str) -> Any:
    raise Fault(f"{name} in the JSON file")


def _check_outputs(out: Path, printed: str) -> None:
    """Check that the files written can be read back, and hold finite numbers."""
    for path in out.iterdir():
        if path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                _check_table(list(csv.reader(file)))
        elif path.suffix == ".mt":
            from momentree.models import load

            load(path)
        elif path.suffix == ".mom":
            from momentree import State
            from momentree.backends import read_question

            if path.stem == "next":
                read_question(path.read_bytes())
            else:
                State.load(path)
    if printed:
        _check_table(list(csv.reader(io.StringIO(printed, newline=""))))


def _check_table(rows: list[list[str]]) -> None:
    if not rows or {len(row) for row in rows} != {len(rows[0])}:
        raise Fault("rows of different lengths in the table", detail=repr(rows[:3]))
    if "probability" in rows[0]:
        at = rows[0].index("probability")
        for row in rows[1:]:
            if row[at] and not 0 <= float(row[at]) <= 1:
                raise Fault("a probability that is none", detail=repr(row))

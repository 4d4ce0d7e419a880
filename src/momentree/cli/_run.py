"""Functions shared by all commands: notes, progress and output files of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import typer

from momentree.cli._words import audience_of
from momentree.cli.output import Outputs
from momentree.cli.progress import Progress, seconds
from momentree.cli.screen import INCOMPLETE, one_line, printable, say, show
from momentree.cli.tables import CsvTable, write_json
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message, in_words

_INCOMPLETE = ("files_unreadable",)
"""Notes on input that could not be read."""
_SUFFIXES = {
    "output": (".html", ".htm"),
    "csv": (".csv",),
    "sequence_csv": (".csv",),
    "json": (".json",),
    "table_one": (".csv", ".xlsx", ".tex"),
    "fits_table": (".csv", ".xlsx", ".tex"),
}


@dataclass(frozen=True)
class Result:
    """The result of a command; ``--json`` writes `content` after the name of its format.

    `tables` are further tables of text, by the option that names their file.
    """

    summary: Mapping[str, Any]
    took: float
    table: Callable[[], CsvTable]
    format: str
    content: Callable[[], Mapping[str, Any]]
    save: Callable[[Path], object]
    remarks: Sequence[str] = ()
    tables: Mapping[str, Callable[[], Any]] = field(default_factory=dict)


class Run:
    """One run of a command."""

    def __init__(
        self,
        context: typer.Context,
        *,
        inputs: Iterable[Path | None] = (),
        outputs: Mapping[str, Path | None],
        quiet: bool,
        verbose: bool,
        escape_formulas: bool = False,
        suffixes: Mapping[str, str] | None = None,
    ) -> None:
        self.quiet = quiet
        self._incomplete = False
        self._escape_formulas = escape_formulas
        self._audience = audience_of(context.command)
        self._progress = Progress(quiet=quiet, verbose=verbose)
        self._outputs = Outputs(path for path in inputs if path is not None)
        for option, path in outputs.items():
            own = (suffixes or {}).get(option)
            self._outputs.add(option, path, (own,) if own else _SUFFIXES.get(option, (".mt",)))

    def writes(self, option: str) -> bool:
        """Whether an option requests a file."""
        return option in self._outputs

    def stage(self, text: str) -> AbstractContextManager[None]:
        """Show a stage while a block runs."""
        return self._progress.stage(text)

    def update(self, step: str) -> None:
        """Show a step of the current stage."""
        self._progress.update(step)

    def words(self, message: Message) -> str:
        """Return a message in the terms of the command, on one line."""
        return one_line(in_words(message, self._audience))

    def note(self, message: Message) -> None:
        """Print a note on standard error; one on input that was left out changes the status."""
        self._incomplete |= message.code in _INCOMPLETE
        if not self.quiet:
            say(f"momentree: note: {self.words(message)}")

    def finish(self, result: Result) -> None:
        """Write the files, then draw the result on standard output."""
        from momentree import report

        with self.stage("writing"), self._outputs.writing() as write:
            write("output", lambda path: report.write_html(result.summary, path))
            write("csv", lambda path: self._write_csv(result.table(), path))
            write("json", lambda path: write_json(path, result.format, result.content()))
            for option, table in result.tables.items():
                write(option, partial(self._write_table, table))
            write("save", result.save)
            write("model", result.save)
        if not self.quiet:
            from momentree.cli.drawing import show_summary

            show_summary(result.summary, result.took, result.remarks)
        self.end()

    def write_files(self, saves: Mapping[str, Callable[[Path], object]]) -> None:
        """Write files, each by the function of its option."""
        with self._outputs.writing() as write:
            for option, save in saves.items():
                write(option, save)

    def write_table(self, table: CsvTable) -> None:
        """Write a table only."""
        with self._outputs.writing() as write:
            write("csv", lambda path: self._write_csv(table, path))

    def _write_table(self, make: Callable[[], Any], path: Path) -> None:
        """Write a data frame of text as CSV, Excel or LaTeX."""
        from momentree import report

        table = make()
        if path.suffix.lower() == ".csv":
            self._write_csv(CsvTable(list(table.columns), table.to_numpy().tolist()), path)
        else:
            report.write_table(table, path)

    def _write_csv(self, table: CsvTable, path: Path) -> None:
        table.write(path, escape_formulas=self._escape_formulas)

    def end(self) -> None:
        """Print the names of the files written; exit with status 3 if input was left out."""
        if self._outputs.paths and not self.quiet:
            show("\nWrote " + ", ".join(map(printable, self._outputs.paths)) + "\n")
        if self._incomplete:
            raise typer.Exit(INCOMPLETE)


def made_with(name: str, took: float, **settings: object) -> dict[str, object]:
    """Return lines for the section of a report on how it was made; None is left out."""
    lines = {"input": name, **settings, "time to fit": seconds(took)}
    return {line.replace("_", " "): value for line, value in lines.items() if value is not None}


def check_needed(context: typer.Context, option: str, *, needs: str, code: str) -> None:
    """Refuse an option that has no effect without another."""
    if context.params[option] and context.params[needs] is None:
        raise InvalidParameterError(code, parameter=option)

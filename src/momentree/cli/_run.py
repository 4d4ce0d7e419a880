"""One run of a command: its notes, progress and output files, and the way that all tasks take."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import typer

from momentree.cli import guard, screen
from momentree.cli.options import Options
from momentree.cli.output import Outputs, Writers
from momentree.messages import Message, in_words

_INCOMPLETE = ("files_unreadable",)
"""Notes on input that could not be read."""


class Run:
    """One run of a command."""

    def __init__(
        self,
        context: typer.Context,
        options: Options,
        inputs: Iterable[Path | list[Path]],
    ) -> None:
        self.options = options
        self.quiet = bool(options.quiet)
        self._incomplete = False
        self._audience = guard.audience_of(context.command.name or "")
        self._progress = screen.Progress(quiet=self.quiet, verbose=options.verbose)
        self.outputs = Outputs([*_paths(inputs), *options.inputs()])
        for option in options.table:
            if option.suffixes:
                self.outputs.add(option.name, options.by_name[option.name], option.suffixes)

    def writes(self, option: str) -> bool:
        """Whether an option requests a file."""
        return option in self.outputs

    def stage(self, text: str) -> AbstractContextManager[None]:
        """Show a stage while a block runs."""
        return self._progress.stage(text)

    def update(self, step: str) -> None:
        """Show a step of the current stage."""
        self._progress.update(step)

    def words(self, message: Message | str, **values: Any) -> str:
        """Return a message, or a template with values, in the terms of the command."""
        made = Message(message, **values) if isinstance(message, str) else message
        return screen.one_line(in_words(made, self._audience))

    def note(self, message: Message | str, **values: Any) -> None:
        """Print a note on standard error; one on input that was left out changes the status."""
        message = Message(message, **values) if isinstance(message, str) else message
        self._incomplete |= message.code in _INCOMPLETE
        if not self.quiet:
            screen.say(f"momentree: note: {self.words(message)}")

    def write_files(self, writers: Writers) -> None:
        """Write the files of the options that were given, all of them or none."""
        self.outputs.write(writers)

    def end(self) -> None:
        """Print the names of the files written; exit with status 3 if input was left out."""
        if self.outputs.paths and not self.quiet:
            screen.show("\nWrote " + ", ".join(map(screen.printable, self.outputs.paths)) + "\n")
        if self._incomplete:
            raise typer.Exit(screen.INCOMPLETE)


@dataclass(frozen=True)
class Fit:
    """A fitted model and what was measured of it.

    `model` is the model as it was named and edited by hand, `took` the seconds of the fit, and
    `more` is what a task keeps for its later steps.
    """

    model: Any
    took: float
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """What the commands differ in, after data were read: the steps of :func:`perform`.

    `fit` fits a model to data, `summarize` returns the summary and lines to print below it, and
    `write` returns functions that write the files other than the report.
    """

    fit: Callable[[Run, Any], Fit]
    summarize: Callable[[Run, Any, Fit], tuple[dict[str, Any], list[str]]]
    write: Callable[[Run, Any, Fit, dict[str, Any], list[str]], Writers]


def perform(task: Task, run: Run, data: Any) -> None:
    """Fit a model to data, summarize it, write the files, and draw the result."""
    from momentree import report
    from momentree.cli.drawing import show_summary

    fit = task.fit(run, data)
    summary, remarks = task.summarize(run, data, fit)
    writers = {
        "output": lambda path: report.write_html(summary, path),
        **task.write(run, data, fit, summary, remarks),
    }
    with run.stage("writing"):
        run.write_files(writers)
    if not run.quiet:
        show_summary(summary, fit.took, remarks)
    run.end()


def note_number(
    run: Run, model: Any, requested: int | None, what: Literal["groups", "leaves"]
) -> None:
    """Print a note if there are fewer groups or leaves than requested."""
    from momentree.estimators.node import why_no_more

    n_found = len(getattr(model, "leaves_", ())) or len(model.weights_)
    if not requested or n_found >= requested:
        return
    reason = why_no_more(model)
    values: dict[str, Any] = {"found": n_found, "requested": requested, "reason": reason}
    notes = {
        "groups": (
            Message("[fewer_groups] {found:~group} instead of {requested}", **values),
            Message(
                "[fewer_groups_because] {found:~group} instead of {requested}; the largest one was "
                "not split further, because {reason}",
                **values,
            ),
        ),
        "leaves": (
            Message("[fewer_leaves] {found:~leaf/leaves} instead of {requested}", **values),
            Message(
                "[fewer_leaves_because] {found:~leaf/leaves} instead of {requested}; the largest "
                "one was not split further, because {reason}",
                **values,
            ),
        ),
    }
    run.note(notes[what][reason is not None])


def why_one(model: Any, requested: int | None) -> Message:
    """Return why a result is a single group."""
    from momentree.estimators.node import why_no_more

    code = (
        "[one_group_requested] one group was requested"
        if requested == 1
        else "[one_group_supported] the records support only one group"
    )
    return why_no_more(model) or Message(code)


def made_with(name: str, took: float, **settings: object) -> dict[str, object]:
    """Return lines for the section of a report on how it was made; None is left out."""
    lines = {"input": name, **settings, "time to fit": screen.seconds(took)}
    return {line.replace("_", " "): value for line, value in lines.items() if value is not None}


def _paths(values: Iterable[Path | list[Path]]) -> list[Path]:
    return [path for value in values for path in (value if isinstance(value, list) else [value])]

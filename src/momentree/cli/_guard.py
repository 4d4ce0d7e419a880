"""How a command ends: exit status, one clear line on stderr, never a traceback."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from momentree.cli._screen import BROKEN_PIPE, GENERAL_ERROR, one_line, prepare_screen, say
from momentree.exceptions import MomentreeError

__all__ = ["INTERRUPTED", "Commands", "guarded", "in_options", "prepare_process"]

INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it

_OPTIONS = {
    "max_leaf_nodes": "leaves",
    "max_depth": "depth",
    "n_components": "components",
    "code_columns": "code-column",
    "outcome_columns": "outcome",
    "ignore_columns": "ignore",
    **{
        name: name.replace("_", "-")
        for name in (
            "alpha0",
            "coverage",
            "log_scaling",
            "empty",
            "encoding",
            "id_column",
            "label_column",
            "language",
            "max_df",
            "max_features",
            "min_cell",
            "min_codes",
            "min_df",
            "min_records",
            "min_samples_leaf",
            "names",
            "outcome",
            "rollup",
            "separator",
            "sheet",
            "skip_rows",
            "stop_words",
            "text_column",
            "token_pattern",
            "union_by",
            "vocabulary",
            "weighting",
        )
    },
}
# What is on by default in Python has an option that turns it off.
_SWITCHES = {"drop_constant=False": "--keep-constant"}
# A parameter with its value, or one with an underscore; neither quoted nor part of a path.
_PARAMETER = re.compile(
    r"(?<![\w'\"./-])(?:(?P<switch>SWITCHES)|(?P<set>NAMES)=(?P<value>'[^']*'|[\w.]+)|(?P<named>NAMES))(?![\w'\"/-])".replace(
        "NAMES", "|".join(_OPTIONS)
    ).replace("SWITCHES", "|".join(_SWITCHES))
)


def in_options(message: str, spelling: Mapping[str, str] | None = None) -> str:
    """Return a message with the parameters of Python put as options of the command.

    Parameters
    ----------
    message : str
        What a room says.
    spelling : mapping of str to str, optional
        Names of parameters for which the command has an option of another name than others have.
    """
    options = {**_OPTIONS, **(spelling or {})}

    def put(match: re.Match[str]) -> str:
        if match["switch"]:
            return _SWITCHES[match["switch"]]
        if match["set"]:
            value = match["value"].strip("'")
            return f"--{options[match['set']]} {'none' if value == 'None' else value}"
        # A word of English, such as "encoding", is a parameter only where it has a value.
        return f"--{options[match['named']]}" if "_" in match["named"] else match["named"]

    return _PARAMETER.sub(put, message)


def prepare_process() -> None:
    """Make the process print anything anywhere, and clean up when it is stopped."""
    prepare_screen()
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A command started under nohup ignores SIGHUP, and must go on doing so.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    # An exception, so that temporary files are removed on the way out.
    raise SystemExit(128 + number)


# The base of BadParameter, which typer does not export.
_UsageError: type[Any] = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """A group of commands that tells of options it cannot read in one line, as of all errors."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command; without any argument typer shows the help."""
        if not args:
            return super().parse_args(ctx, args)
        with _parsing():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of the command and run it."""
        with _parsing():
            return super().invoke(ctx)


@contextmanager
def _parsing() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        names = getattr(getattr(error, "param", None), "opts", [])
        option = max(names, key=len, default="")
        message = one_line(error.format_message())
        if option.startswith("-") and error.message:
            message = f"{option}: {one_line(error.message).removeprefix('Value error, ')}"
        command = error.ctx.command_path if error.ctx is not None else "momentree"
        say(f"momentree: error: {message.rstrip('.')}; see {command} --help")
        raise typer.Exit(GENERAL_ERROR) from None


@contextmanager
def guarded(
    spelling: Mapping[str, str] | None = None, less: str = "lower --max-features or raise --min-df"
) -> Iterator[None]:
    """Turn what goes wrong inside a command into one line on stderr and an exit status.

    Bad input, files that cannot be read or written and a lack of memory give status 2,
    Ctrl-C gives 130 and a reader that closed the pipe gives 141, quietly.

    Parameters
    ----------
    spelling : mapping of str to str, optional
        As `in_options` takes it.
    less : str
        How to need less memory.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
    except MomentreeError as error:
        _fail(in_options(str(error), spelling))
    except BrokenPipeError:
        raise typer.Exit(BROKEN_PIPE) from None
    except OSError as error:
        what = error.strerror or error
        _fail(f"{what}: {error.filename}" if error.filename else what)
    except MemoryError:
        _fail(f"not enough memory; {less}, or give less data")
    except KeyboardInterrupt:
        say("momentree: interrupted")
        raise typer.Exit(INTERRUPTED) from None


def _fail(message: object) -> NoReturn:
    say(f"momentree: error: {one_line(message)}")
    raise typer.Exit(GENERAL_ERROR) from None


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    # Notes of libraries to their programmers (deprecations) are of no use to who runs a command.
    del filename, lineno, file, line
    if issubclass(category, UserWarning):
        say(f"momentree: warning: {one_line(message)}")

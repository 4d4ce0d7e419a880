"""End a command with an exit status and one line on standard error, never a traceback."""

import os
import re
import shlex
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from types import FrameType
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from momentree.cli.option_table import SHORT_HELP, options_of, usual_options
from momentree.cli.screen import BROKEN_PIPE, GENERAL_ERROR, one_line, prepare_screen, say
from momentree.exceptions import MomentreeError, MomentreeWarning
from momentree.messages import PYTHON, Audience, Message, in_words
from momentree.messages.plain import PLAIN

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_ALL = "momentree.all"
"""Key for whether the help shows all options."""
USUAL = {command: usual_options(command) for command in SHORT_HELP}
"""Options that ``--help`` shows; ``--help-all`` shows all, as do commands with few of them."""

_SAMPLES = {
    "clusters": "record",
    "merge": "row",
    "moments": "row",
    "sequences": "step",
    "topics": "document",
}
# For these, name the option that sets the limit.
_LIMITS = ("max_depth_reached", "max_leaf_nodes_reached")
_WORDS = {code: PLAIN[code] for code in PLAIN if code not in _LIMITS}
_SUGGESTION = re.compile(r"\. Did you mean(.*)\?$")
_LONG = re.compile(r"\S{500,}")
"""What was given without a blank is repeated only in part."""
_OUT_OF_MEMORY = {
    "topics": Message(
        "[out_of_memory_words] not enough memory; add {parameters.memory:1GB} to work on disk, "
        "lower {parameters.max_features}, raise {parameters.min_df}, or give a smaller input"
    ),
    "clusters": Message(
        "[out_of_memory_codes] not enough memory; raise {parameters.min_records}, or give a "
        "smaller input"
    ),
}


def audience_of(command: str) -> Audience:
    """Return the audience of a command: the user who typed its options, not parameters."""
    options = options_of(command)

    def as_option(name: str, text: str | None, value: Any) -> str:
        option = next((option for option in options if option.names(name)), None)
        if option is None:
            return PYTHON.parameter(name, text, value)
        if text is None or option.kind is bool:
            return option.flag_for(value)
        if isinstance(value, str) and value != text:  # not text of the template
            return f"{option.flag} {shlex.quote(value)}"
        return f"{option.flag} {'none' if value is None else text}"

    return Audience(as_option, _WORDS, _SAMPLES.get(command, PYTHON.sample))


def prepare_process() -> None:
    """Prepare the process to print safely anywhere, and to clean up if it is stopped."""
    prepare_screen()
    # NumPy fails on anything but a time when scikit-learn asks whether it has f2py, used nowhere.
    os.environ.pop("SOURCE_DATE_EPOCH", None)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A command started by nohup ignores SIGHUP, and must continue to do so.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    # An exception, so that temporary files are removed.
    raise SystemExit(128 + number)


# The base class of BadParameter, which typer does not export.
_UsageError: type[Any] = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """A group of commands that reports invalid options in one line, like all errors."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command; without arguments, typer shows the help."""
        if not args:
            return super().parse_args(ctx, args)
        with _parsing():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of the command and run it."""
        with _parsing():
            return super().invoke(ctx)


class Command(TyperCommand):
    """A command that reports errors and warnings as lines on standard error."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options, and whether the help shows all of them."""
        ctx.meta[_ALL] = "--help-all" in args
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print help on the usual options or, if asked, on all."""
        usual, whole = USUAL.get(self.name or ""), self.help or ""
        options = [option for option in self.params if isinstance(option, TyperOption)]
        if usual and not ctx.meta.get(_ALL):
            for option in options:
                option.hidden = option.name not in usual
            self.help = f"{whole}\n\nThe usual options; --help-all shows all {len(options)}."
        super().format_help(ctx, formatter)
        self.help = whole
        for option in options:
            option.hidden = False

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Exit with status 2 for bad input, files that cannot be read or written, or lack of memory,
        130 for Ctrl-C, and 141, without a message, if the reader closed the pipe.
        """
        audience = audience_of(self.name or "")
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _shower(audience)
                return super().invoke(ctx)
        except MomentreeError as error:
            _fail(in_words(error.message, audience))
        except BrokenPipeError:
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            what = error.strerror or error
            _fail(f"{what}: {error.filename}" if error.filename else what)
        except MemoryError:
            problem = _OUT_OF_MEMORY.get(
                self.name or "",
                Message(
                    "[out_of_memory] not enough memory; split the input and run the command on "
                    "each part"
                ),
            )
            _fail(in_words(problem, audience))
        except KeyboardInterrupt:
            say("momentree: interrupted")
            raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _parsing() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        names = getattr(getattr(error, "param", None), "opts", [])
        option = "/".join(name for name in names if name.startswith("--"))
        message = one_line(error.format_message())
        if option and error.message:
            message = f"{option}: {one_line(error.message)}"
        elif hasattr(error, "possibilities") and hasattr(error, "option_name"):
            similar = get_close_matches(error.option_name, error.possibilities or (), 3, 0.75)
            hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
            message = f"No such option: {error.option_name}.{hint}"
        message = _SUGGESTION.sub(r" (did you mean\1?)", message)
        command = error.ctx.command_path if error.ctx is not None else "momentree"
        _fail(f"{message.rstrip('.')}; see {command} --help")


def _fail(message: object) -> NoReturn:
    line = _LONG.sub(lambda word: f"{word[0][:200]}...{word[0][-50:]}", one_line(message))
    say(f"momentree: error: {line}")
    raise typer.Exit(GENERAL_ERROR) from None


def _shower(audience: Audience) -> Any:
    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        del filename, lineno, file, line
        if isinstance(message, MomentreeWarning):
            say(f"momentree: warning: {one_line(in_words(message.message, audience))}")
        elif issubclass(category, UserWarning):  # deprecation warnings are for programmers
            say(f"momentree: warning: {one_line(message)}")

    return show

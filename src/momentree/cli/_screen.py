"""All that the command prints: clean of control characters, and ended well where it cannot be."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

__all__ = [
    "BROKEN_PIPE",
    "CONTROL",
    "GENERAL_ERROR",
    "one_line",
    "prepare_screen",
    "printable",
    "say",
    "show",
]

GENERAL_ERROR = 2
BROKEN_PIPE = 141  # 128 + SIGPIPE, as a shell reports it

# C0, DEL and C1; ends of lines and of paragraphs; overrides of the direction of text.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
# What rich and typer read as numbers, without a look at what is there.
_WIDTHS = ("COLUMNS", "LINES", "TERMINAL_WIDTH")


def one_line(message: object) -> str:
    """Return a message with all its white space, line breaks included, as single spaces."""
    return " ".join(str(message).split())


def printable(text: object) -> str:
    r"""Return a text with control characters written out, so that it cannot steer a terminal.

    Examples
    --------
    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), str(text))


def say(line: str) -> None:
    """Print a line on standard error; where that is closed or full, nobody can be reached."""
    try:
        print(printable(line), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _silence(sys.stderr)


def show(text: str) -> None:
    """Print lines on standard output."""
    sys.stdout.write("\n".join(map(printable, text.split("\n"))))


def prepare_screen() -> None:
    """Make the process print anything anywhere, and end well where it cannot print."""
    for name in _WIDTHS:
        if not re.fullmatch("[1-9][0-9]{0,5}", os.environ.get(name, "")):
            os.environ.pop(name, None)
    for number in (0, 1, 2):
        # A file opened later would take the number of a closed stream, and all that is printed.
        try:
            os.fstat(number)
        except OSError:
            # A table that cannot be printed is an error; a note that cannot be is none.
            os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  for as long as the process lives
    if sys.stdout is None:
        sys.stdout = _Output(open(1, "wb", closefd=False))  # noqa: SIM115
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _Output(
            sys.stdout.buffer,
            encoding=sys.stdout.encoding,
            line_buffering=sys.stdout.line_buffering,
            write_through=sys.stdout.write_through,
        )
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A word that the terminal's encoding lacks becomes "?" instead of an error.
            reconfigure(errors="replace")


class _Output(io.TextIOWrapper):
    """Standard output that ends the process in one way, whoever writes to it."""

    def write(self, text: str) -> int:
        with _ending(self):
            return super().write(text)

    def flush(self) -> None:
        with _ending(self):
            super().flush()


@contextmanager
def _ending(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _silence(stream)
        if isinstance(error, BrokenPipeError):
            raise SystemExit(BROKEN_PIPE) from None
        reason = error.strerror or error
        say(f"momentree: error: cannot write to standard output: {reason}")
        raise SystemExit(GENERAL_ERROR) from None


def _silence(stream: TextIO) -> None:
    # What is still in the buffer would fail again when the interpreter ends, with a traceback.
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

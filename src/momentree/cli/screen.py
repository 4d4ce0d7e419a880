"""Print without control characters from the data, and exit cleanly if printing fails."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from momentree.messages import Message

GENERAL_ERROR = 2
INCOMPLETE = 3  # done, but without some files that could not be read
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it

# C0, DEL and C1; line and paragraph separators; text direction overrides.
CONTROL = (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_ESCAPED = {c: chr(c).encode("unicode_escape").decode() for c in CONTROL}
# Rich and typer read these as numbers, and fail if they are not.
_WIDTHS = ("COLUMNS", "LINES", "TERMINAL_WIDTH")


def one_line(message: object) -> str:
    """Return a message with all white space, including line breaks, as single spaces."""
    return " ".join(str(message).split())


def printable(text: object) -> str:
    r"""Return a text with control characters escaped, so that it cannot control a terminal."""
    return str(text).translate(_ESCAPED)


def say(line: str) -> None:
    """Print a line on standard error, if possible."""
    try:
        print(printable(line), file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _silence(sys.stderr)


def show(text: str) -> None:
    """Print lines on standard output."""
    sys.stdout.write("\n".join(map(printable, text.split("\n"))))


def prepare_screen() -> None:
    """Let the process print any text in any encoding, and exit cleanly if it cannot print."""
    for name in _WIDTHS:
        if not re.fullmatch("[1-9][0-9]{0,5}", os.environ.get(name, "")):
            os.environ.pop(name, None)
    for number in (0, 1, 2):
        # A file opened later would get the descriptor of a closed stream, and so its output.
        try:
            os.fstat(number)
        except OSError:
            # Failing to print output is an error; failing to print a note is not.
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
            # Characters that the encoding lacks become "?" instead of errors.
            reconfigure(errors="replace")


class _Output(io.TextIOWrapper):
    """Standard output that handles failed writes in the same way, whoever writes."""

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
        message = Message("cannot_print", reason=error.strerror or str(error))
        say(f"momentree: error: {message}")
        raise SystemExit(GENERAL_ERROR) from None


def _silence(stream: TextIO) -> None:
    # The remaining buffer would fail again when the interpreter exits, with a traceback.
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)

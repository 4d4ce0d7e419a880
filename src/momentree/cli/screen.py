"""Print safely: no control characters from the data, clean ends if printing fails, progress."""

import io
import logging
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from momentree.core.progress import attach_handler
from momentree.messages import Message

if TYPE_CHECKING:
    from rich.status import Status

GENERAL_ERROR = 2
INCOMPLETE = 3  # done, but without some files that could not be read
BROKEN_PIPE = 141  # 128 + SIGPIPE, as shells report it

# C0, DEL and C1; line and paragraph separators; text direction overrides.
CONTROL = (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_ESCAPED = {c: chr(c).encode("unicode_escape").decode() for c in CONTROL}
_LOGGER = logging.getLogger("momentree")
"""Loggers of the library's steps."""
_PASSES = "momentree.backends"
"""Logger of passes over the data."""
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
        message = Message(
            "[cannot_print] cannot write to standard output: {reason}",
            reason=error.strerror or str(error),
        )
        say(f"momentree: error: {message}")
        raise SystemExit(GENERAL_ERROR) from None


def _silence(stream: TextIO) -> None:
    # The remaining buffer would fail again when the interpreter exits, with a traceback.
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def seconds(duration: float) -> str:
    """Format a duration for people: "0.4 s", "12 s", "3 min 5 s"."""
    if duration < 9.95:
        return f"{duration:.1f} s"
    whole = round(duration)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


class Progress:
    """Shows the current stage on a terminal; with ``verbose``, logs each stage and its time."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._verbose = verbose and not quiet
        self._status: Status | None = None
        self._live = not (quiet or verbose) and _is_live_terminal()

    @contextmanager
    def stage(self, text: str) -> Iterator[None]:
        """Show a stage while the block runs, and the steps that the library logs."""
        start = time.perf_counter()
        if self._live:
            from rich.console import Console
            from rich.text import Text

            console = Console(stderr=True, highlight=False)
            spinner = "dots" if (console.encoding or "").lower().startswith("utf") else "line"
            first = Text(f"{printable(text)} ...")
            with (
                console.status(first, spinner=spinner, spinner_style="cyan") as status,
                attach_handler(_LOGGER, _Live(text, self._show), logging.DEBUG),
            ):
                self._status = status
                try:
                    yield
                finally:
                    self._status = None
        elif self._verbose:
            with attach_handler(_LOGGER, _Printed(logging.INFO)):
                yield
            say(f"{text}: {seconds(time.perf_counter() - start)}")
        else:
            yield

    def update(self, step: str) -> None:
        """Show a step of the current stage on a terminal."""
        self._show(f"{step} ...")

    def _show(self, line: str) -> None:
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(printable(line)))


def _is_live_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Printed(logging.Handler):
    """Prints each step."""

    def emit(self, record: logging.LogRecord) -> None:
        say(f"  {record.getMessage()}")


class _Live(logging.Handler):
    """Shows the last step, and how far its iterations and their last pass over the data are."""

    def __init__(self, step: str, show: Callable[[str], None]) -> None:
        super().__init__(logging.DEBUG)
        self._step, self._show = step, show
        self._parts: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.INFO:
            self._step, self._parts = record.getMessage(), {}
        else:
            if record.name != _PASSES:
                self._parts = {}
            self._parts[record.name] = record.getMessage()
        details = ", ".join(filter(None, self._parts.values()))
        self._show(f"{self._step}: {details}" if details else f"{self._step} ...")

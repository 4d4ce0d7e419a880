"""Show the progress of a command on standard error, as a changing line or a log."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from momentree.cli.screen import printable, say
from momentree.core.progress import attach_handler

if TYPE_CHECKING:
    from rich.status import Status

_LOGGER = logging.getLogger("momentree")
"""Loggers of the library's steps."""
_PASSES = "momentree.backends"
"""Logger of passes over the data."""


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

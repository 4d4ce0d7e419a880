"""What a command tells on stderr while it works."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from momentree._logging import attach_handler
from momentree.cli._screen import printable, say

if TYPE_CHECKING:
    from rich.status import Status

__all__ = ["Progress", "seconds"]

# Where the rooms of the package say what they are doing.
_LOGGER = logging.getLogger("momentree")


def seconds(duration: float) -> str:
    """Write a duration as people do: "0.4 s", "12 s", "3 min 5 s"."""
    if duration < 9.95:
        return f"{duration:.1f} s"
    whole = round(duration)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


class Progress:
    """Show the stage at work on a terminal; with ``verbose``, log each stage and its time.

    Parameters
    ----------
    quiet : bool
        Show nothing at all.
    verbose : bool
        Write lines that stay, also where stderr is not a terminal.
    """

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._verbose = verbose and not quiet
        self._status: Status | None = None
        self._live = not (quiet or verbose) and _is_lively_terminal()

    @contextmanager
    def stage(self, text: str) -> Iterator[None]:
        """Name what the block does for as long as it runs, with what the library says of it."""
        start = time.perf_counter()
        if self._live:
            from rich.console import Console
            from rich.text import Text

            console = Console(stderr=True, highlight=False)
            spinner = "dots" if (console.encoding or "").lower().startswith("utf") else "line"
            first = Text(f"{printable(text)} ...")
            with (
                console.status(first, spinner=spinner, spinner_style="cyan") as status,
                attach_handler(_LOGGER, _Teller(self.tell)),
            ):
                self._status = status
                try:
                    yield
                finally:
                    self._status = None
        elif self._verbose:
            with attach_handler(_LOGGER, _Teller(lambda message: say(f"  {message}"))):
                yield
            say(f"{text}: {seconds(time.perf_counter() - start)}")
        else:
            yield

    def tell(self, message: str) -> None:
        """Show a message on a terminal in place of the name of the stage, until the next one."""
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(f"{printable(message)} ..."))


def _is_lively_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Teller(logging.Handler):
    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())

"""Log how far a long step is, and how long it will still take; show it on request.

Steps are of the level INFO, and their parts, for a live display, of the level DEBUG.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

_iterating = logging.getLogger("momentree.refinement")

_EVERY = 1.0
"""Seconds between two messages."""


class Pace:
    """Logs the progress of a step, at most once a second.

    Parameters
    ----------
    log : Logger
        Where to log.
    step : str
        What is done, such as "counting words".
    total : float or None, default=None
        The size of the work, in any unit; None if it is unknown.
    """

    def __init__(self, log: logging.Logger, step: str, total: float | None = None) -> None:
        self._log, self._step, self._total = log, step, total
        self._start = self._last = time.monotonic()
        log.info(step)

    def reached(self, done: float, what: str = "") -> None:
        """Log that so much is done; `what` replaces the percentage if the total is unknown."""
        now = time.monotonic()
        if now - self._last < _EVERY:
            return
        self._last = now
        if not self._total:
            self._log.info("%s: %s", self._step, what)
            return
        share = min(done / self._total, 1.0)
        self._log.info("%s: %.0f%%%s", self._step, 100 * share, time_left(self._start, share))


class Detail:
    """Logs how far a part of a step is, such as one pass over the rows, for a live display.

    There is at most one message a second; an empty one ends the part. The time of the first of the
    equal steps does not count: it includes what is computed, or compiled, only once.

    Parameters
    ----------
    log : Logger
        Where to log.
    total : int
        Number of equal steps.
    words : str, default="pass"
        What is done.
    at_most : bool, default=False
        Whether there may be fewer steps.
    """

    def __init__(
        self, log: logging.Logger, total: int, words: str = "pass", *, at_most: bool = False
    ) -> None:
        self._log, self._total, self._words, self._at_most = log, total, words, at_most
        self._start = self._last = time.monotonic()
        self._done, self._shown = count(1), False

    def advance(self) -> None:
        """Log that one more step is done; any thread may do so."""
        done, now = next(self._done), time.monotonic()
        if done == 1:
            self._start = now
        if done >= self._total:
            self.end()
        elif now - self._last >= _EVERY:
            self._last, self._shown = now, True
            share, later = done / self._total, (done - 1) / (self._total - 1)
            if self._at_most:
                left = time_left(self._start, later, "at most ")
                self._log.debug("%s %d of at most %d%s", self._words, done, self._total, left)
            else:
                left = time_left(self._start, later)
                self._log.debug("%s: %.0f%%%s", self._words, 100 * share, left)

    def end(self) -> None:
        """Log that the part is over."""
        if self._shown:
            self._shown = False
            self._log.debug("")


def iterations(most: int, *, at_most: bool = True) -> Iterator[int]:
    """Yield the numbers of iterations from 1, and log how far they are.

    Parameters
    ----------
    most : int
        Number of iterations.
    at_most : bool, default=True
        Whether there may be fewer.

    Yields
    ------
    int
        1, 2, ...
    """
    pace = Detail(_iterating, most, "step", at_most=at_most)
    try:
        for i in range(1, most + 1):
            yield i
            pace.advance()
    finally:
        pace.end()


def time_left(start: float, share: float, how: str = "") -> str:
    """Return the time left in words, in parentheses after a blank, such as " (3 min 5 s left)".

    Parameters
    ----------
    start : float
        When the work began, by ``time.monotonic()``.
    share : float
        Share of the work that is done.
    how : str, default=""
        Stands before the time: "about " or "at most ".

    Returns
    -------
    str
        Empty if nothing is done, or the work has taken less than a second.
    """
    took = time.monotonic() - start
    if share <= 0 or took < _EVERY:
        return ""
    minutes, seconds = divmod(max(1, round(took * (1.0 - share) / share)), 60)
    if minutes >= 60:
        return f" ({how}{minutes // 60} h {minutes % 60} min left)"
    return f" ({how}{minutes} min {seconds} s left)" if minutes else f" ({how}{seconds} s left)"


@contextmanager
def console_logging(log: logging.Logger, wanted: bool) -> Iterator[None]:
    """Show the messages of a logger on standard error within a ``with`` block."""
    if not wanted:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("momentree: %(message)s"))
    with attach_handler(log, handler):
        yield


@contextmanager
def attach_handler(
    log: logging.Logger, handler: logging.Handler, level: int = logging.INFO
) -> Iterator[None]:
    """Attach a handler to a logger within a ``with`` block."""
    before = log.level
    log.addHandler(handler)
    log.setLevel(level)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)

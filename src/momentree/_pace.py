"""Log how far a long step is, and how long it will still take."""

from __future__ import annotations

import logging
import time

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
        left = (now - self._start) * (1.0 - share) / share if share > 0 else None
        self._log.info("%s: %s", self._step, " ".join([f"{share:.0%}", *_left(left)]))


def _left(left: float | None) -> list[str]:
    if left is None:
        return []
    minutes, seconds = divmod(max(1, round(left)), 60)
    if minutes >= 60:
        return [f"({minutes // 60} h {minutes % 60} min left)"]
    return [f"({minutes} min {seconds} s left)" if minutes else f"({seconds} s left)"]

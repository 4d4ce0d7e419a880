"""Progress of fits: always logged, and shown on standard error on request."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager


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

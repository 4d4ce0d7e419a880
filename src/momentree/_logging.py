"""Progress of fits: always logged, and shown on standard error on request."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["attach_handler", "console_logging"]


@contextmanager
def console_logging(log: logging.Logger, wanted: bool) -> Iterator[None]:
    """Show the messages of a logger on standard error within a ``with`` block.

    Parameters
    ----------
    log : Logger
        Set to level INFO within the block.
    wanted : bool
        Whether to show them; otherwise this does nothing.

    Yields
    ------
    None
        Messages are shown until the block ends.
    """
    if not wanted:
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("momentree: %(message)s"))
    with attach_handler(log, handler):
        yield


@contextmanager
def attach_handler(log: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    """Attach a handler to a logger within a ``with`` block.

    Parameters
    ----------
    log : Logger
        Set to level INFO within the block.
    handler : Handler
        Receives the messages.

    Yields
    ------
    None
        The handler is attached until the block ends.
    """
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)

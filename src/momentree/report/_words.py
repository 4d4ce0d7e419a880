"""Messages in words for readers of a page."""

from __future__ import annotations

from momentree.messages import PYTHON, Audience, Message, in_words
from momentree.messages.catalogue.report import PLAIN
from momentree.report._text import clean_text

__all__ = ["for_readers"]

_READERS = Audience(PYTHON.parameter, PLAIN)


def for_readers(message: Message | str) -> str:
    """Return a message, or a text that is one already, as plain words that a page can hold."""
    return clean_text(in_words(message, _READERS) if isinstance(message, Message) else message)

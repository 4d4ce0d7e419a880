"""Messages: reasons, notes, warnings and errors as sentences with values."""

from momentree.messages.message import PYTHON, Audience, Message, in_words

__all__ = ["PYTHON", "Audience", "Message", "in_words"]

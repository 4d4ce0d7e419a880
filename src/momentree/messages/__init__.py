"""Messages: reasons, notes, warnings and errors as codes with values, and their wording."""

from momentree.messages.catalogue import CATALOGUE
from momentree.messages.message import PYTHON, Audience, Message, in_words

__all__ = ["CATALOGUE", "PYTHON", "Audience", "Message", "in_words"]

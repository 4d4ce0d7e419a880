"""Errors and warnings that momentree raises: each carries a message, a sentence with values."""

from typing import Any

from momentree.messages import Message

__all__ = [
    "ClusterError",
    "ConvergenceWarning",
    "EmptyCorpusError",
    "InvalidDataError",
    "InvalidParameterError",
    "MissingLibraryError",
    "MomentreeError",
    "MomentreeWarning",
    "ReadError",
]


class _WithMessage(Exception):  # noqa: N818 - also the base of warnings
    """An error or warning with a :class:`momentree.messages.Message`; ``str`` gives its words."""

    def __init__(self, message: str | Message, /, **values: Any) -> None:
        self.message = message if isinstance(message, Message) else Message(message, **values)
        super().__init__(self.message.template)

    @property
    def code(self) -> str:
        """Code of the message."""
        return self.message.code

    def __str__(self) -> str:
        return str(self.message)

    def __reduce__(self) -> tuple[type[Exception], tuple[Message], dict[str, Any]]:
        return type(self), (self.message,), dict(vars(self))


class MomentreeError(_WithMessage, ValueError):
    """Base class of all errors of momentree; a ``ValueError``."""


class InvalidDataError(MomentreeError):
    """The data cannot be used: negative counts, NaN, wrong shape, too few samples."""


class InvalidParameterError(MomentreeError):
    """A parameter of an estimator or function is out of range."""


class MissingLibraryError(MomentreeError, ImportError):
    """An optional library is not installed; the message gives the command that installs it."""


class EmptyCorpusError(InvalidDataError):
    """Nothing to learn from: no documents, or no words after filtering."""


class ReadError(MomentreeError):
    """A file cannot be read: missing, wrong encoding, or malformed at a given line or column."""


class ClusterError(MomentreeError):
    """A cluster gives no answer: the scheduler or too many workers are lost or not found."""


class MomentreeWarning(_WithMessage, UserWarning):
    """Base class of all warnings of momentree; a ``UserWarning``."""


class ConvergenceWarning(MomentreeWarning):
    """An iteration reached its limit before it met its tolerance."""

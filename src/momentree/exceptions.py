"""Errors and warnings that momentree raises, all under one base class.

Every message says what was received, what was expected and what to do next.
"""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "EmptyCorpusError",
    "InvalidDataError",
    "InvalidParameterError",
    "MomentreeError",
    "RankDeficientError",
    "ReadError",
]


class MomentreeError(ValueError):
    """Base class of all errors of momentree; a ``ValueError``."""


class InvalidDataError(MomentreeError):
    """The data cannot be used: negative counts, NaN, wrong shape, too few samples."""


class InvalidParameterError(MomentreeError):
    """A parameter of an estimator or function is out of its range."""


class EmptyCorpusError(InvalidDataError):
    """Nothing is left to learn from: no documents, or no words after filtering."""


class RankDeficientError(MomentreeError):
    """The second moment shows fewer components than were asked for."""


class ReadError(MomentreeError):
    """A file cannot be read: missing, wrong encoding, or malformed at a named line or column."""


class ConvergenceWarning(UserWarning):
    """An iteration ended at its limit before its tolerance was met."""

"""Why groups are not split further, in words that need no mathematics."""

from __future__ import annotations

import re

from momentree.cli._guard import in_options

__all__ = ["in_plain_words"]

_NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"
_WORDS = (
    (r"M2 shows \d+ component\(s\) of \d+ asked for \([^)]*\)", "its codes show no groups within"),
    (r"its moments show no two components", "its codes show no groups within"),
    (
        rf"a split would gain {_NUMBER} nats, less than the BIC penalty of {_NUMBER}",
        "two parts would describe it no better than chance would make them seem to (by BIC)",
    ),
)


def in_plain_words(reason: str) -> str:
    """Return a reason as it is told on the command line.

    Parameters
    ----------
    reason : str
        What a leaf, or an error about a group, says.

    Returns
    -------
    str
        With parameters of Python put as options, and without terms of the algorithm.

    Examples
    --------
    >>> in_plain_words("M2 shows 1 component(s) of 2 asked for (d = 1)")
    'its codes show no groups within'
    """
    for pattern, words in _WORDS:
        reason = re.sub(pattern, words, reason)
    return in_options(reason)

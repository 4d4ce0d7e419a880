"""Shares as text, rounded as scripts of the page round them, so that no two places disagree."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["fixed", "percent", "whole_percent"]


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals; halves go up, as in a script's ``toFixed``.

    Parameters
    ----------
    value : float
        Finite, >= 0.
    digits : int
        Decimals, >= 0.

    Returns
    -------
    str
        Such as "2.5".

    Examples
    --------
    >>> fixed(0.125, 2), f"{0.125:.2f}"
    ('0.13', '0.12')
    """
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def percent(share: float) -> str:
    """Return a share as per cent with one decimal.

    Parameters
    ----------
    share : float
        In [0, 1].

    Returns
    -------
    str
        Such as "12.3 %", or "< 0.1 %" for a little more than nothing.
    """
    value = 100.0 * share
    return "< 0.1 %" if 0.0 < value < 0.1 else f"{fixed(value, 1)} %"


def whole_percent(share: float) -> str:
    """Return a share as whole per cent.

    Parameters
    ----------
    share : float
        In [0, 1].

    Returns
    -------
    str
        Such as "12 %", or "<1 %" for a little more than nothing.
    """
    value = 100.0 * share
    return "<1 %" if 0.0 < value < 0.5 else f"{math.floor(value + 0.5)} %"

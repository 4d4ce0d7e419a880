"""Format shares, rounded half up like the scripts of the page, so that both print the same."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

NO_VALUE = "–"
"""Stands for a value that does not exist."""


def fixed(value: float, digits: int) -> str:
    """Return a number >= 0 with a fixed number of decimals, like ``toFixed`` of JavaScript."""
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage with one decimal: "12.3%", or "< 0.1%"."""
    value = 100.0 * share
    return "< 0.1%" if 0.0 < value < 0.1 else f"{fixed(value, 1)}%"


def whole_percent(share: float) -> str:
    """Return a share in [0, 1] as a whole percentage: "12%", or "< 1%"."""
    value = 100.0 * share
    return "< 1%" if 0.0 < value < 0.5 else f"{math.floor(value + 0.5)}%"


def short_percent(share: float) -> str:
    """Return a share as a percentage with at least two digits: "12%", "1.2%"; "–" for NaN."""
    value = 100.0 * share
    if not math.isfinite(value):
        return NO_VALUE
    return f"{value:.0f}%" if value >= 10 or value == 0 else f"{value:.1f}%"


def share_text(share: float, *, estimated: bool) -> str:
    """Return a share as a percentage with one decimal, after "≈" if it is an estimate."""
    if not math.isfinite(share):
        return NO_VALUE
    return f"{'≈ ' if estimated else ''}{fixed(100.0 * share, 1)}%"

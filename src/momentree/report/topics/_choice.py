"""Describe how the number of topics was chosen: sentences, and the curve of completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from momentree.report.text import for_readers

if TYPE_CHECKING:
    from momentree.tree.selection import ComponentChoice


def describe_choice(choice: ComponentChoice | None) -> dict[str, Any] | None:
    """Return a choice as plain values; None if the number was given."""
    if choice is None:
        return None
    table = choice.table
    k, gain = table["n_components"].to_numpy(), table["completion"].to_numpy(dtype=np.float64)
    known = np.isfinite(gain)
    k, gain = k[known], gain[known]
    curve: list[list[float]] = []
    if len(gain) > 1 and gain.max() > gain[0]:
        fractions = (gain - gain[0]) / (gain.max() - gain[0])
        curve = [[int(n), round(float(part), 4)] for n, part in zip(k, fractions, strict=True)]
    return {
        "n_components": int(choice.n_components),
        "low": int(choice.interval[0]),
        "high": int(choice.interval[1]),
        "reason": for_readers(choice.reason),
        "curve": curve,
    }

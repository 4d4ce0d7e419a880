"""When a split is worth making: penalised likelihood, used where no number of leaves is given."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from momentree.backends import RowBlocks
from momentree.tree.split import Split

__all__ = ["Stop", "always", "bic"]

Floats = NDArray[np.float64]
Stop = Literal["bic"]


def always(split: Split, rows: RowBlocks, sample_weight: Floats) -> str:  # noqa: ARG001
    """Make every split."""
    return ""


def bic(split: Split, rows: RowBlocks, sample_weight: Floats) -> str:
    """Make a split that lowers the Bayesian information criterion."""
    seen = rows.sum(lambda B, _: np.asarray(B.sum(axis=0)))
    penalty = 0.5 * float((seen > 0).sum()) * np.log(max(float(sample_weight.sum()), 2.0))
    if split.gain > penalty:
        return ""
    return f"a split would gain {split.gain:.4g} nats, less than the BIC penalty of {penalty:.4g}"

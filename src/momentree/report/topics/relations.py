"""Measure which topics share words, and which occur in the same documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats

_SIMILAR, _RELATED = 0.1, 0.05
"""Minimum strength of the relations shown."""


def relations(P: Floats, proportions: Floats | None) -> dict[str, Any]:
    """Measure how topics relate: by words P[word | topic] (k, d), and over the documents."""
    norms = np.linalg.norm(P, axis=1, keepdims=True)
    unit = P / np.where(norms > 0, norms, 1.0)
    cosine = np.clip(unit @ unit.T, 0.0, 1.0)
    correlation = None if proportions is None else _correlation(proportions)
    together: list[list[float]] = []
    apart: list[list[float]] = []
    if correlation is not None:
        together = _pairs(correlation, correlation > _RELATED)
        apart = _pairs(-correlation, correlation < -_RELATED)
    return {
        "cosine": _rounded(cosine),
        "correlation": None if correlation is None else _rounded(correlation),
        "alike": _pairs(cosine, cosine > _SIMILAR),
        "together": together,
        "apart": [[i, j, -value] for i, j, value in apart],
    }


def _correlation(proportions: Floats) -> Floats:
    centered = proportions - proportions.mean(axis=0)
    norms = np.linalg.norm(centered, axis=0)
    # Proportions that differ only by rounding errors are constant.
    flat = norms <= 1e-9 * np.sqrt(len(proportions))
    unit = np.where(flat, 0.0, centered / np.where(flat, 1.0, norms))
    correlation = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _pairs(strength: Floats, wanted: NDArray[np.bool_]) -> list[list[float]]:
    first, second = np.triu_indices(len(strength), 1)
    value = np.round(strength[first, second], 3)
    order = np.argsort(-value, kind="stable")
    order = order[wanted[first, second][order]][:5]
    return [[int(first[i]), int(second[i]), float(value[i])] for i in order]


def _rounded(matrix: Floats) -> list[list[float]]:
    # Adding zero turns -0.0 into 0.0.
    values: list[list[float]] = (np.round(matrix, 2) + 0.0).tolist()
    return values

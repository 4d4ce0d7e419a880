"""How topics relate: which use the same words, which meet in the same documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["relations"]

_MAX_PAIRS = 5
_SIMILAR, _RELATED = 0.1, 0.05
"""Pairs below these are noise to a reader: topics that have little to do with each other."""

Floats = NDArray[np.float64]


def relations(P: Floats, shares: Floats | None) -> dict[str, Any]:
    """Measure how topics relate.

    Parameters
    ----------
    P : ndarray of shape (k, d)
        P[word | topic].
    shares : ndarray of shape (n_samples, k) or None
        Shares of topics in documents.

    Returns
    -------
    dict
        JSON-able: ``cosine`` (k, k) of the topics' words; ``correlation`` (k, k) of their shares
        over documents, or None without shares (a topic of constant share has correlation 0 with
        others); ``alike``, ``together`` and ``apart``: at most five pairs of topics each, the
        strongest first, with their value.
    """
    norms = np.linalg.norm(P, axis=1, keepdims=True)
    unit = P / np.where(norms > 0, norms, 1.0)
    cosine = np.clip(unit @ unit.T, 0.0, 1.0)
    correlation = None if shares is None else _correlation(shares)
    alike = _pairs(cosine, cosine > _SIMILAR)
    together: list[list[float]] = []
    apart: list[list[float]] = []
    if correlation is not None:
        together = _pairs(correlation, correlation > _RELATED)
        apart = _pairs(-correlation, correlation < -_RELATED)
    return {
        "cosine": _rounded(cosine),
        "correlation": None if correlation is None else _rounded(correlation),
        "alike": alike,
        "together": together,
        "apart": [[i, j, -value] for i, j, value in apart],
    }


def _correlation(shares: Floats) -> Floats:
    centered = shares - shares.mean(axis=0)
    norms = np.linalg.norm(centered, axis=0)
    # Shares that differ by rounding alone have no direction.
    flat = norms <= 1e-9 * np.sqrt(len(shares))
    unit = np.where(flat, 0.0, centered / np.where(flat, 1.0, norms))
    correlation = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _pairs(strength: Floats, wanted: NDArray[np.bool_]) -> list[list[float]]:
    first, second = np.triu_indices(len(strength), 1)
    value = np.round(strength[first, second], 3)
    order = np.argsort(-value, kind="stable")
    order = order[wanted[first, second][order]][:_MAX_PAIRS]
    return [[int(first[i]), int(second[i]), float(value[i])] for i in order]


def _rounded(matrix: Floats) -> list[list[float]]:
    # Adding zero turns -0.0 into 0.0.
    values: list[list[float]] = (np.round(matrix, 2) + 0.0).tolist()
    return values

"""H Algorithm 2, step 3: project decomposed moments onto single-topic model parameters."""

from __future__ import annotations

import numpy as np

from momentree._types import Bools, Floats
from momentree.objects import Decomposition, TopicParameters

ROUNDING = 1e-13
"""Entries below this, relative to the largest of the column, are zero."""


def project_to_simplex(V: Floats) -> Floats:
    """Return the Euclidean projection of each column onto the probability simplex.

    The solution of min ||p - v||_2 over p >= 0, sum p = 1 is p = max(v - t, 0), where t satisfies
    sum p = 1.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Any finite columns.

    Returns
    -------
    ndarray of shape (d, k)
        Columns >= 0 with sum 1.

    Notes
    -----
    J. Duchi et al. Efficient projections onto the l1-ball, ICML 2008, Figure 1. Time O(k d log d).
    """
    rows = np.ascontiguousarray(V.T)  # NumPy is several times as fast along the last axis
    k, d = rows.shape
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, d + 1)
    last = d - 1 - np.argmax((descending > excess)[:, ::-1], axis=1)
    P = np.maximum(rows - excess[np.arange(k), last, None], 0.0)
    P[ROUNDING * np.abs(rows).max(axis=1, keepdims=True, initial=0.0) > P] = 0.0
    return np.ascontiguousarray((P / P.sum(axis=1, keepdims=True)).T)


def topic_parameters(found: Decomposition, occurs: Bools | None = None) -> TopicParameters:
    """Project a decomposition onto the parameters of a single-topic model.

    Parameters
    ----------
    found : Decomposition
        Decomposition with at least one component.
    occurs : ndarray of bool of shape (d,), default=None
        Words that may have positive probabilities, at least one; None allows all.

    Returns
    -------
    TopicParameters
        Centers projected onto the simplex, weights scaled to sum 1.
    """
    if occurs is None or occurs.all():
        centers = project_to_simplex(found.centers)
    else:
        centers = np.zeros(found.centers.shape)
        centers[occurs] = project_to_simplex(found.centers[occurs])
    return TopicParameters(found.weights / found.weights.sum(), centers)

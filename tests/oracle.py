"""Bounds on the mistakes of a fit, from those that the true parameters make."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

__all__ = ["assert_near_oracle", "bernoulli_labels", "multinomial_labels", "poisson_labels"]


def mistakes(truth: ArrayLike, labels: ArrayLike) -> int:
    """Count the samples outside the group that is matched with their true one."""
    table = contingency_matrix(truth, labels)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return int(table.sum() - table[rows, columns].sum())


def assert_near_oracle(truth: ArrayLike, oracle: ArrayLike, labels: ArrayLike) -> None:
    """Check that a fit makes no more mistakes than the true parameters, within 4 standard errors.

    A number m of rare mistakes is Poisson, with a standard error of sqrt(m); m + 1 in its place
    leaves room where the true parameters happen to make none.
    """
    m = mistakes(truth, oracle)
    assert mistakes(truth, labels) <= m + 4 * np.sqrt(m + 1)


def multinomial_labels(X: ArrayLike, weights: ArrayLike, components: ArrayLike) -> np.ndarray:
    """Return the topic of highest posterior under the true parameters."""
    logs = np.log(np.maximum(components, 1e-300))
    return (X @ logs.T + np.log(weights)).argmax(axis=1)


def poisson_labels(X: ArrayLike, weights: ArrayLike, means: ArrayLike) -> np.ndarray:
    """Return the component of highest posterior under the true parameters."""
    return (X @ np.log(means).T - np.sum(means, axis=1) + np.log(weights)).argmax(axis=1)


def bernoulli_labels(X: ArrayLike, weights: ArrayLike, means: ArrayLike) -> np.ndarray:
    """Return the component of highest posterior under the true parameters."""
    mu = np.clip(means, 1e-300, 1 - 1e-16)
    constant = np.log1p(-mu).sum(axis=1) + np.log(weights)
    return (X @ (np.log(mu) - np.log1p(-mu)).T + constant).argmax(axis=1)

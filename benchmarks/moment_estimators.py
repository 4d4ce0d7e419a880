"""How fast do estimated moments converge to the true ones, for each weighting of documents?

Single-topic corpora with 3 to 100 words per document; topics and weights are drawn uniformly for
each seed and scaled to sum 1: Figure 1 of the SVTD paper. "length" is the estimator of its
Theorem 1, "uniform" that of Zou et al. The errors ||M~2 - M2||_F and ||M~3 - M3||_F
should fall as 1 / sqrt(n), a slope of -1/2 on logarithmic scales.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from _common import environment, mean_se, table
from numpy.typing import NDArray

from momentree.moments import SingleTopicMoments

WEIGHTINGS = ("length", "uniform")
SIZES = (100, 300, 1000, 3000, 10_000)


def errors(n: int, d: int, k: int, seed: int) -> list[float]:
    """Return the errors of M2 and M3 weighted by length, then weighted uniformly."""
    rng = np.random.default_rng([seed, n])
    mu, w = rng.random((k, d)), rng.random(k)
    mu /= mu.sum(axis=1, keepdims=True)
    w /= w.sum()
    topic = rng.choice(k, size=n, p=w)
    X = rng.multinomial(rng.integers(3, 101, size=n), mu[topic])
    exact = SingleTopicMoments.from_parameters(w, mu)
    found = []
    for weighting in WEIGHTINGS:
        moments = SingleTopicMoments.from_data(X, weighting=weighting)
        found.append(np.linalg.norm((moments.m2 - exact.m2) @ np.eye(d)))
        found.append(np.linalg.norm(moments.m3_dense() - exact.m3_dense()))
    return [float(error) for error in found]


def measure(sizes: Sequence[int], n_seeds: int, d: int = 30, k: int = 5) -> NDArray[np.float64]:
    """Return errors of shape (sizes, seeds, 4), columns as in :func:`errors`."""
    return np.array([[errors(n, d, k, seed) for seed in range(n_seeds)] for n in sizes])


def slopes(sizes: Sequence[int], found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the slopes of log error against log n, of shape (seeds, 4)."""
    _, n_seeds, columns = found.shape
    fit = np.polyfit(np.log(sizes), np.log(found).reshape(len(sizes), -1), 1)
    return fit[0].reshape(n_seeds, columns)


def rows(sizes: Sequence[int], found: NDArray[np.float64]) -> list[list[str]]:
    """Return the rows of the table: one per size, then the slopes."""
    table_rows = [
        [str(n), *(mean_se(column) for column in at_n.T)]
        for n, at_n in zip(sizes, found, strict=True)
    ]
    return [*table_rows, ["slope", *(mean_se(column, ".3f") for column in slopes(sizes, found).T)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--components", type=int, default=5)
    options = parser.parse_args()
    print(environment())
    print(
        f"{options.features} words, {options.components} topics, {options.seeds} seeds; "
        f"mean +- standard error"
    )
    found = measure(SIZES, options.seeds, options.features, options.components)
    header = [f"{name}, {weighting}" for weighting in WEIGHTINGS for name in ("Err2", "Err3")]
    print(table(("n", *header), rows(SIZES, found)))
    ratio = (found[..., 2:] / found[..., :2]).reshape(-1, 2)
    print("\nError with uniform weights / error with weights by length, on the same corpus:")
    print(table(("Err2", "Err3"), [[mean_se(column) for column in ratio.T]]))


if __name__ == "__main__":
    main()

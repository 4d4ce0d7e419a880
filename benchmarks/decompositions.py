"""Which decomposition recovers a Poisson mixture best, and in what time?

Counts of a Poisson naive Bayes model with 5 components over 100 features; means and weights drawn
uniformly, means of a component scaled to sum 5, all new for each seed: Figure 2.1 of the thesis
(Figure 2 of the SVTD paper is the same for topics). The error is ||M~ - M||_F after matching; the
clustering takes the most probable component of each row under the parameters found. The time is
that of the decomposition from the same moments, with the passes over the data that it makes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from _common import environment, mean_se, table
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from momentree import decomposition
from momentree.backends import RowBlocks
from momentree.datasets import PoissonSample, make_poisson_mixture
from momentree.inference import log_joint
from momentree.metrics import match_components
from momentree.moments import PoissonMoments
from momentree.objects import PoissonParameters

METHODS = (
    "sidiwo",
    "svtd",
    "tensor_power_method",
    "als",
    "svd_method",
    "eigendecomposition",
    "jennrich",
    "random_projections",
)
TRUTH = "true parameters"
SIZES = (1000, 2000, 5000, 10_000)


@dataclass
class Scores:
    """Error, adjusted Rand index and seconds, a value for each seed."""

    error: list[float] = field(default_factory=list)
    ari: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def sample(n: int, d: int, k: int, seed: int) -> PoissonSample:
    """Draw rows from a mixture with uniform weights scaled to sum 1, the same for every n."""
    rng = np.random.default_rng(seed)
    w = rng.random(k)
    return make_poisson_mixture(n, d, k, weights=w / w.sum(), random_state=rng)


def frobenius(found: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Return ||M~ - M||_F after matching; components that are missing count as zeros."""
    order = match_components(found, truth, "l2")
    matched = np.where((order >= 0)[:, None], found[order], 0.0)
    return float(np.linalg.norm(matched - truth))


def clusters(
    X: sp.csr_array, weights: NDArray[np.float64], means: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the most probable component of each row."""
    # Moments may give means that are not positive: a hundredth of the average stands for them.
    centers = np.maximum(means.T, 0.01 * max(float(means.mean()), 1e-12))
    parameters = PoissonParameters(weights / weights.sum(), centers)
    return log_joint(RowBlocks(X), parameters).argmax(axis=1)


def measure(
    sizes: Sequence[int], n_seeds: int, d: int = 100, k: int = 5, methods: Sequence[str] = METHODS
) -> dict[tuple[str, int], Scores]:
    """Return the scores of each method, and of the truth, at each number of rows."""
    scores: dict[tuple[str, int], Scores] = {}
    for n in sizes:
        for seed in range(n_seeds):
            data = sample(n, d, k, seed)
            moments = PoissonMoments.from_data(data.X)
            for name in methods:
                start = time.perf_counter()
                found = getattr(decomposition, name)(moments, k, random_state=seed)
                seconds = time.perf_counter() - start
                labels = clusters(data.X, found.weights, found.centers.T)
                entry = scores.setdefault((name, n), Scores())
                entry.error.append(frobenius(found.centers.T, data.means))
                entry.ari.append(adjusted_rand_score(data.labels, labels))
                entry.seconds.append(seconds)
            best = clusters(data.X, data.weights, data.means)
            entry = scores.setdefault((TRUTH, n), Scores())
            entry.ari.append(adjusted_rand_score(data.labels, best))
    return scores


def rows(scores: dict[tuple[str, int], Scores], what: str, sizes: Sequence[int]) -> list[list[str]]:
    """Return a row for each method, a column for each size, of "error", "ari" or "seconds"."""
    names = dict.fromkeys(name for name, _ in scores)
    cells = {key: getattr(entry, what) for key, entry in scores.items()}
    return [
        [name, *(mean_se(cells[name, n]) for n in sizes)] for name in names if cells[name, sizes[0]]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--components", type=int, default=5)
    options = parser.parse_args()
    print(environment())
    print(
        f"{options.features} features, {options.components} components, {options.seeds} seeds; "
        f"mean +- standard error"
    )
    scores = measure(SIZES, options.seeds, options.features, options.components)
    for what, title in (
        ("error", "||M~ - M||_F"),
        ("ari", "adjusted Rand index of the clusters"),
        ("seconds", "seconds"),
    ):
        print(f"\n{title}")
        header = ("decomposition", *(f"n = {n}" for n in SIZES))
        print(table(header, rows(scores, what, SIZES)))


if __name__ == "__main__":
    main()

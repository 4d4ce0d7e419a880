"""Which decomposition recovers the parameters of a sample best, and in what time?

Two experiments with 5 components over 100 features and parameters drawn uniformly for each seed.
Topics: documents of 3 to 100 words of a single-topic model (Figure 2 of the SVTD paper). Poisson:
a Poisson naive Bayes model whose component means sum to 5 (Figure 2.1 of the thesis). The error is
||M~ - M||_F / ||M||_F after matching; the clustering assigns each row to its most probable
component under the estimated parameters. The time is that of the decomposition from the same
moments, including its passes over the data.
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
from momentree.datasets import make_poisson_mixture
from momentree.inference import log_joint
from momentree.metrics import match_components
from momentree.models import DECOMPOSITIONS as METHODS
from momentree.moments import PoissonMoments, SingleTopicMoments
from momentree.objects import MixtureParameters, Moments, PoissonParameters, TopicParameters

TRUTH = "true parameters"
SIZES = {"topics": (100, 300, 1000, 3000), "poisson": (1000, 2000, 5000, 10_000)}


@dataclass
class Scores:
    """Error, adjusted Rand index and seconds, one value per seed."""

    error: list[float] = field(default_factory=list)
    ari: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


@dataclass
class Data:
    """A sample of a model, its moments and the true parameters."""

    X: sp.csr_array
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]
    centers: NDArray[np.float64]
    moments: Moments
    family: type[MixtureParameters]


def sample(model: str, n: int, d: int, k: int, seed: int) -> Data:
    """Draw n rows; the parameters depend only on the seed."""
    rng = np.random.default_rng(seed)
    w = rng.random(k)
    w /= w.sum()
    if model == "poisson":
        drawn = make_poisson_mixture(n, d, k, weights=w, random_state=rng)
        moments = PoissonMoments.from_data(drawn.X)
        return Data(drawn.X, drawn.labels, w, drawn.means, moments, PoissonParameters)
    mu = rng.random((k, d))
    mu /= mu.sum(axis=1, keepdims=True)
    labels = rng.choice(k, size=n, p=w)
    lengths = rng.integers(3, 101, size=n)
    drawn_from = zip(lengths, labels, strict=True)
    X = sp.csr_array(np.stack([rng.multinomial(c, mu[j]) for c, j in drawn_from]))
    return Data(X, labels, w, mu, SingleTopicMoments.from_data(X), TopicParameters)


def frobenius(found: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Return ||M~ - M||_F after matching; missing components count as zeros."""
    order = match_components(found, truth, "l2")
    matched = np.where((order >= 0)[:, None], found[order], 0.0)
    return float(np.linalg.norm(matched - truth))


def clusters(
    data: Data, weights: NDArray[np.float64], centers: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the most probable component of each row."""
    # Estimated centers may be zero or negative: use a hundredth of the average instead.
    M = np.maximum(centers.T, 0.01 * max(float(data.centers.mean()), 1e-12))
    if data.family is TopicParameters:
        M /= M.sum(axis=0)
    parameters = data.family(weights / weights.sum(), M)
    return log_joint(RowBlocks(data.X), parameters).argmax(axis=1)


def measure(
    model: str,
    sizes: Sequence[int],
    n_seeds: int,
    d: int = 100,
    k: int = 5,
    methods: Sequence[str] = METHODS,
) -> dict[tuple[str, int], Scores]:
    """Return the scores of each method, and of the true parameters, for each number of rows."""
    scores: dict[tuple[str, int], Scores] = {}
    for n in sizes:
        for seed in range(n_seeds):
            data = sample(model, n, d, k, seed)
            size = float(np.linalg.norm(data.centers))
            for name in methods:
                start = time.perf_counter()
                found = getattr(decomposition, name)(data.moments, k, random_state=seed)
                seconds = time.perf_counter() - start
                labels = clusters(data, found.weights, found.centers.T)
                entry = scores.setdefault((name, n), Scores())
                entry.error.append(frobenius(found.centers.T, data.centers) / size)
                entry.ari.append(adjusted_rand_score(data.labels, labels))
                entry.seconds.append(seconds)
            best = clusters(data, data.weights, data.centers)
            entry = scores.setdefault((TRUTH, n), Scores())
            entry.ari.append(adjusted_rand_score(data.labels, best))
    return scores


def rows(scores: dict[tuple[str, int], Scores], what: str, sizes: Sequence[int]) -> list[list[str]]:
    """Return a table of "error", "ari" or "seconds": methods by numbers of rows."""
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
    parser.add_argument("--models", nargs="+", choices=list(SIZES), default=list(SIZES))
    options = parser.parse_args()
    print(environment())
    print(
        f"{options.features} features, {options.components} components, {options.seeds} seeds; "
        f"mean +- standard error"
    )
    for model in options.models:
        sizes = SIZES[model]
        scores = measure(model, sizes, options.seeds, options.features, options.components)
        for what, title in (
            ("error", "||M~ - M||_F / ||M||_F"),
            ("ari", "adjusted Rand index of the clusters"),
            ("seconds", "seconds"),
        ):
            print(f"\n{model}: {title}\n")
            header = ("decomposition", *(f"n = {n}" for n in sizes))
            print(table(header, rows(scores, what, sizes)))


if __name__ == "__main__":
    main()

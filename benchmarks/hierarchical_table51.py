"""How well are the eight hierarchical topics of Table 5.1 recovered?

400 documents of 200 words from the topics that the papers' authors used, with uniform noise of at
most 0.1 added; 20 seeds. The papers report ARI 0.98 +- 0.01 in 0.4 s per tree. The second table has
random weights of the topics, drawn uniformly and scaled to sum 1, from the first 20 seeds in which
each topic has at least five documents: here some topics are rare.
"""

from __future__ import annotations

import argparse
import time
from itertools import count
from typing import Any

import numpy as np
from _common import DATA, environment, spread, table
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from momentree import SingleTopicModel, TopicTree
from momentree.datasets import TopicSample, make_hierarchical_topics

VARIANTS: dict[str, Any] = {
    "tree, defaults": TopicTree(8),
    "tree, log_scaling='log1p'": TopicTree(8, log_scaling="log1p"),
    "tree, refine=None": TopicTree(8, refine=None),
    "Algorithm 2 of the papers": TopicTree(8, growth="depth", refine=None, log_scaling=None),
    "topics, defaults": SingleTopicModel(8),
}
LEAST = 5
"""Documents of each topic in samples with random weights."""


def topics() -> np.ndarray | None:
    """Return the topics of the papers' authors, (8, 100), or None if their file is missing."""
    file = DATA / "hierarchical_topics_M.csv"
    return np.loadtxt(file, delimiter=",").T if file.exists() else None


def samples_of_equal_weights(n: int) -> list[TopicSample]:
    """Return a sample for each of n seeds."""
    M = topics()
    return [make_hierarchical_topics(topics=M, random_state=seed) for seed in range(n)]


def samples_of_random_weights(n: int) -> list[TopicSample]:
    """Return samples for the first n seeds in which no topic is too rare."""
    M = topics()
    found: list[TopicSample] = []
    for seed in count():
        if len(found) == n:
            break
        rng = np.random.default_rng(seed)
        weights = rng.random(8)
        weights /= weights.sum()
        sample = make_hierarchical_topics(topics=M, weights=weights, random_state=rng)
        if np.bincount(sample.labels, minlength=8).min() >= LEAST:
            found.append(sample)
    return found


def measure(samples: list[TopicSample]) -> list[tuple[str, str, str, str]]:
    """Return one row per variant: name, mean and deviation of ARI, minimum, ms per fit."""
    rows = []
    for name, estimator in VARIANTS.items():
        clone(estimator).fit(samples[0].X)  # not timed
        scores, times = [], []
        for sample in samples:
            start = time.perf_counter()
            fitted = clone(estimator).fit(sample.X)
            times.append(1e3 * (time.perf_counter() - start))
            scores.append(adjusted_rand_score(sample.labels, fitted.labels_))
        ari = f"{np.mean(scores):.4f} +- {np.std(scores):.4f}"
        rows.append((name, ari, f"{min(scores):.4f}", spread(times, ".0f")))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    n_seeds = parser.parse_args().seeds
    print(environment())
    if topics() is None:
        print("hierarchical_topics_M.csv is not in ../shared/data: the built-in topics are used")
    print(f"{n_seeds} seeds; mean +- standard deviation; median [minimum, maximum]")
    for title, sampler in (
        ("equal weights", samples_of_equal_weights),
        ("random weights", samples_of_random_weights),
    ):
        print(f"\n{title}\n")
        print(table(("8 topics", "ARI", "minimum ARI", "ms per fit"), measure(sampler(n_seeds))))


if __name__ == "__main__":
    main()

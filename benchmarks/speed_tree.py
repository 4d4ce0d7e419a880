"""How long does a tree of eight leaves take, in matrix-vector products?

A product X @ v reads every stored value once: it costs one pass over the data. The
data are 11,463 documents of about 1,450 words from eight unrelated topics over 3,000 words.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from _common import environment, interleaved, product, spread, table, unrelated_topics
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from momentree import TopicTree

INNER = 20
VARIANTS: dict[str, dict[str, Any]] = {
    "without refinement": {"refine": None},
    "without refinement and log scaling": {"refine": None, "log_scaling": None},
    "defaults": {},
}


def measure(X: Any, truth: NDArray[Any], repeats: int) -> list[tuple[str, str, str, str, str]]:
    """Return one row per variant: name, milliseconds, multiples of X @ v, ARI."""
    trees = {name: TopicTree(max_leaf_nodes=8, **options) for name, options in VARIANTS.items()}
    tasks: dict[str, Any] = {"X @ v": product(X, INNER)}
    tasks |= {name: partial(tree.fit, X) for name, tree in trees.items()}
    times = interleaved(tasks, repeats)
    unit = times["X @ v"] / INNER
    rows = [("one product X @ v", spread(1e3 * unit, ".1f"), "1", "", "")]
    for name, tree in trees.items():
        ratio = times[name] / unit  # from the same round, because the machine is never quite idle
        ari = adjusted_rand_score(truth, tree.labels_)
        rows.append(
            (
                name,
                spread(1e3 * times[name], ",.0f"),
                spread(ratio, ",.0f"),
                str(tree.n_leaves_),
                f"{ari:.3f}",
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    print(environment())
    sample = unrelated_topics()
    n, d = sample.X.shape
    print(f"{n:,} x {d:,} counts ({sample.X.dtype}), {sample.X.nnz:,} stored; median [min, max]")
    header = ("tree of 8 leaves", "ms", "products X @ v", "leaves", "ARI")
    print(table(header, measure(sample.X, sample.labels, repeats)))


if __name__ == "__main__":
    main()

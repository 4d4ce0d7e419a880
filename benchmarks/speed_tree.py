"""How long does a tree of eight leaves take, in matrix-vector products?

A product X @ v reads every stored value once: it costs one pass over the data. The
data are 11,463 documents of about 1,450 words from eight unrelated topics over 3,000 words. With
`--million`, they are a million documents of about 43 words from ten topics over 20,000 words, and
flat models are measured too.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from _common import environment, interleaved, product, spread, table, unrelated_topics
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from momentree import SingleTopicModel, TopicTree

INNER = 20
TREES: dict[str, dict[str, Any]] = {
    "without refinement": {"refine": None},
    "without refinement and log scaling": {"refine": None, "log_scaling": None},
    "defaults": {},
}
FLAT: dict[str, dict[str, Any]] = {"without refinement": {"refine": None}, "defaults": {}}


def measure(
    X: Any, truth: NDArray[Any], models: dict[str, Any], repeats: int
) -> list[tuple[str, str, str, str, str]]:
    """Return one row per model: name, milliseconds, multiples of X @ v, groups, ARI."""
    tasks: dict[str, Any] = {"X @ v": product(X, INNER)}
    tasks |= {name: partial(model.fit, X) for name, model in models.items()}
    times = interleaved(tasks, repeats)
    unit = times["X @ v"] / INNER
    rows = [("one product X @ v", spread(1e3 * unit, ".1f"), "1", "", "")]
    for name, model in models.items():
        ratio = times[name] / unit  # from the same round, because the machine is never quite idle
        rows.append(
            (
                name,
                spread(1e3 * times[name], ",.0f"),
                spread(ratio, ",.0f"),
                str(len(set(model.labels_.tolist()))),
                f"{adjusted_rand_score(truth, model.labels_):.3f}",
            )
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--million", action="store_true", help="a million short documents")
    args = parser.parse_args()
    print(environment())
    models: dict[str, Any] = {
        f"tree, {name}": TopicTree(max_leaf_nodes=8, **options) for name, options in TREES.items()
    }
    if args.million:
        sample = unrelated_topics(1_000_000, 20_000, 43, k=10)
        models |= {f"flat, {name}": SingleTopicModel(10, **FLAT[name]) for name in FLAT}
    else:
        sample = unrelated_topics()
    n, d = sample.X.shape
    print(f"{n:,} x {d:,} counts ({sample.X.dtype}), {sample.X.nnz:,} stored; median [min, max]")
    header = ("model", "ms", "products X @ v", "groups", "ARI")
    print(table(header, measure(sample.X, sample.labels, models, args.repeats)))


if __name__ == "__main__":
    main()

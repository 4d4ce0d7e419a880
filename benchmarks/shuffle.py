"""Are labels the same for every order of the documents and words, and any number of threads?"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from _common import CORPORA, environment, load, table, unrelated_topics

from momentree import TopicTree
from momentree.backends import num_threads


def differing(X: Any, leaves: int, min_samples_leaf: int, seeds: int) -> list[int]:
    """Return the number of documents whose labels differ from those of X on one thread.

    The first number is for two threads; the others are for shuffled rows and columns, on one
    and two threads alternately.
    """
    tree = TopicTree(max_leaf_nodes=leaves, min_samples_leaf=min_samples_leaf)
    with num_threads(1):
        labels = tree.fit(X).labels_
    with num_threads(2):
        found = [int((tree.fit(X).labels_ != labels).sum())]
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
        with num_threads(1 + seed % 2):
            shuffled = tree.fit(X[rows][:, columns]).labels_
        found.append(int((shuffled != labels[rows]).sum()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    seeds = parser.parse_args().seeds
    print(environment())
    rows = []
    for name in CORPORA:
        corpus = load(name)
        if corpus is not None:
            found = differing(corpus.X, corpus.n_classes, corpus.min_samples_leaf, seeds)
            rows.append((name, corpus.X.shape[0], *found))
    sample = unrelated_topics()
    rows.append(("eight unrelated topics", sample.X.shape[0], *differing(sample.X, 8, 5, seeds)))
    print("documents whose leaf differs")
    shuffles = [f"shuffle {i + 1}, {1 + i % 2} thr." for i in range(seeds)]
    print(table(("corpus", "documents", "2 threads", *shuffles), rows))


if __name__ == "__main__":
    main()

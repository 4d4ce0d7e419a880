"""How long does a tree of 20 Newsgroups take, compared with online LDA of scikit-learn?

Both receive the same counts, vectorised and filtered beforehand; LDA keeps its default settings
except ``learning_method="online"``, with its default of 10 components and with 20.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
from _common import SEED, environment, interleaved, load, spread, table
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import normalized_mutual_info_score as nmi

from momentree import TopicTree


def measure(X: Any, target: Any, leaves: int, repeats: int) -> list[tuple[str, str, str, str]]:
    """Return one row per method: name, seconds, time of the tree relative to it, NMI."""
    tree = TopicTree(max_leaf_nodes=leaves)
    tasks = {f"tree, {leaves} leaves": partial(tree.fit, X)}
    peers = {}
    for k in (10, 20):
        lda = LatentDirichletAllocation(k, learning_method="online", random_state=SEED)
        peers[f"online LDA, {k} topics"] = lda
        tasks[f"online LDA, {k} topics"] = partial(lda.fit, X)
    times = interleaved(tasks, repeats)
    of_tree = times[f"tree, {leaves} leaves"]
    labels = {f"tree, {leaves} leaves": tree.labels_}
    labels |= {name: lda.transform(X).argmax(axis=1) for name, lda in peers.items()}
    return [
        (
            name,
            spread(t),
            f"{np.median(of_tree) / np.median(t):.3f}",
            f"{nmi(target, labels[name]):.3f}",
        )
        for name, t in times.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print(environment())
    corpus = load("20 Newsgroups")
    if corpus is None:
        return
    n, d = corpus.X.shape
    print(f"20 Newsgroups: {n:,} x {d:,} counts, {corpus.X.nnz:,} stored; median [min, max]")
    header = ("method", "seconds", "tree / this", "NMI")
    print(table(header, measure(corpus.X, corpus.target, corpus.n_classes, repeats)))


if __name__ == "__main__":
    main()

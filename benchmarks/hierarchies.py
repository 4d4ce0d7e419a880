"""How well does a whole tree agree with labels that have two levels?

Every method builds a tree with one leaf per class of the lower level. Dendrogram purity judges the
whole tree; normalized mutual information (NMI) judges its leaves by the lower level, and the tree
cut to as many leaves as there are classes above by the upper level. Random subsamples show which
differences are larger than their noise.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import DATA, SEED, environment, mean_se, table
from _peers import lsa
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from momentree import TopicTree
from momentree.datasets import (
    filter_vocabulary,
    load_docstrings,
    read_counts,
    read_documents,
    vectorize,
)
from momentree.metrics import dendrogram_purity

Labels = NDArray[Any]

_ABOVE = {
    "alt.atheism": "religion",
    "soc.religion.christian": "religion",
    "talk.religion.misc": "religion",
}
"""The upper class of newsgroups whose first part is not that of similar groups."""
_FEWEST = 40
"""Documents in a lower class of PlanetMath."""


@dataclass
class Leveled:
    """Counts of documents with labels of two levels."""

    name: str
    X: Any
    upper: Labels
    lower: Labels

    def sample(self, n: int, seed: int) -> Leveled:
        """Return n random documents, with the words that occur in them."""
        rows = np.sort(np.random.default_rng(seed).permutation(len(self.lower))[:n])
        X = self.X[rows]
        X = sp.csr_array(X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))])
        return Leveled(self.name, X, self.upper[rows], self.lower[rows])


@dataclass
class Node:
    """A group of samples, and the groups that it is divided into."""

    samples: NDArray[np.intp]
    children: list[Node] = field(default_factory=list)


@dataclass
class Tree:
    """A whole tree, and the leaf of each sample after a cut to k leaves."""

    root: Any
    cut: Callable[[int], NDArray[np.intp]]


# --- corpora ------------------------------------------------------------------------------------


def newsgroups() -> Leveled:
    """20 Newsgroups: comp, rec, sci, talk, misc and religion above the groups."""
    corpus = filter_vocabulary(read_counts(DATA / "20newsgroups" / "X.npz"))
    lower = np.array((DATA / "20newsgroups" / "labels.txt").read_text().split())
    upper = np.array([_ABOVE.get(name, name.split(".")[0]) for name in lower])
    return Leveled("20 Newsgroups", corpus.X, upper, lower)


def planetmath() -> Leveled:
    """PlanetMath: sections of the Mathematics Subject Classification (11A) below classes (11)."""
    path = DATA / "planetmath" / "docs.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        entries = {entry["id"]: entry for entry in map(json.loads, file)}
    corpus = vectorize(read_documents(path, text_column="text"))
    # Passages of long entries are not in the list; they are left out, like entries without codes.
    codes = [entries.get(name, {}).get("msc") or [""] for name in corpus.ids]
    sections = np.array([first[:3] for first, *_ in codes])
    names, counts = np.unique(sections, return_counts=True)
    often = set(names[counts >= _FEWEST])
    some = [i for i, name in enumerate(sections) if name in often and name[2:].isalpha()]
    upper = np.array([name[:2] for name in sections])
    whole = Leveled("PlanetMath", sp.csr_array(corpus.X[some]), upper[some], sections[some])
    return whole.sample(len(some), SEED)


def docstrings() -> Leveled:
    """Docstrings: subpackages below NumPy, SciPy and scikit-learn."""
    corpus = vectorize(load_docstrings())
    lower = np.array(corpus.labels)
    return Leveled("Docstrings", corpus.X, np.array([n.split(".")[0] for n in lower]), lower)


CORPORA = {"20newsgroups": newsgroups, "planetmath": planetmath, "docstrings": docstrings}

# --- methods ------------------------------------------------------------------------------------


def tree(X: Any, k: int, **options: Any) -> Tree:
    """Fit a tree of topics with its defaults."""
    fitted = TopicTree(k, **options).fit(X)
    return Tree(fitted, lambda n: fitted.cut(min(n, fitted.n_leaves_)).labels_)


def ward(X: Any, k: int) -> Tree:
    """Merge documents by Ward's method on LSA, and keep the last k clusters as leaves."""
    return _from_linkage(linkage(lsa(X), "ward"), X.shape[0], k)


def bisecting(X: Any, k: int) -> Tree:
    """Divide the cluster of largest inertia in two by k-means on LSA, ten starts each."""
    Z = lsa(X)
    root = Node(np.arange(X.shape[0]))
    leaves, cuts = [root], {1: np.zeros(X.shape[0], dtype=np.intp)}
    while len(leaves) < k:
        chosen = max(leaves, key=lambda leaf: _inertia(Z[leaf.samples]))
        here = chosen.samples
        sides = KMeans(2, n_init=10, random_state=SEED).fit_predict(Z[here])
        chosen.children = [Node(here[sides == side]) for side in (0, 1)]
        leaves = [leaf for leaf in leaves if leaf is not chosen] + chosen.children
        cuts[len(leaves)] = _labels(leaves, X.shape[0])
    return Tree(root, lambda n: cuts[n])


METHODS: dict[str, Callable[[Any, int], Tree]] = {
    "tree, defaults": tree,
    'tree, search="none"': partial(tree, search="none"),
    "LSA, Ward": ward,
    "LSA, bisecting k-means": bisecting,
}


def _from_linkage(merges: Any, n: int, k: int) -> Tree:
    groups: dict[int, Node] = {i: Node(np.array([i])) for i in range(n)}
    cuts = {}
    for t, (a, b) in enumerate(merges[:, :2].astype(int).tolist()):
        before = len(groups)
        if before <= k:
            cuts[before] = _labels(list(groups.values()), n)
        parts = [groups.pop(a), groups.pop(b)]
        # Clusters below the leaves have no children.
        children = parts if before <= k else []
        groups[n + t] = Node(np.concatenate([part.samples for part in parts]), children)
    (root,) = groups.values()
    cuts[1] = np.zeros(n, dtype=np.intp)
    return Tree(root, lambda count: cuts[count])


def _labels(leaves: list[Node], n: int) -> NDArray[np.intp]:
    out = np.empty(n, dtype=np.intp)
    for i, leaf in enumerate(leaves):
        out[leaf.samples] = i
    return out


def _inertia(Z: NDArray[np.float64]) -> float:
    return float(((Z - Z.mean(axis=0)) ** 2).sum())


# --- measurement --------------------------------------------------------------------------------


def measure(corpus: Leveled, method: Callable[[Any, int], Tree]) -> list[float]:
    """Return purity and NMI by the upper and the lower level, and seconds."""
    n_upper, n_lower = (len(np.unique(labels)) for labels in (corpus.upper, corpus.lower))
    start = time.perf_counter()
    found = method(corpus.X, n_lower)
    took = time.perf_counter() - start
    return [
        dendrogram_purity(found.root, corpus.upper),
        normalized_mutual_info_score(corpus.upper, found.cut(n_upper)),
        dendrogram_purity(found.root, corpus.lower),
        normalized_mutual_info_score(corpus.lower, found.cut(n_lower)),
        took,
    ]


def main() -> None:
    """Print a table for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=list(CORPORA), action="append", help="default: all")
    parser.add_argument("--documents", type=int, default=3000, help="in each subsample")
    parser.add_argument("--subsamples", type=int, default=5, help="for means and standard errors")
    options = parser.parse_args()
    print(environment())
    for name in options.corpus or CORPORA:
        try:
            corpus = CORPORA[name]()
        except FileNotFoundError as error:
            print(f"{name}: skipped, {error}")
            continue
        n = min(options.documents, round(0.8 * len(corpus.lower)))
        samples = [corpus.sample(n, seed) for seed in range(options.subsamples)]
        rows = []
        for label, method in METHODS.items():
            print(f"{corpus.name}: {label}", file=sys.stderr)
            scores = np.array([measure(sample, method) for sample in samples])
            rows.append([label, *(mean_se(column, ".3f") for column in scores.T)])
        levels = " and ".join(str(len(np.unique(y))) for y in (corpus.upper, corpus.lower))
        print(f"\n{corpus.name}: {n} documents, {levels} classes\n")
        header = ["method", "upper purity", "upper NMI", "lower purity", "lower NMI", "seconds"]
        print(table(header, rows))


if __name__ == "__main__":
    main()

"""How well do leaves and topics agree with labels, by settings and compared with other methods?

Every method receives the counts that the command produces by default, and finds as many leaves,
topics or clusters as there are classes. One corpus cannot distinguish differences of 0.01 to 0.02
from noise, so each is also measured on random subsamples, and methods are compared in pairs by
their means over corpora.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import _peers as peers
import numpy as np
from _common import CORPORA, Labeled, environment, load_all, table
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from momentree import SingleTopicModel, TopicTree

SHARE = 0.6
DEFAULT = "tree, defaults"
SLOW = ("LDA, batch",)
"""Measured on whole corpora only."""


def tree(corpus: Labeled, **options: Any) -> NDArray[np.intp]:
    """Return the leaf of each document in a tree with one leaf per class and these options."""
    k, least = corpus.n_classes, corpus.min_samples_leaf
    if options.get("growth") == "depth":  # whole levels, as in the papers
        k, options["max_depth"] = None, math.ceil(math.log2(k))
    return TopicTree(k, min_samples_leaf=least, **options).fit(corpus.X).labels_


def topics(corpus: Labeled, **options: Any) -> NDArray[np.intp]:
    """Return the topic of each document in a flat model with one topic per class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the moments of some corpora support fewer topics
        return SingleTopicModel(corpus.n_classes, **options).fit(corpus.X).labels_


def peer(corpus: Labeled, find: Callable[..., Any], **options: Any) -> NDArray[np.intp]:
    """Return the cluster of each document under another method, with one cluster per class."""
    return find(corpus.X, corpus.n_classes, **options)


METHODS: dict[str, Callable[[Labeled], NDArray[np.intp]]] = {
    DEFAULT: tree,
    'tree, search="none"': partial(tree, search="none"),
    "tree, log_scaling=None": partial(tree, log_scaling=None),
    'tree, log_scaling="log1p"': partial(tree, log_scaling="log1p"),
    'tree, weighting="uniform"': partial(tree, weighting="uniform"),
    "tree, refine=None": partial(tree, refine=None),
    'tree, growth="depth"': partial(tree, growth="depth"),
    "tree, smoothing=0.1": partial(tree, smoothing=0.1),
    "tree, smoothing=0.5": partial(tree, smoothing=0.5),
    "tree, Algorithm 2 of the papers": partial(tree, growth="depth", refine=None, log_scaling=None),
    "topics, defaults": topics,
    'topics, start="tree"': partial(topics, start="tree"),
    "topics, log_scaling=None": partial(topics, log_scaling=None),
    'topics, start="moments"': partial(topics, start="moments"),
    'topics, start="moments", log_scaling=None': partial(topics, start="moments", log_scaling=None),
    "topics, refine=None": partial(topics, refine=None),
    "LSA, k-means, 10 starts": partial(peer, find=peers.lsa_kmeans),
    "LSA, bisecting k-means": partial(peer, find=peers.lsa_bisecting),
    "NMF of tf-idf": partial(peer, find=peers.nmf),
    "LDA, batch": partial(peer, find=peers.lda),
    "EM, 10 random starts": partial(peer, find=peers.random_mixture),
    "EM, 10 random starts, scaled": partial(peer, find=peers.random_mixture, log_scaling="log1p"),
}


@dataclass
class Scores:
    """Agreement of one method with the labels of one corpus; NaN if not measured."""

    nmi: float = np.nan
    ari: float = np.nan
    seconds: float = np.nan
    subsamples: list[float] = field(default_factory=list)


def measure(
    corpora: Sequence[Labeled], methods: Sequence[str], n_subsamples: int
) -> dict[str, dict[str, Scores]]:
    """Return scores by method and corpus; report progress on standard error."""
    scores: dict[str, dict[str, Scores]] = {name: {} for name in methods}
    for corpus in corpora:
        parts = [corpus.subsample(SHARE, seed) for seed in range(n_subsamples)]
        for name in methods:
            start = time.perf_counter()
            labels = METHODS[name](corpus)
            score = Scores(
                nmi=normalized_mutual_info_score(corpus.target, labels),
                ari=adjusted_rand_score(corpus.target, labels),
                seconds=time.perf_counter() - start,
            )
            for part in () if name in SLOW else parts:
                labels = METHODS[name](part)
                score.subsamples.append(normalized_mutual_info_score(part.target, labels))
            scores[name][corpus.name] = score
            print(f"{corpus.name}: {name}: NMI {score.nmi:.3f}", file=sys.stderr, flush=True)
    return scores


def standard_error(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; nan for fewer than two values."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def whole_table(scores: dict[str, dict[str, Scores]], what: str) -> str:
    """Return a table of methods by corpora, with the mean over corpora."""
    rows = []
    for name, by_corpus in scores.items():
        values = [getattr(score, what) for score in by_corpus.values()]
        last = f"{sum(values):.1f}" if what == "seconds" else f"{np.mean(values):.3f}"
        form = ".2f" if what == "seconds" else ".3f"
        rows.append((name, *(f"{value:{form}}" for value in values), last))
    corpora = next(iter(scores.values()))
    return table(("method", *corpora, "sum" if what == "seconds" else "mean"), rows)


def subsample_table(scores: dict[str, dict[str, Scores]]) -> str:
    """Return a table of mean NMI over subsamples, and of differences from the default.

    The standard error in a cell is over subsamples; that of the difference is over the mean
    differences of the corpora, because methods are compared on the same subsamples.
    """
    rows = []
    base = scores.get(DEFAULT)
    for name, by_corpus in scores.items():
        if name in SLOW:
            continue
        cells, means, differences = [], [], []
        for corpus, score in by_corpus.items():
            values = np.array(score.subsamples)
            cells.append(f"{values.mean():.3f} +- {standard_error(values):.3f}")
            means.append(values.mean())
            if base is not None:
                differences.append(values.mean() - np.mean(base[corpus].subsamples))
        difference = ""
        if name != DEFAULT and differences:
            error = standard_error(np.array(differences))
            difference = f"{np.mean(differences):+.3f} +- {error:.3f}"
        rows.append((name, *cells, f"{np.mean(means):.3f}", difference))
    corpora = next(iter(scores.values()))
    return table(("method", *corpora, "mean", "less default"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subsamples", type=int, default=3)
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    args = parser.parse_args()
    print(environment())
    corpora = load_all(args.corpora)
    if not corpora:
        return
    shape = [(c.name, *c.X.shape, c.X.nnz, c.n_classes, c.min_samples_leaf) for c in corpora]
    header = ("corpus", "documents", "words", "stored", "classes", "min_samples_leaf")
    print("\n" + table(header, shape))
    scores = measure(corpora, args.methods, args.subsamples)
    print("\nNMI\n\n" + whole_table(scores, "nmi"))
    print("\nARI\n\n" + whole_table(scores, "ari"))
    print("\nSeconds\n\n" + whole_table(scores, "seconds"))
    if args.subsamples:
        print(
            f"\nNMI, {args.subsamples} random subsamples of {SHARE:.0%} (mean +- standard error)\n"
        )
        print(subsample_table(scores))


if __name__ == "__main__":
    main()

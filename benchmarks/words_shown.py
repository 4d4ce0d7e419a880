"""Do the words shown for topics occur together?

The mean NPMI coherence of ten words per topic, with as many topics as classes and documents as
windows, for the words shown for the leaves of a tree; for the words of the same leaves by
relevance; and for LSA with k-means and for NMF, with the words of largest mean tf-idf or largest
loading. Titles and openings, "15 words", stand for short texts. NMI is that of topics and labels:
topics of a few documents cohere easily.

    python benchmarks/words_shown.py
    python benchmarks/words_shown.py --corpora BBC "BBC, 15 words"
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from typing import Any

import _peers as peers
import numpy as np
import scipy.sparse as sp
from _common import CORPORA, DATA, SEED, Labeled, environment, load, table
from numpy.typing import NDArray
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score

from momentree import TopicTree
from momentree.datasets import load_docstrings, read_documents, vectorize
from momentree.metrics import npmi_coherence, relevance

N_WORDS = 10
Result = tuple[NDArray[Any], NDArray[np.intp]]
"""The words of each topic, best first, and the topic of each document."""


def beginnings(name: str, n_words: int) -> Labeled:
    """Return the first words of each document of a corpus."""
    if name == "Docstrings":
        documents = load_docstrings()
    else:
        path = {"BBC": "bbc_news", "R8": "reuters_r8", "PlanetMath": "planetmath"}[name]
        file = DATA / path / "docs.jsonl.gz"
        documents = read_documents(file, text_column="text", label_column="label")
    texts = [" ".join(text.split()[:n_words]) for text in documents.texts]
    corpus = vectorize(texts, language="en", unique=False)
    return Labeled(f"{name}, {n_words} words", corpus.X, documents.target)


SHORT = {
    f"{name}, {n} words": partial(beginnings, name, n)
    for name, n in (("BBC", 15), ("BBC", 40), ("R8", 15), ("PlanetMath", 15), ("Docstrings", 20))
}


def best(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the columns of the ten largest scores in each row."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :N_WORDS]


def tree(corpus: Labeled) -> tuple[Result, Result]:
    """Return the leaves with the words that are shown, and with those of most relevance."""
    fitted = TopicTree(corpus.n_classes, min_samples_leaf=corpus.min_samples_leaf).fit(corpus.X)
    shown = np.array([leaf.words[:N_WORDS] for leaf in fitted.leaves_])
    centers = np.array([leaf.center for leaf in fitted.leaves_])
    return (shown, fitted.labels_), (best(relevance(centers, fitted.tree_.center)), fitted.labels_)


def lsa_kmeans(corpus: Labeled) -> Result:
    """Return clusters of LSA by k-means, and their words of largest mean tf-idf."""
    labels = np.unique(peers.lsa_kmeans(corpus.X, corpus.n_classes), return_inverse=True)[1]
    weights = peers.tfidf(corpus.X)
    members = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    means = (members @ weights).toarray() / np.bincount(labels)[:, None]
    return best(means), labels


def nmf(corpus: Labeled) -> Result:
    """Return the factors of tf-idf by NMF, and their words of largest loading."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NMF(corpus.n_classes, init="nndsvd", random_state=SEED)
        labels = model.fit_transform(peers.tfidf(corpus.X)).argmax(axis=1)
    return best(model.components_), labels


def score(corpus: Labeled, result: Result) -> str:
    """Return the mean coherence, its standard deviation over topics, and NMI."""
    words, labels = result
    values = npmi_coherence(words, corpus.X)
    nmi = normalized_mutual_info_score(corpus.target, labels)
    return f"{values.mean():.3f} ({values.std():.2f}), {nmi:.3f}"


def main() -> None:
    names = [*CORPORA, *SHORT]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="+", choices=names, default=names)
    args = parser.parse_args()
    print(environment(), end="\n\n")
    rows = []
    for name in args.corpora:
        corpus = SHORT[name]() if name in SHORT else load(name)
        if corpus is None:
            continue
        results = [*tree(corpus), lsa_kmeans(corpus), nmf(corpus)]
        rows.append((name, *(score(corpus, result) for result in results)))
        print(f"{name}: done", file=sys.stderr, flush=True)
    header = ("corpus", "words shown", "by relevance", "LSA, k-means", "NMF")
    print("NPMI (standard deviation over topics), NMI\n\n" + table(header, rows))


if __name__ == "__main__":
    main()

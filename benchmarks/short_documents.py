"""Do the topics of short documents survive EM with a limit on pseudo-counts, and without one?

Flat topics of titles, first words and made-up titles, as many as there are classes (at most 40).
Each set is measured on several samples; differences are of the same samples.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp
from _common import DATA, environment, load, table
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)

from momentree import SingleTopicModel
from momentree.datasets import load_docstrings
from momentree.objects import TopicParameters

Sample = tuple[Any, NDArray[np.intp]]
"""Counts, and the class of each document."""


def sample(X: Any, target: Any, least: int) -> Sample:
    """Return the words of at least so many documents, and the documents that have any."""
    X = sp.csr_array(X)
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= least)]
    rows = np.flatnonzero(X.sum(axis=1) > 0)
    return sp.csr_array(X[rows]), np.unique(np.asarray(target)[rows], return_inverse=True)[1]


def counted(
    texts: list[str], target: list[str], least: int, stop: str | None = "english"
) -> Sample:
    """Count the words of texts."""
    words = CountVectorizer(
        stop_words=stop, min_df=least, max_df=0.5, token_pattern=r"(?u)\b[^\W\d_]{2,}\b"
    )
    return sample(words.fit_transform(texts), target, 1)


def documents(path: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def lines(path: str) -> list[str]:
    return (DATA / path).read_text(encoding="utf-8").splitlines()


def first(n: int, text: str) -> str:
    return " ".join(text.split()[:n])


def planetmath_titles() -> Sample:
    found = [d for d in documents("planetmath/docs.jsonl.gz") if d["title"]]
    return counted([d["title"] for d in found], [d["label"] for d in found], 3)


def openings(path: str, n: int, least: int) -> Sample:
    found = documents(path)
    return counted([first(n, d["text"]) for d in found], [d["label"] for d in found], least)


def nips_titles() -> Sample:
    return counted(lines("nips_1987_1999/titles.txt"), lines("nips_1987_1999/labels.txt"), 2)


def docstrings() -> Sample:
    found = load_docstrings()
    return counted([first(12, text) for text in found.texts], list(found.labels), 3)


def medical() -> Sample:
    rows = np.array(lines("mulan_medical/single_rows.txt"), dtype=int)
    X = sp.csr_array(sp.load_npz(DATA / "mulan_medical/X.npz"))[rows]
    return sample(X.astype(int), np.array(lines("mulan_medical/labels.txt"))[rows], 0)


def manual_pages() -> Sample:
    found = [
        (first(8, d["text"]), language + d["page"].split(".")[0])
        for language in ("de", "es", "fr", "it")
        for d in documents(f"languages/man_{language}.jsonl.gz")
    ]
    sizes = Counter(page for _, page in found)
    found = [(text, page) for text, page in found if sizes[page] >= 20]
    return counted([text for text, _ in found], [page for _, page in found], 3, None)


def part(make: Callable[[], Sample], seed: int) -> Sample:
    """Return 70% of the documents."""
    X, target = make()
    n = len(target)
    rows = np.sort(np.random.default_rng(seed).permutation(n)[: int(0.7 * n)])
    return sample(X[rows], target[rows], 2)


def thinned(name: str, m: int, seed: int) -> Sample:
    """Return m tokens of each of at most 4,000 documents."""
    corpus = load(name)
    if corpus is None:
        raise FileNotFoundError(name)
    X, target = corpus.X, corpus.target
    if X.shape[0] > 4000:
        rows = np.random.default_rng(seed).permutation(X.shape[0])[:4000]
        X, target = sp.csr_array(X[rows]), target[rows]
    rng, kept = np.random.default_rng(seed), sp.lil_array(X.shape, dtype=np.int64)
    for i in range(X.shape[0]):
        at = slice(X.indptr[i], X.indptr[i + 1])
        words = np.repeat(X.indices[at], X.data[at].astype(int))
        for w in rng.choice(words, min(m, len(words)), replace=False):
            kept[i, w] += 1
    return sample(kept, target, 3)


def zipf(
    n: int,
    k: int,
    d: int,
    length: float,
    seed: int,
    weights: float = 1.0,
    common: float = 0.5,
    own: int = 0,
) -> Sample:
    """Draw titles of Zipf's words, `own` of each topic; the others are common to all topics."""
    rng = np.random.default_rng(seed)
    base = 1 / np.arange(1, d + 1)
    base /= base.sum()
    own = own or d // 5
    topics = np.zeros((k, d))
    for topic in topics:
        at = rng.choice(d, own, replace=False)
        topic[at] = base[:own][rng.permutation(own)]
        topic /= topic.sum()
    topics = common * base + (1 - common) * topics
    return drawn(rng, n, topics, weights, length)


def dirichlet(n: int, k: int, d: int, length: float, seed: int, a: float, weights: float) -> Sample:
    """Draw titles of topics that are Dirichlet(a)."""
    rng = np.random.default_rng(seed)
    return drawn(rng, n, rng.dirichlet(np.full(d, a), k), weights, length)


def table51(n: int, length: float, seed: int) -> Sample:
    """Draw titles of the topics of Table 5.1."""
    rng = np.random.default_rng(seed)
    M = np.loadtxt(DATA / "hierarchical_topics_M.csv", delimiter=",")
    M = np.abs(M + 0.02 * M.max() * rng.random(M.shape))
    return drawn(rng, n, (M / M.sum(axis=0)).T, 2.0, length)


def drawn(rng: Any, n: int, topics: Any, weights: float, length: float) -> Sample:
    """Draw documents; the weights of the topics are Dirichlet(weights)."""
    target = rng.choice(len(topics), n, p=rng.dirichlet(np.full(len(topics), weights)))
    lengths = 1 + rng.poisson(length - 1, n)
    X = [rng.multinomial(m, topics[j]) for m, j in zip(lengths, target, strict=True)]
    return sp.csr_array(np.array(X)), target


SETS: dict[str, Callable[[int], Sample]] = {
    "titles of NIPS": partial(part, nips_titles),
    "titles of PlanetMath": partial(part, planetmath_titles),
    "PlanetMath, 12 words": partial(
        part, partial(openings, "planetmath/docs.jsonl.gz", n=12, least=5)
    ),
    "BBC, 10 words": partial(part, partial(openings, "bbc_news/docs.jsonl.gz", n=10, least=3)),
    "docstrings, 12 words": partial(part, docstrings),
    "medical reports": partial(part, medical),
    "manual pages, 8 words": partial(part, manual_pages),
    "20 Newsgroups, 15 words": partial(thinned, "20 Newsgroups", 15),
    "tr45, 20 words": partial(thinned, "tr45", 20),
    "docstrings, 10 words": partial(thinned, "Docstrings", 10),
    "NIPS, 40 words": partial(thinned, "NIPS", 40),
    "Table 5.1, 150 titles": partial(table51, 150, 5),
    "Table 5.1, 400 titles": partial(table51, 400, 3),
    "Zipf, 12 topics": partial(zipf, 3000, 12, 1500, 6),
    "Zipf, 50 topics": partial(zipf, 6000, 50, 400, 4, weights=2.0, common=0.3, own=30),
    "Zipf, 8 topics": partial(zipf, 2000, 8, 4000, 7, weights=3.0),
    "Zipf, 5 topics": partial(zipf, 1500, 5, 800, 3, common=0.2, own=60),
    "Dirichlet(0.05), 15 topics": partial(dirichlet, 2500, 15, 700, 5, a=0.05, weights=1.0),
    "Dirichlet(0.1), 40 topics": partial(dirichlet, 4000, 40, 1200, 10, a=0.1, weights=0.7),
}


def without_limit(smoothing: float, *_: Any) -> float:
    return smoothing


def scores(X: Any, target: NDArray[np.intp], *, limit: bool) -> tuple[float, ...]:
    """Return the share of the topics that are left, NMI, adjusted mutual information and ARI."""
    k = min(40, len(np.unique(target)))
    change = mock.patch.object(TopicParameters, "limited_smoothing", without_limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer topics
        if limit:
            labels = SingleTopicModel(k).fit(X).labels_
        else:
            with change:
                labels = SingleTopicModel(k).fit(X).labels_
    measures = (
        normalized_mutual_info_score,
        adjusted_mutual_info_score,
        adjusted_rand_score,
    )
    return len(np.unique(labels)) / k, *(measure(target, labels) for measure in measures)


def rows(names: list[str], n_samples: int) -> Iterator[tuple[str, ...]]:
    """Return the rows of the table: each measure without the limit, and what the limit adds."""
    for name in names:
        found, density = [], []
        for seed in range(n_samples):
            try:
                X, target = SETS[name](seed)
            except FileNotFoundError:
                break
            density.append(X.sum() / (X.shape[1] * min(40, len(np.unique(target)))))
            found.append([scores(X, target, limit=limit) for limit in (False, True)])
        if not found:
            print(f"{name}: skipped, no data", file=sys.stderr)
            continue
        before, now = np.moveaxis(np.array(found), 1, 0)
        gain = now - before
        error = gain.std(axis=0, ddof=min(1, n_samples - 1)) / np.sqrt(n_samples)
        cells = [f"{before[:, 0].mean():.0%}", f"{now[:, 0].mean():.0%}"]
        for i in range(1, 4):
            cells += [f"{before[:, i].mean():.3f}", f"{gain[:, i].mean():+.3f} ± {error[i]:.3f}"]
        row = (name, f"{np.mean(density):.1f}", *cells)
        print(" | ".join(row), file=sys.stderr, flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    args = parser.parse_args()
    print(environment())
    header = ("documents", "tokens / (d k)", "topics left", "with limit")
    measures = ("NMI", "gain", "AMI", "gain", "ARI", "gain")
    print("\n" + table((*header, *measures), list(rows(args.sets, args.samples))))


if __name__ == "__main__":
    main()

"""How accurate and how fast is LDA by moments, compared with a Gibbs sampler in C++?

The sampler is tomotopy (``pip install tomotopy``), 1,000 iterations. On synthetic documents
(10 topics, 3,000 words, 100 words per document, alpha_0 = 1) the error is the mean L1 distance of
topics after matching; topics are draws of a symmetric Dirichlet distribution or power laws. Real
text is scored by coherence on the fitted documents, and by the perplexity of one half of the words
of held-out documents given the other half, with topic proportions inferred by the same method for
both. Times are those of ``fit`` and ``train``, without reading the documents.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import SEED, environment, load, spread, table
from numpy.typing import NDArray

from momentree import LatentDirichletAllocation
from momentree.backends import RowBlocks
from momentree.datasets import LDASample, make_lda
from momentree.inference import completion_log_likelihood, split_words, variational_proportions
from momentree.metrics import npmi_coherence, recovery_error, umass_coherence
from momentree.objects import LDAParameters
from momentree.refinement.lda import smoothed_topics

try:
    import tomotopy
except ImportError:  # not a dependency, not even for development
    tomotopy = None

Floats = NDArray[np.float64]
Fitted = tuple[Floats, Floats, float]
"""alpha (k,), topics (k, d), seconds."""

TOP = 10
"""Number of words per topic in the coherence."""


def gibbs(
    X: Any, k: int, *, iterations: int, seed: int, workers: int, optimize: bool = True
) -> Fitted:
    """Fit by tomotopy; `workers=0`, its default, uses all cores. alpha_0 starts at 1."""
    X = sp.csr_array(X)
    model = tomotopy.LDAModel(k=k, alpha=1.0 / k, eta=0.01, seed=seed + 1)
    if not optimize:
        model.optim_interval = 0
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        words = np.repeat(X.indices[a:b], X.data[a:b].astype(int))
        if len(words):
            model.add_doc([str(w) for w in words])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # workers are not reproducible
        model.train(0, workers=workers)
        start = time.perf_counter()
        model.train(iterations, workers=workers)
        seconds = time.perf_counter() - start
    columns = np.array([int(word) for word in model.used_vocabs])
    topics = np.zeros((k, X.shape[1]))
    topics[:, columns] = [model.get_topic_word_dist(j) for j in range(k)]
    return np.asarray(model.alpha, dtype=np.float64), topics, seconds


def moments(X: Any, k: int, **options: Any) -> Fitted:
    """Fit by momentree."""
    start = time.perf_counter()
    model = LatentDirichletAllocation(k, **options).fit(X)
    return model.alpha_, model.components_, time.perf_counter() - start


def dirichlet_topics(n: int, d: int, k: int, concentration: float, seed: int) -> LDASample:
    """Draw documents whose topics are draws of a symmetric Dirichlet distribution."""
    return make_lda(n, d, k, concentration=concentration, exponent=0.0, random_state=seed)


def samples(n: int, d: int, k: int) -> dict[str, Callable[[int], LDASample]]:
    """Return a function from seed to sample for each kind of synthetic documents."""
    return {
        "Dirichlet(0.05) topics": lambda seed: dirichlet_topics(n, d, k, 0.05, seed),
        "Dirichlet(0.1) topics": lambda seed: dirichlet_topics(n, d, k, 0.1, seed),
        "power-law topics": lambda seed: make_lda(n, d, k, random_state=seed),
    }


def methods(iterations: int) -> dict[str, Callable[[Any, int, int], Fitted]]:
    """Return the methods as functions of data, number of topics and seed."""
    found: dict[str, Callable[[Any, int, int], Fitted]] = {
        "moments and EM": lambda X, k, _: moments(X, k),
        "moments": lambda X, k, _: moments(X, k, refine=None),
        "moments and EM, alpha0 x 3": lambda X, k, _: moments(X, k, alpha0=3.0),
        "moments and EM, alpha0 / 3": lambda X, k, _: moments(X, k, alpha0=1 / 3),
    }
    if tomotopy is not None:
        for name, workers, optimize in (
            ("Gibbs, all cores", 0, True),
            ("Gibbs, 1 worker", 1, True),
            ("Gibbs, all cores, alpha fixed at the truth", 0, False),
        ):
            found[name] = lambda X, k, seed, w=workers, o=optimize: gibbs(
                X, k, iterations=iterations, seed=seed, workers=w, optimize=o
            )
    return found


def recovery(
    draw: Callable[[int], LDASample], k: int, seeds: int, iterations: int
) -> list[tuple[str, ...]]:
    """Return one row per method: name, error, alpha_0, seconds, speed relative to Gibbs."""
    results: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(seeds):
        sample = draw(seed)
        for name, fit in methods(iterations).items():
            alpha, topics, seconds = fit(sample.X, k, seed)
            values = (recovery_error(topics, sample.components), float(alpha.sum()), seconds)
            results.setdefault(name, []).append(values)
    reference = results.get("Gibbs, all cores")
    rows = []
    for name, values in results.items():
        errors, alphas, seconds = np.array(values).T
        ratio = "" if reference is None else np.array(reference)[:, 2] / seconds
        speed = "" if reference is None else spread(ratio, ".1f")
        rows.append((name, spread(errors), spread(alphas), spread(seconds), speed))
    return rows


def text_scores(fitted: Fitted, X: Any, held_out: Any) -> tuple[float, float, float]:
    """Return UMass and NPMI coherence on X, and completion perplexity on held-out documents."""
    alpha, topics, _ = fitted
    top = np.argsort(-topics, axis=1)[:, :TOP]
    # Words that the sampler never saw have no probability: smooth both methods equally.
    parameters = LDAParameters(alpha, smoothed_topics(topics.T, 1e-9))
    known, asked = split_words(sp.csr_array(held_out), np.random.RandomState(SEED))
    shares = variational_proportions(RowBlocks(known), parameters)
    total = completion_log_likelihood(RowBlocks(asked), parameters, shares).sum()
    return (
        float(umass_coherence(top, X).mean()),
        float(npmi_coherence(top, X).mean()),
        float(np.exp(-total / asked.sum())),
    )


def real_text(X: Any, k: int, seeds: int, iterations: int) -> list[tuple[str, ...]]:
    """Return one row per method: name, UMass, NPMI, completion perplexity, seconds."""
    results: dict[str, list[tuple[float, ...]]] = {}
    chosen = {name: fit for name, fit in methods(iterations).items() if "alpha" not in name}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(X.shape[0])
        cut = round(0.9 * X.shape[0])
        train, test = X[np.sort(order[:cut])], X[np.sort(order[cut:])]
        for name, fit in chosen.items():
            fitted = fit(train, k, seed)
            scores = text_scores(fitted, train, test)
            results.setdefault(name, []).append((*scores, fitted[2]))
    return [(name, *map(spread, np.array(values).T, FORMS)) for name, values in results.items()]


FORMS = (".1f", ".3f", ".0f", ".3g")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--corpora", nargs="*", default=["20 Newsgroups", "BBC", "R8"])
    options = parser.parse_args()
    print(environment())
    if tomotopy is None:
        print("tomotopy is not installed: only momentree is measured")
    k, d = 10, 3000
    header = ("method", "error of topics", "alpha_0", "seconds", "faster than Gibbs, all cores")
    for name, draw in samples(options.documents, d, k).items():
        print(f"\n{name}: {options.documents:,} documents; median [minimum, maximum] over seeds")
        print(table(header, recovery(draw, k, options.seeds, options.iterations)))
    header = ("method", "UMass", "NPMI", "completion perplexity", "seconds")
    for name in options.corpora:
        corpus = load(name)
        if corpus is not None:
            n, d = corpus.X.shape
            print(f"\n{name}: {n:,} x {d:,} counts, 20 topics, a tenth of the documents held out")
            print(table(header, real_text(corpus.X, 20, options.seeds, options.iterations)))


if __name__ == "__main__":
    main()

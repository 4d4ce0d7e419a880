"""Does EM from moments reach the likelihood of the best of ten random starts, and how fast?

Every start uses the same EM with the same smoothing and tolerance on the same counts, log-scaled
or not. Random starts alternate between random responsibilities and random documents, as in
`_peers.py`. Differences are in nats for the whole corpus, and per document. With `--records`, the
same for Bernoulli mixtures of records, real and synthetic.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from _common import CORPORA, SEED, Labeled, environment, load_all, table
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from momentree import BernoulliMixture, SingleTopicModel
from momentree.backends import RowBlocks, single_threaded_blas
from momentree.datasets import make_bernoulli_mixture
from momentree.objects import BernoulliParameters, TopicParameters
from momentree.preprocessing import log_scale
from momentree.preprocessing.log_scaling import typical_count_per_token
from momentree.refinement import em

STARTS = ("tree", "tfidf", "moments")


@dataclass
class Run:
    """Log-likelihood and seconds of a fit."""

    value: float
    seconds: float


def random_runs(X: Any, k: int, log_scaling: Literal["log1p"] | None, n_starts: int) -> list[Run]:
    """Fit by EM from random starts; the time excludes the log scaling, which is done once."""
    scaled = log_scale(X, log_scaling)
    rows, n = scaled.rows, X.shape[0]
    weight = np.ones(n)
    smoothing = typical_count_per_token(rows, scaled.count_per_token, weight)
    runs = []
    with single_threaded_blas():
        for seed in range(n_starts):
            start = time.perf_counter()
            R = responsibilities(n, k, seed)
            sums = rows.sum(lambda B, R=R: B.tdot(R[B.at]))
            first = TopicParameters.m_step(sums, R.sum(axis=0), smoothing)
            found = em(rows, first, sample_weight=weight, smoothing=smoothing)
            runs.append(Run(found.log_likelihood, time.perf_counter() - start))
    return runs


def responsibilities(n: int, k: int, seed: int) -> NDArray[np.float64]:
    """Return a random start: k documents for odd seeds, random responsibilities for even ones."""
    rng = np.random.default_rng(seed)
    if seed % 2 == 0:
        return rng.dirichlet(np.ones(k), n)
    R = np.zeros((n, k))
    R[rng.choice(n, k, replace=False), np.arange(k)] = 1.0
    return R


def moment_run(X: Any, k: int, log_scaling: Literal["log1p"] | None, start: str) -> Run:
    """Fit by EM from moments; the time is that of the whole fit, from counts to labels."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SingleTopicModel(k, log_scaling=log_scaling, start=start).fit(X)
    return Run(model.diagnostics_["log_likelihood"], time.perf_counter() - began)


def compare(
    corpus: Labeled, log_scaling: Literal["log1p"] | None, n_starts: int
) -> list[tuple[object, ...]]:
    """Return the rows for one corpus: the random starts, then each start from moments."""
    X, k = corpus.X, corpus.n_classes
    runs = random_runs(X, k, log_scaling, n_starts)
    best, total = max(run.value for run in runs), sum(run.seconds for run in runs)
    rows: list[tuple[object, ...]] = [
        (corpus.name, k, f"best of {n_starts} random", f"{best:.0f}", "", f"{total:.2f}", "")
    ]
    for start in STARTS:
        run = moment_run(X, k, log_scaling, start)
        gain = run.value - best
        rows.append(
            (
                corpus.name,
                k,
                start,
                f"{run.value:.0f}",
                f"{gain:+.0f} ({gain / X.shape[0]:+.2f})",
                f"{run.seconds:.2f}",
                f"{run.seconds / total:.2f}",
            )
        )
    return rows


def records(quick: bool) -> Iterator[tuple[str, Any, int]]:
    """Yield binary records and a number of components."""
    pixels = load_digits().data > 7
    yield "digits", sp.csr_array(pixels, dtype=np.float64), 10
    for n, d, k in (
        ((300, 12, 4), (2_000, 100, 12)) if quick else ((300, 12, 4), (2_500, 1_800, 77))
    ):
        for scaled_by in ("feature", "component"):
            sample = make_bernoulli_mixture(n, d, k, scaled_by=scaled_by, random_state=SEED)
            yield f"synthetic, by {scaled_by}, {n:,} x {d:,}", sample.X.astype(np.float64), k
    if not quick:
        rng = np.random.default_rng(SEED)
        rates = np.minimum(10 * rng.dirichlet(np.full(1_800, 0.02), 77), 0.9)
        X = rng.random((2_500, 1_800)) < rates[rng.integers(77, size=2_500)]
        yield "ten codes each, 2,500 x 1,800", sp.csr_array(X, dtype=np.float64), 77


def compare_records(name: str, X: Any, k: int, n_starts: int) -> tuple[object, ...]:
    """Return a row: both likelihoods, their relative difference, and the ratio of times."""
    rows, weight = RowBlocks(X), np.ones(X.shape[0])
    best, began = -np.inf, time.process_time()
    with single_threaded_blas():
        for seed in range(n_starts):
            R = responsibilities(X.shape[0], k, seed)
            sums = rows.sum(lambda B, R=R: B.tdot(R[B.at]))
            if seed % 2:  # random records, averaged with 1/2
                first = BernoulliParameters(np.full(k, 1.0 / k), 0.25 + 0.5 * sums)
            else:
                first = BernoulliParameters.m_step(sums, R.sum(axis=0), 1.0)
            found = em(rows, first, sample_weight=weight, max_iter=200)
            best = max(best, found.log_likelihood)
    middle = time.process_time()
    model = BernoulliMixture(k).fit(X)
    ours, end = model.diagnostics_["log_likelihood"], time.process_time()
    share = (end - middle) / (middle - began)
    return (
        name,
        k,
        f"{best:.0f}",
        f"{ours:.0f}",
        f"{(ours - best) / abs(best):+.1e}",
        f"{end - middle:.2f}",
        f"{share:.2f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", action="store_true", help="Bernoulli mixtures of records")
    parser.add_argument("--quick", action="store_true", help="with --records: small samples")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    args = parser.parse_args()
    print(environment())
    if args.records:
        head = ("records", "k", "best random", "ours", "relative", "seconds", "share of time")
        found = [compare_records(*case, args.starts) for case in records(args.quick)]
        print(table(head, found))
        return
    corpora = load_all(args.corpora)
    header = ("corpus", "k", "start", "log-likelihood", "minus best", "seconds", "share of time")
    for log_scaling in ("log1p", None):
        rows = [row for corpus in corpora for row in compare(corpus, log_scaling, args.starts)]
        print(f"\nlog_scaling={log_scaling!r}\n\n" + table(header, rows), flush=True)


if __name__ == "__main__":
    main()

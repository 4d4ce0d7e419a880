"""Does EM from moments reach the likelihood of the best of ten random starts, and how fast?

Every start uses the same EM with the same smoothing and tolerance on the same counts, log-scaled
or not. Random starts alternate between random responsibilities and random documents, as in
`_peers.py`. Differences are in nats for the whole corpus, and per document.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from _common import CORPORA, Labeled, environment, load_all, table
from numpy.typing import NDArray

from momentree import SingleTopicModel
from momentree.backends import RowBlocks, single_threaded_blas
from momentree.objects import TopicParameters
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
    rows, n = RowBlocks(scaled.X), X.shape[0]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--corpora", nargs="+", choices=list(CORPORA), default=list(CORPORA))
    args = parser.parse_args()
    print(environment())
    corpora = load_all(args.corpora)
    header = ("corpus", "k", "start", "log-likelihood", "minus best", "seconds", "share of time")
    for log_scaling in ("log1p", None):
        rows = [row for corpus in corpora for row in compare(corpus, log_scaling, args.starts)]
        print(f"\nlog_scaling={log_scaling!r}\n\n" + table(header, rows), flush=True)


if __name__ == "__main__":
    main()

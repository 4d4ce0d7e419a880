"""Does EM from moments reach the likelihood of the best of ten random starts, and how fast?

Every start uses the same EM with the same smoothing and tolerance on the same counts, log-scaled
or not. Random starts alternate between random responsibilities and random documents, as in
`_peers.py`. Differences are in nats for the whole corpus, and per document. With `--records`, the
same for Bernoulli mixtures of records, real and synthetic. With `--few`, the same for samples of 60
to 400 records, as the log posterior minus that of the best of twenty random starts, in nats for the
whole sample: for `BernoulliMixture`, and for `MixedMixture` with the same smoothing.
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
from _common import CORPORA, DATA, SEED, Labeled, environment, load_all, mean_se, table
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.datasets import load_digits

from momentree import BernoulliMixture, MixedMixture, SingleTopicModel
from momentree.backends import RowBlocks, single_threaded_blas
from momentree.datasets import make_bernoulli_mixture
from momentree.objects import BernoulliParameters, TopicParameters
from momentree.preprocessing import log_scale
from momentree.preprocessing.log_scaling import typical_count_per_token
from momentree.refinement import Refined, em

STARTS = ("tree", "moments")


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
    per_token, total = typical_count_per_token(rows, scaled.count_per_token, weight)
    smoothing = TopicParameters.limited_smoothing(per_token, total, (X.shape[1], k))
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


def random_records(
    X: Any, k: int, n_starts: int, tol: float
) -> Iterator[Refined[BernoulliParameters]]:
    """Run EM of Bernoulli mixtures from random starts."""
    rows, weight = RowBlocks(X), np.ones(X.shape[0])
    with single_threaded_blas():
        for seed in range(n_starts):
            R = responsibilities(X.shape[0], k, seed)
            sums = rows.sum(lambda B, R=R: B.tdot(R[B.at]))
            if seed % 2:  # random records, averaged with 1/2
                first = BernoulliParameters(np.full(k, 1.0 / k), 0.25 + 0.5 * sums)
            else:
                first = BernoulliParameters.m_step(sums, R.sum(axis=0), 1.0)
            yield em(rows, first, sample_weight=weight, max_iter=200, tol=tol)


def few_made_up(seed: int) -> tuple[Any, int]:
    """Draw a few records of classes whose logits are normal, and return the number of classes."""
    rng = np.random.default_rng([seed, 991])
    n, d = int(rng.choice([60, 100, 100, 200, 400])), int(rng.choice([8, 10, 10, 15, 30]))
    k, base = int(rng.choice([3, 4, 5, 5, 7])), rng.normal(-0.5, 1, d)
    logits = base + rng.choice([0.7, 1.5, 2.5]) * rng.standard_normal((k, d))
    labels = rng.choice(k, n, p=rng.dirichlet(np.full(k, 2.0)))
    X = rng.random((n, d)) < 1 / (1 + np.exp(-logits[labels]))
    return sp.csr_array(X, dtype=np.float64), k


def few_real(seed: int) -> tuple[Any, int]:
    """Draw a few records and features of soybeans (even seeds) or medical reports (odd ones)."""
    rng = np.random.default_rng([seed, 4242])
    name = ("soybean", "mulan_medical")[seed % 2]
    X = sp.csr_array(sp.load_npz(DATA / name / "X.npz") > 0, dtype=np.float64)
    n = int(rng.choice([80, 120, 200]))
    X = X[rng.choice(X.shape[0], n, replace=False)]
    d, rates = int(rng.choice([10, 20, 40])), X.mean(axis=0)
    columns = np.argsort(-np.minimum(rates, 1 - rates), kind="stable")[:d]
    return sp.csr_array(X[:, np.sort(columns)]), int(rng.choice([3, 4, 5, 7]))


def gains_of_few(X: Any, k: int, n_starts: int) -> list[float]:
    """Return the log posteriors of both estimators, minus that of the best random start."""
    n, mean = X.shape[0], X.mean(axis=0)[:, None]

    def posterior(p: BernoulliParameters) -> float:
        joint = X @ p.coefficients + p.offsets
        prior = p.log_prior(n / k * np.repeat(mean, k, axis=1), np.full(k, n / k), 1.0)
        return float(logsumexp(joint, axis=1).sum() + prior)

    best = max(posterior(found.parameters) for found in random_records(X, k, n_starts, 1e-7))
    kinds = dict.fromkeys(range(X.shape[1]), "yes_no")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = BernoulliMixture(k).fit(X).posterior_
        table = MixedMixture(k, kinds=kinds, smoothing=1.0, tol=1e-7, max_iter=200).fit(X.toarray())
    centers = np.repeat(mean, len(table.weights_), axis=1)
    centers[[int(name) for name in table.mean_names_]] = table.means_.T
    return [posterior(ours) - best, posterior(BernoulliParameters(table.weights_, centers)) - best]


def few(seeds: range, n_starts: int) -> list[list[str]]:
    """Return rows: the mean gain of each estimator with its standard error, and the worst."""
    rows = []
    for name, draw in (("made up", few_made_up), ("soybeans, medical reports", few_real)):
        if draw is few_real and not (DATA / "soybean").exists():
            print(f"{name}: skipped, not in ../shared/data next to the repository")
            continue
        gains = np.array([gains_of_few(*draw(seed), n_starts) for seed in seeds])
        rows += [
            [name, estimator, mean_se(each, "+.2f"), f"{each.min():+.2f}"]
            for estimator, each in zip(("BernoulliMixture", "MixedMixture"), gains.T, strict=True)
        ]
    return rows


def compare_records(name: str, X: Any, k: int, n_starts: int) -> tuple[object, ...]:
    """Return a row: both likelihoods, their relative difference, and the ratio of times."""
    began = time.process_time()
    best = max(found.log_likelihood for found in random_records(X, k, n_starts, 1e-5))
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
    parser.add_argument("--few", type=int, default=0, help="seeds of small samples of records")
    parser.add_argument("--first", type=int, default=0, help="with --few: the first seed")
    args = parser.parse_args()
    print(environment())
    if args.few:
        found = few(range(args.first, args.first + args.few), 2 * args.starts)
        print(table(("records", "estimator", "gain", "worst"), found))
        return
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

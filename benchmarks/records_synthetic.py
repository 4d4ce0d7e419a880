"""How well do moments, EM and clustering methods recover components of Bernoulli mixtures?

The experiment of section 4.5 of the thesis (Figures 4.1 and 4.2): the adjusted Rand index between
components and clusters by the number of rows n, of components k and of features d, with random
parameters, for equal and for random weights. "true parameters" is an upper limit, up to chance.
Then the digits of scikit-learn, with pixels above 7 set to 1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from _common import SEED, environment, table
from _peers import kmeans, pca_kmeans, random_bernoulli, spectral_linear, true_parameters
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from momentree import BernoulliMixture, ClusterTree
from momentree.datasets import make_bernoulli_mixture


def _mixture(X: Any, k: int, **options: Any) -> NDArray[Any]:
    return BernoulliMixture(k, random_state=SEED, **options).fit(X).labels_


def _tree(X: Any, k: int, **options: Any) -> NDArray[Any]:
    return ClusterTree(k, **options).fit(X).labels_


OURS = "mixture, defaults"
METHODS: dict[str, Callable[[Any, int], NDArray[Any]]] = {
    OURS: _mixture,
    "mixture, start='moments'": partial(_mixture, start="moments"),
    "mixture, start='raw_moments'": partial(_mixture, start="raw_moments"),
    # EM stops by the change of the weights, as in section 4.5.
    "mixture, ASVTD + EM": partial(
        _mixture, decomposition="svtd", start="raw_moments", convergence="weights"
    ),
    "mixture, 3V-MoM": partial(_mixture, start="three_view_mom", refine=None),
    "mixture, 3V-MoM + EM": partial(_mixture, start="three_view_mom"),
    "mixture, 3V-TPM": partial(_mixture, start="three_view_tpm", refine=None),
    "mixture, 3V-TPM + EM": partial(_mixture, start="three_view_tpm"),
    "tree, defaults (EM)": _tree,
    "tree, refine=None": partial(_tree, refine=None),
    "k-means": kmeans,
    "PCA, k-means": pca_kmeans,
    "spectral, linear kernel": spectral_linear,
    "EM, 10 random starts": random_bernoulli,
}
PEERS = ("k-means", "PCA, k-means", "spectral, linear kernel", "EM, 10 random starts")
MOST_ROWS = {"spectral, linear kernel": 3_000}

GRID: dict[str, list[dict[str, int]]] = {
    "n": [{"n": n, "d": 99, "k": 12} for n in (100, 300, 1_000, 3_000, 10_000)],
    "k": [{"n": 10_000, "d": 99, "k": k} for k in (2, 6, 12, 20, 33)],
    "d": [{"n": 10_000, "d": d, "k": 4} for d in (12, 30, 60, 99)],
}
QUICK: dict[str, list[dict[str, int]]] = {
    "n": [{"n": n, "d": 30, "k": 3} for n in (100, 300)],
    "k": [{"n": 300, "d": 30, "k": k} for k in (2, 3)],
    "d": [{"n": 300, "d": d, "k": 3} for d in (12, 30)],
}

Scores = dict[str, tuple[list[float], list[float]]]


def run(method: str, X: Any, k: int) -> tuple[NDArray[Any], float]:
    """Return the labels and the seconds of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples may support fewer components
        start = time.perf_counter()
        labels = METHODS[method](X, k)
        return labels, time.perf_counter() - start


def measure(n: int, d: int, k: int, *, equal: bool, scaled_by: str, n_seeds: int) -> Scores:
    """Return the ARI and the seconds of each method for each seed."""
    scores: Scores = {}
    for seed in range(n_seeds):
        weights = np.full(k, 1.0 / k) if equal else None
        sample = make_bernoulli_mixture(
            n, d, k, weights=weights, scaled_by=scaled_by, random_state=seed
        )
        best = true_parameters(sample.X, sample.weights, sample.means)
        _add(scores, "true parameters", adjusted_rand_score(sample.labels, best), 0.0)
        X = sample.X.astype(np.float64)
        for name in METHODS:
            if n > MOST_ROWS.get(name, n):
                continue
            labels, seconds = run(name, X, k)
            _add(scores, name, adjusted_rand_score(sample.labels, labels), seconds)
    return scores


def _add(scores: Scores, name: str, agreement: float, seconds: float) -> None:
    found = scores.setdefault(name, ([], []))
    found[0].append(agreement)
    found[1].append(seconds)


def rows(scores: Sequence[Scores]) -> list[tuple[str, ...]]:
    """Return a table of methods by settings, and the default minus the best peer."""
    found = []
    for name in (*METHODS, "true parameters"):
        if not any(name in s for s in scores):
            continue
        cells = [_cell(s[name][0]) if name in s else "" for s in scores]
        found.append((name, *cells))
    gaps = []
    for s in scores:
        best = max((p for p in PEERS if p in s), key=lambda p, s=s: np.mean(s[p][0]))
        gaps.append(_cell(np.subtract(s[OURS][0], s[best][0]), "+.3f"))
    return [*found, ("defaults minus the best peer", *gaps)]


def _cell(values: Sequence[float] | NDArray[Any], form: str = ".3f") -> str:
    if len(values) < 2:
        return f"{np.mean(values):{form}}"
    return f"{np.mean(values):{form}} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}"


def digits() -> list[tuple[str, str, str, str]]:
    """Return one row per method: NMI and ARI with the digits, and seconds."""
    data, target = load_digits(return_X_y=True)
    X = (data > 7).astype(np.float64)
    found = []
    for name in METHODS:
        labels, seconds = run(name, X, 10)
        nmi = normalized_mutual_info_score(target, labels)
        ari = adjusted_rand_score(target, labels)
        found.append((name, f"{nmi:.3f}", f"{ari:.3f}", f"{seconds:.2f}"))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--weights", nargs="+", choices=("equal", "drawn"), default=None)
    parser.add_argument("--scaled-by", default="feature", help="see make_bernoulli_mixture")
    parser.add_argument("--quick", action="store_true", help="small samples, two seeds")
    args = parser.parse_args()
    print(environment())
    grid, n_seeds = (QUICK, 2) if args.quick else (GRID, args.seeds)
    print("\ndigits\n\n" + table(("method", "NMI", "ARI", "seconds"), digits()), flush=True)
    for weights in args.weights or ("equal", "drawn"):
        done: dict[tuple[int, ...], Scores] = {}
        for axis, settings in grid.items():
            for setting in settings:
                key = tuple(setting.values())
                if key not in done:
                    done[key] = measure(
                        **setting,
                        equal=weights == "equal",
                        scaled_by=args.scaled_by,
                        n_seeds=n_seeds,
                    )
            fixed = ", ".join(f"{a} = {v:,}" for a, v in settings[-1].items() if a != axis)
            print(f"\nARI, {weights} weights, {fixed}, {n_seeds} seeds\n")
            head = [f"{axis} = {setting[axis]:,}" for setting in settings]
            found = [done[tuple(setting.values())] for setting in settings]
            print(table(("method", *head), rows(found)), flush=True)
        times = {name: [s[name][1] for s in done.values() if name in s] for name in METHODS}
        means = [(name, f"{np.mean(np.concatenate(t)):.2f}") for name, t in times.items()]
        print(f"\n{weights} weights\n\n" + table(("method", "mean seconds"), means), flush=True)


if __name__ == "__main__":
    main()

"""Do Gaussian mixtures reach the likelihood of scikit-learn's ten random starts, and how fast?

Both receive the same standardized columns, number of components (the classes) and floor of
variances. scikit-learn starts ten times from k-means (`n_init=10`), at its default tolerance. Times
are processor times. `--table` adds tables of your own: CSV files of numbers with a header, whose
last column contains the classes. `--many SEEDS` measures many groups instead: spheres of unequal
size, ten in 50 columns and fifteen in three, for so many seeds from `--first` on. Random starts
that end with a component of one or two samples do not count.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np
from _common import SEED, environment, mean_se, table
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.metrics import normalized_mutual_info_score
from sklearn.mixture import GaussianMixture as RandomStarts

from momentree import GaussianMixture
from momentree.core.choices import CovarianceType

TYPES: tuple[CovarianceType, ...] = get_args(CovarianceType)
MANY: tuple[tuple[int, int, float], ...] = (
    (10, 50, 2.5),
    (10, 50, 4.0),
    (15, 3, 2.5),
    (15, 3, 4.0),
)
"""Groups, columns, and mean distance of centers."""
HEADER = ("data", "covariances", "gain", "start", "time", "NMI", "NMI of random starts")

Table = tuple[str, NDArray[np.float64], NDArray[np.int64]]


def tables(paths: list[Path]) -> Iterator[Table]:
    """Yield names, samples and classes: tables of scikit-learn, synthetic ones, then files."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X, y
    rng = np.random.default_rng(SEED)
    a, b = rng.standard_normal((2, 250))
    cross = np.vstack([np.stack([a, 0.1 * b], axis=1), np.stack([0.1 * a, b], axis=1)])
    yield "two crossed lines", cross, np.repeat([0, 1], 250)
    X, y = datasets.make_blobs(10_000, 20, centers=5, random_state=SEED)
    yield "five spheres", X, y
    for path in paths:
        values = np.genfromtxt(path, delimiter=",", skip_header=1)
        yield path.stem, values[:, :-1], np.unique(values[:, -1], return_inverse=True)[1]


def measure(one: Table, covariance_type: CovarianceType, n_init: int = 10) -> tuple[object, ...]:
    """Return a row of the table: our mean log-likelihood minus theirs, times, agreement."""
    name, X, y = one
    spread = X.std(axis=0)
    X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    k = len(np.unique(y))
    ours = GaussianMixture(k, covariance_type=covariance_type)
    theirs = RandomStarts(k, covariance_type=covariance_type, n_init=n_init, random_state=SEED)
    seconds, labels = [], []
    for model in (ours, theirs):
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        seconds.append(time.process_time() - start)
        labels.append(model.predict(X))
    nmi = [f"{normalized_mutual_info_score(y, found):.3f}" for found in labels]
    gain = ours.score(X) - theirs.score(X)
    ratio = seconds[0] / max(seconds[1], 1e-9)
    return name, covariance_type, f"{gain:+.4f}", ours.diagnostics_["start"], f"{ratio:.2f}", *nmi


def spheres(n: int, d: int, k: int, apart: float, seed: int) -> NDArray[np.float64]:
    """Draw spheres whose centers are `apart` standard deviations from each other on average."""
    rng = np.random.default_rng([seed, d, k])
    centers = rng.standard_normal((k, d)) * apart / np.sqrt(2 * d)
    labels = rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 5.0)))
    spreads = rng.uniform(0.7, 1.3, k)
    return np.asarray(centers[labels] + spreads[labels, None] * rng.standard_normal((n, d)))


def gain_over_starts(X: NDArray[np.float64], k: int, kind: CovarianceType, starts: int) -> float:
    """Return our mean log-likelihood minus that of the best of several random starts."""
    best = -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = GaussianMixture(k, covariance_type=kind).fit(X).score(X)
        for seed in range(starts):
            one = RandomStarts(k, covariance_type=kind, random_state=seed).fit(X)
            if np.bincount(one.predict(X), minlength=k).min() > 2:
                best = max(best, one.score(X))
    return float(ours - best)


def many_groups(seeds: range, n: int = 1_500, starts: int = 10) -> list[list[str]]:
    """Return rows: mean gain with its standard error over seeds, and the worst."""
    rows = []
    for kind in ("spherical", "diag"):
        for k, d, apart in MANY:
            gains = [gain_over_starts(spheres(n, d, k, apart, i), k, kind, starts) for i in seeds]
            rows.append(
                [f"{k} x {d}", f"{apart}", kind, mean_se(gains, "+.4f"), f"{min(gains):+.4f}"]
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, nargs="*", default=[])
    parser.add_argument("--many", type=int, default=0, help="seeds of many groups")
    parser.add_argument("--first", type=int, default=0, help="first seed of many groups")
    args = parser.parse_args()
    print(environment())
    if args.many:
        rows = many_groups(range(args.first, args.first + args.many))
        print(table(("groups x columns", "apart", "covariances", "gain", "worst"), rows))
        return
    print(
        "gain: mean log-likelihood above the best of ten random starts; time: a fraction of theirs"
    )
    rows = [measure(one, kind) for one in tables(args.table) for kind in TYPES]
    print(table(HEADER, rows))


if __name__ == "__main__":
    main()

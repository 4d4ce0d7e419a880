"""Do Gaussian mixtures reach the likelihood of scikit-learn's ten random starts, and how fast?

Both receive the same standardized columns, number of components (the classes) and floor of
variances. scikit-learn starts ten times from k-means (`n_init=10`), at its default tolerance. Times
are processor times. `--table` adds tables of your own: CSV files of numbers with a header, whose
last column contains the classes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np
from _common import SEED, environment, table
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.metrics import normalized_mutual_info_score
from sklearn.mixture import GaussianMixture as RandomStarts

from momentree import GaussianMixture
from momentree.models.gaussian_mixture import CovarianceType

TYPES: tuple[CovarianceType, ...] = get_args(CovarianceType)
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    print(environment())
    print(
        "gain: mean log-likelihood above the best of ten random starts; time: a fraction of theirs"
    )
    rows = [measure(one, kind) for one in tables(args.table) for kind in TYPES]
    print(table(HEADER, rows))


if __name__ == "__main__":
    main()

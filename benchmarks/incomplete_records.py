"""Is the group of a whole record found again if most of its codes are missing?

Each code of the records of a fit is removed with a probability of one half or three quarters, over
five seeds; records without any code left are not counted. The leading group is compared with the
group of the whole record, and its probability with how often it is right: the calibration error is
the expected one over ten equal bins. "New records" are a fifth of all records, left out of the fit,
whose groups are those of ``predict``. Rules:

- posterior: ``predict_proba``, which takes the record to be complete;
- multinomial: only the codes present count, in proportion to their shares of a group's codes;
- uniform rates: the product over all codes, averaged over recording rates of 5% to 100%;
- incomplete: ``predict_incomplete_proba``; "named" are the records to which ``predict_incomplete``
  gives a group.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import DATA, SEED, binary_records, environment, mean_se, table
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

from momentree import ClusterTree
from momentree.datasets import make_patient_records

N_BINS = 10
HOLD_OUT = 0.2

Rule = Callable[[Any], NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """Binary records and the number of groups to find in them."""

    name: str
    X: Any
    n_groups: int


def thinned(X: Any, removed: float, rng: np.random.Generator) -> Any:
    """Remove each code with a given probability."""
    X = sp.csr_array(X, copy=True)
    X.data = (rng.random(len(X.data)) >= removed).astype(np.float64)
    X.eliminate_zeros()
    return X


def calibration_error(P: NDArray[Any], labels: NDArray[Any]) -> float:
    """Return the expected calibration error of the largest probability of each row."""
    top, right = P.max(axis=1), P.argmax(axis=1) == labels
    bins = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(bins, weights=top - right, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(top))


def rules_of(tree: ClusterTree) -> dict[str, Rule]:
    """Return the rules to compare; each maps records to probabilities of groups."""
    scoring = tree.scoring()
    counts, sizes = np.array(scoring["counts"]), np.array(scoring["sizes"])
    mean, weights = counts.sum(axis=0) / sizes.sum(), np.log(sizes / sizes.sum())
    mu = np.clip((counts + mean) / (sizes[:, None] + 1.0), 1e-9, 1.0 - 1e-9)
    shares = np.log(mu / mu.sum(axis=1, keepdims=True))

    def uniform(X: Any) -> NDArray[Any]:
        logs = []
        for rate in np.arange(1, 21) / 20:
            absent = np.log1p(-rate * mu)
            logs.append(X @ (np.log(rate * mu) - absent).T + absent.sum(axis=1) + weights)
        return np.asarray(softmax(logsumexp(logs, axis=0), axis=1))

    return {
        "posterior": tree.predict_proba,
        "multinomial": lambda X: softmax(X @ shares.T + weights, axis=1),
        "uniform rates": uniform,
        "incomplete": tree.predict_incomplete_proba,
    }


def measure(case: Case, removed: float, seeds: int, *, new: bool) -> list[list[str]]:
    """Return one row of the table per rule."""
    found: dict[str, list[tuple[float, ...]]] = {}
    fitted: ClusterTree | None = None
    for seed in range(seeds if removed else 1):
        rng = np.random.default_rng(SEED + seed)
        rows = np.arange(case.X.shape[0])
        out = np.sort(rng.permutation(rows)[: round(HOLD_OUT * len(rows))]) if new else rows
        if new or fitted is None:
            fit = np.setdiff1d(rows, out) if new else rows
            fitted = ClusterTree(case.n_groups, data="binary").fit(case.X[fit])
        labels = fitted.predict(case.X[out])
        X = thinned(case.X[out], removed, rng)
        some = np.flatnonzero(np.diff(X.indptr))
        X, labels = X[some], labels[some]
        named = fitted.predict_incomplete(X)
        for name, rule in rules_of(fitted).items():
            P = rule(X)
            values = [(P.argmax(axis=1) == labels).mean(), calibration_error(P, labels)]
            if name == "incomplete":
                values += [(named >= 0).mean(), (named == labels)[named >= 0].mean()]
            found.setdefault(name, []).append(tuple(map(float, values)))
    head = [case.name + (", new records" if new else ""), f"{removed:.0%}"]
    return [
        [*head, name, *(mean_se(list(column), ".3f") for column in zip(*values, strict=True))]
        for name, values in found.items()
    ]


def load_cases(names: Iterable[str]) -> list[Case]:
    """Return the data sets that are present."""
    found = []
    for name in names:
        X = _MAKE[name][0]()
        if X is not None:
            found.append(Case(name, X, _MAKE[name][1]))
    return found


def _discharges() -> Any:
    outcomes = ["DRG", "sex", "age_group", "death"]
    read = binary_records(
        "vermont_icd9/vermont_dx.csv.gz",
        rollup="icd9",
        code_columns="DX*",
        outcome_columns=outcomes,
    )
    return None if read is None else _frequent(read[0])


def _patients() -> Any:
    read = binary_records(
        "diabetes130/encounters.csv.gz",
        rollup="icd9",
        code_columns=["diag_1", "diag_2", "diag_3"],
        id_column="patient_nbr",
    )
    if read is None:
        return None
    rows = np.random.default_rng(SEED).permutation(read[0].shape[0])[:20_000]
    return _frequent(read[0][np.sort(rows)])


def _matrix(folder: str) -> Any:
    path = DATA / folder / "X.npz"
    if not path.exists():
        print(f"{folder}: skipped, it is not in ../shared/data next to the repository")
        return None
    return _frequent(sp.load_npz(path) > 0)


def _frequent(X: Any) -> Any:
    """Keep codes in five records or more, and records with a code."""
    X = sp.csr_array(X, dtype=np.float64)
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= 5)]
    return X[np.flatnonzero(np.diff(X.indptr))]


_MAKE: dict[str, tuple[Callable[[], Any], int]] = {
    "Vermont": (_discharges, 6),
    "Diabetes130": (_patients, 8),
    "MIMIC-III demo": (lambda: _matrix("mimic3_demo"), 4),
    "Medical": (lambda: _matrix("mulan_medical"), 8),
    "Soybean": (lambda: _matrix("soybean"), 8),
    "Sampled patients": (
        lambda: _frequent(make_patient_records(3_000, 200, 8, random_state=SEED).X),
        8,
    ),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="*", choices=list(_MAKE), default=list(_MAKE))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    print(environment())
    rows = [
        [*row, *[""] * (7 - len(row))]
        for case in load_cases(arguments.data)
        for new in (False, True)
        for removed in (0.0, 0.5, 0.75)
        for row in measure(case, removed, arguments.seeds, new=new)
    ]
    header = ["data", "removed", "rule", "found", "calibration error", "named", "right if named"]
    print(table(header, rows))


if __name__ == "__main__":
    main()

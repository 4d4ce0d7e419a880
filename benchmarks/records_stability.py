"""How stable are groups of patients, how well do they predict outcomes, and how long do they take?

The protocol of section 6.4.1 of the thesis (Tables 6.1 and 6.2, Figure 6.1), on other records, as
MIMIC-III is not public. Stability: adjusted Rand index of two clusterings on the records common to
both samples, which share 80% of all records and each add a different 10%; five repeats.
Predictive power: logistic regression on the group alone, five folds. Times are of the whole fit.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import SEED, binary_records, environment, spread, table
from _peers import PDDP
from numpy.typing import NDArray
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.preprocessing import normalize

from momentree import BernoulliMixture, ClusterTree
from momentree.metrics import predictive_accuracy, stability_score

# EM stops by the norm of the change of the centers, as in section 6.4.1.
_three_views = partial(BernoulliMixture, convergence="centers", random_state=SEED)


def _by_depth(
    k: int, kind: Callable[..., ClusterTree] = ClusterTree, **options: Any
) -> ClusterTree:
    """Return a tree of whole levels, as in the thesis."""
    return kind(None, growth="depth", max_depth=math.ceil(math.log2(k)), **options)


class _UnitLength(ClusterTree):
    """Records scaled to unit length, without a constant."""

    def fit(self, X: Any, y: object = None) -> _UnitLength:
        super().fit(normalize(X), y)
        return self


class _WithConstant(ClusterTree):
    """Unscaled records with a constant of 1 appended."""

    def fit(self, X: Any, y: object = None) -> _WithConstant:
        ones = np.ones((X.shape[0], 1))
        super().fit(sp.hstack([X, sp.csr_array(ones)], format="csr"), y)
        return self


def _at_once(k: int, **options: Any) -> BernoulliMixture:
    return BernoulliMixture(k, start="clusters", **options)


METHODS: dict[str, Callable[[int], Any]] = {
    "tree, refine=None": partial(ClusterTree, refine=None),
    "tree, refine=None, by depth": partial(_by_depth, refine=None),
    "tree, refine=None, scaling=None": partial(ClusterTree, refine=None, scaling=None),
    "tree, Algorithm 5 of the thesis": partial(_by_depth, refine=None, scaling=None),
    "tree, Algorithm 5, constant only": partial(
        _by_depth, kind=_WithConstant, refine=None, scaling=None
    ),
    "tree, Algorithm 5, unit length only": partial(
        _by_depth, kind=_UnitLength, refine=None, scaling=None, data="non_negative"
    ),
    "tree, refine='splits'": partial(ClusterTree, refine="splits"),
    "tree, defaults (EM)": ClusterTree,
    "one split, refine=None": partial(_at_once, refine=None),
    "one split, defaults (EM)": _at_once,
    "mixture, defaults": BernoulliMixture,
    "mixture, ASVTD + EM": partial(
        BernoulliMixture, decomposition="svtd", start="raw_moments", convergence="centers"
    ),
    "mixture, 3V-MoM": partial(_three_views, start="three_view_mom", refine=None),
    "mixture, 3V-MoM + EM": partial(_three_views, start="three_view_mom"),
    "mixture, 3V-TPM": partial(_three_views, start="three_view_tpm", refine=None),
    "mixture, 3V-TPM + EM": partial(_three_views, start="three_view_tpm"),
    "bisecting k-means": partial(BisectingKMeans, random_state=SEED),
    "PDDP": PDDP,
    "k-means": partial(KMeans, random_state=SEED),
}

IN_FIGURE = (
    "tree, refine=None, by depth",
    "tree, refine=None",
    "one split, refine=None",
    "tree, defaults (EM)",
    "mixture, ASVTD + EM",
    "mixture, 3V-MoM",
    "mixture, 3V-TPM",
    "bisecting k-means",
    "PDDP",
)


@dataclass(frozen=True)
class Question:
    """An outcome to predict from the groups; numbers are compared with a threshold."""

    name: str
    column: str
    threshold: float | None = None


@dataclass(frozen=True)
class Data:
    """Records of one source, and the outcomes to predict."""

    name: str
    X: Any
    outcomes: dict[str, NDArray[Any]]
    questions: tuple[Question, ...]


def diabetes() -> Data | None:
    """Load patients of 130 hospitals who have at least three of the 222 most frequent codes."""
    found = binary_records(
        "diabetes130/encounters.csv.gz",
        n_codes=222,
        min_codes=3,
        code_columns="diag_?",
        union_by="patient_nbr",
        rollup="icd9",
        outcome_columns=["time_in_hospital", "readmitted"],
    )
    if found is None:
        return None
    questions = (
        Question("stay > 7 days", "time_in_hospital", 7),
        Question("stay > 4 days", "time_in_hospital", 4),
        Question("readmitted", "readmitted"),
    )
    return Data("diabetes130", *found, questions)


def vermont() -> Data | None:
    """Load 1,000 discharges in Vermont with at least three of the 222 most frequent codes."""
    found = binary_records(
        "vermont_icd9/vermont_dx.csv.gz",
        n_codes=222,
        min_codes=3,
        rollup="icd9",
        outcome_columns="death",
    )
    return None if found is None else Data("Vermont", *found, (Question("death", "death"),))


SOURCES = {"diabetes130": diabetes, "vermont": vermont}


def fitted(make: Callable[[int], Any], k: int, X: Any) -> tuple[NDArray[Any], float]:
    """Return the labels and the seconds of a fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three views may find fewer groups than requested
        start = time.perf_counter()
        labels = make(k).fit(X).labels_
        return labels, time.perf_counter() - start


def stability(make: Callable[[int], Any], k: int, X: Any, repeats: int) -> NDArray[np.float64]:
    """Return the score of each repeat; the same records are drawn for every method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return stability_score(make(k), X, n_repeats=repeats, random_state=SEED)


def measure(
    data: Data, names: Sequence[str], k: int, repeats: int, timings: int = 3
) -> list[tuple[str, ...]]:
    """Return one row per method: stability, predictive power, groups, seconds."""
    seconds = {name: np.empty(timings) for name in names}
    labels = {}
    for i in range(timings):  # in alternation, so that machine noise affects all methods equally
        for name in names:
            labels[name], seconds[name][i] = fitted(METHODS[name], k, data.X)
    rows = []
    for name in names:
        scores = stability(METHODS[name], k, data.X, repeats)
        row = [name, f"{scores.mean():.3f} ± {scores.std():.3f}"]
        for question in data.questions:
            power = predictive_accuracy(
                labels[name], data.outcomes[question.column], threshold=question.threshold
            )
            row.append(f"{power.accuracy:.4f} ({power.auc:.3f})")
        rows.append((*row, str(len(np.unique(labels[name]))), spread(seconds[name], ".2g")))
    return rows


def header(data: Data) -> tuple[str, ...]:
    """Return the column names, with the accuracy of a constant prediction."""
    found = ["method", "stability"]
    for question in data.questions:
        values = data.outcomes[question.column]
        # The baseline depends on the outcome, not on the groups.
        power = predictive_accuracy(
            np.arange(len(values)) % 2, values, threshold=question.threshold
        )
        found.append(f"{question.name}, constant {power.baseline:.4f}")
    return (*found, "groups", "seconds")


def over_depths(
    data: Data, names: Sequence[str], depths: Sequence[int], repeats: int
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Return stability, and AUC for the first outcome, for 2^depth groups."""
    question = data.questions[0]
    stable, power = [], []
    for name in names:
        make = METHODS[name]
        scores = [stability(make, 2**h, data.X, repeats) for h in depths]
        stable.append((name, *(f"{s.mean():.2f} ± {s.std():.2f}" for s in scores)))
        areas = []
        for h in depths:
            labels, _ = fitted(make, 2**h, data.X)
            values = data.outcomes[question.column]
            found = predictive_accuracy(labels, values, threshold=question.threshold)
            areas.append(f"{found.auc:.3f}")
        power.append((name, *areas))
    return stable, power


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", nargs="+", choices=list(SOURCES), default=list(SOURCES))
    parser.add_argument("--groups", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--depths", type=int, nargs="*", default=[1, 2, 3, 4, 5])
    parser.add_argument("--quick", action="store_true", help="a tenth of the records, two repeats")
    args = parser.parse_args()
    repeats = 2 if args.quick else args.repeats
    print(environment())
    for data in filter(None, (SOURCES[name]() for name in args.sources)):
        if args.quick:
            rows = slice(None, None, 10)
            some = {name: values[rows] for name, values in data.outcomes.items()}
            data = Data(data.name, data.X[rows], some, data.questions)
        n, d = data.X.shape
        print(f"\n{data.name}: {n:,} records, {d} codes, {data.X.nnz / n:.1f} per record\n")
        rows = measure(data, list(METHODS), args.groups, repeats)
        print(table(header(data), rows), flush=True)
        if args.depths and data.name == "diabetes130":
            stable, power = over_depths(data, IN_FIGURE, args.depths, repeats)
            head = [f"{2**h} groups" for h in args.depths]
            print("\n" + table(("stability", *head), stable))
            print("\n" + table((f"AUC, {data.questions[0].name}", *head), power), flush=True)


if __name__ == "__main__":
    main()

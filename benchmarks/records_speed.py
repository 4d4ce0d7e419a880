"""How much time, in matrix-vector products, and memory do groups of a million records take?

1,000,000 synthetic patients with 10 of 700 codes each, from 16 groups. Tree and product alternate;
memory is measured in fresh processes, as in `memory_tree.py`, relative to the matrix. Then the
seconds from a table of 1,000 hospital discharges to the report, step by step, if it is present.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _common import DATA, SEED, environment, interleaved, product, spread, table
from memory_tree import peak, peaks
from sklearn.metrics import adjusted_rand_score

from momentree import ClusterTree
from momentree.datasets import PatientSample, make_patient_records, read_records
from momentree.metrics import predictive_accuracy, stability_score
from momentree.report import summarize_records, write_html

INNER = 5
GROUPS = 16
DTYPES = ("int32", "int64", "float64")
VARIANTS: dict[str, dict[str, Any]] = {
    "refine=None": {"refine": None},
    "defaults (EM)": {},
}
IMPORTED = (
    "momentree.cli",
    "momentree.tree",
    "momentree.report",
    "momentree.metrics",
    "pandas",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
)
"""Packages that the command imports."""
VERMONT = DATA / "vermont_icd9"


def speed(sample: PatientSample, repeats: int) -> list[tuple[str, str, str, str]]:
    """Return one row per variant: name, seconds, multiples of X @ v, ARI with the groups."""
    trees = {name: ClusterTree(GROUPS, **options) for name, options in VARIANTS.items()}
    tasks: dict[str, Any] = {"X @ v": product(sample.X, INNER)}
    tasks |= {name: partial(tree.fit, sample.X) for name, tree in trees.items()}
    times = interleaved(tasks, repeats)
    unit = times["X @ v"] / INNER
    found = [("one product X @ v", spread(unit), "1", "")]
    for name, tree in trees.items():
        ari = adjusted_rand_score(sample.labels, tree.labels_)
        ratio = times[name] / unit  # from the same round, because the machine is never quite idle
        found.append((name, spread(times[name]), spread(ratio, ",.0f"), f"{ari:.3f}"))
    return found


def child(folder: str, n: int, d: int, options: dict[str, Any], mode: str) -> dict[str, float]:
    """Return the bytes of a matrix of records and of the peak of a fit."""
    rng = np.random.default_rng(SEED)
    ClusterTree(2).fit(rng.random((40, 10)) < 0.5)  # for imports on first use
    return peak(folder, (n, d), mode, ClusterTree(GROUPS, **options).fit)


def memory(X: Any, dtype: str, options: dict[str, Any]) -> tuple[float, float, float]:
    """Return the size of the matrix in MiB, and the peaks (including it) as multiples of it."""
    return peaks(__file__, X, dtype, options)


def parts(path: Path, names: Path, folder: Path) -> dict[str, float]:
    """Return the seconds of each step from a table of discharges to the report."""
    times = {}
    clock = time.perf_counter

    start = clock()
    records = read_records(path, rollup="icd9", outcome_columns="death", names=names)
    times["read, roll up, name"] = clock() - start
    X = records.X[records.enough]
    start = clock()
    tree = ClusterTree(8).fit(X, feature_names=records.codes)
    times["tree of 8 groups, with EM"] = clock() - start
    start = clock()
    power = predictive_accuracy(tree.labels_, records.outcomes["death"][records.enough])
    times["predictive power for death"] = clock() - start
    start = clock()
    scores = stability_score(tree, X)
    times["stability, ten more trees"] = clock() - start
    start = clock()
    quality = {"stability": scores, "predictive_power": {"death": power}}
    write_html(summarize_records(tree, records, quality=quality), folder / "report.html")
    times["report"] = clock() - start
    times["total"] = sum(times.values())
    return times


def command(path: Path, names: Path, folder: Path) -> dict[str, float]:
    """Return the seconds of the whole command and of its imports, each in a new process."""
    momentree = [sys.executable, "-m", "momentree"]
    options = ["--rollup", "icd9", "--outcome", "death", "--code-names", str(names), "--stability"]
    output = ["--output", str(folder / "command.html")]
    tasks = {
        "momentree clusters": [*momentree, "clusters", str(path), *options, *output],
        "of which imports": [sys.executable, "-c", f"import {', '.join(IMPORTED)}"],
    }
    times = {}
    for name, task in tasks.items():
        start = time.perf_counter()
        subprocess.run(task, capture_output=True, check=True)
        times[name] = time.perf_counter() - start
    return times


def to_report(repeats: int) -> list[tuple[str, str]]:
    """Return one row per step, and rows for the command."""
    path, names = VERMONT / "vermont_dx.csv.gz", VERMONT / "icd9cm_hierarchy.csv.gz"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts(path, names, folder)  # an untimed run, for imports on first use
        rounds = [
            {**parts(path, names, folder), **command(path, names, folder)} for _ in range(repeats)
        ]
    return [(part, spread([one[part] for one in rounds], ".2f")) for part in rounds[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="20,000 records, once")
    args = parser.parse_args()
    if args.child:
        print(json.dumps(child(*json.loads(args.child))))
        return
    print(environment())
    n, repeats = (20_000, 1) if args.quick else (args.records, args.repeats)
    sample = make_patient_records(n, 700, GROUPS, 10, random_state=SEED)
    n, d = sample.X.shape
    print(f"\n{n:,} x {d} records, {sample.X.nnz:,} codes; median [minimum, maximum]\n")
    header = (f"tree of {GROUPS} groups", "seconds", "products X @ v", "ARI")
    print(table(header, speed(sample, repeats)) + "\n", flush=True)
    found = []
    for name, options in VARIANTS.items():
        for dtype in DTYPES:
            size, traced, rss = memory(sample.X, dtype, options)
            found.append((name, dtype, f"{size:.0f}", f"{traced:.2f}", f"{rss:.2f}"))
    header = ("tree", "values", "matrix, MiB", "peak, tracemalloc", "peak, resident")
    print(table(header, found), flush=True)
    if not VERMONT.exists():
        print("\nvermont_icd9: skipped, it is not in ../shared/data next to the repository")
        return
    print("\n" + table(("1,000 discharges", "seconds"), to_report(repeats)))


if __name__ == "__main__":
    main()

"""How do time and memory grow with documents, words, length and topics, here and elsewhere?

Documents are drawn from topics over a power-law vocabulary and stored as three files. Every
measurement runs in a fresh process, which reads them, fits once and reports the seconds of the fit
and the peak of resident memory, without that of the imports. `momentree, from files` maps the
files instead of reading them. A method leaves the race when its next fit would take longer than
`--limit`, by its own growth so far. Slopes are those of log time and log memory, fitted to all
sizes of a column. `--figure` also draws them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import SEED, compiled, environment, table
from memory_tree import PARTS, resident

BATCH = 50_000
"""Documents drawn at once."""
SMALL = 0.5
"""Slopes leave out fits that take fewer seconds than this, which measure fixed costs."""
STEEPEST = 1.5
"""Largest assumed growth: the slope between two fits on a busy machine is uncertain."""


@dataclass(frozen=True)
class Size:
    """Size of a corpus, and the number of topics drawn and asked for."""

    n: int = 100_000
    d: int = 20_000
    length: int = 50
    k: int = 10


SWEEPS: dict[str, list[int]] = {
    "n": [100_000, 300_000, 1_000_000, 3_000_000],
    "d": [5_000, 20_000, 80_000],
    "length": [20, 50, 150, 500],
    "k": [5, 10, 20, 40],
}
NAMES = {"n": "documents", "d": "words", "length": "words per document", "k": "topics"}


# --- data ---------------------------------------------------------------------------------------


def store(size: Size, folder: Path) -> int:
    """Draw a corpus into CSR files, and return the number of stored counts."""
    rng = np.random.default_rng(SEED)
    base = 1.0 / (np.arange(size.d) + 10.0)
    # The same sum for any d, so that topics differ as much with many words as with few.
    topics = rng.dirichlet(1_000 / size.d + 4_000 * base / base.sum(), size.k)
    sums = np.cumsum(topics, axis=1)
    sums /= sums[:, -1:]
    stored, ends = 0, [np.zeros(1, dtype=np.int64)]
    with (folder / "data.raw").open("wb") as data, (folder / "indices.raw").open("wb") as indices:
        for start in range(0, size.n, BATCH):
            m = min(BATCH, size.n - start)
            drawn = np.sort(rng.integers(size.k, size=m))
            words = np.empty((m, size.length), dtype=np.int32)
            for j in range(size.k):
                here = np.flatnonzero(drawn == j)
                u = rng.random((len(here), size.length))
                words[here] = np.minimum(np.searchsorted(sums[j], u), size.d - 1)
            words = words[rng.permutation(m)]
            row = np.repeat(np.arange(m), size.length)
            X = sp.csr_array((np.ones(words.size, np.int32), (row, words.ravel())), (m, size.d))
            X.sum_duplicates()
            X.data.astype(np.int32).tofile(data)
            X.indices.astype(np.int32).tofile(indices)
            ends.append(stored + X.indptr[1:].astype(np.int64))
            stored += int(X.nnz)
    for part in ("data", "indices"):
        raw = np.memmap(folder / f"{part}.raw", dtype=np.int32, mode="r")
        np.save(folder / f"{part}.npy", raw)
        (folder / f"{part}.raw").unlink()
    index = np.int32 if stored < 2**31 else np.int64
    np.save(folder / "indptr.npy", np.concatenate(ends).astype(index))
    return stored


# --- methods ------------------------------------------------------------------------------------


def _tree(X: Any, k: int) -> None:
    from momentree import TopicTree

    TopicTree(k, refine=None).fit(X)


def _flat(X: Any, k: int) -> None:
    from momentree import SingleTopicModel

    SingleTopicModel(k, refine=None).fit(X)


def _flat_em(X: Any, k: int) -> None:
    from momentree import SingleTopicModel

    SingleTopicModel(k, start="moments").fit(X)


def _sklearn(X: Any, k: int) -> None:
    from sklearn.decomposition import LatentDirichletAllocation

    LatentDirichletAllocation(
        k, learning_method="online", batch_size=4096, max_iter=1, random_state=SEED
    ).fit(X)


def _gensim(X: Any, k: int) -> None:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaMulticore

    words = {j: str(j) for j in range(X.shape[1])}
    corpus = Sparse2Corpus(sp.csr_matrix(X), documents_columns=False)
    LdaMulticore(corpus, k, words, passes=1, workers=os.cpu_count(), random_state=SEED)


def _tomotopy(X: Any, k: int) -> None:
    import tomotopy

    model = tomotopy.LDAModel(k=k, seed=SEED)
    names = np.arange(X.shape[1]).astype(str)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        model.add_doc(names[np.repeat(X.indices[a:b], X.data[a:b])])
    model.train(100, workers=os.cpu_count() or 1)


METHODS: dict[str, tuple[Callable[[Any, int], None], bool]] = {
    "tree": (_tree, False),
    "tree, from files": (_tree, True),
    "flat": (_flat, False),
    "flat, from files": (_flat, True),
    "flat with EM": (_flat_em, False),
    "scikit-learn, online LDA, one pass": (_sklearn, False),
    "gensim, LDA, one pass": (_gensim, False),
    "tomotopy, LDA, 100 iterations": (_tomotopy, False),
}


def load(folder: str, shape: tuple[int, int], mapped: bool) -> Any:
    """Return the counts in a folder, in memory or mapped from their files."""
    X = sp.csr_array(shape, dtype=np.int32)
    mode = "r" if mapped else None
    # The constructor of SciPy may copy mapped arrays.
    X.data, X.indices, X.indptr = (np.load(Path(folder) / f"{p}.npy", mode) for p in PARTS)
    return X


def child(folder: str, size: dict[str, int], method: str) -> dict[str, float] | None:
    """Fit once; return seconds and bytes at the peak, or None if the package is not installed."""
    fit, mapped = METHODS[method]
    few = sp.csr_array(np.random.default_rng(SEED).poisson(1.0, (60, 12)).astype(np.int32))
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in PARTS:
            np.save(Path(place) / f"{part}.npy", getattr(few, part))
        try:
            with compiled():
                fit(load(place, few.shape, mapped), 2)  # for imports, and compilation, on first use
        except ImportError:
            return None
    at = Size(**size)
    before = resident("VmRSS")
    X = load(folder, (at.n, at.d), mapped)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(X, at.k)
    return {"seconds": time.perf_counter() - start, "bytes": resident("VmHWM") - before}


# --- measurements -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """One measurement."""

    sweep: str
    value: int
    method: str
    stored: int
    seconds: float
    bytes: float


def measure(sweep: str, values: list[int], methods: list[str], limit: float) -> Iterator[Fit]:
    """Yield the fits of one sweep, smallest size first."""
    last: dict[str, list[tuple[int, float]]] = {}
    for value in values:
        size = replace(Size(), **{sweep: value})
        with tempfile.TemporaryDirectory() as folder:
            stored = store(size, Path(folder))
            for method in methods:
                known = last.setdefault(method, [])
                if known and predicted(known, value) > limit:
                    continue
                task = json.dumps([folder, asdict(size), method])
                command = [sys.executable, __file__, "--child", task]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                found = json.loads(done.stdout) if done.returncode == 0 else None
                if found is None:
                    why = done.stderr.strip().splitlines()[-1:] or ["not installed"]
                    print(f"{method}: left out ({why[0]})", file=sys.stderr)
                    known.append((value, np.inf))
                    continue
                known.append((value, found["seconds"]))
                yield Fit(sweep, value, method, stored, found["seconds"], found["bytes"])


def predicted(known: list[tuple[int, float]], value: int) -> float:
    """Return the seconds of the next fit, if time grows at least linearly, as it did so far."""
    at, seconds = known[-1]
    slow = [point for point in known[-2:] if SMALL <= point[1] < np.inf]
    power = min(max(1.0, slope(slow)), STEEPEST) if len(slow) > 1 else 1.0
    return float(seconds * (value / at) ** power)


def slope(points: list[tuple[int, float]]) -> float:
    """Return the slope of log y in log x."""
    x, y = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(x, y, 1)[0]) if len(points) > 1 else float("nan")


def report(fits: list[Fit], sweep: str) -> str:
    """Return the table of one sweep: seconds and memory by size, and slopes."""
    values = sorted({fit.value for fit in fits})
    header = [f"{NAMES[sweep]}:", *(f"{value:,}" for value in values), "slope, time", "memory"]
    rows = []
    for method in dict.fromkeys(fit.method for fit in fits):
        of = {fit.value: fit for fit in fits if fit.method == method}
        cells = [
            f"{of[v].seconds:,.1f} s, {of[v].bytes / 1e6:,.0f} MB" if v in of else ""
            for v in values
        ]
        slow = [(v, fit.seconds) for v, fit in of.items() if fit.seconds >= SMALL]
        slopes = [slope(slow), slope([(v, fit.bytes) for v, fit in of.items()])]
        rows.append([method, *cells, *("" if np.isnan(s) else f"{s:.2f}" for s in slopes)])
    return table(header, rows)


def projection(fits: list[Fit]) -> str:
    """Return times for 8 million and a billion documents, at the rate of the largest fit."""
    rows = []
    for method in dict.fromkeys(fit.method for fit in fits):
        of = sorted((fit.value, fit.seconds) for fit in fits if fit.method == method)
        value, seconds = of[-1]
        hours = [seconds * n / value / 3600 for n in (8e6, 1e9)]
        rows.append([method, f"{value:,}", f"{60 * hours[0]:,.1f} min", f"{hours[1]:,.1f} h"])
    return table(("method", "measured up to", "8 million documents", "a billion"), rows)


def short(value: int) -> str:
    """Return 20_000 as "20k" and 3_000_000 as "3M"."""
    for unit, letter in ((10**6, "M"), (1000, "k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return str(value)


def draw(fits: list[Fit], path: str) -> None:
    """Draw time and memory against each size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    sweeps = list(dict.fromkeys(fit.sweep for fit in fits))
    methods = list(dict.fromkeys(fit.method for fit in fits))
    colors = dict(zip(methods, plt.colormaps["tab10"].colors, strict=False))
    figure, axes = plt.subplots(
        2, len(sweeps), figsize=(3.4 * len(sweeps), 6.4), sharey="row", squeeze=False
    )
    for column, sweep in enumerate(sweeps):
        for row, what in enumerate(("seconds", "megabytes")):
            axis = axes[row, column]
            for method in methods:
                here = [fit for fit in fits if fit.sweep == sweep and fit.method == method]
                y = [fit.seconds if row == 0 else fit.bytes / 1e6 for fit in here]
                ours = METHODS[method][0].__name__[1:] in ("tree", "flat", "flat_em")
                axis.plot(
                    [fit.value for fit in here],
                    y,
                    marker="o",
                    markersize=4,
                    linestyle="-" if ours else "--",
                    color=colors[method],
                    label=method,
                )
            axis.set(xscale="log", yscale="log")
            values = sorted({fit.value for fit in fits if fit.sweep == sweep})
            axis.set_xticks(values, [short(value) for value in values])
            axis.minorticks_off()
            axis.grid(visible=True, which="major", alpha=0.3)
            if column == 0:
                axis.set_ylabel(what)
            if row == 1:
                axis.set_xlabel(NAMES[sweep])
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(sweeps), frameon=False)
    figure.tight_layout(rect=(0, 0.04 + 0.3 / len(sweeps), 1, 1))
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", nargs="+", choices=list(SWEEPS), default=list(SWEEPS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--limit", type=float, default=200.0, help="seconds per fit, about")
    parser.add_argument("--fraction", type=float, default=1.0, help="of the documents in `n`")
    parser.add_argument("--figure", help="write a PNG or SVG file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(child(*json.loads(args.child))))
        return
    print(environment())
    fits: list[Fit] = []
    for sweep in args.sweeps:
        values = SWEEPS[sweep]
        if sweep == "n":
            values = [max(100, round(args.fraction * value)) for value in values]
        fixed = {name: value for name, value in asdict(Size()).items() if name != sweep}
        told = ", ".join(f"{value:,} {NAMES[name]}" for name, value in fixed.items())
        here = list(measure(sweep, values, args.methods, args.limit))
        print(f"\nBy the number of {NAMES[sweep]} ({told}; seconds, peak memory)\n")
        print(report(here, sweep), flush=True)
        if sweep == "n":
            print(f"\nAt the rate of the largest number of documents\n\n{projection(here)}")
        fits += here
    if args.figure:
        draw(fits, args.figure)


if __name__ == "__main__":
    main()

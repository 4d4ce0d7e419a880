"""How long do the moments of a large corpus take, in products of the matrix with twelve columns?

300,000 documents, 100,000 words and 70 million stored counts, like the New York Times corpus. The
fit is `SingleTopicModel(10, refine=None)`: moments, SIDIWO, topics, the topic of each document.
The unit of time is a product `X @ B` with a float64 matrix of 12 columns, alternating with the
fit; memory is relative to the matrix. A second table increases the number of topics.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import SEED, compiled, environment, spread, table
from memory_tree import PARTS, resident

from momentree import SingleTopicModel
from momentree.datasets import TopicSample, make_single_topic
from momentree.metrics import recovery_error

COLUMNS = 12


def large_corpus(n: int, d: int, k: int) -> TopicSample:
    """Draw documents of log-normal length, about 370 words, as int32 counts."""
    rng = np.random.default_rng(SEED)
    length = np.maximum(rng.lognormal(np.log(330), 0.5, n), 20).astype(int)
    sample = make_single_topic(n, d, k, length=length, concentration=0.3, random_state=SEED)
    sample.X.data = sample.X.data.astype(np.int32)
    return sample


def products(X: Any, repeats: int = 3) -> list[float]:
    """Time X @ B in double precision."""
    X = X.astype(np.float64)
    B = np.random.default_rng(SEED).random((X.shape[1], COLUMNS))
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        X @ B
        seconds.append(time.perf_counter() - start)
    return seconds


def child(folder: str, n: int, d: int, task: str) -> list[float]:
    """Run one task in its own process: time products, or time a fit and measure its peak."""
    X = sp.csr_array(tuple(np.load(Path(folder) / f"{p}.npy") for p in PARTS), shape=(n, d))
    if task == "product":
        return products(X)
    rng = np.random.default_rng(SEED)
    with compiled():  # imports on first use
        SingleTopicModel(2, refine=None).fit(rng.poisson(1.0, (40, 10)).astype(np.int32))
    matrix = sum(getattr(X, part).nbytes for part in PARTS)
    before = resident("VmRSS")
    start = time.perf_counter()
    model = SingleTopicModel(10, refine=None).fit(X)
    seconds = time.perf_counter() - start
    peak = 1 + (resident("VmHWM") - before) / matrix
    error = recovery_error(model.components_, np.load(Path(folder) / "components.npy"))
    return [seconds, peak, error]


def in_child(*task: object) -> list[float]:
    """Run `child` in a fresh process."""
    command = [sys.executable, __file__, "--child", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout))


def large(n: int, d: int, repeats: int) -> None:
    """Print the table of the large corpus."""
    with tempfile.TemporaryDirectory() as folder:
        sample = large_corpus(n, d, 10)
        for part in PARTS:
            np.save(Path(folder) / f"{part}.npy", getattr(sample.X, part))
        np.save(Path(folder) / "components.npy", sample.components)
        stored = sample.X.nnz
        del sample
        units, fits = [], []
        for _ in range(repeats):  # in alternation, so that noise affects both equally
            units.append(float(np.median(in_child(folder, n, d, "product"))))
            fits.append(in_child(folder, n, d, "fit"))
    seconds, peaks, errors = np.array(fits).T
    print(f"\n{n:,} x {d:,}, {stored:,} stored counts of int32, 10 topics\n")
    header = ("fit, s", f"X @ B of {COLUMNS}, s", "fit / product", "peak / matrix", "L1 error")
    row = (seconds, np.array(units), seconds / np.array(units), peaks, errors)
    print(table(header, [[spread(values) for values in row]]))


def growth(n: int, d: int, sizes: list[int]) -> list[tuple[str, ...]]:
    """Return one row per number of topics: seconds, and the exponent since the last."""
    sample = make_single_topic(n, d, max(sizes), length=100, concentration=0.3, random_state=SEED)
    rows, last = [], None
    for k in sizes:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SingleTopicModel(k, refine=None).fit(sample.X)
        seconds = time.perf_counter() - start
        exponent = "" if last is None else f"{np.log(seconds / last[1]) / np.log(k / last[0]):.1f}"
        rows.append((str(k), f"{seconds:.1f}", exponent, str(len(model.weights_))))
        last = (k, seconds)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=2, default=(300_000, 100_000))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth-shape", type=int, nargs=2, default=(100_000, 20_000))
    parser.add_argument("--topics", type=int, nargs="+", default=[10, 20, 25, 50, 100])
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        print(json.dumps(child(*json.loads(args.child))))
        return
    print(environment())
    large(*args.shape, args.repeats)
    n, d = args.growth_shape
    print(f"\n{n:,} x {d:,}, documents of 100 words from {max(args.topics)} topics\n")
    header = ("topics", "fit, s", "exponent since the row above", "found")
    print(table(header, growth(n, d, args.topics)))


if __name__ == "__main__":
    main()

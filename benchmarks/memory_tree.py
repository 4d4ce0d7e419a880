"""How much memory does a fit need at its peak, relative to the matrix?

Each measurement runs in a fresh process: once under tracemalloc, which counts what Python and
NumPy allocate, and once by the resident memory that the system reports (Linux only). Numba, where
it is installed, is loaded before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import compiled, environment, table, unrelated_topics

PARTS = ("data", "indices", "indptr")
DTYPES = ("int32", "int64", "float64")
VARIANTS = {"without refinement": {"refine": None}, "defaults": {}}


def resident(field: str) -> float:
    """Return VmRSS or VmHWM (its peak) of this process in bytes; NaN if unknown."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(x for x in status.read_text().splitlines() if x.startswith(field + ":"))
    return 1024.0 * int(line.split()[1])


def peak(
    folder: str, shape: tuple[int, int], mode: str, fit: Callable[[Any], object]
) -> dict[str, float]:
    """Load the matrix from a folder, fit, and return the bytes of the matrix and of the peak."""
    if mode == "tracemalloc":
        tracemalloc.start()
    before = resident("VmRSS")
    X = sp.csr_array(tuple(np.load(Path(folder) / f"{p}.npy") for p in PARTS), shape=shape)
    size = sum(getattr(X, part).nbytes for part in PARTS)
    fit(X)
    if mode == "tracemalloc":
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return {"matrix": size, "peak": most}
    return {"matrix": size, "peak": resident("VmHWM") - before}


def peaks(script: str, X: Any, dtype: str, options: dict[str, Any]) -> tuple[float, float, float]:
    """Return the size of the matrix in MiB, and the peaks (including it) as multiples of it.

    The script runs again for each mode, with ``--child`` and the arguments of its `child`.
    """
    found = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "data.npy", X.data.astype(dtype))
        np.save(Path(folder) / "indices.npy", X.indices.astype(np.int32))
        np.save(Path(folder) / "indptr.npy", X.indptr.astype(np.int32))
        for mode in ("tracemalloc", "resident"):
            task = json.dumps([folder, *X.shape, options, mode])
            command = [sys.executable, script, "--child", task]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout))
    size = found[0]["matrix"]
    return size / 2**20, found[0]["peak"] / size, found[1]["peak"] / size


def child(folder: str, n: int, d: int, options: dict[str, Any], mode: str) -> dict[str, float]:
    """Return the bytes of a matrix of counts and of the peak of a fit."""
    from momentree import TopicTree

    some = np.random.default_rng(0).poisson(1.0, (40, 10))
    some = some.astype(np.load(Path(folder) / "data.npy", mmap_mode="r").dtype)
    with compiled():  # imports on first use
        TopicTree(2, **options).fit(some)
    return peak(folder, (n, d), mode, TopicTree(max_leaf_nodes=8, **options).fit)


def measure(X: Any, dtype: str, options: dict[str, Any]) -> tuple[float, float, float]:
    """Return the size of the matrix in MiB, and the peaks (including it) as multiples of it."""
    return peaks(__file__, X, dtype, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    task = parser.parse_args().child
    if task:
        print(json.dumps(child(*json.loads(task))))
        return
    print(environment())
    X = unrelated_topics().X
    print(f"{X.shape[0]:,} x {X.shape[1]:,} counts, {X.nnz:,} stored; memory / matrix")
    rows = []
    for name, options in VARIANTS.items():
        for dtype in DTYPES:
            size, traced, rss = measure(X, dtype, options)
            rows.append((name, dtype, f"{size:.0f}", f"{traced:.2f}", f"{rss:.2f}"))
    print(table(("tree", "counts", "matrix, MiB", "peak, tracemalloc", "peak, resident"), rows))


if __name__ == "__main__":
    main()

"""How long do sums over rows take with compiled kernels, in products of the matrix with a vector?

Counts of 11,463 documents of eight unrelated topics with 3,000 words, and of shorter documents with
20,000 words. Each row of the table is one question: X^T (r * (X V)) for 1, 2, 8 or 10 columns, the
same with each row multiplied by the matrix of its own group of eight, and products with X and with
its transpose. The unit is the processor time of `X @ v` in double precision on one thread, in
alternation; so a number is the sum over threads, and the elapsed time is lower with several.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from operator import matmul
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import SEED, environment, table, unrelated_topics

from momentree.backends import Block, RowBlocks, use_kernels
from momentree.datasets import make_single_topic

GROUPS = 8


def questions(rows: RowBlocks) -> dict[str, Callable[[], Any]]:
    """Return the questions by name."""
    n, d = rows.shape
    rng = np.random.default_rng(SEED)
    own, r = rng.integers(0, GROUPS, n), rng.random(n)
    found: dict[str, Callable[[], Any]] = {}
    for m in (1, 2, 8, 10):
        V, Z = rng.random((d, m)), rng.random((n, m))

        def gram(B: Block, r: Any, V: Any = V) -> Any:
            return B.gram(V, r, out=B.total)

        def dot(B: Block, V: Any = V) -> Any:
            return B.dot(V)

        found[f"X V, {m} columns"] = lambda dot=dot: rows.map(dot)
        found[f"X' Z, {m} columns"] = lambda Z=Z: rows.sum(lambda B, z: B.tdot(z, out=B.total), Z)
        found[f"X' (r X V), {m} columns"] = lambda gram=gram: rows.sum(gram, r)
        if m <= 2:
            stack = rng.random((GROUPS, d, m))

            def own_gram(B: Block, j: Any, r: Any, V: Any = stack) -> Any:
                return B.own_gram(V, j, r, out=B.total)

            found[f"the same, {GROUPS} groups, {m} columns"] = lambda k=own_gram: rows.sum(
                k, own, r
            )
    return found


def cost(task: Callable[[], Any], unit: Callable[[], Any], repeats: int) -> float:
    """Return the least processor time of a task, relative to that of the unit."""
    times = np.empty((repeats, 2))
    task()
    for i in range(repeats):
        for j, run in enumerate((task, unit)):
            start = time.process_time()
            run()
            times[i, j] = time.process_time() - start
    least = times.min(axis=0)
    return float(least[0] / least[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200_000, help="number of short documents")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print(environment())
    short = make_single_topic(args.n, 20_000, 10, length=45, concentration=0.3, random_state=SEED)
    for X in (unrelated_topics().X, short.X):
        Y = sp.csr_array(X, dtype=np.float64)
        v = np.random.default_rng(SEED).random(X.shape[1])
        both = {}
        for kernels in ("numba", "scipy"):
            with use_kernels(kernels):
                both[kernels] = questions(RowBlocks(X))
        print(f"\n{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} stored counts of {X.dtype}\n")
        unit = partial(matmul, Y, v)
        lines = [
            (name, *(f"{cost(both[k][name], unit, args.repeats):.1f}" for k in both))
            for name in both["numba"]
        ]
        print(table(("question", "compiled, products", "SciPy, products"), lines))


if __name__ == "__main__":
    main()

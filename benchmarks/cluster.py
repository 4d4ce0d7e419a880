"""What does a cluster cost, compared with one process, and do Spark and Ray give the same states?

`dask`: rows of 50 stored values, made block by block on the workers and here. Fits in memory on two
threads and on two Dask workers of one thread take turns. The table shows medians of the time of day
and of the processor time of all processes, which other work on the machine changes less. The rows
on the workers are converted once, before the first fit.
`spark`, `ray`: the recipe of docs/cluster.md on a local session, compared with one process.

Ten million rows take about 12 GB of memory: ``python benchmarks/cluster.py dask --rows 1e7``.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

PER_ROW, WORDS, TOPICS = 50, 20_000, 10
BLOCK = 62_500
"""Rows of a block: 25 MB."""


def block(seed: int, n: int) -> Any:
    """Draw documents of 50 words, most of them from the part of the vocabulary of their topic."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, TOPICS, n)
    words = (rng.random((n, PER_ROW)) ** 3 * 2000).astype(np.int32) + 1800 * topic[:, None]
    at = np.arange(0, n * PER_ROW + 1, PER_ROW, dtype=np.int32)
    ones = np.ones(n * PER_ROW, dtype=np.float32)
    X = sp.csr_array((ones, np.sort(words, axis=1).ravel().astype(np.int32), at), shape=(n, WORDS))
    X.sum_duplicates()
    return X


def table(n: int) -> Any:
    """Return all rows in memory, which blocks are written to one after the other."""
    data, indices = np.empty(n * PER_ROW, dtype=np.float32), np.empty(n * PER_ROW, dtype=np.int32)
    ends, stored = [np.zeros(1, dtype=np.int64)], 0
    for i, size in enumerate(sizes(n)):
        X = block(i, size)
        data[stored : stored + X.nnz], indices[stored : stored + X.nnz] = X.data, X.indices
        ends.append(stored + X.indptr[1:].astype(np.int64))
        stored += X.nnz
    indptr = np.concatenate(ends)
    if stored < 2**31:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((data[:stored], indices[:stored], indptr), shape=(n, WORDS))


def sizes(n: int) -> list[int]:
    return [min(BLOCK, n - start) for start in range(0, n, BLOCK)]


def dask(n: int, n_workers: int, repeats: int, chosen: list[str]) -> None:
    # Dask looks at all threads a hundred times each second, for its profile.
    os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, LocalCluster

    from momentree import SingleTopicModel, TopicTree
    from momentree.backends.dask_rows import DaskRows

    fits = {
        "flat": lambda: SingleTopicModel(TOPICS),
        "moments": lambda: SingleTopicModel(TOPICS, refine=None),
        "tree": lambda: TopicTree(8, search="none"),
    }
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        parts = [
            da.from_delayed(delayed(block)(i, size), (size, WORDS), dtype=np.float32)
            for i, size in enumerate(sizes(n))
        ]
        start = time.perf_counter()
        rows = DaskRows(da.concatenate(parts))
        print(f"{n:,} rows in {len(parts)} blocks, made in {time.perf_counter() - start:.1f} s")
        places = {"memory": table(n), "dask": rows}

        def processor() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        print(f"{'':16}{'memory':>16}{'dask':>16}{'ratio':>8}   load")
        for name in chosen:
            found: dict[str, list[tuple[float, float]]] = {place: [] for place in places}
            for i in range(repeats + 1):
                for place, X in places.items():
                    start, used = time.perf_counter(), processor()
                    fits[name]().fit(X)
                    if i:  # the first fit compiles kernels
                        took = time.perf_counter() - start, processor() - used
                        found[place].append(took)
            for j, kind in enumerate(("time", "processor")):
                values = {place: [taken[j] for taken in found[place]] for place in places}
                memory, cluster_ = (float(np.median(values[place])) for place in places)
                spread = [f"{min(v):.1f}-{max(v):.1f}" for v in values.values()]
                print(
                    f"{name + ', ' + kind:16}{memory:7.1f} {spread[0]:>8}"
                    f"{cluster_:7.1f} {spread[1]:>8}{cluster_ / memory:8.2f}"
                    f"   {os.getloadavg()[0]:.1f}",
                    flush=True,
                )


def states(batches: Iterator[Any], question: bytes) -> Iterator[Any]:
    """One serialized state for each partition: the function that Spark and Ray run."""
    import pyarrow as pa

    from momentree import State

    state = State(question)
    for batch in batches:
        state.update(np.column_stack([column.to_numpy() for column in batch.columns]))
    yield pa.RecordBatch.from_pydict({"state": [state.to_bytes()]})


def records() -> np.ndarray:
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.05, 0.95, (2, 12))
    return (rng.random((30_000, 12)) < rates[rng.choice(2, size=30_000)]).astype(int)


def rounds(answer: Callable[[bytes], list[bytes]]) -> None:
    """Fit with sums of parts, and compare with all rows in one process, for moments and for EM."""
    from momentree import BernoulliMixture, State, next_round

    X = records()
    for refine in (None, "em"):
        model, answers = BernoulliMixture(2, start="raw_moments", refine=refine), []
        while question := next_round(model, answers):
            found = answer(question)
            answers.append(sum(map(State.from_bytes, found)))
        pooled = BernoulliMixture(2, start="raw_moments", refine=refine).fit(X)
        difference = np.abs(model.components_ - pooled.components_).max()
        print(
            f"{len(answers)} rounds: {len(found)} states of {len(found[0]):,} bytes, "
            f"{answers[-1].n_rows:,} rows; largest difference of a rate: {difference:.1e}"
        )


def spark() -> None:
    import pandas as pd
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").getOrCreate()
    table = pd.DataFrame(records(), columns=[f"code{j}" for j in range(12)])
    frame = session.createDataFrame(table).repartition(4)

    def answer(question: bytes) -> list[bytes]:
        found = frame.mapInArrow(lambda part: states(part, question), "state binary").collect()
        return [bytes(row.state) for row in found]

    rounds(answer)
    session.stop()


def ray() -> None:
    import pyarrow as pa
    import ray as ray_

    ray_.init(num_cpus=2, include_dashboard=False)

    @ray_.remote
    def state_of(part: np.ndarray, question: bytes) -> bytes:
        columns = {f"code{j}": part[:, j] for j in range(part.shape[1])}
        (batch,) = states(iter([pa.RecordBatch.from_pydict(columns)]), question)
        return bytes(batch["state"][0].as_py())

    parts = np.array_split(records(), 4)
    rounds(lambda question: ray_.get([state_of.remote(part, question) for part in parts]))
    ray_.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["dask", "spark", "ray"])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fits", nargs="+", default=["flat", "moments", "tree"])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.what == "dask":
        dask(int(chosen.rows), chosen.workers, chosen.repeats, chosen.fits)
    else:
        {"spark": spark, "ray": ray}[chosen.what]()


if __name__ == "__main__":
    main()

"""What does a cluster cost, compared with one process, and do Spark and Ray give the same states?

`dask`: rows of 50 stored values, made on the workers. `SingleTopicModel` with 20 steps of EM, in
memory on two threads, and on two Dask workers of one thread, in alternation in one run; the unit is
processor time of all processes, because other work on the machine changes the time of day.
`spark`, `ray`: the recipe of docs/cluster.md on a local session, compared with one process.
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


def dask(n: int, n_blocks: int, n_workers: int) -> None:
    # Dask looks at all threads a hundred times each second, for its profile.
    os.environ["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
    import dask.array as da
    from dask.delayed import delayed
    from distributed import Client, LocalCluster

    from momentree import SingleTopicModel
    from momentree.backends.dask_rows import DaskRows

    size = n // n_blocks
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        parts = [
            da.from_delayed(delayed(block)(i, size), (size, WORDS), dtype=np.float32)
            for i in range(n_blocks)
        ]
        before = sum(client.run(time.process_time).values())
        time.sleep(5)
        used = (sum(client.run(time.process_time).values()) - before) / 5 / n_workers
        print(f"an idle worker uses {used:.3f} s of processor time each second")
        start = time.perf_counter()
        rows = DaskRows(da.concatenate(parts))
        print(f"{n:,} rows in {n_blocks} blocks, made in {time.perf_counter() - start:.1f} s")
        X = sp.vstack([block(i, size) for i in range(n_blocks)], format="csr")

        def processor() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        found: dict[str, list[tuple[float, float]]] = {"memory": [], "dask": []}
        for i in range(3):
            for name, table in (("memory", X), ("dask", rows)):
                start, used = time.perf_counter(), processor()
                model = SingleTopicModel(TOPICS, max_iter=20, log_scaling=None).fit(table)
                if i:  # the first fit compiles kernels
                    found[name].append((time.perf_counter() - start, processor() - used))
        medians = {name: np.median(values, axis=0) for name, values in found.items()}
        for name, (seconds, used) in medians.items():
            print(f"{name:8} {seconds:8.2f} s, {used:8.2f} s of processor time, {model.n_iter_} EM")
        ratio = medians["dask"] / medians["memory"]
        print(f"ratio    {ratio[0]:8.2f}   {ratio[1]:8.2f}")


def states(batches: Iterator[Any], question: bytes) -> Iterator[Any]:
    """One serialized state for each partition: the function that Spark and Ray run."""
    import pyarrow as pa

    import momentree.refinement  # noqa: F401 - to read states of EM
    from momentree.moments import State

    state = State.from_bytes(question).empty()
    for batch in batches:
        state.update(np.column_stack([column.to_numpy() for column in batch.columns]))
    yield pa.RecordBatch.from_pydict({"state": [state.to_bytes()]})


def records() -> np.ndarray:
    rng = np.random.default_rng(0)
    rates = rng.uniform(0.05, 0.95, (2, 12))
    return (rng.random((30_000, 12)) < rates[rng.choice(2, size=30_000)]).astype(int)


def rounds(answer: Callable[[bytes], list[bytes]]) -> None:
    """Fit with sums of parts, and compare with all rows in one process, for moments and for EM."""
    from momentree.models import fitted_from, next_round
    from momentree.moments import MomentState, State

    X = records()
    state = whole = MomentState([f"code{j}" for j in range(12)], model="bernoulli")
    for i in range(200):
        found = answer(state.to_bytes())
        pooled, expected = sum(map(State.from_bytes, found)), whole.update(X)
        ends = not isinstance(pooled, MomentState) and pooled.converged(1e-7)
        if ends or getattr(pooled, "third", False):
            one, other = (fitted_from(part) for part in (pooled, expected))
            difference = np.abs(one.components_ - other.components_).max()
            print(
                f"round {i + 1}: {len(found)} states of {len(found[0]):,} bytes, "
                f"{pooled.n_rows:,} rows; largest difference of a rate: {difference:.1e}"
            )
        if ends:
            break
        state, whole = next_round(pooled, 2), next_round(expected, 2)


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
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.what == "dask":
        dask(int(chosen.rows), chosen.blocks, chosen.workers)
    else:
        {"spark": spark, "ray": ray}[chosen.what]()


if __name__ == "__main__":
    main()

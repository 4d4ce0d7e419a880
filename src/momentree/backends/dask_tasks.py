"""Graphs of Dask tasks, one for each part of the rows."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pickle
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Self, cast
from uuid import uuid4

import cloudpickle
import dask
import numpy as np
from dask.base import get_scheduler
from dask.delayed import Delayed
from dask.optimization import cull
from dask.threaded import get as threaded_get

from momentree.backends.base import uncounted_passes
from momentree.backends.threads import get_num_threads, num_threads, single_threaded_blas
from momentree.exceptions import ClusterError, InvalidDataError, MomentreeError, ReadError

Key = Hashable

_LOST = (
    "CancelledError",
    "ClosedClientError",
    "CommClosedError",
    "FutureCancelledError",
    "FuturesCancelledError",
)
"""Errors of Dask if the scheduler is gone, by name, because the library may not be loaded."""


FAN_IN = 16
"""Partial results that one task merges; so many or fewer are merged here."""
SMALL = 1 << 15
"""Values up to this number of bytes are sent with each task: it need not wait for another."""


class Value:
    """A value in a graph, pickled once; small ones are part of each task that uses them."""

    def __init__(self, value: Any) -> None:
        self._pickled = cloudpickle.dumps(value)

    @property
    def small(self) -> bool:
        """Whether the value is small enough to be sent with each task."""
        return len(self._pickled) <= SMALL

    def __call__(self) -> Any:
        """Return the value."""
        return pickle.loads(self._pickled)  # noqa: S301 - written by this process

    def __dask_tokenize__(self) -> str:
        return uuid4().hex


def value_of(argument: Any) -> Any:
    """Return the value that a task received, in place or from another task."""
    return argument() if isinstance(argument, Value) else argument


class Tasks:
    """A Dask collection of one task for each part.

    Parameters
    ----------
    graph : mapping
        Tasks by key, those of the parts and all that these depend on.
    keys : sequence
        Keys of the parts, in the order of rows.
    """

    __dask_scheduler__ = staticmethod(threaded_get)

    def __init__(self, graph: Mapping[Key, Any], keys: Sequence[Key]) -> None:
        self.graph, self.keys = graph, list(keys)

    @classmethod
    def of_collection(cls, X: Any) -> Self:
        """Return the partitions of an array or data frame; for arrays, lists of column blocks."""
        if not (hasattr(X, "to_delayed") and isinstance(getattr(X, "shape", None), tuple)):
            raise InvalidDataError(
                "[dask_not_a_table] X is a Dask {type}; expected a two-dimensional Dask array or a "
                "Dask data frame",
                type=type(X).__name__,
            )
        if len(X.shape) != 2:
            raise InvalidDataError(
                "[dask_not_two_dimensional] the Dask collection has {n_dimensions:~dimension}; "
                "expected two, samples by features",
                n_dimensions=len(X.shape),
            )
        found = np.asarray(X.to_delayed(), dtype=object)
        if any(block.key not in block.dask for block in found.flat):
            # Optimization loses the partitions that a cluster already holds.
            found = np.asarray(X.to_delayed(optimize_graph=False), dtype=object)
        blocks: list[list[Delayed]] = found.reshape(len(found), -1).tolist()
        graph: dict[Key, Any] = {}
        for row in blocks:
            for block in row:
                graph.update(block.dask)
        keys = _keys("partition", len(blocks))
        for key, row in zip(keys, blocks, strict=True):
            graph[key] = (_listed, *(block.key for block in row))
        return cls(graph, keys)

    @classmethod
    def of_values(cls, values: Sequence[Any]) -> Self:
        """Return tasks that give these values."""
        keys = _keys("value", len(values))
        return cls({key: (Value(value),) for key, value in zip(keys, values, strict=True)}, keys)

    def merged(self, merge: Callable[..., Any]) -> Any:
        """Merge the results of all parts, in a fixed tree, and return one."""
        tasks = self
        while len(tasks.keys) > FAN_IN:
            tasks = tasks.joined(merge, FAN_IN)
        return merge(*computed(tasks))

    def at(self, places: Sequence[int]) -> Tasks:
        """Return the tasks of some parts."""
        return Tasks(self.graph, [self.keys[place] for place in places])

    def then(self, function: Callable[..., Any], *arguments: Any) -> Tasks:
        """Return a function of each part.

        An argument that is `Tasks`, or a list, is divided between the parts; a large `Value` is
        sent to each worker once. The function reads values with :func:`value_of`.
        """
        graph = dict(self.graph)
        columns: list[Sequence[Any]] = [self.keys]
        for argument in arguments:
            if isinstance(argument, Tasks):
                graph.update(argument.graph)
                columns.append(argument.keys)
            elif isinstance(argument, list):
                columns.append(argument)
            elif isinstance(argument, Value) and not argument.small:
                (key,) = _keys("given", 1)
                graph[key] = (argument,)
                columns.append([key] * len(self.keys))
            else:
                columns.append([argument] * len(self.keys))
        keys = _keys(_name(function), len(self.keys))
        graph.update(
            (key, (function, *row))
            for key, row in zip(keys, zip(*columns, strict=True), strict=True)
        )
        return Tasks(graph, keys)

    def joined(self, function: Callable[..., Any], n: int) -> Tasks:
        """Return a function of each n successive parts."""
        groups = [self.keys[i : i + n] for i in range(0, len(self.keys), n)]
        keys = _keys(_name(function), len(groups))
        new = {key: (function, *group) for key, group in zip(keys, groups, strict=True)}
        return Tasks({**self.graph, **new}, keys)

    def fuse(self) -> Tasks:
        """Return the same parts, on a cluster each computed in one task with all that it needs.

        The scheduler divides such tasks evenly; the results of small tasks it would first divide,
        and then move. If parts need the same tasks, or what workers hold, nothing changes.
        """
        if _client() is None:
            return self
        from distributed import Future

        graph = dict(self.graph)
        needed = [cull(graph, [key])[0] for key in self.keys]
        apart = sum(map(len, needed)) == len(cull(graph, self.keys)[0])
        if not apart or any(isinstance(task, Future) for task in graph.values()):
            return self
        each = zip(self.keys, needed, strict=True)
        return Tasks({key: (_run, Value((tasks, key))) for key, tasks in each}, self.keys)

    def __dask_graph__(self) -> Mapping[Key, Any]:
        return self.graph

    def __dask_keys__(self) -> list[Key]:
        return self.keys

    def __dask_tokenize__(self) -> list[Key]:
        return self.keys  # unique: without them, Dask would hash all data

    @staticmethod
    def __dask_optimize__(graph: Mapping[Key, Any], keys: Any, **_: Any) -> Any:
        return cull(dict(graph), keys)[0]

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[()]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Callable[..., Tasks], tuple[list[Key]]]:
        return _rebuilt, (self.keys,)


def _run(given: Value) -> Any:
    return dask.get(*given())


def _listed(*blocks: Any) -> list[Any]:
    return list(blocks)


def _rebuilt(graph: Mapping[Key, Any], keys: list[Key]) -> Tasks:
    return Tasks(graph, keys)


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(getattr(function, "func", function), "__name__", "kernel")).strip("_")


def _keys(name: str, n: int) -> list[Key]:
    unique = f"momentree-{name}-{uuid4().hex}"
    return [(unique, i) for i in range(n)]


def computed(tasks: Tasks, *, reading: bool = False) -> list[Any]:
    """Return the results of all parts; `reading` says that they compute the user's collection."""
    with _errors(reading=reading):
        (found,) = dask.compute(tasks)
    return list(found)


def persisted(tasks: Tasks) -> Tasks:
    """Start tasks, and keep their results where they are computed."""
    with _errors():
        (kept,) = dask.persist(tasks)
    return cast(Tasks, kept)


@contextmanager
def alone() -> Iterator[None]:
    """Compute a task in one thread, and keep the memory of arrays for the next ones."""
    reuse_memory()
    with single_threaded_blas(), num_threads(1), uncounted_passes():
        yield


@contextmanager
def _errors(*, reading: bool = False) -> Iterator[None]:
    try:
        # Kernels contain parameters of the model: large graphs are no mistake here.
        quiet = {"distributed.admin.large-graph-warning-threshold": "1 TB"}
        with dask.config.set(quiet if "distributed" in sys.modules else {}):
            yield
    except MomentreeError:
        raise
    except (Exception, asyncio.CancelledError) as error:
        kind, text = type(error).__name__, " ".join(f"{type(error).__name__}: {error}".split())
        if kind == "KilledWorker":
            raise ClusterError(
                "[worker_killed] the same task lost one Dask worker after another, usually for "
                "lack of memory: make partitions smaller, or give workers more memory; if workers "
                "stop for other reasons, raise distributed.scheduler.allowed-failures in the "
                "configuration of Dask ({error})",
                error=text,
            ) from error
        if kind in _LOST or str(error).startswith("Missing dependency"):  # results that are gone
            raise ClusterError(
                "[scheduler_lost] the connection to the Dask scheduler was lost ({error}); start "
                "it again, connect a new client, and repeat the call",
                error=text,
            ) from error
        if reading:
            raise ReadError(
                "[partition_not_read] a partition of the Dask collection cannot be computed: "
                "{error}",
                error=text,
            ) from error
        raise


def memory_and_threads() -> tuple[float, int]:
    """Return the memory in bytes and the number of threads of all workers, or of this machine."""
    client = _client()
    if client is not None:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
        memory = float(sum(worker["memory_limit"] or np.inf for worker in workers))
        return memory, sum(worker["nthreads"] for worker in workers)
    try:
        memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError):  # Windows
        memory = np.inf
    return memory, get_num_threads()


def _client() -> Any | None:
    """Return the client of the cluster that computes, if any."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of the parameters in ``malloc.h``."""
LARGEST = 1 << 25
"""glibc raises the size of blocks that it reuses up to 32 MB, unless Dask sets a limit."""


@cache
def reuse_memory() -> None:
    """Let this process use the memory of freed arrays for new ones, if Dask has disabled this.

    Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that they return memory early. glibc
    then also asks the system for the memory of every array over 128 KB, which is cleared page by
    page when it is written. That took half of the processor time of questions. This function sets
    the limits that glibc reaches by itself in other processes. It does nothing if
    ``MALLOC_MMAP_THRESHOLD_`` is set, too, and with other allocators.
    """
    variables = "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"
    if not sys.platform.startswith("linux") or [name in os.environ for name in variables] != [1, 0]:
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        set_option(_MMAP_THRESHOLD, LARGEST)
        set_option(_TRIM_THRESHOLD, 2 * LARGEST)

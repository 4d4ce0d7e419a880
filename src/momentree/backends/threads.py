"""Threads for row blocks, limits on threads, and how rows are divided between them."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import Any, Generic, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from momentree.core.pages import in_parts
from momentree.exceptions import InvalidParameterError

T = TypeVar("T")

_limit: ContextVar[int | None] = ContextVar("momentree_num_threads", default=None)
_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def get_num_threads() -> int:
    """Return the number of threads for sums over rows.

    Returns
    -------
    int
        The limit set by :func:`num_threads`, else the number of usable cores, at most 16. Usable
        cores respect CPU affinity, containers and the environment variable
        ``LOKY_MAX_CPU_COUNT``.

    Raises
    ------
    InvalidParameterError
        If that variable is used and is not a whole number.
    """
    limit = _limit.get()
    return limit if limit is not None else _usable_cores()


@cache
def _usable_cores() -> int:
    # Reads system files, which is too slow for every sum.
    try:
        return min(16, int(joblib.cpu_count()))
    except ValueError as error:
        value = os.environ.get("LOKY_MAX_CPU_COUNT")
        raise InvalidParameterError(
            "the environment variable LOKY_MAX_CPU_COUNT is {value!r}; set it to a whole number of "
            "cores, such as 4, or unset it",
            value=value,
        ) from error


@contextmanager
def num_threads(n: int) -> Iterator[None]:
    """Limit the number of threads within a ``with`` block; results do not depend on it.

    The limit applies only to the calling thread, so that blocks in different threads do not
    interfere.

    Parameters
    ----------
    n : int >= 1
        Number of threads.

    Yields
    ------
    None
        The limit applies until the block ends.
    """
    before = _limit.set(max(1, int(n)))
    try:
        yield
    finally:
        _limit.reset(before)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread within a ``with`` block.

    BLAS threads spin while they wait, on cores that sums over rows need, which made trees up to six
    times slower on a busy machine. The limit is global to the process: of several blocks that
    overlap in time, the first sets it and the last restores it.

    Yields
    ------
    None
        The limit applies until the block ends.
    """
    global _blas_users, _blas_limit
    with _blas_lock:
        if not _blas_users:
            _blas_limit = _libraries().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users = max(0, _blas_users - 1)  # a forked child starts at 0
            if not _blas_users:
                _blas_limit.restore_original_limits()


@cache
def _libraries() -> ThreadpoolController:
    # Looks through all loaded libraries, which is slow; NumPy and SciPy have loaded theirs.
    return ThreadpoolController()


def _after_fork() -> None:
    """Restore the limit in a forked child, which has no threads that could do so."""
    global _blas_users
    if _blas_users:
        _blas_users = 0
        _blas_limit.restore_original_limits()
    _blas_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_blas_lock.acquire,
        after_in_parent=_blas_lock.release,
        after_in_child=_after_fork,
    )


def run(task: Callable[[int], T], n_tasks: int) -> Iterator[T]:
    """Yield ``task(0), ..., task(n_tasks - 1)`` in this order, computed here and on other threads.

    The thread that asks computes too: to wake another for every short task would take longer than
    the task. Tasks begin only if fewer than four per thread are ahead of the result that is taken
    next, which limits memory and hardly ever makes a thread wait. SciPy, BLAS and compiled kernels
    release the GIL.
    """
    n = n_tasks if n_tasks <= 1 else min(get_num_threads(), n_tasks)
    if n <= 1:
        yield from map(task, range(n_tasks))
        return
    key = (os.getpid(), n - 1)  # a forked child has no threads of its parent
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(n - 1, thread_name_prefix="momentree")
    tasks = _Tasks(task, n_tasks, _pools[key], n - 1)
    try:
        for i in range(n_tasks):
            yield tasks.result(i)
    finally:
        tasks.stop()


class _Tasks(Generic[T]):
    """Tasks that several threads share, and their results in order.

    The threads of the pool never wait: a process that ends waits for them.
    """

    def __init__(
        self, task: Callable[[int], T], n_tasks: int, pool: ThreadPoolExecutor, n_helpers: int
    ) -> None:
        self._task, self._n_tasks, self._ahead = task, n_tasks, 4 * (n_helpers + 1)
        self._pool, self._n_helpers, self._helping = pool, n_helpers, 0
        self._begun = self._taken = 0
        self._found: dict[int, tuple[list[T], BaseException | None]] = {}
        self._changed = threading.Condition()
        with self._changed:
            self._call_helpers()

    def result(self, i: int) -> T:
        """Return a result; until it is known, compute tasks."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: i in self._found or self._may_begin)
                if i in self._found:
                    self._taken = i + 1
                    self._call_helpers()
                    value, error = self._found.pop(i)
                    if error is not None:
                        raise error
                    return value[0]
                other = self._begin()
            self._compute(other)

    def stop(self) -> None:
        """Begin no more tasks."""
        with self._changed:
            self._begun = self._n_tasks

    def _call_helpers(self) -> None:
        while self._helping < self._n_helpers and self._may_begin:
            self._helping += 1
            self._pool.submit(self._help)

    def _help(self) -> None:
        """Compute tasks as long as one may begin."""
        while True:
            with self._changed:
                if not self._may_begin:
                    self._helping -= 1
                    return
                i = self._begin()
            self._compute(i)

    @property
    def _may_begin(self) -> bool:
        return self._begun < min(self._n_tasks, self._taken + self._ahead)

    def _begin(self) -> int:
        self._begun += 1
        return self._begun - 1

    def _compute(self, i: int) -> None:
        value: list[T] = []
        error = None
        try:
            value.append(self._task(i))
        except BaseException as raised:  # raised again where the result is taken
            error = raised
        with self._changed:
            self._found[i] = value, error
            self._changed.notify_all()
        if error is not None and not isinstance(error, Exception):
            raise error  # Ctrl-C does not wait for other results


BLOCK_NNZ, COMPILED_BLOCK_NNZ = (1 << 17, 1 << 18), (1 << 18, 1 << 20)
"""Stored values per block, at least and at most; between the two, there are eight blocks. Blocks
for SciPy's functions are smaller, because their values are copied in double precision."""
MAX_CHAINS = 16
"""Blocks are summed in this many chains for any number of threads, which fixes the order of
additions and limits the useful number of threads."""
MIN_CHAINS, WORTH = 2, 2
"""The least number of chains, and how many stored values a chain must read for each number in its
sum: with fewer, adding up the sums of chains would take longer than reading the rows."""


def blocks_of(X: Any, block_nnz: int | None, *, compiled: bool) -> list[slice]:
    """Return the rows of each block of a CSR array, at least one block."""
    if block_nnz is None:
        least, most = COMPILED_BLOCK_NNZ if compiled else BLOCK_NNZ
        # A partial sum has d rows: blocks grow with d, so that additions stay cheap.
        block_nnz = max(least, min(most, -(-X.nnz // 8)), 4 * X.shape[1])
    # Of the type of the row pointers, which would be copied otherwise.
    ends = np.arange(block_nnz, X.nnz, block_nnz).astype(X.indptr.dtype)
    cuts, start, first = [np.zeros(1, np.intp)], 0, 0
    for part in in_parts(X.indptr):
        last = int(np.searchsorted(ends, part[-1], side="right"))
        cuts.append(start + np.searchsorted(part, ends[first:last], side="left"))
        start, first = start + len(part), last
    borders = np.unique(np.concatenate([*cuts, [X.shape[0]]])).tolist()
    return [slice(a, b) for a, b in pairwise(borders)] or [slice(0, 0)]


def n_chains(nnz: int, size: int) -> int:
    """Return the number of chains that each read enough for a sum of this size of its own."""
    n = MAX_CHAINS
    while n > MIN_CHAINS and nnz < n * WORTH * size:
        n //= 2
    return n


def chains_of(blocks: list[slice], n: int) -> list[list[slice]]:
    """Divide blocks into at most n chains of nearly equal length."""
    n = min(n, len(blocks))
    ends = [len(blocks) * i // n for i in range(n + 1)]
    return [blocks[a:b] for a, b in pairwise(ends)]

"""The threads on which row blocks are worked, and the number of them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from momentree.exceptions import InvalidParameterError

__all__ = ["get_num_threads", "num_threads", "run", "single_threaded_blas"]

T = TypeVar("T")

_limit: ContextVar[int | None] = ContextVar("momentree_num_threads", default=None)
_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def get_num_threads() -> int:
    """Return the number of threads that sums over rows use.

    Returns
    -------
    int
        The limit set by :func:`num_threads`, else the number of usable cores (which honours CPU
        affinity, containers and the environment variable ``LOKY_MAX_CPU_COUNT``), at most 16.

    Raises
    ------
    InvalidParameterError
        If that variable is needed and is not a whole number.

    Examples
    --------
    >>> from momentree.backends import get_num_threads, num_threads
    >>> with num_threads(1):
    ...     get_num_threads()
    1
    """
    limit = _limit.get()
    return limit if limit is not None else _usable_cores()


@cache
def _usable_cores() -> int:
    # Reads files of the system: too slow for every sum.
    try:
        return min(16, int(joblib.cpu_count()))
    except ValueError as error:
        msg = (
            f"the environment variable LOKY_MAX_CPU_COUNT is "
            f"{os.environ.get('LOKY_MAX_CPU_COUNT')!r}; expected a whole number of cores, such as "
            f"4. Change it, or unset it."
        )
        raise InvalidParameterError(msg) from error


@contextmanager
def num_threads(n: int) -> Iterator[None]:
    """Limit the number of threads within a ``with`` block; results do not depend on it.

    The limit holds for the calling thread alone, so that blocks that overlap in time do not undo
    one another.

    Parameters
    ----------
    n : int >= 1
        Number of threads.

    Yields
    ------
    None
        The limit holds until the block ends.
    """
    before = _limit.set(max(1, int(n)))
    try:
        yield
    finally:
        _limit.reset(before)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread within a ``with`` block.

    Its threads wait for the next call by spinning, on the cores that sums over rows need: on a
    busy machine that made trees up to six times slower. All that is left to BLAS here is small.

    The number of threads of BLAS belongs to the process. The first of several blocks that overlap
    in time sets it, and the last one restores it.

    Yields
    ------
    None
        The limit holds until the block ends.
    """
    global _blas_users, _blas_limit
    with _blas_lock:
        if not _blas_users:
            _blas_limit = ThreadpoolController().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users = max(0, _blas_users - 1)  # a forked child has begun to count anew
            if not _blas_users:
                _blas_limit.restore_original_limits()


def _after_fork() -> None:
    """Free a child of the fits that ran on other threads of its parent: it has no such threads."""
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
    """Yield ``task(0), ..., task(n_tasks - 1)`` in this order, computed on threads.

    No more tasks are begun than there are threads before the result of the first is taken, so
    that results do not pile up. SciPy and BLAS free the GIL.
    """
    n = min(get_num_threads(), n_tasks)
    if n <= 1:
        yield from map(task, range(n_tasks))
        return
    key = (os.getpid(), n)  # a forked child must not wait for its parent's threads
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(n, thread_name_prefix="momentree")
    pool = _pools[key]
    begun: deque[Future[T]] = deque()
    for i in range(n_tasks):
        if len(begun) >= n:
            yield begun.popleft().result()
        begun.append(pool.submit(task, i))
    while begun:
        yield begun.popleft().result()

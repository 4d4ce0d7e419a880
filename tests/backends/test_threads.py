"""Limits on threads that overlap in time do not interfere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from momentree.backends import get_num_threads, num_threads, single_threaded_blas
from momentree.backends.threads import run

np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded


def blas_threads() -> set[int]:
    controller = ThreadpoolController().select(user_api="blas")
    return {library.num_threads for library in controller.lib_controllers}


def test_overlapping_blocks_restore_the_threads_of_blas():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = single_threaded_blas(), single_threaded_blas()
        first.__enter__()
        second.__enter__()
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {1}  # the second block still runs
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_blocks_on_many_threads_restore_the_threads_of_blas():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        barrier = threading.Barrier(8)

        def work() -> None:
            barrier.wait()
            for _ in range(20):
                with single_threaded_blas():
                    pass

        workers = [threading.Thread(target=work) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert blas_threads() == before


def test_a_limit_applies_to_the_thread_that_sets_it():
    outside = get_num_threads()
    seen: list[int] = []
    with num_threads(outside + 3):
        other = threading.Thread(target=lambda: seen.append(get_num_threads()))
        other.start()
        other.join()
        assert get_num_threads() == outside + 3
    assert seen == [outside]
    assert get_num_threads() == outside


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_threads):
    def task(i: int) -> int:
        time.sleep(0.002 * (i % 3 == 0))
        return i

    with num_threads(n_threads):
        assert list(run(task, 20)) == list(range(20))
        assert list(run(task, 0)) == []


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_is_raised_where_its_result_is_taken(n_threads):
    def task(i: int) -> int:
        if i == 2:
            raise KeyError(i)
        return i

    seen = []
    with num_threads(n_threads), pytest.raises(KeyError):
        seen.extend(run(task, 9))
    assert seen == [0, 1]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_request_to_stop_does_not_wait_for_other_results(n_threads):
    ended = threading.Event()

    def task(i: int) -> None:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        ended.wait(20)

    with num_threads(n_threads), pytest.raises(KeyboardInterrupt):
        list(run(task, 9))
    assert not ended.is_set()
    ended.set()


def test_tasks_are_shared_by_threads_and_few_are_ahead():
    begun, both = [], threading.Barrier(2, timeout=20)

    def task(i: int) -> int:
        begun.append(i)
        if i < 2:
            both.wait()  # fails unless two threads compute at the same time
        return i

    with num_threads(2):
        results = run(task, 50)
        assert next(results) == 0
        time.sleep(0.05)
        assert len(begun) <= 9  # eight ahead of the one that is taken next
        results.close()
        time.sleep(0.05)
        assert len(begun) <= 9


@pytest.mark.long
def test_a_process_ends_though_results_were_not_taken():
    code = """
import sys
from momentree.backends import num_threads
from momentree.backends.threads import run

with num_threads(3):
    results = run(lambda i: i, 1000)
    next(results)
    sys.kept = results
    raise SystemExit(3)
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 3


def test_a_task_may_share_tasks_of_its_own():
    def outer(i: int) -> int:
        with num_threads(2):
            return sum(run(lambda j: i * j, 4))

    with num_threads(2):
        assert list(run(outer, 6)) == [6 * i for i in range(6)]


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_of_a_process_that_fits_has_all_threads_of_blas():
    code = """
import os, threading
import numpy as np
from threadpoolctl import ThreadpoolController, threadpool_limits
from momentree.backends import single_threaded_blas

np.ones((2, 2)) @ np.ones((2, 2))
threadpool_limits(2, user_api="blas")
begun, end = threading.Event(), threading.Event()

def fit():
    with single_threaded_blas():
        begun.set()
        end.wait()

thread = threading.Thread(target=fit)
thread.start()
begun.wait()
child = os.fork()
if not child:
    with single_threaded_blas():
        pass
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    os._exit(0 if {library.num_threads for library in found} == {2} else 1)
status = os.waitpid(child, 0)[1]
end.set()
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=60).returncode == 0

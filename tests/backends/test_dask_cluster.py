"""Worker processes that are killed, and a scheduler that is gone."""

import os
import signal

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.exceptions import ClusterError
from tests.raising import raises

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

from momentree.backends.dask_rows import DaskRows  # noqa: E402

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL"),
    pytest.mark.filterwarnings("ignore"),  # of libraries, about connections that are closed
]


@pytest.fixture
def client():
    with (
        dask.config.set({"distributed.logging.distributed": "critical"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, timeout=30) as client,
    ):
        yield client


def rows_on_cluster(X, step):
    return DaskRows(da.from_array(X, chunks=(step, -1)).map_blocks(sp.csr_array))


@pytest.mark.long
def test_a_killed_worker_costs_nothing_but_time(client, tmp_path):
    X = np.random.default_rng(0).poisson(0.3, (400, 20)).astype(float)
    rows = rows_on_cluster(X, 50)
    weight = np.linspace(1, 2, 400)
    values = rows.map(lambda B, v: B.dot(np.ones(20)) * v, weight)  # lost with its worker
    mark = str(tmp_path / "killed")
    main = os.getpid()

    def kernel(B, v, x):
        if not os.path.exists(mark) and os.getpid() != main:
            open(mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return B.tdot(v * x)

    found = rows.sum(kernel, weight, values)
    assert os.path.exists(mark)
    with dask.config.set(scheduler="synchronous"):
        rows = rows_on_cluster(X, 50)
        values = rows.map(lambda B, v: B.dot(np.ones(20)) * v, weight)
        np.testing.assert_array_equal(found, rows.sum(kernel, weight, values))

    # A task that kills its workers ends with an error that says what to change.
    client.cluster.scheduler.allowed_failures = 0
    with raises(ClusterError, "worker_killed"):
        rows_on_cluster(X, 400).sum(lambda B: os.kill(os.getpid(), signal.SIGKILL))


def test_a_scheduler_that_is_gone():
    X = np.ones((40, 5))
    with dask.config.set(
        {"distributed.comm.timeouts.connect": "1s", "distributed.logging.distributed": "critical"}
    ):
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
        )
        with distributed.Client(cluster, timeout=1):
            rows = rows_on_cluster(X, 10)
            cluster.close()
            for _ in range(2):
                with raises(ClusterError, "scheduler_lost"):
                    rows.sum(lambda B: B.tdot(B.dot(np.ones(5))))

"""Rows of Dask collections: the same sums as in memory, with the same bits for any workers."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import SingleTopicModel, TopicTree
from momentree.backends import RowBlocks, counted_passes, taken
from momentree.exceptions import EmptyCorpusError, InvalidDataError, ReadError
from tests.raising import raises

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

import pandas as pd  # noqa: E402
from dask.delayed import delayed  # noqa: E402

from momentree.backends.dask_rows import DaskRows  # noqa: E402

N, D = 500, 40


def gram(B, weight):
    return B.tdot(B.dot(np.eye(D)[:, :3]) * weight[:, None])


def first(B):
    return B.dot(np.arange(D, dtype=float))


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return sp.csr_array(rng.poisson(0.2, (N, D)).astype(float))


def sparse_blocks(X, step=70):
    return da.from_array(X.toarray(), chunks=(step, -1)).map_blocks(sp.csr_array)


def frames(X, step=70):
    frame = pd.DataFrame(X.toarray(), columns=[f"w{j}" for j in range(D)])
    return dd.from_pandas(frame, npartitions=-(-N // step), sort=False)


def unknown_chunks(X):
    X = X.toarray()
    pieces = [delayed(X[a : a + 90]) for a in range(0, N, 90)]
    return da.concatenate([da.from_delayed(piece, (np.nan, D), dtype=float) for piece in pieces])


COLLECTIONS = {
    "sparse": sparse_blocks,
    "dense": lambda X: da.from_array(X.toarray(), chunks=(70, -1)),
    "column-blocks": lambda X: da.from_array(X.toarray(), chunks=(70, 15)),
    "sparse-column-blocks": lambda X: da.from_array(X.toarray(), chunks=(70, 15)).map_blocks(
        sp.csc_array
    ),
    "unknown-chunks": unknown_chunks,
    "frame": frames,
    "many-small": lambda X: da.from_array(X.toarray(), chunks=(3, -1)),
    "empty-block": lambda X: da.concatenate(
        [da.from_array(part, chunks=(250, -1)) for part in (X[:0].toarray(), X.toarray())]
    ),
}


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("keep", [True, False])
def test_sums_and_values_equal_those_in_memory(X, kind, keep):
    rows, weight = DaskRows(COLLECTIONS[kind](X), keep=keep), np.linspace(0.1, 1, N)
    memory = RowBlocks(X)
    assert rows.shape == X.shape
    assert rows.kept is keep
    np.testing.assert_allclose(rows.sum(gram, weight), memory.sum(gram, weight), rtol=1e-12)
    found = rows.map(first)  # stays there
    np.testing.assert_array_equal(np.asarray(found), memory.map(first))
    sums = rows.sum(lambda B, x, v: B.tdot(x * v), found, weight)
    np.testing.assert_allclose(sums, X.T @ (X @ np.arange(D) * weight), rtol=1e-12)
    assert rows.feature_names == (tuple(f"w{j}" for j in range(D)) if kind == "frame" else None)
    assert (sp.vstack(list(rows.pieces())) != X).nnz == 0


def test_small_partitions_are_joined_by_a_rule_of_their_number(X):
    many = DaskRows(da.from_array(X.toarray(), chunks=(2, -1)))  # 250 partitions
    assert np.asarray(many.map(lambda B: np.full(len(B.dot(np.ones(D))), 1.0))).sum() == N
    assert 16 <= sum(map(len, many._part_sizes)) <= 32


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::momentree.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("workers", [(2,), pytest.param((1, 4), marks=pytest.mark.long)])
def test_the_same_bits_with_any_scheduler_and_number_of_workers(X, workers):
    distributed = pytest.importorskip("distributed")
    collection, weight = sparse_blocks(X, 30), np.linspace(0.1, 1, N)

    def answers():
        rows = DaskRows(collection)
        label = rows.map(first)
        topics = SingleTopicModel(2, start="tree", max_iter=2).fit(collection)
        tree = TopicTree(2, search="none", refine=None).fit(collection)
        found = [rows.sum(gram, weight), np.asarray(label), topics.components_, topics.labels_]
        passes = np.array([topics.n_passes_, tree.n_passes_])
        assert (passes > 5).all()
        found += [passes, *(node.center for node in tree.tree_.nodes())]
        return [x.tobytes() for x in found]

    with dask.config.set(scheduler="synchronous"):
        expected = answers()
    assert answers() == expected
    for n_workers in workers:
        cluster = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        )
        with cluster, distributed.Client(cluster):
            assert answers() == expected
            assert DaskRows(collection.persist()).shape == X.shape


def test_only_questions_about_the_rows_are_passes(X):
    rows = DaskRows(sparse_blocks(X))
    with counted_passes() as read:
        label = rows.map(first)
        total = rows.sum(gram, rows.each(np.square, label))
    assert total.any()
    assert read.n_rows == 2 * N


def test_each_worker_computes_its_share_of_the_rows(X):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster):
        pieces = [delayed(X[a : a + 20]) for a in range(0, N, 20)]
        blocks = [da.from_delayed(piece, (20, D), dtype=float) for piece in pieces]
        rows = DaskRows(da.concatenate(blocks))
        found = rows.map(lambda B: np.full(B.shape[0], hash(distributed.get_worker().address)))
        _, counts = np.unique(np.asarray(found), return_counts=True)
    assert sorted(counts.tolist()) == [140, 180, 180]  # 7, 9 and 9 blocks


def test_weights_need_not_be_fetched(X):
    rows = DaskRows(sparse_blocks(X))
    weight = np.linspace(1, 2, N)
    assert np.asarray(rows.placed(weight)) is weight
    ones = rows.ones()
    assert np.asarray(ones) is np.asarray(ones)
    np.testing.assert_array_equal(ones, np.ones(N))
    np.testing.assert_allclose(rows.total(ones), N)
    before = weight.copy()
    weight[:] = 0  # changed in place
    np.testing.assert_array_equal(rows.placed(before), before)


def test_threads_compute_what_cannot_be_sent(X):
    lock = threading.Lock()

    def part(a):
        with lock:
            return X[a : a + 100]

    blocks = [da.from_delayed(delayed(part)(a), (100, D), dtype=float) for a in range(0, N, 100)]
    rows = DaskRows(da.concatenate(blocks))
    np.testing.assert_array_equal(rows.map(first), RowBlocks(X).map(first))


def test_arrays_of_the_client_are_sent_once_and_never_stale(X):
    rows, weight = DaskRows(sparse_blocks(X)), np.ones(N)
    before = rows.sum(gram, weight)
    sent = dict(rows._sent)
    rows.sum(gram, weight)
    assert dict(rows._sent) == sent
    weight[:] = 2  # changed in place
    np.testing.assert_allclose(rows.sum(gram, weight), 2 * before)
    np.testing.assert_allclose(rows.sum(gram, np.broadcast_to(3.0, N)), 3 * before)


def test_long_chains_of_row_arrays_do_not_grow_the_graph(X):
    rows = DaskRows(sparse_blocks(X))
    values, depths = rows.map(first), []
    for _ in range(20):
        values = rows.map(lambda B, x: x + 1, values)
        depths.append(values.depth)
    np.testing.assert_array_equal(np.asarray(values), first(RowBlocks(X)._block(slice(0, N))) + 20)
    assert max(depths) < 9


def test_row_arrays_of_another_length_are_refused(X):
    rows, other = DaskRows(sparse_blocks(X)), DaskRows(sparse_blocks(X[:-1]))
    for wrong in (np.ones(N - 1), other.map(first), np.float64(1)):
        with raises(InvalidDataError, "wrong_shape"):
            rows.sum(gram, wrong)


def test_collections_that_are_no_tables(X):
    with raises(InvalidDataError, "dask_not_two_dimensional", n_dimensions=1):
        DaskRows(da.ones(5))
    with raises(InvalidDataError, "dask_not_a_table", type="DelayedLeaf"):
        DaskRows(delayed(X))
    with raises(InvalidDataError, "dask_not_a_table", type="Bag"):
        DaskRows(pytest.importorskip("dask.bag").from_sequence([1]))
    with raises(EmptyCorpusError, "no_rows_in_collection", n_blocks=1):
        DaskRows(da.ones((0, 5)))
    flat = da.ones((4, 5), chunks=2).map_blocks(lambda block: block[0], chunks=(2, 5))
    with raises(InvalidDataError, "block_not_two_dimensional", shape="(2,)"):
        DaskRows(flat)


def test_partitions_of_other_columns():
    a, b = pd.DataFrame({"x": [1], "y": [2]}), pd.DataFrame({"x": [1], "z": [2]})
    frame = dd.from_delayed([delayed(a), delayed(b)], meta=a, verify_meta=False)
    with raises(InvalidDataError, "partition_of_other_columns", missing=["y"], unknown=["z"]):
        DaskRows(frame)
    wide = da.ones((4, 5), chunks=(2, 5)).map_blocks(
        lambda block, block_id: block[:, : 5 - block_id[0]], dtype=float
    )
    with raises(InvalidDataError, "blocks_of_other_widths", found=[4, 5]):
        DaskRows(wide)


def test_a_partition_that_cannot_be_read_says_why():
    def broken(block):
        raise OSError("bad sector")

    with raises(ReadError, "partition_not_read", error="OSError: bad sector"):
        DaskRows(da.ones((4, 5), chunks=(2, 5)).map_blocks(broken, dtype=float))


@pytest.mark.parametrize("at", [[], [0], [3, 69, 70, 71, 499], list(range(N))])
def test_only_chosen_rows_are_brought_here(X, at, monkeypatch):
    rows = DaskRows(sparse_blocks(X))
    monkeypatch.delattr(DaskRows, "pieces")
    found = taken(rows, np.asarray(at, dtype=np.intp)).matrix
    assert found.shape == (len(at), D)
    assert (found != X[np.asarray(at, dtype=np.intp)]).nnz == 0


def test_results_of_all_parts_in_order(X):
    found = list(DaskRows(sparse_blocks(X)).results(lambda A: A.sum(axis=1)))
    assert len(found) > 1
    np.testing.assert_array_equal(np.concatenate(found), X.sum(axis=1))

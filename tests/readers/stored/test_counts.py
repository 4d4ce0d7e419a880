"""Counts on disk equal those in memory, for any batches; damage is found."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import SingleTopicModel
from momentree.datasets import StoredCounts, read_counts, store_counts
from momentree.exceptions import InvalidDataError, MomentreeError, ReadError
from tests.raising import raises


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.1), 3)
    return sp.csr_array(rng.multinomial(30, topics[rng.integers(3, size=300)]))


def batches(X, size):
    return (X[start : start + size] for start in range(0, X.shape[0], size))


@pytest.mark.parametrize("size", [1, 7, 300])
def test_counts_are_equal_for_any_batches(tmp_path, counts, size):
    ids = [f"document {i} é" for i in range(300)]
    words = [f"w{j}" for j in range(40)]
    stored = store_counts(batches(counts, size), tmp_path / "c", feature_names=words, ids=ids)
    again = StoredCounts.open(tmp_path / "c")
    for one in (stored, again):
        np.testing.assert_array_equal(one.X.toarray(), counts.toarray())
        assert list(one.ids) == ids
        assert one.ids[-2:] == ids[-2:]
        assert one.feature_names.tolist() == words
    assert again.X.data.dtype == np.uint8
    assert again.X.indices.dtype == again.X.indptr.dtype == np.int32


@pytest.mark.parametrize(
    ("largest", "dtype"), [(255, "u1"), (256, "u2"), (65_536, "u4"), (2**32, "f8"), (0.5, "f8")]
)
def test_the_type_is_as_wide_as_needed(tmp_path, largest, dtype):
    X = np.array([[0, 3], [largest, 0], [1, 1]])
    stored = store_counts(batches(X, 1), tmp_path / "c")
    assert stored.X.data.dtype == dtype
    np.testing.assert_array_equal(stored.X.toarray(), X)
    assert list(stored.ids) == ["1", "2", "3"]


def test_a_model_of_stored_counts_equals_that_in_memory(tmp_path, counts):
    stored = store_counts(batches(counts, 50), tmp_path / "c")
    one, other = SingleTopicModel(3).fit(stored.X), SingleTopicModel(3).fit(counts)
    np.testing.assert_allclose(one.components_, other.components_, rtol=1e-10)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_an_error_in_a_batch_leaves_nothing(tmp_path, counts):
    with raises(InvalidDataError, "negative_count"):
        store_counts([counts, -counts], tmp_path / "c")
    with raises(InvalidDataError, "batch_of_other_columns", found=39, needed=40):
        store_counts([counts, counts[:, 1:]], tmp_path / "c")
    with raises(InvalidDataError, "no_batches"):
        store_counts([], tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path, counts, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with raises(MomentreeError, "cannot_store", reason="No space left on device"):
        store_counts(counts, tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_kept(tmp_path, counts):
    store_counts(counts, tmp_path / "c")
    with raises(ReadError, "folder_exists"):
        store_counts(counts, tmp_path / "c")


@pytest.mark.parametrize("name", ["data.npy", "indices.npy", "indptr.npy", "ids.bin", "ids.npy"])
def test_a_truncated_file_is_found(tmp_path, counts, name):
    store_counts(counts, tmp_path / "c", ids=[str(i) for i in range(300)])
    path = tmp_path / "c" / name
    path.write_bytes(path.read_bytes()[:-1])
    with raises(ReadError, "stored_counts_damaged"):
        StoredCounts.open(tmp_path / "c")


def test_json_that_is_nested_too_deeply_is_damaged(tmp_path, counts):
    store_counts(counts, tmp_path / "c")
    (tmp_path / "c" / "counts.json").write_text("[" * 100_000)
    with raises(ReadError, "stored_counts_damaged"):
        StoredCounts.open(tmp_path / "c")


def test_an_unfinished_folder_is_refused(tmp_path, counts):
    store_counts(counts, tmp_path / "c")
    (tmp_path / "c" / "counts.json").unlink()
    with raises(ReadError, "not_stored_counts"):
        StoredCounts.open(tmp_path / "c")


@pytest.mark.parametrize(
    ("name", "at", "value"), [("indices", 5, 10**8), ("indices", 5, -1), ("indptr", 3, 10**6)]
)
def test_changed_content_is_found(tmp_path, counts, name, at, value):
    store_counts(
        counts, tmp_path / "counts", feature_names=[f"w{j}" for j in range(counts.shape[1])]
    )
    path = tmp_path / "counts" / f"{name}.npy"
    array = np.load(path)
    array[at] = value
    np.save(path, array)
    with raises(ReadError, "stored_counts_damaged"):
        list(StoredCounts.open(path.parent).blocks())
    with raises(ReadError, "stored_counts_damaged"):
        read_counts(path.parent)

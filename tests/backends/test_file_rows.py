"""Rows that are mapped from files give the answers of rows in memory."""

import errno
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from momentree import LatentDirichletAllocation, SingleTopicModel, TopicTree
from momentree.backends import FileRows, RowBlocks, RowSampler, num_threads
from momentree.backends.contents import row_weights
from momentree.backends.sources import in_reach
from momentree.datasets import make_single_topic, store_counts
from momentree.exceptions import MomentreeError
from tests.raising import raises

N = 70_000
"""Enough documents for row arrays of several parts, in files."""


@pytest.fixture(scope="module")
def X():
    return make_single_topic(N, 40, 3, length=12, random_state=0).X


@pytest.fixture
def stored(X, tmp_path, monkeypatch):
    """The same counts in files; whatever their number, they are treated like many."""
    monkeypatch.setattr("momentree.backends.sources.SORTED_NNZ", 0)
    monkeypatch.setattr("momentree.backends.row_order.RANGE", 10_000)
    return store_counts(X, tmp_path / "counts").X


def is_in_file(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(array, np.memmap)


def test_answers_are_those_of_rows_in_memory(X, stored):
    rows, expected = in_reach(stored, "", lambda _: {})[0], RowBlocks(X)
    assert isinstance(rows, FileRows)
    assert in_reach(X, "", lambda _: {})[0] is X
    assert is_in_file(rows.row_sums)
    np.testing.assert_array_equal(rows.row_sums, expected.row_sums)
    assert rows.total(rows.ones()) == N
    logs, factor = rows.mapped(np.log1p), np.linspace(0, 1, N)
    scaled = logs.scaled(factor)
    np.testing.assert_allclose(
        scaled.row_sums, expected.mapped(np.log1p).scaled(factor).row_sums, rtol=1e-13
    )
    labels = rows.each(lambda c: (c > 12).astype(np.int32), rows.row_sums)
    assert is_in_file(labels)
    np.testing.assert_array_equal(
        rows.group_sums(labels, 2, rows.ones())[0],
        expected.group_sums(np.asarray(labels), 2, np.ones(N))[0],
    )


def test_samples_are_those_of_rows_in_memory(X, stored):
    rows, expected = FileRows(stored), RowBlocks(X)
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=N)
    for weight in (np.ones(N), rng.integers(3, size=N).astype(float)):
        one, other = RowSampler(rows, weight), RowSampler(expected, weight)
        for found, wanted in (
            (one.draw(90), other.draw(90)),
            (one.draw_from_groups(labels, 20), other.draw_from_groups(labels, 20)),
        ):
            # Of equal rows, any may be drawn.
            assert content(X, *found) == content(X, *wanted)


@pytest.mark.long
def test_rows_in_any_order_are_read_from_the_beginning_to_the_end(X, tmp_path):
    X = sp.vstack([X, X, X], format="csr")  # pages are released after every four megabytes
    stored, released = store_counts(X, tmp_path / "counts").X, []
    factor, at = np.linspace(0, 1, 3 * N), np.random.default_rng(0).permutation(3 * N)
    with num_threads(1):  # a profile sees only its own thread
        sys.setprofile(lambda _, event, f: event == "c_call" and released.append(f.__name__))
        part = RowBlocks(stored).scaled(factor).take(at)
        sys.setprofile(None)
    assert released.count("madvise") < 50
    expected = RowBlocks(X).scaled(factor).take(at)
    assert (part.matrix != expected.matrix).nnz == 0
    np.testing.assert_array_equal(part.row_sums, expected.row_sums)


def content(X, at, weight):
    rows = [tuple(row) for row in X[at].toarray()]
    return sorted(zip(rows, np.round(weight, 9).tolist(), strict=True))


@pytest.mark.parametrize("model", [TopicTree(3, refine=None), SingleTopicModel(3, refine=None)])
def test_fits_are_those_in_memory(X, stored, model):
    expected = model.fit(X).labels_, model.predict_proba(X)
    model.fit(stored)
    assert is_in_file(model.labels_)
    np.testing.assert_array_equal(model.labels_, expected[0])
    np.testing.assert_allclose(model.predict_proba(X), expected[1], rtol=1e-8, atol=1e-12)
    if isinstance(model, TopicTree):
        for leaf in model.leaves_:
            inside = np.flatnonzero(model.labels_ == leaf.leaf_id)
            np.testing.assert_array_equal(leaf.samples, inside)


def resident(folder):
    """Return the kilobytes of files in a folder, also of files without a name, in memory."""
    total, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, rest = line.partition(" ")
        if not name.endswith(":"):
            inside = f" {folder}/" in rest
        elif inside and name == "Rss:":
            total += int(rest.split()[0])
    return total


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="says nothing of pages")
@pytest.mark.parametrize("model", [TopicTree(3, refine=None), SingleTopicModel(3, refine=None)])
def test_no_page_of_a_file_remains_after_a_fit(stored, tmp_path, monkeypatch, model):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    model.fit(stored)
    assert is_in_file(model.labels_)
    assert resident(scratch) == 0
    model.labels_.max()
    assert resident(scratch) > 0


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="says nothing of pages")
def test_no_page_of_weights_remains_after_their_check(stored, tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    np.save(folder / "weights.npy", np.r_[np.ones(N - 1), 0.5])
    weight = row_weights(FileRows(stored), np.load(folder / "weights.npy", mmap_mode="r"))
    assert is_in_file(weight)
    assert resident(folder) == 0
    assert weight[-1] == 0.5
    assert resident(folder) > 0


def test_lda_with_em_keeps_proportions_in_files(X, stored, monkeypatch):
    monkeypatch.setattr("momentree.tree.topic_growth.SEARCHED", 1_000)
    model = LatentDirichletAllocation(3, start="moments", max_iter=2, tol=0.0)
    expected = model.fit(X).components_
    model.fit(stored)
    assert is_in_file(model.labels_)
    np.testing.assert_allclose(model.components_, expected, rtol=1e-8)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="reserves no space")
def test_a_full_disk_is_an_error_not_a_crash(stored, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with raises(MomentreeError, "no_scratch"):
        TopicTree(3).fit(stored)

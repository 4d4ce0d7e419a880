"""Rows elsewhere are brought to this machine, in memory or in files."""

import gc
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, as_rows, collected, taken
from momentree.exceptions import InvalidDataError, MomentreeError
from tests.parts import Parts
from tests.raising import raises


@pytest.fixture(scope="module")
def X():
    return sp.random_array((50, 8), density=0.3, rng=np.random.default_rng(0), format="csr")


def test_tables_become_rows_once(X):
    rows, parts = RowBlocks(X), Parts(X)
    assert as_rows(rows) is rows
    assert as_rows(parts) is parts
    np.testing.assert_array_equal(as_rows(X).matrix.toarray(), X.toarray())
    assert collected(rows) is rows


@pytest.mark.parametrize("n_parts", [1, 4])
@pytest.mark.parametrize("memory", [None, 1.0, 1e9])
def test_collected_rows_are_the_same(X, n_parts, memory):
    found = collected(Parts(X, n_parts), memory).matrix
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    base = found.data
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap) == (memory == 1.0)


def test_files_are_removed_with_the_rows(X, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rows = collected(Parts(X), 1.0)
    X = rows.matrix
    del rows
    gc.collect()
    assert [path.name for path in sorted(next(tmp_path.iterdir()).iterdir())] == ["data", "indices"]
    del X
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_if_writing_fails(X, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def broken(self):
        yield self._parts[0].matrix
        raise OSError("no space left on device")

    monkeypatch.setattr(Parts, "pieces", broken)
    with pytest.raises(OSError, match="no space left"):
        collected(Parts(X), 1.0)
    assert not list(Path(tmp_path).iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_folder_of_temporary_files_is_named(X, monkeypatch):
    def full(path, mode):
        return open("/dev/full", mode)

    monkeypatch.setattr("momentree.backends.sources.open", full, raising=False)
    with raises(MomentreeError, "no_scratch", path=tempfile.gettempdir()):
        collected(Parts(X), 1.0)


@pytest.mark.parametrize("at", [[], [0], [49], [3, 17, 18, 33], list(range(50))])
def test_taken_rows_are_those_asked_for(X, at):
    at = np.array(at, dtype=np.intp)
    for rows in (RowBlocks(X), Parts(X, 4)):
        np.testing.assert_array_equal(taken(rows, at).matrix.toarray(), X.toarray()[at])


def test_rows_of_a_site_stay(X):
    with raises(InvalidDataError, "rows_stay", n_rows=50):
        collected(Parts(X, site=True))
    with raises(InvalidDataError, "rows_stay"):
        taken(Parts(X, site=True), np.arange(3))


def test_values_and_factors_of_rows_elsewhere_are_those_in_memory(X):
    v = np.arange(50.0)
    whole, parts = RowBlocks(X), Parts(X)
    for rows in (whole, parts):
        assert rows.nnz == X.nnz
        assert not rows.whole
    for one, other in (
        (whole.mapped(np.sign), parts.mapped(np.sign)),
        (whole.mapped(np.square).scaled(v), parts.mapped(np.square).scaled(v)),
        (whole.scaled(v), parts.scaled(v)),
    ):
        np.testing.assert_allclose(np.asarray(other.row_sums), one.row_sums, rtol=1e-12)
        groups = np.arange(50) % 3
        np.testing.assert_allclose(
            other.group_sums(groups, 3, v)[0], one.group_sums(groups, 3, v)[0], rtol=1e-12
        )

"""A folder of counts is a table with one row per record and code."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.datasets import read_measurements, read_records, store_counts
from momentree.exceptions import EmptyCorpusError, ReadError
from momentree.readers.stored import counts
from tests.raising import raises

CODES = ["250.01", "401.9", "428.0", "V27"]
rng = np.random.default_rng(0)
X = rng.integers(3, size=(60, 4)) * rng.integers(2, size=(60, 4))
X[[0, 7, 59]] = 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(counts, "BLOCK_VALUES", 20)
    store_counts(X, tmp_path / "codes", feature_names=CODES, ids=[f"v{i}" for i in range(60)])
    return tmp_path / "codes"


def test_a_count_above_zero_is_a_code(folder, tmp_path):
    whole = read_records(folder, min_records=1)
    assert (whole.form, whole.ids, len(whole)) == ("long", [f"v{i}" for i in range(60)], 60)
    columns = [CODES.index(code) for code in whole.codes]
    np.testing.assert_array_equal(whole.X.toarray(), X[:, columns] > 0)
    stored = read_records(folder, folder=tmp_path / "work", min_records=1)
    np.testing.assert_array_equal(stored.X.toarray(), whole.X.toarray())
    assert list(stored.ids) == whole.ids


def test_codes_are_rolled_up_and_joined(folder):
    rolled = read_records(folder, min_records=1, rollup="icd9")
    assert sorted(rolled.codes) == ["250", "401", "428", "V27"]


def test_other_folders_are_refused(folder, tmp_path):
    with raises(ReadError, "folder_not_table"):
        read_records(tmp_path)
    (folder / "data.npy").write_bytes(b"")
    with raises(ReadError, "stored_counts_damaged"):
        read_records(folder)


def test_they_are_no_measurements(folder):
    with raises(EmptyCorpusError, "no_measurements"):
        read_measurements(folder, ignore_columns="code")

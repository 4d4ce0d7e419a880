"""Embeddings from NumPy files."""

from __future__ import annotations

import numpy as np
import pytest

from momentree.exceptions import InvalidDataError, ReadError
from momentree.readers import read_embeddings

from ..raising import raises


def saved(path, X, **options):
    np.save(path, X, **options)
    return path


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ">f4"])
def test_kinds_of_numbers(tmp_path, kind):
    X = np.arange(12.0).reshape(4, 3) / 16
    found = read_embeddings(saved(tmp_path / "v.npy", X.astype(kind)), n_rows=4, n_columns=3)
    np.testing.assert_array_equal(found.X, X)
    assert found.X.dtype == (np.float64 if kind is np.float64 else np.float32)
    assert list(found.notes) == []


def test_order_of_fortran_and_npz(tmp_path):
    X = np.random.default_rng(0).standard_normal((5, 3))
    assert (read_embeddings(saved(tmp_path / "f.npy", np.asfortranarray(X))).X == X).all()
    np.savez(tmp_path / "one.npz", X)
    assert (read_embeddings(tmp_path / "one.npz").X == X).all()
    np.savez(tmp_path / "two.npz", a=X, b=X)
    with raises(ReadError, "embeddings_many_arrays", n=2, names=["a", "b"]):
        read_embeddings(tmp_path / "two.npz")


def test_zero_vectors_are_noted(tmp_path):
    X = np.eye(4, 3)
    (note,) = read_embeddings(saved(tmp_path / "v.npy", X)).notes
    assert note.values == {"n_rows": 1, "n_all": 4}
    with raises(InvalidDataError, "embeddings_all_zero"):
        read_embeddings(saved(tmp_path / "v.npy", 0 * X))


def nan(row, column):
    X = np.ones((4, 3))
    X[row, column] = np.nan
    return X


@pytest.mark.parametrize(
    ("X", "code", "values"),
    [
        (np.ones((3, 3)), "embeddings_of_other_rows", {"found": 3, "needed": 4}),
        (np.ones((4, 2)), "embeddings_of_other_size", {"found": 2, "needed": 3}),
        (np.ones((4, 3), dtype=int), "embeddings_shape", {"type": "int64"}),
        (np.ones((4, 3), dtype=complex), "embeddings_shape", {"type": "complex128"}),
        (np.ones((4, 3), dtype=bool), "embeddings_shape", {"type": "bool"}),
        (np.ones(4), "embeddings_shape", {"shape": "(4,)"}),
        (np.ones((4, 3, 2)), "embeddings_shape", {"shape": "(4, 3, 2)"}),
        (np.ones((4, 0)), "embeddings_shape", {"shape": "(4, 0)"}),
        (nan(2, 1), "embeddings_not_finite", {"row": 2, "column": 1, "n_rows": 1}),
    ],
)
def test_bad_arrays(tmp_path, X, code, values):
    with raises(InvalidDataError, code, **values):
        read_embeddings(saved(tmp_path / "v.npy", X), n_rows=4, n_columns=3)


def test_bad_files(tmp_path):
    whole = saved(tmp_path / "v.npy", np.ones((40, 3))).read_bytes()
    for name, content, code in (
        ("cut.npy", whole[:200], "embeddings_damaged"),
        ("cut.npz", b"PK\x03\x04" + whole, "embeddings_not_numpy"),
        ("text.csv", b"0.1,0.2\n", "embeddings_not_numpy"),
        ("empty.npy", b"", "empty_file"),
    ):
        (tmp_path / name).write_bytes(content)
        with raises(ReadError, code):
            read_embeddings(tmp_path / name)
    with raises(ReadError, "embeddings_not_numpy"):
        read_embeddings(tmp_path)
    objects = saved(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    with raises(ReadError, "embeddings_damaged"):
        read_embeddings(objects)

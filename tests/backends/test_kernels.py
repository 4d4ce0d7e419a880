"""Compiled kernels are optional, chosen by size, and the same as SciPy's functions."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax

from momentree import SingleTopicModel
from momentree.backends import RowBlocks, num_threads, use_kernels
from momentree.datasets import make_single_topic
from momentree.exceptions import InvalidParameterError
from tests.raising import raises

SOURCE = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture(scope="module")
def X():
    return make_single_topic(2000, 300, 3, length=40, random_state=0).X


def python(code, **environment):
    """Run Python code in a new process; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_model_has_the_same_parameters_with_both():
    pytest.importorskip("numba")
    X = make_single_topic(2000, 300, 3, length=40, random_state=0).X
    with use_kernels("scipy"):
        expected = SingleTopicModel(3).fit(X)
    with use_kernels("numba"):
        found = SingleTopicModel(3).fit(X)
    np.testing.assert_allclose(found.components_, expected.components_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("kernels", ["numba", "scipy"])
def test_threads_change_no_bit_and_block_sizes_only_the_last(kernels, X):
    if kernels == "numba":
        pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    V, own = rng.standard_normal((4, X.shape[1], 3)), rng.integers(-1, 4, X.shape[0])
    r = rng.standard_normal(X.shape[0])

    def total(block_nnz, n_threads, matrices=V):
        with use_kernels(kernels), num_threads(n_threads):
            rows = RowBlocks(X, block_nnz)
            return rows.sum(lambda B, j, r: B.own_gram(matrices, j, r, out=B.total), own, r)

    one = total(500, 1)
    np.testing.assert_array_equal(total(500, 4), one)
    np.testing.assert_allclose(total(7000, 2), one, rtol=1e-9, atol=1e-9)
    interleaved = np.ascontiguousarray(V.transpose(1, 0, 2)).transpose(1, 0, 2)
    np.testing.assert_array_equal(total(500, 1, interleaved), one)


def test_sums_and_slices_of_groups_are_those_of_single_products(X):
    pytest.importorskip("numba")
    rng = np.random.default_rng(1)
    n, d = X.shape
    V, own = rng.standard_normal((4, d, 4)), rng.integers(-1, 4, n)
    r, u, factor = rng.standard_normal(n), rng.uniform(size=n), rng.uniform(size=n)
    Z, values = rng.standard_normal((n, 3)), np.log2(1.0 + np.arange(X.max() + 1))

    def totals(kernels, sums, slices):
        with use_kernels(kernels):
            rows = RowBlocks(X, 5000, values=values, row_factor=factor)
            return rows.sum(sums, own, r, Z), rows.sum(slices, own, r, u)

    def composed_slices(B, own, r, u):
        z = B.own_dot(V, own)
        pairs = np.stack([z[:, 0] ** 2 - z[:, 1] ** 2, z[:, 0] * z[:, 1]], axis=1)
        right = np.concatenate([u[:, None] * z[:, :2], pairs - u[:, None] * z[:, 2:]], axis=1)
        return B.own_tdot(r[:, None] * right, own, 4)

    expected = totals(
        "scipy",
        lambda B, own, r, Z: np.concatenate([B.own_tdot(Z, own, 4), B.own_gram(V, own, r)], axis=2),
        composed_slices,
    )
    for kernels in ("scipy", "numba"):
        found = totals(
            kernels,
            lambda B, own, r, Z: B.own_sums(V, own, r, Z, out=B.total),
            lambda B, own, r, u: B.own_slices(V, own, r, u, 2, out=B.total),
        )
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


LARGE = """
import sys, numpy as np, scipy.sparse as sp, momentree
from momentree.backends import RowBlocks
RowBlocks(sp.csr_array(np.ones((1000, 9)))).row_sums
print("numba" in sys.modules)
large = RowBlocks(sp.csr_array(np.ones((1 << 17, 8))))
print("numba" in sys.modules)
print(large.map(lambda B: B.dot(np.ones(8)))[2])
"""


@pytest.mark.long
def test_numba_is_loaded_only_for_large_tables_and_needs_no_folder(tmp_path):
    """A folder that cannot be written costs only time."""
    pytest.importorskip("numba")
    blocked = tmp_path / "file"
    blocked.write_text("")
    found = python(LARGE, MOMENTREE_KERNELS="auto", NUMBA_CACHE_DIR=str(blocked / "folder"))
    assert found.split() == ["False", "True", "8.0"]


OF_TWO_TYPES = """
import numpy as np, scipy.sparse as sp
from momentree.backends import RowBlocks
for values in (np.full(8, 2), np.full(8, 1.5)):
    X = sp.csr_array((values, np.arange(8), np.arange(9)))
    print(RowBlocks(X).map(lambda B: B.dot(np.ones(8)))[2])
"""


@pytest.mark.long
def test_versions_of_a_function_have_files_of_their_own(tmp_path):
    """Processes that write versions to the files of one function at once can exchange them."""
    pytest.importorskip("numba")
    found = python(OF_TWO_TYPES, MOMENTREE_KERNELS="numba", NUMBA_CACHE_DIR=str(tmp_path))
    assert found.split() == ["2.0", "1.5"]
    assert len(list(tmp_path.rglob("*.nbi"))) == len(list(tmp_path.rglob("*.nbc"))) == 2


WITHOUT_NUMBA = """
import sys, numpy as np, scipy.sparse as sp
sys.modules["numba"] = None  # its import fails
from momentree.backends import RowBlocks, use_kernels
from momentree.exceptions import InvalidParameterError
X = sp.csr_array(np.ones((1 << 17, 8)))
print(RowBlocks(X).row_sums[0])
try:
    with use_kernels("numba"):
        RowBlocks(X)
except InvalidParameterError as error:
    print(error.message.code, "momentree[fast]" in str(error))
"""


def test_without_numba_scipy_computes():
    found = python(WITHOUT_NUMBA, MOMENTREE_KERNELS="auto")
    assert found.split() == ["8.0", "numba_not_loaded", "True"]


def test_the_environment_variable_and_the_choice_are_checked(monkeypatch, X):
    monkeypatch.setenv("MOMENTREE_KERNELS", "cuda")
    with raises(InvalidParameterError, "bad_kernels", name="MOMENTREE_KERNELS", value="cuda"):
        RowBlocks(X)
    with raises(InvalidParameterError, "bad_kernels", name="kernels"), use_kernels("fast"):
        pass
    with use_kernels("scipy"):  # overrides the variable
        RowBlocks(X)


def test_wide_pointers_do_not_copy_the_column_numbers():
    X = sp.csr_array(np.random.default_rng(2).poisson(1.0, size=(20, 5)))
    wide = sp.csr_array(X.shape, dtype=X.dtype)
    wide.data, wide.indices, wide.indptr = X.data, X.indices, X.indptr.astype(np.int64)
    rows = RowBlocks(wide, 7)
    assert np.shares_memory(rows.matrix.indices, X.indices)
    np.testing.assert_array_equal(rows.map(lambda B: B.dot(np.eye(5))), X.toarray())


@pytest.mark.parametrize("kernels", ["numba", "scipy"])
@pytest.mark.parametrize("spread", [0.05, 3.0])  # probabilities of similar size, and negligible
def test_expected_sums_are_those_of_the_formula(kernels, spread, X):
    if kernels == "numba":
        pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    theta, offsets = spread * rng.standard_normal((X.shape[1], 14)), rng.standard_normal(15)
    v, labels = rng.random(X.shape[0]), np.empty(X.shape[0], dtype=np.intp)
    joint = X @ np.hstack([theta, np.zeros((X.shape[1], 1))]) + offsets
    R = v[:, None] * softmax(joint, axis=1)
    with use_kernels(kernels):
        found = RowBlocks(X, 500).sum(
            lambda B, v, at: B.expected(theta, offsets, v, out=B.total, labels=at), v, labels
        )
    np.testing.assert_array_equal(labels, joint.argmax(axis=1))
    np.testing.assert_allclose(found[:-2, :-1], X.T @ R[:, :-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[-2], R.sum(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[-1, 0], v @ logsumexp(joint, axis=1), rtol=1e-12)

"""Sums over row blocks agree for any block size, type and number of threads."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from momentree.backends import RowBlocks, get_num_threads, num_threads, use_kernels
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises


@given(
    st.integers(0, 10_000),
    st.sampled_from([np.bool_, np.int16, np.int64, np.float32, np.float64]),
    st.integers(1, 60),
)
def test_products_agree_with_dense(seed, dtype, block_nnz):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.6, size=(rng.integers(1, 40), rng.integers(1, 9))).astype(dtype)
    X += seed % 3 == 0  # without zeros, BLAS computes the products
    n, d = X.shape
    A = X.astype(np.float64)
    rows = RowBlocks(sp.csr_array(X), block_nnz)
    V, z = rng.standard_normal((d, 3)), rng.standard_normal(n)
    np.testing.assert_allclose(rows.map(lambda B: B.dot(V)), A @ V, atol=1e-12)
    np.testing.assert_allclose(rows.map(lambda B: B.dot(V[:, 0])), A @ V[:, 0], atol=1e-12)
    np.testing.assert_allclose(rows.sum(lambda B: B.tdot(z[B.at])), A.T @ z, atol=1e-12)
    Z = np.stack([z, z**2], axis=1)
    np.testing.assert_allclose(rows.sum(lambda B: B.tdot(Z[B.at])), A.T @ Z, atol=1e-12)
    np.testing.assert_allclose(rows.row_sums, A.sum(axis=1), atol=1e-12)


def test_the_number_of_threads_changes_no_bit():
    rng = np.random.default_rng(0)
    X = sp.random_array((3000, 200), density=0.05, rng=rng, format="csr")
    rows, v = RowBlocks(X, 500), rng.standard_normal(200)
    with num_threads(1):
        one = rows.sum(lambda B: B.tdot(B.dot(v)))
    with num_threads(4):
        four = rows.sum(lambda B: B.tdot(B.dot(v)))
    np.testing.assert_array_equal(one, four)


def test_taken_rows_keep_their_sums():
    X = np.random.default_rng(1).poisson(1.0, size=(50, 6))
    rows = RowBlocks(sp.csr_array(X), 20)
    some = np.array([3, 4, 40, 7])
    part = rows.take(some)
    np.testing.assert_array_equal(part.row_sums, X[some].sum(axis=1))
    np.testing.assert_array_equal(part.map(lambda B: B.dot(np.eye(6))), X[some])


def test_slices_of_a_matrix_and_wide_indices_work():
    X = sp.csr_array(np.random.default_rng(2).poisson(1.0, size=(20, 5)))[5:15]
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(RowBlocks(X, 7).map(lambda B: B.dot(np.eye(5))), X.toarray())


def test_an_error_in_a_kernel_reaches_the_caller():
    rows = RowBlocks(sp.csr_array(np.ones((100, 3))), 10)
    with pytest.raises(ZeroDivisionError):
        rows.sum(lambda B: B.tdot(np.ones(B.at.stop - B.at.start) * (1 // 0)))


def test_threads_are_limited_only_within_the_block():
    before = get_num_threads()
    with num_threads(3):
        assert get_num_threads() == 3
    assert get_num_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_its_parents_threads():
    rows = RowBlocks(sp.csr_array(np.ones((100, 3))), 10)
    with num_threads(2):
        expected = rows.sum(lambda B: B.tdot(np.ones(B.at.stop - B.at.start)))
        child = os.fork()
        if child == 0:
            same = np.array_equal(
                rows.sum(lambda B: B.tdot(np.ones(B.at.stop - B.at.start))), expected
            )
            os._exit(0 if same else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# --- input that compiled code must not receive ---------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (4001,), (3, 2), (0,), (), (4000, 2, 2)])
def test_products_refuse_factors_of_another_shape(shape):
    rows = RowBlocks(sp.csr_array(np.ones((2, 4000))))
    with raises(InvalidDataError, "wrong_shape"):
        rows.map(lambda B: B.dot(np.ones(shape)))
    with raises(InvalidDataError, "wrong_shape"):
        rows.sum(lambda B: B.tdot(np.ones(shape)))


@pytest.mark.parametrize("row", [-1, 20, 2**40])
def test_missing_rows_cannot_be_taken(row):
    with raises(InvalidDataError, "no_such_rows", most=19):
        RowBlocks(sp.csr_array(np.ones((20, 5)))).take(np.array([3, row]))


def test_other_values_must_have_the_same_number():
    rows = RowBlocks(sp.csr_array(np.ones((20, 5))))
    with raises(InvalidDataError, "wrong_shape", parameter="data"):
        rows.map(lambda B: B.with_data(np.ones(3)).dot(np.ones(5)))


def test_blocks_are_not_empty():
    with raises(InvalidParameterError, "not_a_number", parameter="block_nnz"):
        RowBlocks(sp.csr_array(np.ones((20, 5))), 0)


# --- products of blocks, against literal loops ---------------------------------------------------


def literal(A, V, own, r, Z):
    """The definitions of gram, own_dot, own_tdot and own_gram, row by row."""
    g, d, m = V.shape
    n = len(A)
    dots, tdots, grams = np.zeros((n, m)), np.zeros((g, d, m)), np.zeros((g, d, m))
    for i in range(n):
        if own[i] >= 0:
            dots[i] = A[i] @ V[own[i]]
            tdots[own[i]] += np.outer(A[i], Z[i])
            grams[own[i]] += np.outer(A[i], r[i] * dots[i])
    return (A.T * r) @ (A @ V[0]), dots, tdots, grams


KINDS = [(np.float64, np.int32, False), (np.int64, np.int32, True), (np.float32, np.int64, False)]
"""Types of values and of column numbers, and whether values stand for others."""


@pytest.mark.parametrize("kernels", ["scipy", "numba"])
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    block_nnz=st.integers(1, 60),
    m=st.integers(0, 19),
    skip=st.sampled_from([0.0, 0.3, 1.0]),
    dense=st.sampled_from([0, 0, 1]),
)
def test_products_agree_with_their_definitions(kernels, seed, kind, block_nnz, m, skip, dense):
    if kernels == "numba":
        pytest.importorskip("numba")
    # Each kind is compiled: the others are tested with one product below.
    dtype, index, scaled = kind if kernels == "scipy" else KINDS[seed % 2]
    rng = np.random.default_rng(seed)
    n, d, g = rng.integers(0, 40), rng.integers(0, 9), rng.integers(1, 5)
    X = (rng.poisson(0.6, size=(n, d)) + dense).astype(dtype)
    S = sp.csr_array(X)
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    A, factor = X.astype(np.float64), rng.random(n)
    scaling = {}
    if scaled:
        table = np.log2(1.0 + np.arange(20))
        scaling = {"values": table, "row_factor": factor}
        A = table[X.astype(int)] * factor[:, None]
    with use_kernels(kernels):
        rows = RowBlocks(S, block_nnz, **scaling)
    V, Z, r = rng.standard_normal((g, d, m)), rng.standard_normal((n, m)), rng.standard_normal(n)
    own = np.where(rng.random(n) < skip, -1, rng.integers(0, g, n))
    gram, dots, tdots, grams = literal(A, V, own, r, Z)

    def total(kernel, *arrays):
        """Sum twice: into new arrays, and in place."""
        new = rows.sum(lambda B, *a: kernel(B, None, *a), *arrays)
        np.testing.assert_allclose(
            rows.sum(lambda B, *a: kernel(B, B.total, *a), *arrays), new, atol=1e-12
        )
        return new

    close = {"atol": 1e-12, "rtol": 1e-12}
    np.testing.assert_allclose(rows.map(lambda B: B.dot(V[0])), A @ V[0], **close)
    np.testing.assert_allclose(total(lambda B, out, Z: B.tdot(Z, out), Z), A.T @ Z, **close)
    np.testing.assert_allclose(total(lambda B, out, r: B.gram(V[0], r, out), r), gram, **close)
    found = rows.map(lambda B, own: B.own_dot(V, own), own)
    np.testing.assert_allclose(found, dots, **close)
    found = total(lambda B, out, Z, own: B.own_tdot(Z, own, g, out), Z, own)
    np.testing.assert_allclose(found, tdots, **close)
    found = total(lambda B, out, own, r: B.own_gram(V, own, r, out), own, r)
    np.testing.assert_allclose(found, grams, **close)
    if m:  # one column is a vector
        v, z = V[0, :, 0], Z[:, 0]
        np.testing.assert_allclose(rows.map(lambda B: B.dot(v)), A @ v, **close)
        np.testing.assert_allclose(total(lambda B, out, z: B.tdot(z, out), z), A.T @ z, **close)
        np.testing.assert_allclose(
            total(lambda B, out, r: B.gram(v, r, out), r), gram[:, 0], **close
        )


@pytest.mark.long
def test_compiled_kernels_read_unusual_types():
    pytest.importorskip("numba")
    X = np.random.default_rng(5).poisson(1.0, size=(50, 6)).astype(np.uint8)
    S = sp.csr_array(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    with use_kernels("numba"):
        rows = RowBlocks(S, 20)
    V = np.random.default_rng(6).standard_normal((6, 15))  # 8, 4, 2 and 1 columns
    np.testing.assert_allclose(rows.map(lambda B: B.dot(V)), X.astype(np.float64) @ V, atol=1e-12)


def test_values_that_stand_for_others_are_kept_by_taken_rows_and_the_matrix():
    X = np.random.default_rng(3).poisson(1.0, size=(50, 6))
    factor, table = np.random.default_rng(4).random(50), np.log2(1.0 + np.arange(10))
    rows = RowBlocks(sp.csr_array(X), 20, values=table, row_factor=factor)
    A = table[X] * factor[:, None]
    np.testing.assert_allclose(rows.matrix.toarray(), A, rtol=1e-7)  # single precision
    some = np.array([3, 4, 40, 7])
    np.testing.assert_allclose(rows.take(some).map(lambda B: B.dot(np.eye(6))), A[some])
    np.testing.assert_allclose(rows.for_products(8).map(lambda B: B.dot(np.eye(6))), A, atol=1e-12)


@pytest.mark.parametrize("x", [-1.0, 0.5, 3.0, np.nan])
def test_values_must_be_listed(x):
    with raises(InvalidDataError, "values_not_listed", most=2):
        RowBlocks(sp.csr_array(np.array([[1.0, x]])), values=[0.0, 1.0, 1.5])


def test_values_and_factors_must_have_the_right_shape():
    X = sp.csr_array(np.ones((3, 2)))
    with raises(InvalidDataError, "wrong_shape", parameter="row_factor"):
        RowBlocks(X, row_factor=[1.0, 2.0])
    with raises(InvalidDataError, "wrong_shape", parameter="values"):
        RowBlocks(X, values=[[0.0, 1.0]])
    with raises(InvalidDataError, "values_not_listed"):  # zeros are not stored
        RowBlocks(X, values=[1.0, 1.0])


@pytest.mark.parametrize("own", [[0, 2], [-2, 0]])
def test_groups_must_exist(own):
    rows, V = RowBlocks(sp.csr_array(np.ones((2, 4)))), np.ones((2, 4, 1))
    with raises(InvalidDataError, "no_such_row_groups", most=1):
        rows.map(lambda B, own: B.own_dot(V, own), np.array(own))


def test_sums_are_added_only_to_arrays_of_their_shape_and_type():
    rows = RowBlocks(sp.csr_array(np.eye(2, 4)))
    with raises(InvalidDataError, "wrong_shape", parameter="out"):
        rows.sum(lambda B: B.tdot(np.ones(2), np.zeros(5)))
    with raises(InvalidDataError, "out_layout"):
        rows.sum(lambda B: B.tdot(np.ones((2, 3)), np.zeros((3, 4)).T))

"""Sums over row blocks agree for any block size, type and number of threads."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from momentree.backends import RowBlocks, get_num_threads, num_threads
from momentree.exceptions import InvalidDataError, InvalidParameterError
from tests.raising import raises


@settings(deadline=None, max_examples=40)
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

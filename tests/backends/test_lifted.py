"""Rows computed block by block equal rows that are stored."""

import numpy as np
import scipy.sparse as sp

from momentree.backends import LiftedRows, RowBlocks


def test_sums_and_products_are_those_of_stored_rows():
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.round(rng.normal(size=(700, 5)) * (rng.random((700, 5)) < 0.7), 2))

    def lift(Z):
        return np.hstack([Z, Z**2, np.ones((len(Z), 990))])  # so that there are several blocks

    rows, stored = LiftedRows(X, lift, 1000), RowBlocks(sp.csr_array(lift(X.toarray())))
    assert rows.shape == stored.shape
    V, w = rng.normal(size=(1000, 3)), rng.random(700)
    scores = rows.map(lambda B: B.dot(V))
    np.testing.assert_allclose(scores, stored.map(lambda B: B.dot(V)), atol=1e-10)
    np.testing.assert_allclose(
        rows.group_sums(np.arange(700) % 3, 3, w), stored.group_sums(np.arange(700) % 3, 3, w)
    )
    at = np.array([5, 3, 699, 3])
    np.testing.assert_allclose(rows.take(at).map(lambda B: B.dot(V)), scores[at], atol=1e-10)
    assert rows.for_products(20) is rows
    assert LiftedRows(X[:0], lift, 1000).map(lambda B: B.dot(V)).shape == (0, 3)

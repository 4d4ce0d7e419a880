"""Rows of statistics computed on the fly equal stored ones."""

import numpy as np
import pytest
import scipy.sparse as sp

import momentree.backends.lifted as module
from momentree.backends import LiftedRows, RowBlocks
from momentree.objects.full_gaussian import lifted


@pytest.mark.parametrize("kept", [True, False])
def test_products_are_those_of_stored_rows(kept, monkeypatch):
    if not kept:
        monkeypatch.setattr(module, "MAX_DENSE_VALUES", 10)
    monkeypatch.setattr(module, "BLOCK_VALUES", 1)
    Z = np.random.default_rng(0).standard_normal((70, 3))
    rows, stored = LiftedRows(Z, lifted, 9), RowBlocks(sp.csr_array(lifted(Z)))
    assert rows.shape == stored.shape
    assert len(rows._blocks) > 1
    V, w = np.random.default_rng(1).standard_normal((9, 2)), np.arange(70.0)
    for _ in range(2):
        np.testing.assert_allclose(rows.map(lambda B: B.dot(V)), stored.map(lambda B: B.dot(V)))
        np.testing.assert_allclose(
            rows.sum(lambda B: B.tdot(w[B.at])), stored.sum(lambda B: B.tdot(w[B.at]))
        )
    at = np.array([5, 1, 1, 60])
    np.testing.assert_allclose(rows.take(at).matrix.toarray(), stored.take(at).matrix.toarray())
    np.testing.assert_allclose(rows.lifted(at), lifted(Z[at]))
    assert rows.for_products(4) is rows

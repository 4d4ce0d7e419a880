"""Samples of rows that do not depend on the order of the rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, RowSampler
from momentree.datasets import make_single_topic


@pytest.fixture(scope="module")
def X():
    return make_single_topic(500, 60, 3, length=12, random_state=0).X


def contents(X, at, weight):
    """Return the drawn rows with their weights, in an order of their own."""
    rows = [tuple(row) for row in X[at].toarray()]
    return sorted(zip(rows, np.round(weight, 9).tolist(), strict=True))


def test_a_sample_does_not_depend_on_the_order_of_rows_or_columns(X):
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(500), rng.permutation(60)
    labels = rng.integers(3, size=500)
    one, shuffled = RowSampler(RowBlocks(X), np.ones(500)), X[rows][:, columns]
    other = RowSampler(RowBlocks(shuffled), np.ones(500))
    back = shuffled[:, np.argsort(columns)]
    assert contents(X, *one.draw(50)) == contents(back, *other.draw(50))
    of_groups = contents(X, *one.draw_from_groups(labels, 20))
    assert of_groups == contents(back, *other.draw_from_groups(labels[rows], 20))


def test_equal_rows_and_weights_are_drawn_in_proportion():
    kinds = np.array([[3, 0, 1], [0, 2, 0], [1, 1, 5], [0, 0, 4]])
    copies = np.array([400, 300, 200, 100])
    for X, weight in ((np.repeat(kinds, copies, axis=0), np.ones(1000)), (kinds, copies / 10)):
        at, draws = RowSampler(RowBlocks(sp.csr_array(X)), weight).draw(3 if X is kinds else 100)
        found = np.zeros(4)
        for row, times in zip(X[at], draws, strict=True):
            found[np.flatnonzero((kinds == row).all(axis=1))] += times
        # The kind of a single draw depends on where it begins.
        np.testing.assert_allclose(found, copies * draws.sum() / 1000, atol=1.0)


def test_weights_of_groups_are_kept_and_rows_without_weight_are_not_drawn(X):
    weight = np.where(np.arange(500) < 40, 0.0, 2.0)
    labels = np.repeat([0, 1, 2], [250, 240, 10])
    at, drawn = RowSampler(RowBlocks(X), weight).draw_from_groups(labels, 30)
    assert (at >= 40).all()
    assert np.bincount(labels[at]).tolist() == [30, 30, 10]
    expected = np.bincount(labels, weights=weight)
    np.testing.assert_allclose(np.bincount(labels[at], weights=drawn), expected)


def test_values_are_mapped_and_rows_scaled(X):
    rows = RowBlocks(X)
    squares = rows.mapped(np.square).scaled(np.arange(500.0))
    expected = X.toarray() ** 2 * np.arange(500.0)[:, None]
    np.testing.assert_allclose(squares.row_sums, expected.sum(axis=1))
    np.testing.assert_allclose(squares.matrix.toarray(), expected, rtol=1e-6)
    halves = RowBlocks(X * 0.5)
    assert rows.whole
    assert not halves.whole
    np.testing.assert_allclose(
        halves.mapped(np.square).row_sums, rows.mapped(np.square).row_sums / 4
    )

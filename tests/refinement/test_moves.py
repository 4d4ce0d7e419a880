"""Moves of single documents between groups."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import xlogy

from momentree.backends import RowBlocks
from momentree.refinement.moves import classification_log_likelihood, move_samples

SMOOTHING = 0.5


def likelihood(X, labels, k, weight):
    """The log-likelihood of documents and groups with its prior, written out."""
    total = 0.0
    for j in range(k):
        C = (X * weight[:, None])[labels == j].sum(axis=0) + SMOOTHING
        n = weight[labels == j].sum()
        total += (C * np.log(C / C.sum())).sum() + xlogy(n, n)
    return total


@pytest.fixture
def documents():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(60, 0.3), 4)
    truth = np.repeat(np.arange(4), 10)
    X = np.array([rng.multinomial(80, topics[j]) for j in truth])
    start = truth.copy()
    wrong = rng.permutation(40)[:16]
    start[wrong] = rng.integers(0, 4, 16)
    return X, truth, start


def moved(X, labels, k=4, weight=None, **options):
    weight = np.ones(len(labels)) if weight is None else weight
    rows = RowBlocks(sp.csr_array(X))
    options = {"sample_weight": weight, "smoothing": SMOOTHING, **options}
    return move_samples(rows, labels, k, **options)


def test_the_objective_is_the_likelihood_of_documents_and_groups(documents):
    X, truth, _ = documents
    sums = np.stack([X[truth == j].sum(axis=0) for j in range(4)], axis=1)
    found = classification_log_likelihood(sums, np.full(4, 10.0), SMOOTHING).sum()
    assert found == pytest.approx(likelihood(X, truth, 4, np.ones(40)))


def test_moves_repair_groups_and_raise_the_likelihood(documents):
    X, truth, start = documents
    found = moved(X, start)
    np.testing.assert_array_equal(found, truth)
    ones = np.ones(40)
    assert likelihood(X, found, 4, ones) > likelihood(X, start, 4, ones)


def test_no_single_move_raises_the_likelihood_at_the_end(documents):
    X, _, start = documents
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], 40)
    found = moved(X, start, weight=weight, max_iter=100)
    best = likelihood(X, found, 4, weight)
    for i in range(40):
        for j in range(4):
            other = found.copy()
            other[i] = j
            assert likelihood(X, other, 4, weight) <= best + 1e-9 * abs(best)


def test_groups_do_not_become_too_small(documents):
    X, truth, _ = documents
    labels = truth.copy()
    labels[:6] = 3  # group 0 keeps 4 of its documents, and would be joined to group 3 or grow
    labels[6:10] = 0
    found = moved(np.zeros_like(X) + X[:1], labels, min_size=4.0)
    assert np.bincount(found, minlength=4).min() >= 4


def test_one_group_and_empty_documents_remain(documents):
    X, truth, start = documents
    np.testing.assert_array_equal(moved(X, 0 * truth, k=1), 0 * truth)
    X = X.copy()
    X[3] = 0
    assert moved(X, start).shape == (40,)


def test_labels_given_are_not_changed(documents):
    X, _, start = documents
    before = start.copy()
    moved(X, start)
    np.testing.assert_array_equal(start, before)

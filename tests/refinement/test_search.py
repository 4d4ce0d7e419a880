"""Searches for mixtures: as likely as the best of random starts; identities of their steps."""

import numpy as np
import pytest
import scipy.sparse as sp

from momentree.backends import RowBlocks, in_canonical_order
from momentree.objects import BernoulliParameters, TopicParameters
from momentree.refinement import MixtureSearch, em
from momentree.refinement.proposals import Merging, halves


def drawn(n, d, k, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    means = rng.beta(spread, spread, size=(k, d))
    X = rng.random((n, d)) < means[rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 3.0)))]
    rows = RowBlocks(sp.csr_array(X.astype(float)))
    return in_canonical_order(rows, np.ones(n))[0]


def searched(rows, k):
    n, d = rows.shape
    v = np.ones(n)
    found = MixtureSearch(rows, BernoulliParameters, v, np.ones(d), k, 1.0).search()
    return em(rows, found, sample_weight=v, tol=1e-7, max_iter=300)


def best_of_random_starts(rows, k, n_starts=10):
    n = rows.shape[0]
    values = []
    for seed in range(n_starts):
        R = np.random.default_rng(seed).dirichlet(np.ones(k), n)
        start = BernoulliParameters.m_step(rows.matrix.T @ R, R.sum(axis=0), 1.0)
        found = em(rows, start, sample_weight=np.ones(n), tol=1e-7, max_iter=300)
        values.append(found.log_likelihood)
    return max(values)


@pytest.mark.parametrize(
    ("n", "d", "k", "spread"),
    [
        (300, 12, 4, 1.0),
        (250, 40, 2, 1.0),
        pytest.param(400, 20, 6, 2.0, marks=pytest.mark.long),
        pytest.param(500, 60, 12, 0.5, marks=pytest.mark.long),
    ],
)
def test_it_is_as_likely_as_the_best_of_ten_random_starts(n, d, k, spread):
    for seed in range(2):
        rows = drawn(n, d, k, seed, spread)
        best = best_of_random_starts(rows, k)
        assert searched(rows, k).log_likelihood >= best - 1e-5 * abs(best)


def test_it_finds_clear_components():
    rng = np.random.default_rng(0)
    labels = rng.choice(5, size=400, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    X = sp.csr_array(
        (rng.random((400, 50)) < 0.02 + 0.9 * (labels[:, None] == np.arange(50) % 5)) * 1.0
    )
    found = searched(in_canonical_order(RowBlocks(X), np.ones(400))[0], 5).parameters
    sizes = np.sort(np.bincount(labels)) / 400
    np.testing.assert_allclose(np.sort(found.weights), sizes, atol=1e-6)


def test_another_start_is_kept_if_it_is_more_likely():
    rows = drawn(100, 60, 8, 4)
    growing = MixtureSearch(rows, BernoulliParameters, np.ones(100), np.ones(60), 8, 1.0)

    def value(parameters):
        return em(rows, parameters, sample_weight=np.ones(100), max_iter=1).log_likelihood

    R = np.random.default_rng(0).dirichlet(np.ones(8), 100)
    start = BernoulliParameters.m_step(rows.matrix.T @ R, R.sum(axis=0), 1.0)
    likely = em(rows, start, sample_weight=np.ones(100)).parameters
    alone, both = growing.search(), growing.search([likely])
    assert value(both) >= max(value(alone), value(likely)) - 1e-6 * abs(value(likely))


def test_equal_samples_are_not_divided():
    X = np.repeat(np.eye(3), [5, 7, 9], axis=0)
    found = MixtureSearch(
        RowBlocks(X), BernoulliParameters, np.ones(21), np.ones(3), 6, 1.0
    ).search()
    assert found.n_components == 3


def test_halves_are_parts_of_their_components_and_gain_what_the_mixture_gains():
    rows, k = drawn(200, 15, 2, 0), 3
    n, d = rows.shape
    labels, v = np.arange(n) % k, np.random.default_rng(0).integers(1, 3, n).astype(float)
    outside = (np.zeros(d), 0.0)
    two = halves(
        rows,
        labels,
        k,
        BernoulliParameters,
        sample_weight=v,
        column_scale=np.ones(d),
        smoothing=1e-9,
        others=outside,
    )
    sums, _ = rows.group_sums(labels, k, v)
    np.testing.assert_allclose(two.sums.sum(axis=1), sums)
    np.testing.assert_allclose(two.sizes.sum(axis=0), np.bincount(labels, weights=v))
    for j in range(k):
        here = np.flatnonzero(labels == j)
        part = rows.take(here)
        size = v[here].sum()
        whole = BernoulliParameters.maximized_log_likelihood(sums[:, [j]], np.array([size]))[0]
        start = BernoulliParameters.m_step(*two.of(np.array([j])).components, 1e-9)
        after = em(part, start, sample_weight=v[here], smoothing=1e-9, max_iter=1)
        # The halves are one EM step later than the gain.
        assert 0 < two.gain[j] <= after.log_likelihood - whole + 1e-6


def test_the_loss_of_a_merge_is_that_of_the_likelihood_to_second_order():
    rng = np.random.default_rng(0)
    sizes = np.array([300.0, 200.0, 500.0])
    common = rng.uniform(0.2, 0.8, size=(30, 1))
    sums = sizes * (common + 0.02 * rng.standard_normal((30, 3)))

    def m_step(sums, sizes):
        return BernoulliParameters.m_step(sums, sizes, 1e-9)

    merging = Merging(sums, sizes, m_step(sums, sizes).coefficients, m_step)
    of = BernoulliParameters.maximized_log_likelihood
    for i, j in ((0, 1), (0, 2), (1, 2)):
        union = of(sums[:, [i]] + sums[:, [j]], sizes[[i]] + sizes[[j]])[0]
        apart = of(sums[:, [i, j]], sizes[[i, j]]).sum()
        assert merging.loss[i, j] == pytest.approx(apart - union, rel=0.02)
    left, n_left = merging.merge(1)
    np.testing.assert_allclose(left.sum(axis=1), sums.sum(axis=1))
    again = Merging(left, n_left, m_step(left, n_left).coefficients, m_step)
    np.testing.assert_allclose(merging.loss.min(), again.loss.min(), rtol=1e-6)


def test_counts_grow_too():
    rng = np.random.default_rng(0)
    topics = np.kron(np.eye(4), np.ones(6)) + 0.02
    labels = rng.integers(4, size=200)
    X = np.stack([rng.multinomial(30, p / p.sum()) for p in topics[labels]])
    rows = RowBlocks(sp.csr_array(X.astype(float)))
    found = MixtureSearch(rows, TopicParameters, np.ones(200), np.ones(24), 4, 0.5).search()
    np.testing.assert_allclose(
        np.sort(found.weights), np.sort(np.bincount(labels)) / 200, atol=1e-6
    )

"""The number of leaves that "auto" finds: dispersion is estimated, and cut groups are joined."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp
from scipy.stats import nbinom
from sklearn.metrics import adjusted_rand_score

from momentree import ClusterTree
from momentree.backends import RowBlocks
from momentree.models import BernoulliMixture
from momentree.objects import PoissonParameters
from momentree.tree.stopping import log_likelihood


def binary(n, k, rng, weights=None):
    y = rng.choice(k, size=n, p=weights)
    return (rng.random((n, 40)) < rng.beta(0.5, 0.5, size=(k, 40))[y]).astype(int), y


def counts(n, k, rng, shape=None):
    """Groups of counts; with a shape, negative binomial ones."""
    y = rng.integers(0, k, n)
    mean = rng.gamma(1.0, 3.0, size=(k, 20))[y]
    return rng.poisson(mean if shape is None else mean * rng.gamma(shape, 1 / shape, mean.shape)), y


def n_leaves(X):
    return len(ClusterTree("auto").fit(X).leaves_)


@pytest.mark.parametrize(
    ("n", "shape"), [(500, 1.0), (1000, 0.3), (1000, 1.0), (1000, 3.0), (3000, 1.0)]
)
def test_independent_counts_that_vary_more_than_poisson_counts_are_one_group(n, shape):
    # As Poisson counts, those of shape 1 make 50 to 266 leaves.
    rng = np.random.default_rng(n)
    assert n_leaves(rng.negative_binomial(shape, shape / (shape + 2.0), size=(n, 20))) == 1


@pytest.mark.parametrize("k", [3, 5, pytest.param(10, marks=pytest.mark.long)])
@pytest.mark.parametrize("shape", [None, 2.0])
def test_groups_of_counts_are_found_whatever_their_dispersion(k, shape):
    for seed in range(2):
        X, y = counts(400 * k, k, np.random.default_rng(seed), shape)
        tree = ClusterTree("auto").fit(X)
        assert len(tree.leaves_) == k
        assert adjusted_rand_score(y, tree.labels_) > 0.9


def test_an_intensity_per_row_makes_few_leaves():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(2.0, 1.0, size=(3000, 1)) * np.ones(20))
    assert 1 < n_leaves(X) <= 8  # columns depend on each other, so this is no single group


@pytest.mark.parametrize(
    ("k", "seed"),
    [
        (4, 0),
        *(
            pytest.param(k, seed, marks=pytest.mark.long)
            for k, seed in [(10, 0), (10, 1), (10, 2), (20, 0), (20, 1), (20, 2)]
        ),
    ],
)
def test_a_tree_finds_as_many_binary_groups_as_the_mixture_of_lowest_bic(k, seed):
    # Without merges 20 classes make 23 to 34 leaves, because early splits cut classes in two.
    rng = np.random.default_rng(seed)
    X, _ = binary(300 * min(k, 10), k, rng, rng.dirichlet(np.full(k, 5.0)))
    flat = len(BernoulliMixture("auto").fit(X).weights_)
    assert flat == k
    assert abs(n_leaves(X) - flat) <= 1


def test_without_em_over_the_leaves_none_are_merged():
    X, _ = binary(1000, 10, np.random.default_rng(0))
    tree = ClusterTree("auto", refine=None).fit(X)
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)


def test_the_number_of_leaves_depends_neither_on_the_order_of_rows_nor_on_columns_of_zeros():
    X, _ = binary(600, 8, np.random.default_rng(3))
    order = np.random.default_rng(0).permutation(600)
    tree, other = ClusterTree("auto").fit(X), ClusterTree("auto").fit(X[order])
    np.testing.assert_array_equal(tree.labels_[order], other.labels_)
    assert n_leaves(np.hstack([X, np.zeros((600, 30), dtype=int)])) == len(tree.leaves_)


def test_the_likelihood_of_counts_is_that_of_negative_binomial_columns():
    rng = np.random.default_rng(0)
    X, y = counts(300, 2, rng, 1.0)
    v = rng.integers(1, 3, 300).astype(float)
    rows = RowBlocks(sp.csr_array(X.astype(float)))
    sums, sizes = np.stack([(v * (y == j)) @ X for j in (0, 1)], 1), np.bincount(y, v)
    n, mu = v.sum(), sums / sizes
    within = (v @ X**2 - mu**2 @ sizes) / (n - 2)
    shape = (mu**2 @ sizes / n) / np.maximum(within - mu @ sizes / n, 1e-4)
    joint = np.stack(
        [
            nbinom.logpmf(X, shape, shape / (shape + mu[:, j])).sum(axis=1) + np.log(sizes[j] / n)
            for j in (0, 1)
        ]
    )
    expected = v @ (logsumexp(joint, axis=0) + gammaln(X + 1.0).sum(axis=1))
    found = log_likelihood(PoissonParameters, rows, v, sums, sizes)
    assert found == pytest.approx(expected, rel=1e-5)  # NEGLIGIBLE samples are added


def test_the_likelihood_of_poisson_counts_is_theirs():
    X = np.random.default_rng(0).poisson(3.0, (200, 5))
    X[:100] = 6 - X[100:].clip(0, 6)  # less dispersed than Poisson counts
    sums, sizes = X.sum(axis=0)[:, None].astype(float), np.array([200.0])
    rows = RowBlocks(sp.csr_array(X.astype(float)))
    mu = sums[:, 0] / 200
    found = log_likelihood(PoissonParameters, rows, np.ones(200), sums, sizes)
    # The variance is mu + mu^2 / 10,000.
    assert found == pytest.approx((X * np.log(mu) - mu).sum(), rel=1e-3)


@pytest.mark.parametrize(("k", "n_found"), [(1, 1), (3, 3), (12, 8)])
def test_aic3_finds_at_most_eight_groups(k, n_found):
    rates = np.random.default_rng(k).uniform(0.02, 0.7, (k, 40))
    rng = np.random.default_rng(0)
    X = rng.random((800, 40)) < rates[rng.integers(k, size=800)]
    assert ClusterTree("aic3", data="binary").fit(X).n_leaves_ == n_found

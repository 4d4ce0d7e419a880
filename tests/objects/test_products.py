"""Mixtures of independent columns of different kinds: densities, M-steps, EM, missing values."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import bernoulli, norm, poisson

from momentree.backends import RowBlocks
from momentree.inference import log_joint
from momentree.objects import ProductColumns, ProductParameters
from momentree.refinement import MixtureSearch, em

from .families import log_likelihood_never_falls, maximal

# Two numbers, two yes/no, one count, and categories of three and two levels.
LEVELS = np.array([0, 0, 0, 1, 1], dtype=np.intp)
NO_GAPS = np.empty(0, dtype=np.intp)


def columns(gaps=NO_GAPS):
    return ProductColumns(2, 2, 1, LEVELS, np.asarray(gaps, dtype=np.intp), np.full(2, 1e-9))


def parameters(k=3, seed=0, gaps=NO_GAPS):
    rng = np.random.default_rng(seed)
    levels = np.vstack([rng.dirichlet(np.ones(3), k).T, rng.dirichlet(np.ones(2), k).T])
    centers = np.vstack(
        [
            rng.normal(size=(2, k)),
            rng.uniform(0.1, 0.9, (2, k)),
            rng.gamma(2.0, size=(1, k)),
            levels,
        ]
    )
    w, v = rng.dirichlet(np.full(k, 5.0)), rng.uniform(0.3, 2.0, (2, k))
    return ProductParameters(w, centers, v, columns(gaps))


def draw(n=90, seed=1, missing=0.0):
    """Encoded samples of a mixture, and where values of the single columns are missing."""
    rng, p = np.random.default_rng(seed), parameters(seed=7)
    y = rng.choice(3, size=n, p=p.weights)
    X = np.zeros((n, 10))
    X[:, :2] = rng.normal(p.centers[:2, y].T, np.sqrt(p.variances[:, y].T))
    X[:, 2:4] = rng.random((n, 2)) < p.centers[2:4, y].T
    X[:, 4] = rng.poisson(p.centers[4, y])
    for part in (slice(5, 8), slice(8, 10)):
        for i in range(n):
            X[i, part] = rng.multinomial(1, p.centers[part, y[i]])
    gone = rng.random((n, 5)) < missing
    X[:, :5][gone] = 0.0
    return X, gone


def rows_of(X, gone, gaps):
    found = columns(gaps).statistics(sp.csr_array(X), sp.csr_array(gone.astype(float)))
    return RowBlocks(found)


def density(X, gone, p):
    """log P[x, j] column by column, with SciPy."""
    found = np.log(p.weights) + np.zeros((len(X), p.n_components))
    for j in range(p.n_components):
        mu = p.centers[:, j]
        parts = [norm.logpdf(X[:, i], mu[i], np.sqrt(p.variances[i, j])) for i in range(2)]
        parts += [bernoulli.logpmf(X[:, i], mu[i]) for i in (2, 3)]
        parts += [poisson.logpmf(X[:, 4], mu[4])]
        found[:, j] += np.where(gone, 0.0, np.stack(parts, axis=1)).sum(axis=1)
        found[:, j] += X[:, 5:] @ np.log(mu[5:])
    return found


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_log_joint_is_that_of_the_densities_up_to_a_constant(missing):
    X, gone = draw(missing=missing)
    gaps = np.arange(5) if missing else NO_GAPS
    p = parameters(gaps=gaps)
    found = log_joint(rows_of(X, gone, gaps), p)
    counts = np.where(gone[:, 4], 0.0, poisson.logpmf(X[:, 4], 1.0) + 1.0)
    constant = counts - 0.5 * np.log(2 * np.pi) * (~gone[:, :2]).sum(axis=1)
    np.testing.assert_allclose(found + constant[:, None], density(X, gone, p), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_m_step_maximizes_the_likelihood(missing):
    X, gone = draw(missing=missing)
    gaps = np.arange(5) if missing else NO_GAPS
    rows = rows_of(X, gone, gaps)
    R = np.random.default_rng(2).dirichlet(np.ones(2), size=len(X))
    start = parameters(2, gaps=gaps)
    p = start.m_step(rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0), 1e-12)
    np.testing.assert_allclose(p.weights, R.mean(axis=0), rtol=1e-12)

    def at(numbers):
        """Means and log variances of numbers, logits of yes/no, log rates, logits of levels."""
        free = numbers.reshape(-1, 2)
        levels = []
        for part in (free[7:9], free[9:10]):
            odds = np.exp(np.vstack([part, np.zeros(2)]))
            levels.append(odds / odds.sum(axis=0))
        yes = 1 / (1 + np.exp(-free[4:6]))
        centers = np.vstack([free[:2], yes, np.exp(free[6:7]), *levels])
        q = ProductParameters(p.weights, centers, np.exp(free[2:4]), columns(gaps))
        return float((R * density(X, gone, q)).sum())

    mu = p.centers
    best = [
        mu[:2], np.log(p.variances), np.log(mu[2:4] / (1 - mu[2:4])), np.log(mu[4:5]),
        np.log(mu[5:7] / mu[7:8]), np.log(mu[8:9] / mu[9:10]),
    ]  # fmt: skip
    maximal(at, np.vstack(best).ravel())


def test_the_likelihood_never_falls():
    X, gone = draw(missing=0.1)
    log_likelihood_never_falls(rows_of(X, gone, np.arange(5)), parameters(gaps=np.arange(5)))


def test_the_posterior_never_falls_with_smoothing():
    X, gone = draw()
    rows, p, one = rows_of(X, gone, NO_GAPS), parameters(), np.ones(len(X))
    last = -np.inf
    for _ in range(20):
        found = em(rows, p, sample_weight=one, smoothing=3.0, max_iter=1)
        sums = rows.sum(lambda B: B.tdot(np.ones((90, 1))))
        value = found.log_likelihood + p.log_prior(sums, np.array([90.0]), 3.0)
        assert value >= last - 1e-9 * abs(value)
        last, p = value, found.parameters


def test_the_maximized_log_likelihood_is_that_of_one_component():
    X, gone = draw(missing=0.1)
    rows = rows_of(X, gone, np.arange(5))
    sums, n = rows.sum(lambda B: B.tdot(np.ones((90, 1)))), np.array([90.0])
    p = parameters(1, gaps=np.arange(5)).m_step(sums, n, 1e-12)
    expected = float((sums * p.coefficients).sum() + 90 * (p.offsets - np.log(p.weights))[0])
    np.testing.assert_allclose(p.maximized_log_likelihood(sums, n), [expected], rtol=1e-9)


def test_a_variance_is_never_below_its_floor():
    X, gone = draw()
    X[:, 0] = np.where(np.arange(90) < 40, 0.5, X[:, 0])
    rows = rows_of(X, gone, NO_GAPS)
    R = np.eye(2)[(np.arange(90) >= 40).astype(int)]
    p = parameters(2).m_step(rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0), 1e-9)
    assert p.variances[0, 0] == 1e-9
    assert p.variances[0, 1] > 0.1


def test_the_search_finds_components_that_differ_in_one_kind_each():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = np.zeros((600, 10))
    X[:, :2] = rng.normal(size=(600, 2)) + 8.0 * (y == 1)[:, None]
    X[:, 2:4] = rng.random((600, 2)) < 0.5
    X[:, 4] = rng.poisson(np.where(y == 2, 30.0, 1.0))
    X[np.arange(600), 5 + rng.integers(3, size=600)] = 1.0
    X[np.arange(600), 8 + rng.integers(2, size=600)] = 1.0
    rows, v = rows_of(X, np.zeros((600, 5)), NO_GAPS), np.ones(600)
    scale = np.ones(rows.shape[1])
    found = MixtureSearch(rows, parameters(1), v, scale, 3, 1e-3).search()
    labels = log_joint(rows, found).argmax(axis=1)
    pairs = np.array([[np.sum((labels == a) & (y == b)) for b in range(3)] for a in range(3)])
    assert pairs.max(axis=1).sum() == 600


def test_shrunk_components_have_means_and_squares_between_theirs_and_the_average():
    p = parameters()
    whole = ProductParameters(np.ones(1), p.centers[:, :1], p.variances[:, :1], p.columns)
    found = p.shrunk(whole, 0.25)
    np.testing.assert_allclose(found.centers, 0.75 * whole.centers + 0.25 * p.centers)
    squares = [one.variances + one.centers[:2] ** 2 for one in (found, whole, p)]
    np.testing.assert_allclose(squares[0], 0.75 * squares[1] + 0.25 * squares[2])
    np.testing.assert_array_equal(found.weights, p.weights)

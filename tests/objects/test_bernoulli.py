"""Mixtures of binary variables, with and without missing values: densities, M-steps, EM."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import bernoulli

from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.inference import log_joint, log_posterior
from momentree.objects import BernoulliParameters, IncompleteBernoulliParameters
from momentree.refinement import em
from tests.raising import raises

from .families import log_likelihood_never_falls, maximal


def parameters(family=BernoulliParameters, d=5, k=3, seed=0):
    rng = np.random.default_rng(seed)
    return family(rng.dirichlet(np.full(k, 3.0)), rng.uniform(0.05, 0.95, (d, k)))


def with_gaps(n=30, d=5, seed=1, share=0.3):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < rng.uniform(0.1, 0.9, (2, d))[rng.integers(2, size=n)]).astype(float)
    gone = rng.random((n, d)) < share
    return np.where(gone, np.nan, X)


def rows_of(X, family):
    gone = np.isnan(X)
    values = sp.csr_array(np.where(gone, 0.0, X))
    if family is BernoulliParameters:
        return RowBlocks(values)
    return RowBlocks(family.statistics(values, sp.csr_array(gone.astype(float))))


def test_the_log_joint_is_that_of_independent_variables():
    p = parameters()
    X = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    expected = np.log(p.weights) + bernoulli.logpmf(X[:, :, None], p.centers).sum(axis=1)
    found = log_joint(rows_of(X, BernoulliParameters), p)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # The probabilities of all values sum to 1.
    assert np.exp(log_posterior(found)[1]).sum() == pytest.approx(1.0, rel=1e-12)


def test_a_missing_value_is_the_sum_over_both_values():
    p = parameters(IncompleteBernoulliParameters)
    X = np.array(list(itertools.product([0.0, 1.0, np.nan], repeat=5)))
    found = log_joint(rows_of(X, IncompleteBernoulliParameters), p)
    terms = np.where(np.isnan(X)[:, :, None], 0.0, bernoulli.logpmf(X[:, :, None] == 1, p.centers))
    np.testing.assert_allclose(found, np.log(p.weights) + terms.sum(axis=1), rtol=1e-11)
    full = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    joint = np.exp(log_joint(rows_of(full, IncompleteBernoulliParameters), p))
    for x, value in zip(X, np.exp(found), strict=True):
        fits = (np.isnan(x) | (full == x)).all(axis=1)
        np.testing.assert_allclose(value, joint[fits].sum(axis=0), rtol=1e-11)


def test_without_missing_values_both_families_agree():
    X = with_gaps(share=0.0)
    plain, gaps = parameters(), parameters(IncompleteBernoulliParameters)
    np.testing.assert_allclose(
        log_joint(rows_of(X, IncompleteBernoulliParameters), gaps),
        log_joint(rows_of(X, BernoulliParameters), plain),
        rtol=1e-12,
    )
    one = np.ones(len(X))
    a = em(rows_of(X, BernoulliParameters), plain, sample_weight=one, max_iter=10)
    b = em(rows_of(X, IncompleteBernoulliParameters), gaps, sample_weight=one, max_iter=10)
    np.testing.assert_allclose(a.parameters.centers, b.parameters.centers, rtol=1e-9)
    assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("family", [BernoulliParameters, IncompleteBernoulliParameters])
def test_probabilities_of_zero_and_one_stay_finite(family):
    p = family(np.array([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    X = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    joint = log_joint(rows_of(X, family), p)
    assert np.isfinite(joint).all()
    assert joint[:2].argmax(axis=1).tolist() == [0, 1]
    np.testing.assert_allclose(np.exp(log_posterior(joint)[0])[2], [0.5, 0.5])


# --- the best fit --------------------------------------------------------------------------------


def expected_statistics(X, R, family):
    rows = rows_of(X, family)
    return rows.sum(lambda B: B.tdot(R[B.at])), R.sum(axis=0)


def value(X, R, weights, centers):
    """The expected log-likelihood of observed values, sample by sample."""
    total = 0.0
    for x, responsibilities in zip(X, R, strict=True):
        seen = ~np.isnan(x)
        terms = bernoulli.logpmf(x[seen, None] == 1, centers[seen]).sum(axis=0)
        total += responsibilities @ (np.log(weights) + terms)
    return total


@pytest.mark.parametrize("family", [BernoulliParameters, IncompleteBernoulliParameters])
def test_the_m_step_maximizes_the_likelihood(family):
    X = with_gaps(share=0.0 if family is BernoulliParameters else 0.3)
    R = np.random.default_rng(2).dirichlet(np.ones(2), size=len(X))
    p = family.m_step(*expected_statistics(X, R, family), 1e-12)
    np.testing.assert_allclose(p.weights, R.mean(axis=0), rtol=1e-12)

    def at(logits):
        return value(X, R, p.weights, 1.0 / (1.0 + np.exp(-logits.reshape(p.centers.shape))))

    maximal(at, np.log(p.centers / (1 - p.centers)).ravel())


@pytest.mark.parametrize("family", [BernoulliParameters, IncompleteBernoulliParameters])
def test_smoothing_adds_average_samples(family):
    X = with_gaps(share=0.0 if family is BernoulliParameters else 0.3)
    R = np.random.default_rng(2).dirichlet(np.ones(2), size=len(X))
    p = family.m_step(*expected_statistics(X, R, family), 2.5)
    seen = ~np.isnan(X)
    mean = np.nanmean(X, axis=0)
    for j in range(2):
        ones = np.nansum(R[:, [j]] * X, axis=0) + 2.5 * mean
        np.testing.assert_allclose(p.centers[:, j], ones / (R[:, j] @ seen + 2.5), rtol=1e-12)
    assert ((p.centers > 0) & (p.centers < 1)).all()


def test_a_component_without_samples_is_the_average():
    sums, sizes = np.array([[3.0, 0.0], [1.0, 0.0]]), np.array([4.0, 0.0])
    p = BernoulliParameters.m_step(sums, sizes, 1.0)
    np.testing.assert_allclose(p.centers[:, 1], [0.75, 0.25])
    assert p.weights.tolist() == [1.0, 0.0]
    q = IncompleteBernoulliParameters.m_step(np.vstack([sums, 0 * sums]), sizes, 1.0)
    np.testing.assert_allclose(q.centers, p.centers)


def test_a_column_missing_in_a_whole_group_gets_the_average_of_the_others():
    X = np.array([[1, np.nan], [0, np.nan], [1, 1], [1, 0]])
    R = np.eye(2)[[0, 0, 1, 1]]
    p = IncompleteBernoulliParameters.m_step(
        *expected_statistics(X, R, IncompleteBernoulliParameters), 1e-6
    )
    np.testing.assert_allclose(p.centers[1], [0.5, 0.5])


@pytest.mark.parametrize("family", [BernoulliParameters, IncompleteBernoulliParameters])
def test_the_maximized_likelihood_is_that_of_the_m_step(family):
    X = with_gaps(share=0.0 if family is BernoulliParameters else 0.3)
    X[:, 0] = 1.0  # certain: its terms are zero
    R = np.eye(2)[np.random.default_rng(3).integers(2, size=len(X))]
    sums, sizes = expected_statistics(X, R, family)
    found = family.maximized_log_likelihood(sums, sizes)
    for j in range(2):
        part = X[R[:, j] == 1]
        expected = value(
            part, np.ones((len(part), 1)), np.ones(1), np.nanmean(part, axis=0)[:, None]
        )
        assert found[j] == pytest.approx(expected, rel=1e-10)
    together = family.maximized_log_likelihood(sums.sum(axis=1), sizes.sum())
    assert together.shape == ()
    assert together <= found.sum()
    assert family.maximized_log_likelihood(np.zeros_like(sums), np.zeros(2)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("family", [BernoulliParameters, IncompleteBernoulliParameters])
@pytest.mark.parametrize("seed", range(3))
def test_em_never_lowers_the_likelihood(family, seed):
    X = with_gaps(n=120, d=8, seed=seed, share=0.0 if family is BernoulliParameters else 0.4)
    log_likelihood_never_falls(rows_of(X, family), parameters(family, d=8, seed=seed))


def test_order_and_number_of_components():
    p = parameters(IncompleteBernoulliParameters)
    q = p.reordered(np.array([2, 0, 1]))
    np.testing.assert_array_equal(q.centers, p.centers[:, [2, 0, 1]])
    np.testing.assert_array_equal(q.weights, p.weights[[2, 0, 1]])
    less = p.without(1)
    np.testing.assert_array_equal(less.centers, p.centers[:, [0, 2]])
    np.testing.assert_allclose(less.weights, p.weights[[0, 2]] / p.weights[[0, 2]].sum())
    assert type(q) is type(less) is IncompleteBernoulliParameters
    assert p.n_features(10) == 5
    with raises(InvalidDataError, "wrong_shape", parameter="weights"):
        BernoulliParameters(np.ones(1), np.ones((2, 2)))
    with raises(InvalidDataError, "sums_not_one", parameter="weights"):
        BernoulliParameters(np.array([0.5, 0.6]), np.ones((2, 2)))

"""Moments of hidden Markov models: exact recovery, and counts of triples."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from momentree import decomposition
from momentree.datasets import make_hmm
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments import HMMMoments
from momentree.parameters import hmm_parameters

from ..raising import raises

METHODS = [
    "als", "eigendecomposition", "jennrich", "random_projections", "sidiwo", "svd_method", "svtd",
    "tensor_power_method", "three_view_mom", "three_view_tpm",
]  # fmt: skip


def truth(k=4, d=30, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.dirichlet(np.ones(k)),
        rng.dirichlet(np.ones(k), size=k),
        rng.dirichlet(np.full(d, 0.5), size=k),
    )


@pytest.mark.parametrize("length", [3, 9])
@pytest.mark.parametrize("method", METHODS)
def test_exact_moments_give_the_parameters_back(method, length):
    pi, A, E = truth()
    moments = HMMMoments.from_parameters(pi, A, E, length=length)
    found = getattr(decomposition, method)(moments, 4)
    found = replace(found, centers=found.centers[-30:])  # three views: the last is the middle
    p = hmm_parameters(found, moments)
    cost = np.abs(p.emissions.probabilities[:, None] - E).sum(axis=2)
    p = p.reordered(linear_sum_assignment(cost.T)[1])
    np.testing.assert_allclose(p.emissions.probabilities, E, atol=1e-6)
    np.testing.assert_allclose(p.transmat, A, atol=1e-6)
    np.testing.assert_allclose(p.startprob, pi, atol=1e-6)


def test_weights_are_those_of_the_middle_state():
    pi, A, E = truth()
    states = [pi, pi @ A, pi @ A @ A, pi @ A @ A @ A]
    found = decomposition.sidiwo(HMMMoments.from_parameters(pi, A, E, length=4), 4)
    w = np.sort((states[1] + states[2]) / 2)[::-1]
    np.testing.assert_allclose(found.weights, w, atol=1e-8)


def test_moments_count_triples_within_sequences():
    x = np.array([0, 1, 2, 2, 1, 0, 1, 2])
    moments = HMMMoments.from_data(x, [4, 1, 3], n_components=3)
    triples = [(0, 1, 2), (1, 2, 2), (0, 1, 2)]
    pairs = [(0, 1), (1, 2), (2, 2), (0, 1), (1, 2)]
    np.testing.assert_allclose(moments.m1, np.bincount([t[1] for t in triples], minlength=3) / 3)
    P = np.zeros((3, 3))
    for i, j in pairs:
        P[i, j] += 0.2
    np.testing.assert_allclose(moments.pairs.toarray(), P)
    np.testing.assert_allclose(moments.first, [2 / 3, 1 / 3, 0])


def test_one_column_per_symbol_gives_the_same_moments():
    data = make_hmm(50, 8, 2, n_symbols=5, random_state=0)
    one = HMMMoments.from_data(data.X, data.lengths, n_components=2, n_symbols=5)
    two = HMMMoments.from_data(np.eye(5)[data.X[:, 0]], data.lengths, n_components=2)
    np.testing.assert_allclose(one.m3_dense(), two.m3_dense(), atol=1e-12)
    np.testing.assert_allclose(one.pairs.toarray(), two.pairs, atol=1e-14)
    np.testing.assert_allclose(one.first, two.first)


def test_samples_approach_the_population():
    data = make_hmm(4000, 12, 3, n_symbols=6, random_state=1)
    found = HMMMoments.from_data(data.X, data.lengths, n_components=3)
    exact = HMMMoments.from_parameters(data.startprob, data.transmat, data.emissionprob, length=12)
    error = 6 / np.sqrt(4000)  # six standard errors of a mean of correlated indicators, at most
    np.testing.assert_allclose(found.m1, exact.m1, atol=error)
    np.testing.assert_allclose(found.first, exact.first, atol=error)
    np.testing.assert_allclose(found.pairs.toarray(), exact.pairs, atol=error)


def test_bad_input():
    with raises(InvalidDataError, "no_consecutive_triples", longest=2):
        HMMMoments.from_data([0, 1, 1, 0], [2, 2], n_components=2)
    with raises(InvalidDataError, "not_finite", parameter="X"):
        HMMMoments.from_data([[0.0, np.nan]] * 3, n_components=2)
    pi, A, E = truth()
    with raises(InvalidDataError, "wrong_shape", parameter="transmat"):
        HMMMoments.from_parameters(pi, A[:3], E)
    with raises(InvalidDataError, "not_finite", parameter="emissionprob"):
        HMMMoments.from_parameters(pi, A, E * np.inf)
    with raises(InvalidParameterError, "not_a_number", parameter="length"):
        HMMMoments.from_parameters(pi, A, E, length=2)

"""The sampler of hidden Markov models."""

import numpy as np

from momentree.datasets import make_hmm
from momentree.exceptions import InvalidDataError, InvalidParameterError

from ..raising import raises


def test_frequencies_are_those_of_the_parameters():
    A, E = [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.2, 0.1], [0.0, 0.5, 0.5]]
    data = make_hmm(
        5000, 4, 2, n_symbols=3, startprob=[1, 0], transmat=A, emissionprob=E, random_state=0
    )
    h = data.states.reshape(5000, 4)
    assert (h[:, 0] == 0).all()
    for i in (0, 1):
        after = h[:, 1:][h[:, :-1] == i]
        # Four standard errors.
        assert abs(after.mean() - A[i][1]) < 4 * 0.5 / np.sqrt(len(after))
        found = np.bincount(data.X[data.states == i, 0], minlength=3) / (data.states == i).sum()
        np.testing.assert_allclose(found, E[i], atol=4 * 0.5 / np.sqrt((h == i).sum()))


def test_lengths_and_real_numbers():
    data = make_hmm(3, [5, 1, 2], 2, n_features=2, means=[[0, 0], [50, 50]], random_state=0)
    assert data.X.shape == (8, 2)
    assert list(data.lengths) == [5, 1, 2]
    np.testing.assert_array_equal(data.X[:, 0] > 25, data.states == 1)
    assert data.emissionprob is None
    again = make_hmm(3, [5, 1, 2], 2, n_features=2, means=[[0, 0], [50, 50]], random_state=0)
    np.testing.assert_array_equal(data.X, again.X)


def test_bad_parameters():
    for options in ({}, {"n_symbols": 2, "n_features": 2}):
        with raises(InvalidParameterError, "symbols_or_features"):
            make_hmm(2, 3, 2, **options)
    with raises(InvalidParameterError, "not_lengths"):
        make_hmm(2, [3, 0], 2, n_symbols=2)
    with raises(InvalidDataError, "not_a_distribution", parameter="transmat"):
        make_hmm(2, 3, 2, n_symbols=2, transmat=[[1, 1], [0, 1]])
    with raises(InvalidDataError, "wrong_shape", parameter="means"):
        make_hmm(2, 3, 2, n_features=2, means=[[1, 1]])

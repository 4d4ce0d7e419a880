"""Sampler of hidden Markov models with symbols or real-valued observations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Int64s
from momentree._validation import as_floats, check_distribution, check_number, check_shape
from momentree.datasets import _sampling
from momentree.datasets._sampling import RandomState, draw_from_rows, steps_of
from momentree.exceptions import InvalidParameterError
from momentree.messages import wording


@dataclass(frozen=True)
class HMMSample:
    """Sequences drawn from a hidden Markov model.

    Attributes
    ----------
    X : ndarray of shape (n_samples, 1) or (n_samples, n_features)
        Observations, one sequence after another: symbols as int64, or real numbers.
    lengths : ndarray of int64, shape (n_sequences,)
        Length of each sequence.
    states : ndarray of int64, shape (n_samples,)
        State of each observation.
    startprob : ndarray of shape (n_states,)
        Probability of each state at the start; sum 1.
    transmat : ndarray of shape (n_states, n_states)
        Probability of the next state given the state; rows sum to 1.
    emissionprob : ndarray of shape (n_states, n_symbols) or None
        Probability of each symbol in each state; rows sum to 1. None for real numbers.
    means : ndarray of shape (n_states, n_features) or None
        Mean of each feature in each state; None for symbols.
    """

    X: NDArray[Any]
    lengths: Int64s
    states: Int64s
    startprob: Floats
    transmat: Floats
    emissionprob: Floats | None
    means: Floats | None


def make_hmm(
    n_sequences: int,
    length: int | ArrayLike,
    n_states: int,
    *,
    n_symbols: int | None = None,
    n_features: int | None = None,
    concentration: float = 0.3,
    stickiness: float = 0.5,
    separation: float = 4.0,
    startprob: ArrayLike | None = None,
    transmat: ArrayLike | None = None,
    emissionprob: ArrayLike | None = None,
    means: ArrayLike | None = None,
    random_state: RandomState = None,
) -> HMMSample:
    """Draw sequences from a hidden Markov model.

        h_1 ~ Discrete(startprob),   h_(t+1) | h_t = i ~ Discrete(transmat[i])
        x_t | h_t = j ~ Discrete(emissionprob[j])   or   Normal(means[j], 1)

    Parameters
    ----------
    n_sequences : int, >= 1
        Number of sequences.
    length : int or array-like of int of shape (n_sequences,), >= 1
        Length of all sequences, or of each.
    n_states : int, >= 1
        Number of states k.
    n_symbols : int, >= 1, or None, default=None
        Number of symbols; None draws real numbers.
    n_features : int, >= 1, or None, default=None
        Number of features of real-valued observations; give this or `n_symbols`.
    concentration : float, > 0, default=0.3
        Parameter of the Dirichlet distribution of random emissions; small values give states
        with few symbols.
    stickiness : float in [0, 1], default=0.5
        Random transitions stay in the state with this probability, and else draw any state with
        probabilities from a uniform Dirichlet distribution.
    separation : float, > 0, default=4.0
        Standard deviation of random means, in standard deviations of an observation.
    startprob : array-like of shape (n_states,), default=None
        Probabilities of the first state; None draws them from a uniform Dirichlet distribution.
    transmat : array-like of shape (n_states, n_states), default=None
        Transition probabilities, rows with sum 1; None draws them.
    emissionprob : array-like of shape (n_states, n_symbols), default=None
        Probabilities of the symbols, rows with sum 1; None draws them.
    means : array-like of shape (n_states, n_features), default=None
        Means of real-valued observations; None draws them.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    HMMSample
        Observations, states and parameters.

    Raises
    ------
    InvalidDataError
        If probabilities or means are invalid or have other shapes.
    InvalidParameterError
        If another parameter is invalid, or not exactly one of `n_symbols` and `n_features` is
        given.

    Notes
    -----
    Time O(n k) and memory O(n) for n observations.

    Examples
    --------
    >>> from momentree.datasets import make_hmm
    >>> sample = make_hmm(3, [5, 1, 2], 2, n_symbols=4, random_state=0)
    >>> sample.X.shape, sample.lengths
    ((8, 1), array([5, 1, 2]))
    """
    n, k = _sampling.check_sizes(n_sequences=n_sequences, n_states=n_states)
    if (n_symbols is None) == (n_features is None):
        raise InvalidParameterError(
            "[symbols_or_features] give either {parameters.n_symbols}, for symbols, or "
            "{parameters.n_features}, for real numbers"
        )
    d = _sampling.check_sizes(
        **({"n_features": n_features} if n_symbols is None else {"n_symbols": n_symbols})
    )[0]
    lengths = _sampling.document_lengths(length, n)
    if not (lengths >= 1).all():
        raise InvalidParameterError(wording.NOT_LENGTHS, parameter="length", least=1, n_rows=n)
    check_number("concentration", concentration, above=0)
    check_number("stickiness", stickiness, at_least=0, at_most=1)
    check_number("separation", separation, above=0)
    rng = _sampling.generator(random_state)
    pi = rng.dirichlet(np.ones(k)) if startprob is None else _sampling.check_weights(startprob, k)
    if transmat is None:
        A = stickiness * np.eye(k) + (1.0 - stickiness) * rng.dirichlet(np.ones(k), size=k)
    else:
        A = _rows("transmat", transmat, (k, k))
    O = mu = None  # noqa: E741 - the symbol of the papers
    if n_features is not None:
        if means is None:
            mu = separation * rng.standard_normal((k, d))
        else:
            mu = as_floats("means", means)
            check_shape("means", mu, (k, d))
    elif emissionprob is None:
        O = rng.dirichlet(np.full(d, concentration), size=k)  # noqa: E741
    else:
        O = _rows("emissionprob", emissionprob, (k, d))  # noqa: E741
    states = _walk(pi, A, lengths, rng)
    if mu is not None:
        X: NDArray[Any] = mu[states] + rng.standard_normal((len(states), d))
    else:
        assert O is not None  # noqa: S101 - either means or probabilities
        X = draw_from_rows(steps_of(O), states, d, rng)[:, None]
    return HMMSample(X, lengths, states, pi, A, O, mu)


def _walk(pi: Floats, A: Floats, lengths: Int64s, rng: np.random.Generator) -> Int64s:
    """Draw the states of all sequences, one time after another."""
    starts = np.cumsum(lengths) - lengths
    states = np.empty(int(lengths.sum()), dtype=np.int64)
    now = rng.choice(len(pi), size=len(lengths), p=pi)
    states[starts] = now
    going, steps = np.flatnonzero(lengths > 1), steps_of(A)
    for t in range(1, int(lengths.max())):
        before = states[starts[going] + t - 1]
        states[starts[going] + t] = draw_from_rows(steps, before, len(A), rng)
        going = going[lengths[going] > t + 1]
    return states


def _rows(parameter: str, values: ArrayLike, shape: tuple[int, int]) -> Floats:
    P = as_floats(parameter, values)
    check_shape(parameter, P, shape)
    check_distribution(parameter, P)
    return P

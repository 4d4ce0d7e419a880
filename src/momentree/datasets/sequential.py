"""Samplers of documents and sequences: topic models and hidden Markov models."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Int64s
from momentree._validation import as_floats, check_distribution, check_number, check_shape
from momentree.datasets import _sampling
from momentree.datasets._sampling import (
    RandomState,
    check_sizes,
    draw_from_rows,
    generator,
    steps_of,
)
from momentree.exceptions import InvalidParameterError
from momentree.messages import wording


@dataclass(frozen=True)
class TopicSample:
    """Documents drawn from a single-topic model.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Word counts; indices sorted, no stored zeros.
    labels : ndarray of int64, shape (n_samples,)
        Topic of each document.
    weights : ndarray of shape (n_components,)
        Probability of each topic; sum 1.
    components : ndarray of shape (n_components, n_features)
        Probability of each word in each topic; rows sum to 1.
    """

    X: sp.csr_array[Any]
    labels: Int64s
    weights: Floats
    components: Floats


@dataclass(frozen=True)
class LDASample:
    """Documents drawn from latent Dirichlet allocation.

    Attributes
    ----------
    X : csr_array of int64, shape (n_samples, n_features)
        Word counts; indices sorted, no stored zeros.
    proportions : ndarray of shape (n_samples, n_components)
        Topic proportions of each document; rows sum to 1.
    alpha : ndarray of shape (n_components,)
        Parameter of the Dirichlet distribution of the topic proportions.
    components : ndarray of shape (n_components, n_features)
        Probability of each word in each topic; rows sum to 1.
    """

    X: sp.csr_array[Any]
    proportions: Floats
    alpha: Floats
    components: Floats


def make_single_topic(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    length: int | ArrayLike = 100,
    weights: ArrayLike | None = None,
    concentration: float = 0.5,
    exponent: float = 1.0,
    random_state: RandomState = None,
) -> TopicSample:
    """Draw documents on one topic each, from random topics over a power-law vocabulary.

        mu_i[w] ~ g_iw / (w + 1)^exponent, with g_iw from Gamma(concentration);
        Y ~ Discrete(weights), x | Y = i ~ Multinomial(length, mu_i)

    Parameters
    ----------
    n_samples, n_features, n_components : int, >= 1
        Numbers of documents, words in the vocabulary, and topics.
    length : int or array-like of int of shape (n_samples,), >= 0, default=100
        Number of words, for all documents or for each.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the topics, with sum 1; None for equal probabilities.
    concentration : float, > 0, default=0.5
        Smaller values give more distinct topics.
    exponent : float, >= 0, default=1.0
        Rate at which word frequencies fall with their rank (1 is Zipf's law); with 0 the topics
        are drawn from a symmetric Dirichlet distribution.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    TopicSample
        Counts, labels, weights and topics.

    Raises
    ------
    InvalidDataError
        If `weights` are not `n_components` probabilities.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    The generative model of section 2 of [1]. Time O(N log(k d)) and memory O(nnz + k d) for N
    words in total.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4.

    Examples
    --------
    >>> from momentree.datasets import make_single_topic
    >>> sample = make_single_topic(50, 20, 3, length=30, random_state=0)
    >>> sample.X.shape, int(sample.X.sum()), sample.components.shape
    ((50, 20), 1500, (3, 20))
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    check_number("concentration", concentration, above=0)
    check_number("exponent", exponent, at_least=0)
    lengths = _sampling.document_lengths(length, n)
    w = _sampling.check_weights(weights, k)
    rng = generator(random_state)
    return _sample(_sampling.random_topics(k, d, concentration, exponent, rng), w, lengths, rng)


def make_hierarchical_topics(
    n_samples: int = 400,
    length: int | ArrayLike = 200,
    *,
    topics: ArrayLike | None = None,
    noise: float = 0.1,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> TopicSample:
    """Draw documents from topics that form a tree: the experiment of T Table 5.1.

    By default there are eight topics over 100 words. Each half of the words belongs to four topics
    and consists of four blocks of 13, 13, 13 and 11 words: words of all four topics, of the first
    and third, of the first pair, and of the second pair. A word has weight 0.7 in its topics and
    0.1 in the others. After adding uniform noise, each topic is scaled to sum 1.

    Parameters
    ----------
    n_samples : int, >= 1, default=400
        Number of documents.
    length : int or array-like of int of shape (n_samples,), >= 0, default=200
        Number of words, for all documents or for each.
    topics : array-like of shape (n_components, n_features) or None, default=None
        Weights >= 0 of the words in each topic, on any scale; None for the weights above.
    noise : float, >= 0, default=0.1
        Upper limit of the uniform noise, whose lower limit is 0.
    weights : array-like of shape (n_components,) or None, default=None
        Probabilities of the topics, with sum 1; None for equal probabilities.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    TopicSample
        Counts, labels, weights, and topics including the noise.

    Raises
    ------
    InvalidDataError
        If `topics` is not a matrix of finite numbers >= 0 with a positive number in each row, or
        `weights` are not one probability per topic.
    InvalidParameterError
        If another parameter is invalid.

    Notes
    -----
    The experiment of section 4.1 of [1], with its authors' topics.

    References
    ----------
    .. [1] M. Ruffini, G. Rabusseau, B. Balle. Hierarchical methods of moments. Advances in
       Neural Information Processing Systems 30, 2017.

    Examples
    --------
    >>> from momentree.datasets import make_hierarchical_topics
    >>> sample = make_hierarchical_topics(random_state=0)
    >>> sample.X.shape, sample.components.shape
    ((400, 100), (8, 100))
    """
    (n,) = check_sizes(n_samples=n_samples)
    lengths = _sampling.document_lengths(length, n)
    check_number("noise", noise, at_least=0)
    shape = ("n_components", "n_features")
    mu = (
        hierarchy() if topics is None else _sampling.check_nonnegative_rows("topics", topics, shape)
    )
    w = _sampling.check_weights(weights, len(mu))
    rng = generator(random_state)
    mu = mu + noise * rng.random(mu.shape)
    mu /= mu.sum(axis=1, keepdims=True)
    return _sample(mu, w, lengths, rng)


def hierarchy() -> Floats:
    """Return the weights of the words in the eight topics of Table 5.1, shape (8, 100)."""
    # Topics of each block of words in a half.
    blocks = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    half = np.repeat(blocks, [13, 13, 13, 11], axis=0).T
    return np.where(np.kron(np.eye(2), half), 0.7, 0.1)


def _sample(mu: Floats, w: Floats, lengths: Int64s, rng: np.random.Generator) -> TopicSample:
    labels = _sampling.draw_labels(w, len(lengths), rng)
    X = _sampling.draw_counts(mu, lengths, lambda a, b: np.repeat(labels[a:b], lengths[a:b]), rng)
    return TopicSample(X, labels, w, mu)


def make_lda(
    n_samples: int,
    n_features: int,
    n_components: int,
    *,
    alpha: float | ArrayLike | None = None,
    length: int | ArrayLike = 100,
    concentration: float = 0.5,
    exponent: float = 1.0,
    random_state: RandomState = None,
) -> LDASample:
    """Draw documents that mix random topics over a power-law vocabulary.

        mu_i[w] ~ g_iw / (w + 1)^exponent, with g_iw from Gamma(concentration);
        h ~ Dirichlet(alpha), each word: Y ~ Discrete(h), w | Y = i ~ Discrete(mu_i)

    Parameters
    ----------
    n_samples, n_features, n_components : int, >= 1
        Numbers of documents, words in the vocabulary, and topics.
    alpha : float, array-like of shape (n_components,) or None, > 0, default=None
        An array is alpha itself; a number is the total concentration alpha_0, with
        alpha_i = alpha_0 / n_components: small values give documents with one dominant topic, large
        ones documents with similar topic proportions. None is a total of 1.
    length : int or array-like of int of shape (n_samples,), >= 0, default=100
        Number of words, for all documents or for each.
    concentration : float, > 0, default=0.5
        Smaller values give more distinct topics.
    exponent : float, >= 0, default=1.0
        Rate at which word frequencies fall with their rank (1 is Zipf's law); with 0 the topics
        are drawn from a symmetric Dirichlet distribution.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    LDASample
        Counts, topic proportions, alpha and topics.

    Raises
    ------
    InvalidParameterError
        If a number is out of range, or `length` or `alpha` has another shape.
    InvalidDataError
        If `alpha` is not numeric.

    Notes
    -----
    The generative model of section 2.2 of [1]. Time O(N log(k d)) and memory O(nnz + n k + k d)
    for N words in total.

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4.

    Examples
    --------
    >>> from momentree.datasets import make_lda
    >>> sample = make_lda(50, 20, 4, alpha=2.0, length=30, random_state=0)
    >>> sample.X.shape, int(sample.X.sum()), sample.proportions.shape
    ((50, 20), 1500, (50, 4))
    >>> sample.alpha
    array([0.5, 0.5, 0.5, 0.5])
    """
    n, d, k = check_sizes(n_samples=n_samples, n_features=n_features, n_components=n_components)
    a = _sampling.check_one_or_each("alpha", 1.0 if alpha is None else alpha, k)
    a = np.full(k, a / k) if a.ndim == 0 else a
    check_number("concentration", concentration, above=0)
    check_number("exponent", exponent, at_least=0)
    lengths = _sampling.document_lengths(length, n)
    rng = generator(random_state)
    mu = _sampling.random_topics(k, d, concentration, exponent, rng)
    h = rng.dirichlet(a, n)

    def topics(start: int, stop: int) -> Int64s:
        # The words of a document have no order, so their number for each topic suffices.
        counts = rng.multinomial(lengths[start:stop], h[start:stop])
        return np.repeat(np.tile(np.arange(k), stop - start), counts.ravel())

    return LDASample(_sampling.draw_counts(mu, lengths, topics, rng), h, a, mu)


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

"""Shares of topics in documents under latent Dirichlet allocation, by Gibbs sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._validation import generator
from momentree.backends import Block, RowBlocks
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.inference.variational import small_blocks
from momentree.objects import LDAParameters

__all__ = ["Chains", "check_whole", "gibbs_proportions", "seed_of"]

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

TINY = 1e-300
"""A word without probability in every topic tells nothing."""


def gibbs_proportions(
    rows: RowBlocks,
    parameters: LDAParameters,
    *,
    n_iter: int = 100,
    burn_in: int = 20,
    random_state: int | np.random.RandomState | None = None,
) -> Floats:
    """Return the expected shares of topics in each document, with topics that are known.

    Draw the topic Y_i of each word x_i in turn from

        P[Y_i = j | all other Y] ~ mu_(x_i) j (n_j + alpha_j),

    n_j the other words of the document with topic j, and average (n_j + alpha_j) / (c + alpha_0).

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Whole counts of words.
    parameters : LDAParameters
        Concentrations and topics.
    n_iter : int >= 1, default=100
        Sweeps over the words of each document that are averaged.
    burn_in : int >= 0, default=20
        Sweeps before them.
    random_state : int, RandomState or None, default=None
        Seed; None is seed 0.

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to 1; alpha_i / alpha_0 for documents without words. The error falls with the
        root of `n_iter`.

    Raises
    ------
    InvalidDataError
        If a count is no whole number.
    InvalidParameterError
        If `n_iter`, `burn_in` or `random_state` is out of its range.

    Notes
    -----
    Remark 4 of [1], which has alpha_i where the derivation gives alpha_j, and keeps the last state
    where this averages many. Its denominator c - 1 + alpha_0 is the same for all j. Position i of
    all documents is drawn at once. Each document has random numbers of its own, made from the
    seed and its words: its shares depend neither on the other documents nor on threads. Time
    O(k) for each word and sweep; memory O(words + n k).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018. Remark 4.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.backends import RowBlocks
    >>> from momentree.inference import gibbs_proportions
    >>> from momentree.objects import LDAParameters
    >>> model = LDAParameters(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> gibbs_proportions(RowBlocks(sp.csr_array([[3, 0], [2, 2], [0, 0]])), model)
    array([[0.875, 0.125],
           [0.5  , 0.5  ],
           [0.5  , 0.5  ]])
    """
    for name, value, low in (("n_iter", n_iter, 1), ("burn_in", burn_in, 0)):
        if value < low:
            msg = f"{name}={value}; expected {low} or more"
            raise InvalidParameterError(msg)
    check_whole(rows)
    seed, alpha = seed_of(random_state), parameters.alpha
    centers = np.ascontiguousarray(parameters.centers)

    def kernel(B: Block) -> Floats:
        chains = Chains(B, centers, alpha, seed)
        for _ in range(burn_in):
            chains.sweep(centers, alpha)
        total = np.zeros_like(chains.counts)
        for _ in range(n_iter):
            chains.sweep(centers, alpha)
            total += chains.counts
        mean = total / n_iter + alpha
        out = np.empty_like(mean)
        out[chains.documents] = mean / mean.sum(axis=1, keepdims=True)
        return out

    return small_blocks(rows).map(kernel)


def check_whole(rows: RowBlocks) -> None:
    """Refuse counts that are no whole numbers.

    Raises
    ------
    InvalidDataError
        If there is one.
    """
    data = rows.matrix.data
    if data.dtype.kind == "f" and not (data == np.floor(data)).all():
        bad = data[data != np.floor(data)][0]
        msg = f"a count is {bad}: Gibbs sampling draws a topic for each word, so counts are whole"
        raise InvalidDataError(msg)


def seed_of(random_state: int | np.random.RandomState | None) -> np.uint64:
    """Return 64 random bits; None is seed 0.

    Raises
    ------
    InvalidParameterError
        If `random_state` is no seed.
    """
    rng = generator(random_state)
    high, low = rng.randint(0, 1 << 32, size=2, dtype=np.uint64)
    return np.uint64((int(high) << 32) | int(low))


class Chains:
    """The topics of all words in a block of documents, one chain a document.

    Parameters
    ----------
    B : Block of shape (n, d)
        Whole counts.
    centers : ndarray of shape (d, k)
        Topics, in C order.
    alpha : ndarray of shape (k,)
        Concentrations.
    seed : uint64
        For the random numbers.

    Attributes
    ----------
    documents : ndarray of int of shape (n,)
        The row of B of each chain: the longest come first.
    counts : ndarray of shape (n, k)
        Words of each topic, n_j.
    """

    def __init__(self, B: Block, centers: Floats, alpha: Floats, seed: np.uint64) -> None:
        data, indices, indptr = B.csr
        times = data.astype(np.intp)
        tokens = np.repeat(indices.astype(np.intp), times)
        ends = np.concatenate(([0], np.cumsum(times)))[indptr]
        lengths = np.diff(ends)
        self.documents = np.argsort(-lengths, kind="stable")
        self._lengths = lengths[self.documents]
        longest = int(self._lengths.max(initial=0))
        places = ends[:-1][self.documents][:, None] + np.arange(longest)
        self._there = np.arange(longest) < self._lengths[:, None]
        self._words = np.zeros(places.shape, dtype=np.intp)
        self._words[self._there] = tokens[places[self._there]]
        self._topics = np.zeros(places.shape, dtype=np.intp)
        # How many documents have a word in each position.
        self._active = self._there.sum(axis=0)
        # A key for each document, from its words alone; a wrapped sum has no order.
        hashed = _mixed_bits((self._words.astype(np.uint64) + np.uint64(1)) ^ seed)
        self._keys = np.where(self._there, hashed, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        self._passes = 0
        self.counts = np.zeros((len(lengths), len(alpha)))
        self._pass(centers, alpha, first=True)

    def sweep(self, centers: Floats, alpha: Floats) -> None:
        """Draw the topic of every word once, given all others."""
        self._pass(centers, alpha, first=False)

    def _pass(self, centers: Floats, alpha: Floats, *, first: bool) -> None:
        each = np.arange(len(self.counts))
        self._passes += 1
        for i, m in enumerate(self._active):
            at, N = each[:m], self.counts[:m]
            if not first:
                N[at, self._topics[:m, i]] -= 1.0
            cumulated = np.cumsum((centers[self._words[:m, i]] + TINY) * (N + alpha), axis=1)
            threshold = self._uniform(m, i) * cumulated[:, -1]
            new = (cumulated[:, :-1] <= threshold[:, None]).sum(axis=1)
            self._topics[:m, i] = new
            N[at, new] += 1.0

    def _uniform(self, m: int, position: int) -> Floats:
        """Return a random number in [0, 1) for the word there of each of the first m documents."""
        step = np.uint64(((self._passes << 32) + position) * GOLDEN % (1 << 64))
        bits = _mixed_bits(self._keys[:m] + step)
        return np.asarray((bits >> np.uint64(11)) * 2.0**-53)

    def word_counts(self, d: int, weight: Floats) -> Floats:
        """Return how often each word has each topic, over documents of given weights.

        Parameters
        ----------
        d : int
            Number of words in the vocabulary.
        weight : ndarray of shape (n,)
            Weights of the rows of the block.

        Returns
        -------
        ndarray of shape (d, k)
            Sum over documents.
        """
        k = self.counts.shape[1]
        cells = (self._words * k + self._topics)[self._there]
        each = np.repeat(weight[self.documents], self._lengths)
        sums = np.bincount(cells, weights=each, minlength=d * k).astype(np.float64)
        return sums.reshape(d, k)


GOLDEN = 0x9E3779B97F4A7C15


def _mixed_bits(x: Any) -> Keys:
    """Return the output function of SplitMix64, a bijection that turns counters into noise."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))

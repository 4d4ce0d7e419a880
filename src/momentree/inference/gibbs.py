"""Gibbs sampling of the topic proportions of latent Dirichlet allocation (S Remark 4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats
from momentree._validation import check_integer, generator
from momentree.backends import Block, RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.inference.variational import small_blocks
from momentree.objects import LDAParameters

Keys = NDArray[np.uint64]

TINY = 1e-300
"""Keeps words with probability zero in every topic usable."""


def gibbs_proportions(
    rows: RowBlocks,
    parameters: LDAParameters,
    *,
    n_iter: int = 100,
    burn_in: int = 20,
    random_state: int | np.random.RandomState | None = None,
) -> Floats:
    """Return the expected topic proportions of each document by Gibbs sampling.

    Draw the topic Y_i of each word x_i in turn from

        P[Y_i = j | all other Y] ~ mu_(x_i) j (n_j + alpha_j),

    with n_j the number of other words in the document with topic j, and average
    (n_j + alpha_j) / (c + alpha_0).

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Whole-number word counts; other counts are rejected.
    parameters : LDAParameters
        Concentrations and topics.
    n_iter : int >= 1, default=100
        Number of sweeps over the words of each document that are averaged.
    burn_in : int >= 0, default=20
        Number of sweeps before averaging starts.
    random_state : int, RandomState or None, default=None
        Seed; None is seed 0.

    Returns
    -------
    ndarray of shape (n, k)
        Rows sum to 1; alpha_i / alpha_0 for empty documents. The error is of order
        ``n_iter**-0.5``.

    Notes
    -----
    Remark 4 of [1], with alpha_j as derived there (printed as alpha_i), and averages over many
    states instead of the last state. The denominator c - 1 + alpha_0 of [1] is the same for all j.
    Position i of all documents is drawn at once. Each document has its own random numbers, derived
    from the seed and its words, so its topic proportions depend neither on other documents nor on
    threads. Time O(k) for each word and sweep; memory O(words + n k).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4. Remark 4.
    """
    check_integer("n_iter", n_iter, at_least=1)
    check_integer("burn_in", burn_in, at_least=0)
    check_whole_counts(rows)
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


def check_whole_counts(rows: RowBlocks) -> None:
    """Check that counts are whole numbers."""
    data = rows.matrix.data
    if data.dtype.kind == "f" and not (data == np.floor(data)).all():
        raise InvalidDataError("count_not_whole", value=float(data[data != np.floor(data)][0]))


def seed_of(random_state: int | np.random.RandomState | None) -> np.uint64:
    """Return 64 random bits; None is seed 0."""
    rng = generator(random_state)
    high, low = rng.randint(0, 1 << 32, size=2, dtype=np.uint64)
    return np.uint64((int(high) << 32) | int(low))


class Chains:
    """Sampled topics of all words in a block of documents, one chain for each document.

    ``documents`` contains the rows of the block by descending length, and ``counts`` of shape
    (n, k) the number of words n_j with each topic. `centers` must be in C order.
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
        # Number of documents with a word in each position.
        self._active = self._there.sum(axis=0)
        # A key for each document, from its words; sums with overflow do not depend on the order.
        hashed = _mixed_bits((self._words.astype(np.uint64) + np.uint64(1)) ^ seed)
        self._keys = np.where(self._there, hashed, np.uint64(0)).sum(axis=1, dtype=np.uint64)
        self._passes = 0
        self.counts = np.zeros((len(lengths), len(alpha)))
        self._pass(centers, alpha, first=True)

    def sweep(self, centers: Floats, alpha: Floats) -> None:
        """Draw the topic of every word once, given all other topics."""
        self._pass(centers, alpha, first=False)

    def _pass(self, centers: Floats, alpha: Floats, *, first: bool) -> None:
        each = np.arange(len(self.counts))
        self._passes += 1
        for i, m in enumerate(self._active):
            at, N = each[:m], self.counts[:m]
            if not first:
                N[at, self._topics[:m, i]] -= 1.0
            cumulative = np.cumsum((centers[self._words[:m, i]] + TINY) * (N + alpha), axis=1)
            threshold = self._uniform(m, i) * cumulative[:, -1]
            new = (cumulative[:, :-1] <= threshold[:, None]).sum(axis=1)
            self._topics[:m, i] = new
            N[at, new] += 1.0

    def _uniform(self, m: int, position: int) -> Floats:
        """Return random numbers in [0, 1) for this position in each of the first m documents."""
        step = np.uint64(((self._passes << 32) + position) * GOLDEN % (1 << 64))
        bits = _mixed_bits(self._keys[:m] + step)
        return np.asarray((bits >> np.uint64(11)) * 2.0**-53)

    def word_counts(self, d: int, weight: Floats) -> Floats:
        """Return the weighted number of occurrences of each word with each topic, shape (d, k)."""
        k = self.counts.shape[1]
        cells = (self._words * k + self._topics)[self._there]
        each = np.repeat(weight[self.documents], self._lengths)
        sums = np.bincount(cells, weights=each, minlength=d * k).astype(np.float64)
        return sums.reshape(d, k)


GOLDEN = 0x9E3779B97F4A7C15
"""Increment of SplitMix64."""


def _mixed_bits(x: Any) -> Keys:
    """Apply the output function of SplitMix64, a bijection from counters to random bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))

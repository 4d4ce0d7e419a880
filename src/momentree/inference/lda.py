"""Topic proportions of documents: variational inference and Gibbs sampling."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from momentree._types import Floats, Ints
from momentree._validation import check_integer, generator
from momentree.backends import Block, RowArray, RowBlocks, Rows
from momentree.backends.kernels import kernel
from momentree.exceptions import InvalidDataError
from momentree.objects import LDAParameters

SMALL_BLOCK_NNZ = 1 << 16
"""Stored values in a block. Inference needs about a hundred times the work of a product for each
value, so small blocks have no noticeable overhead and balance the threads better."""
GROUP_VALUES = 1 << 19
"""Size of the dense array of topic probabilities of a group of documents: 4 MB. With smaller
arrays, call overhead exceeds the gain from the cache."""
PADDING = 1.25
"""Largest ratio between the numbers of distinct words of two documents in a group."""
TINY = 1e-300
MAX_ITER, TOL = 100, 1e-3
"""Defaults of :func:`variational_gammas`."""

R = TypeVar("R", bound=Rows)


@kernel
@dataclass(frozen=True, eq=False)
class VariationalGammas:
    """gamma of documents, shape (n, k); or their expected topic proportions."""

    alpha: Floats
    centers: Floats
    max_iter: int
    tol: float
    proportions: bool = False

    def __call__(self, B: Block) -> Floats:
        """Return the values of the documents of a block."""
        alpha, centers = self.alpha, self.centers
        start = np.add(alpha, B.dot(np.ones(len(centers)))[:, None] / len(alpha))
        gammas = fit_block(B, alpha, centers, start, max_iter=self.max_iter, tol=self.tol)[0]
        if self.proportions:
            gammas /= gammas.sum(axis=1, keepdims=True)
        return gammas


@dataclass(frozen=True, eq=False)
class VariationalBound:
    """The ELBO of documents, given their gamma, shape (n,)."""

    alpha: Floats
    centers: Floats

    def __call__(self, B: Block, gamma: Floats) -> Floats:
        """Return the values of the documents of a block."""
        log_mass = fit_block(B, self.alpha, self.centers, gamma, max_iter=0)[3]
        return document_bound(self.alpha, gamma, log_mass)


def variational_proportions(rows: Rows, parameters: LDAParameters) -> RowArray:
    """Return the expected topic proportions of each document by variational inference.

        h_j = gamma_j / sum_i gamma_i

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Word counts.
    parameters : LDAParameters
        Concentrations and topics. Words with probability zero in every topic are ignored.

    Returns
    -------
    row array of shape (n, k)
        Rows sum to 1; alpha_i / alpha_0 for empty documents.
    """
    centers = np.ascontiguousarray(parameters.centers)
    kernel = VariationalGammas(parameters.alpha, centers, MAX_ITER, TOL, proportions=True)
    return small_blocks(rows).map(kernel)


def variational_gammas(
    rows: Rows, parameters: LDAParameters, *, max_iter: int = MAX_ITER, tol: float = TOL
) -> RowArray:
    """Return the Dirichlet parameters that approximate the posterior of each document.

    With e_j = exp psi(gamma_j), iterate for each document

        phi_wj = e_j mu_wj / sum_i e_i mu_wi,   gamma_j = alpha_j + sum_w x_w phi_wj.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Word counts.
    parameters : LDAParameters
        Concentrations and topics.
    max_iter : int >= 1, default=100
        Maximum number of iterations for a document.
    tol : float >= 0, default=1e-3
        A document has converged when an iteration moves less than this fraction of its words to
        different topics.

    Returns
    -------
    row array of shape (n, k)
        gamma; rows sum to alpha_0 plus the length of the document.

    Notes
    -----
    Coordinate ascent on the evidence lower bound [1]_, starting from equal topic proportions. phi
    is never stored. Time O(nnz k) per iteration; memory O(n k).

    References
    ----------
    .. [1] D. Blei, A. Ng, M. Jordan. Latent Dirichlet allocation. Journal of Machine Learning
       Research 3, 2003.
    """
    centers = np.ascontiguousarray(parameters.centers)
    return small_blocks(rows).map(VariationalGammas(parameters.alpha, centers, max_iter, tol))


def variational_bound(rows: Rows, parameters: LDAParameters, gammas: RowArray) -> RowArray:
    """Return the evidence lower bound (ELBO) on the log-likelihood of each document.

        E_q log P[x, z, h] - E_q log q(z, h),   q(h) = Dirichlet(gamma), q(z) = phi.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Word counts.
    parameters : LDAParameters
        Concentrations and topics.
    gammas : row array of shape (n, k)
        Result of :func:`variational_gammas`; phi is optimal given gamma.

    Returns
    -------
    row array of shape (n,)
        In nats, without the multinomial coefficients.
    """
    centers = np.ascontiguousarray(parameters.centers)
    return small_blocks(rows).map(VariationalBound(parameters.alpha, centers), gammas)


def small_blocks(rows: R) -> R | RowBlocks:
    """Return rows in memory in blocks of a suitable size, and others as they are."""
    if not isinstance(rows, RowBlocks):
        return rows
    return RowBlocks(rows.matrix, max(SMALL_BLOCK_NNZ, 2 * rows.shape[1]))


def document_bound(alpha: Floats, gamma: Floats, log_mass: Floats) -> Floats:
    """Return the ELBO of documents from gamma (n, k) and `log_mass` (n,) of :func:`fit_block`."""
    log_proportions = psi(gamma) - psi(gamma.sum(axis=1, keepdims=True))
    prior = gammaln(alpha.sum()) - gammaln(alpha).sum()
    entropy = gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1))
    return np.asarray(log_mass + prior + entropy + ((alpha - gamma) * log_proportions).sum(axis=1))


def fit_block(
    B: Block, alpha: Floats, centers: Floats, gamma: Floats, *, max_iter: int, tol: float = 0.0
) -> tuple[Floats, Floats, Floats, Floats]:
    """Improve gamma (n, k) for the documents in a block; `centers` must be in C order.

    Also return e = exp psi(gamma), up to a factor for each row; the ratios x_w / sum_j e_j mu_wj
    of each stored value, so that x_w phi_wj = ratio e_j mu_wj; and, for each document,
    sum_w x_w log sum_j exp(E_q log h_j) mu_wj. ``max_iter=0`` keeps gamma as given.
    """
    data, indices, indptr = B.csr
    gamma = gamma.copy()
    e, shift = _exp_psi(gamma)
    ratios = np.zeros(len(data))
    log_mass = np.zeros(len(gamma))
    for docs, places, stored in _groups(indptr, len(alpha)):
        x = np.where(stored, data[places], 0.0)
        M = centers[indices[places]]
        gamma[docs] = _iterate(x, M, alpha, gamma[docs], max_iter, tol)
        e[docs], shift[docs] = _exp_psi(gamma[docs])
        q = _mixed(M, e[docs])
        ratios[places[stored]] = (x / (q + TINY))[stored]
        with np.errstate(divide="ignore"):
            log_q = np.log(q, out=np.zeros_like(q), where=x > 0)
        log_mass[docs] = (x * log_q).sum(axis=1) + x.sum(axis=1) * shift[docs]
    return gamma, e, ratios, log_mass


def _iterate(
    x: Floats, M: Floats, alpha: Floats, gamma: Floats, max_iter: int, tol: float
) -> Floats:
    """Return gamma (m, k) for a group of documents with counts x (m, L) and topics M (m, L, k).

    Each document stops separately, so that its result does not depend on other documents.
    """
    out, at = gamma, np.arange(len(gamma))
    words = x.sum(axis=1)
    active = words > 0
    for _ in range(max_iter):
        if active.mean() < 0.7:
            out[at] = gamma
            at, x, M, gamma = at[active], x[active], M[active], gamma[active]
            words, active = words[active], active[active]
        if not len(at):
            break
        e = _exp_psi(gamma)[0]
        ratio = x / (_mixed(M, e) + TINY)
        new = alpha + e * np.matmul(ratio[:, None, :], M)[:, 0]
        moved = np.abs(new - gamma).sum(axis=1)
        gamma = np.where(active[:, None], new, gamma)
        active = active & (moved > tol * words)
    out[at] = gamma
    return out


def _mixed(M: Floats, e: Floats) -> Floats:
    """Return sum_j e_j mu_wj for the words of each document, shape (m, L)."""
    return np.asarray(np.matmul(M, e[:, :, None])[:, :, 0])


def _exp_psi(gamma: Floats) -> tuple[Floats, Floats]:
    """Return e = exp psi(gamma), scaled to a maximum of 1, and s with E_q log h = log e + s."""
    log_e = psi(gamma)
    top = log_e.max(axis=1)
    return np.exp(log_e - top[:, None]), top - psi(gamma.sum(axis=1))


def _groups(indptr: Any, k: int) -> Iterator[tuple[Ints, Ints, NDArray[np.bool_]]]:
    """Yield groups of documents with similar numbers of stored values, and their positions.

    Groups become dense arrays with little padding, whose batched products in NumPy are five times
    as fast here as sparse products.
    """
    sizes = np.diff(indptr)
    order = np.argsort(sizes, kind="stable")
    ascending = sizes[order]
    at = int(np.searchsorted(ascending, 1))  # skips empty documents
    while at < len(order):
        longest = int(PADDING * ascending[at]) + 2
        stop = int(np.searchsorted(ascending, longest, side="right"))
        stop = min(stop, at + max(1, GROUP_VALUES // (longest * k)))
        docs, places = order[at:stop], np.arange(ascending[stop - 1])
        stored = places < sizes[docs, None]
        yield docs, np.where(stored, indptr[docs][:, None] + places, 0), stored
        at = stop


Keys = NDArray[np.uint64]

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
        raise InvalidDataError(
            "[count_not_whole] a count is {value:g}; Gibbs sampling draws a topic for each word, "
            "so counts must be whole numbers",
            value=float(data[data != np.floor(data)][0]),
        )


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


GOLDEN = 0x9E3779B97F4A7C15
"""Increment of SplitMix64."""


def _mixed_bits(x: Any) -> Keys:
    """Apply the output function of SplitMix64, a bijection from counters to random bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))

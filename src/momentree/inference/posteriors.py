"""Posteriors of mixtures, and the likelihood of the hidden half of documents."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, logsumexp

from momentree._types import Floats, Ints
from momentree.backends import Block, RowArray, RowBlocks, Rows
from momentree.backends.kernels import kernel
from momentree.core.ties import largest
from momentree.objects import LDAParameters, MixtureParameters


@dataclass(frozen=True, eq=False)
class JointKernel:
    """Base class of kernels that need log P[x, component j] of samples."""

    theta: Floats
    offsets: Floats

    def joint(self, B: Block) -> Floats:
        """Return log P[x, component j] for the samples of a block, shape (n, k)."""
        return B.dot(self.theta) + self.offsets


@kernel
class LogJoint(JointKernel):
    """log P[x, component j] of samples, shape (n, k)."""

    def __call__(self, B: Block) -> Floats:
        """Return the values of a block."""
        return self.joint(B)


@kernel
class Responsibilities(JointKernel):
    """P[component j | x] of samples, shape (n, k)."""

    def __call__(self, B: Block) -> Floats:
        """Return the values of a block."""
        return np.exp(log_posterior(self.joint(B))[0])


@kernel
class LikeliestComponent(JointKernel):
    """The component with the largest P[component j | x], shape (n,)."""

    def __call__(self, B: Block) -> Ints:
        """Return the components of the samples of a block."""
        return np.asarray(largest(self.joint(B)))


def log_joint(rows: Rows, parameters: MixtureParameters) -> RowArray:
    """Return log P[x, component j] for each sample, up to a constant that depends only on x.

        log P[x, j] = b_j + sum_w t_w(x) theta_wj + const(x)     (S eq. 1, numerator)

    For topics t(x) = x, theta = log mu, b_j = log omega_j, and the constant is the logarithm of the
    multinomial coefficient. For Poisson variables b_j = log omega_j - sum_w mu_wj, and the
    constant is -sum_w log x_w!. For binary and Gaussian variables, see their parameter classes.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics t(x) of the samples; for counts, the (scaled) counts.
    parameters : MixtureParameters
        Parameters of the mixture. For counts, a word that occurs although its center is zero gives
        -inf.

    Returns
    -------
    row array of shape (n, k)
        In nats. Time O(nnz k).
    """
    return rows.map(LogJoint(parameters.coefficients, parameters.offsets))


def responsibilities(rows: Rows, parameters: MixtureParameters) -> RowArray:
    """Return P[component j | x] for each sample.

    Parameters
    ----------
    rows : Rows of shape (n, p)
        Sufficient statistics of the samples.
    parameters : MixtureParameters
        Parameters of the mixture.

    Returns
    -------
    row array of shape (n, k)
        Rows sum to 1. Time O(nnz k).
    """
    return rows.map(Responsibilities(parameters.coefficients, parameters.offsets))


def log_posterior(joint: Floats) -> tuple[Floats, Floats]:
    """Return posteriors and log-likelihoods of samples.

        log P[j | x] = log P[x, j] - log P[x],   log P[x] = log sum_j P[x, j]   (S eq. 1)

    Parameters
    ----------
    joint : ndarray of shape (n, k)
        Result of :func:`log_joint`.

    Returns
    -------
    log_posterior : ndarray of shape (n, k)
        log P[j | x], the logarithms of the responsibilities.
    log_likelihood : ndarray of shape (n,)
        log P[x] in nats, up to the constant of :func:`log_joint`.
    """
    log_likelihood = np.asarray(logsumexp(joint, axis=1))
    return joint - log_likelihood[:, None], log_likelihood


def log_factorials(X: Any) -> Floats:
    """Return sum_w log x_w! of each sample.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts >= 0; x! is Gamma(x + 1) if a count is not whole.

    Returns
    -------
    ndarray of shape (n,)
        In nats. Time O(nnz).
    """
    logs = sp.csr_array((gammaln(X.data + 1.0), X.indices, X.indptr), shape=X.shape)
    return np.asarray(RowBlocks(logs).row_sums)


def log_multinomial(X: Any) -> Floats:
    """Return the logarithm of the multinomial coefficient of each document.

        log (c! / prod_w x_w!),   with c = sum_w x_w: the number of orders of its words

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Word counts >= 0.

    Returns
    -------
    ndarray of shape (n,)
        In nats. Time O(nnz).
    """
    return np.asarray(gammaln(RowBlocks(X).row_sums + 1.0) - log_factorials(X))


LARGEST = 2.0**53
"""Above this, floats skip whole numbers."""


def split_words(X: Any, random_state: np.random.RandomState) -> tuple[Any, Any]:
    """Split the words of each document at random into two halves.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Counts >= 0. The fractional part of a count stays in one half.
    random_state : RandomState
        Source of randomness.

    Returns
    -------
    first, second : csr_array of shape (n, d)
        The halves, which sum to X.
    """
    data = X.data.astype(np.float64)
    whole = np.floor(data)
    # Counts too large to draw are halved: their standard deviation is below their precision.
    many = whole > LARGEST
    first = random_state.binomial(np.where(many, 0, whole).astype(np.int64), 0.5)
    first = np.where(many, 0.5 * whole, first)
    first = first + random_state.randint(0, 2, size=len(data)) * (data - whole)
    halves = []
    for part in (first, data - first):
        half = sp.csr_array((part, X.indices, X.indptr), shape=X.shape, copy=True)
        half.eliminate_zeros()
        halves.append(half)
    return halves[0], halves[1]


def completion_log_likelihood(
    rows: RowBlocks, parameters: LDAParameters, proportions: Floats
) -> Floats:
    """Return the log-likelihood of the words of documents, given their topic proportions.

        sum_w x_w log sum_j h_j mu_wj

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Word counts of the half that was not used to infer `proportions`.
    parameters : LDAParameters
        The topics.
    proportions : ndarray of shape (n, k)
        h, with rows that sum to 1.

    Returns
    -------
    ndarray of shape (n,)
        In nats, without the multinomial coefficients. Time O(nnz k).
    """
    centers = np.ascontiguousarray(parameters.centers)
    k = centers.shape[1]

    def kernel(B: Block) -> Floats:
        data, indices, indptr = B.csr
        h = np.repeat(proportions[B.at], np.diff(indptr), axis=0)
        p = np.zeros(len(data))
        for j in range(k):
            p += h[:, j] * centers[indices, j]
        with np.errstate(divide="ignore"):
            values = np.log(p, out=np.zeros_like(p), where=data > 0)
        document = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        sums = np.bincount(document, weights=data * values, minlength=len(indptr) - 1)
        return sums.astype(np.float64)  # without words, bincount returns integers

    return rows.map(kernel)

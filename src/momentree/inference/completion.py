"""Document completion: the likelihood of one half of a document, given the other half."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.backends import Block, RowBlocks
from momentree.objects import LDAParameters

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

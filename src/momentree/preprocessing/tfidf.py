"""Tf-idf: counts weighted by the rarity of words, in rows of unit length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree.backends import Block, RowBlocks, products
from momentree.backends.base import Kernel, OfDerived


def tfidf(X: Any, sample_weight: Floats) -> Any:
    """Return tf-idf rows of unit length in single precision.

        y_w = x_w (1 + log((1 + n) / (1 + n_w))),   scaled to sum_w y_w^2 = 1

    with n the number of documents and n_w the number of documents with word w.

    Parameters
    ----------
    X : {csr_array, RowBlocks} of shape (n, d)
        Counts >= 0.
    sample_weight : ndarray of shape (n,)
        Weights >= 0 of the documents; n and n_w are weighted counts.

    Returns
    -------
    csr_array of shape (n, d), float32
        Rows of length 1, or zero for empty documents, with the sparsity pattern of X.

    Notes
    -----
    The formula of scikit-learn's ``TfidfTransformer``, with sample weights and without its copies
    of the indices. Time and memory O(nnz).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from momentree.preprocessing import tfidf
    >>> tfidf(sp.csr_array([[1, 1], [0, 3]]), np.ones(2)).toarray().round(3)
    array([[0.815, 0.58 ],
           [0.   , 1.   ]], dtype=float32)
    """
    rows = X if isinstance(X, RowBlocks) else RowBlocks(X)
    idf, lengths = tfidf_scales(rows, sample_weight)

    def values(B: Block) -> Floats:
        counts, columns, ends = B.csr
        return np.asarray(idf[columns] * counts / np.repeat(lengths[B.at], np.diff(ends)))

    return rows.with_values(values).matrix


def tfidf_scales(rows: RowBlocks, sample_weight: Floats) -> tuple[Floats, Floats]:
    """Return the factors of words and the lengths of documents, by which tf-idf rows are counts.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Counts >= 0.
    sample_weight : ndarray of shape (n,)
        Weights >= 0 of the documents.

    Returns
    -------
    idf : ndarray of shape (d,)
        1 + log((1 + n) / (1 + n_w)) of each word.
    lengths : ndarray of shape (n,)
        Length of each row of counts times idf; 1 for empty rows.
    """
    documents = rows.sum(_derived(products.transposed_product, np.sign), sample_weight)
    idf = 1.0 + np.log((1.0 + sample_weight.sum()) / (1.0 + documents))
    squares = rows.map(_derived(partial(products.product, V=idf**2), np.square))
    return idf, np.sqrt(np.where(squares > 0, squares, 1.0))


def _derived(kernel: Kernel, function: Callable[[Floats], Floats]) -> OfDerived:
    return OfDerived(kernel, function, single=False, has_factor=False)

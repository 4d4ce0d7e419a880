"""Tf-idf: counts weighted by the rarity of words, in rows of unit length."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats
from momentree.backends import RowBlocks


def tfidf(X: Any, sample_weight: Floats) -> Any:
    """Return tf-idf rows of unit length in single precision.

        y_w = x_w (1 + log((1 + n) / (1 + n_w))),   scaled to sum_w y_w^2 = 1

    with n the number of documents and n_w the number of documents with word w.

    Parameters
    ----------
    X : csr_array of shape (n, d)
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
    n, d = X.shape
    present = np.repeat(sample_weight, np.diff(X.indptr)) * (X.data > 0)
    documents = np.bincount(X.indices, weights=present, minlength=d)
    idf = 1.0 + np.log((1.0 + sample_weight.sum()) / (1.0 + documents))
    data = X.data.astype(np.float32)
    data *= idf.astype(np.float32)[X.indices]
    lengths = np.diff(X.indptr)
    # Squares above 1e38 overflow in single precision, so each row is divided by its maximum first.
    top = np.ones(n, dtype=np.float32)
    some = lengths > 0
    top[some] = np.maximum.reduceat(data, X.indptr[:-1][some]) if some.any() else 1.0
    data /= np.repeat(np.where(top > 0, top, 1.0).astype(np.float32), lengths)
    rows = RowBlocks(sp.csr_array((np.square(data), X.indices, X.indptr), shape=(n, d), copy=False))
    length = np.sqrt(rows.row_sums)
    inverse = np.divide(1.0, length, out=np.zeros(n), where=length > 0)
    data *= np.repeat(inverse.astype(np.float32), lengths)
    return sp.csr_array((data, X.indices, X.indptr), shape=(n, d), copy=False)

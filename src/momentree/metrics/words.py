"""How good the words of topics are: relevance of words, UMass and NPMI coherence."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from momentree._validation import as_floats, check_table
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["npmi_coherence", "relevance", "relevance_order", "umass_coherence"]

Floats = NDArray[np.float64]

# Relevances that differ by less are one value: the page computes them again in another
# language, whose logarithm may differ in the last digit.
_RESOLUTION_DIGITS = 9


def relevance(components: ArrayLike, word_distribution: ArrayLike, lam: float = 0.7) -> Floats:
    """Return how much each word characterises each topic.

        r(w, mu) = lam log P[w | mu] + (1 - lam) log (P[w | mu] / P[w])

    Parameters
    ----------
    components : array-like of shape (k, d)
        P[w | mu] in rows, >= 0.
    word_distribution : array-like of shape (d,)
        P[w] in the whole corpus, >= 0.
    lam : float in [0, 1], default=0.7
        1 ranks words by probability, 0 by lift.

    Returns
    -------
    ndarray of shape (k, d)
        In nats; -inf where P[w | mu] = 0.

    Raises
    ------
    InvalidParameterError
        If `lam` is outside [0, 1].
    InvalidDataError
        If shapes do not fit, values are negative, or a topic has a word that the corpus has not.

    Notes
    -----
    The relevance of [1] as used in section 4.2 of [2], with lambda = 0.7. Time O(k d).

    References
    ----------
    .. [1] C. Sievert, K. Shirley. LDAvis: a method for visualizing and interpreting topics. 2014.
    .. [2] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.

    Examples
    --------
    >>> from momentree.metrics import relevance
    >>> relevance([[0.5, 0.5, 0.0]], [0.5, 0.25, 0.25]).round(3)
    array([[-0.485, -0.277,   -inf]])
    """
    p = as_floats("components", components)
    q = as_floats("word_distribution", word_distribution)
    if not (isinstance(lam, Real) and 0 <= lam <= 1):
        msg = f"lam={lam!r}; expected a number from 0 to 1"
        raise InvalidParameterError(msg)
    if p.ndim != 2 or q.shape != (p.shape[1],):
        msg = f"components {p.shape} and word_distribution {q.shape} need shapes (k, d) and (d,)"
        raise InvalidDataError(msg)
    if not ((p >= 0).all() and (q >= 0).all()):
        msg = "components and word_distribution hold negative values or NaN; expected >= 0"
        raise InvalidDataError(msg)
    if ((p > 0) & (q == 0)).any():
        msg = "a topic gives weight to a word that word_distribution says never occurs"
        raise InvalidDataError(msg)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(np.where(q > 0, q, 1.0))
    return np.asarray(log_p - (1.0 - lam) * log_q)


def relevance_order(
    center: NDArray[np.float64], base: NDArray[np.float64], lam: float
) -> NDArray[np.intp]:
    """Return the positions of the words by descending relevance.

    Parameters
    ----------
    center : ndarray of shape (n_features,)
        p(w|node), all > 0.
    base : ndarray of shape (n_features,)
        p(w), all > 0.
    lam : float
        Weight of log p(w|node) against the log-lift, in [0, 1].

    Returns
    -------
    ndarray of shape (n_features,)
        A permutation. Equal relevances (to 9 decimals) go by descending p(w|node), then by
        descending lift, then by position.

    Examples
    --------
    >>> relevance_order(np.array([0.5, 0.3]), np.array([0.6, 0.1]), lam=0.0).tolist()
    [1, 0]
    """
    value = np.log(center) - (1.0 - lam) * np.log(base)
    return np.lexsort((base, -center, -np.round(value, _RESOLUTION_DIGITS)))


def umass_coherence(top_words: ArrayLike, X: Any) -> Floats:
    """Return the UMass coherence of topics: whether their words share documents.

        sum_{j=2..L} sum_{i<j} log (D(w_i, w_j) + 1) / D(w_i),

    D the number of documents with a word, or with both.

    Parameters
    ----------
    top_words : array-like of int of shape (n_topics, L)
        Columns of the most probable words of each topic, the most probable first.
    X : {ndarray, sparse matrix or array} of shape (n_samples, n_features)
        Word counts; only whether they are above zero matters.

    Returns
    -------
    ndarray of shape (n_topics,)
        In nats, at most log 2 a pair; higher is better. Pairs whose word w_i occurs
        in no document are left out.

    Raises
    ------
    InvalidDataError
        If `top_words` is not a table of columns of X.

    Notes
    -----
    The coherence of [1], section 4.3 of [2] (L = 20 there). Time O(nnz of the columns named).

    References
    ----------
    .. [1] D. Mimno et al. Optimizing semantic coherence in topic models. EMNLP 2011.
    .. [2] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import umass_coherence
    >>> X = np.array([[1, 2, 0], [3, 1, 0], [0, 0, 1]])
    >>> umass_coherence([[0, 1], [0, 2]], X).round(3)
    array([ 0.405, -0.693])
    """
    X = check_table(X)
    words, together = _document_counts(top_words, X)
    L = words.shape[1]
    out = np.zeros(len(words))
    later, earlier = np.tril_indices(L, -1)
    for t, topic in enumerate(words):
        pairs = together[np.ix_(topic, topic)]
        alone = np.diag(pairs)[earlier]
        known = alone > 0
        ratio = (pairs[later, earlier][known] + 1.0) / alone[known]
        out[t] = np.log(ratio).sum()
    return out


def npmi_coherence(top_words: ArrayLike, X: Any) -> Floats:
    """Return the NPMI coherence of topics: normalised pointwise mutual information of words.

        mean over i < j of  log (p_ij / (p_i p_j)) / -log p_ij,

    p the share of documents with a word, or with both.

    Parameters
    ----------
    top_words : array-like of int of shape (n_topics, L), L >= 2
        Columns of the most probable words of each topic.
    X : {ndarray, sparse matrix or array} of shape (n_samples, n_features)
        Word counts; only whether they are above zero matters.

    Returns
    -------
    ndarray of shape (n_topics,)
        In [-1, 1]; higher is better. A pair that never occurs together has -1, one that occurs
        together in every document 1.

    Raises
    ------
    InvalidDataError
        If `top_words` is not a table of columns of X.

    Notes
    -----
    Bouma 2009; documents are the windows. Time O(nnz of the columns named).

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.metrics import npmi_coherence
    >>> X = np.array([[1, 2, 0], [3, 1, 0], [0, 0, 1]])
    >>> npmi_coherence([[0, 1], [0, 2]], X).round(3)
    array([ 1., -1.])
    """
    X = check_table(X)
    words, together = _document_counts(top_words, X)
    n = X.shape[0]
    out = np.zeros(len(words))
    i, j = np.triu_indices(words.shape[1], 1)
    for t, topic in enumerate(words):
        pairs = together[np.ix_(topic, topic)] / n
        p, pi, pj = pairs[i, j], np.diag(pairs)[i], np.diag(pairs)[j]
        value = np.where(p >= 1.0, 1.0, -1.0)
        some = (p > 0) & (p < 1.0)
        value[some] = np.log(p[some] / (pi[some] * pj[some])) / -np.log(p[some])
        out[t] = value.mean() if len(value) else 0.0
    return out


def _document_counts(top_words: ArrayLike, X: Any) -> tuple[NDArray[np.intp], Floats]:
    """Return the words renumbered, and in how many documents each pair of them occurs."""
    X = sp.csc_array(X)
    as_floats("top_words", top_words)  # refuses lists of different lengths
    table = np.asarray(top_words)
    if table.ndim != 2 or table.dtype.kind not in "iu":
        msg = (
            f"top_words has shape {table.shape} and type {table.dtype}; expected (n_topics, L) int"
        )
        raise InvalidDataError(msg)
    if table.size and (table.min() < 0 or table.max() >= X.shape[1]):
        msg = f"top_words names columns {table.min()} to {table.max()}; X has {X.shape[1]} columns"
        raise InvalidDataError(msg)
    columns, words = np.unique(table, return_inverse=True)
    occurs = (X[:, columns] > 0).astype(np.float64)
    return words.reshape(table.shape), np.asarray((occurs.T @ occurs).toarray())

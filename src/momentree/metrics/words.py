"""Relevance of words to topics, and coherence of topics (UMass and NPMI)."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from momentree._types import Floats, Ints
from momentree._validation import as_floats, check_number, check_shape, check_table
from momentree.core.ties import ranks
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

DECIMALS = 9
"""Relevances equal to this many decimals are ties: the report recomputes them in JavaScript, whose
logarithm may differ in the last digit."""


def relevance(components: ArrayLike, word_distribution: ArrayLike, lam: float = 0.7) -> Floats:
    """Return the relevance of each word to each topic.

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
        If shapes do not match, values are negative or not finite, or a topic gives a positive
        probability to a word whose corpus probability is zero.

    Notes
    -----
    The relevance of [1], as used in section 4.2 of [2] with lambda = 0.7. Time O(k d).

    References
    ----------
    .. [1] C. Sievert, K. Shirley. LDAvis: a method for visualizing and interpreting topics. 2014.
    .. [2] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4. Section
       4.2.

    Examples
    --------
    >>> from momentree.metrics import relevance
    >>> relevance([[0.5, 0.5, 0.0]], [0.5, 0.25, 0.25]).round(3)
    array([[-0.485, -0.277,   -inf]])
    """
    p = as_floats("components", components)
    q = as_floats("word_distribution", word_distribution)
    check_number("lam", lam, at_least=0, at_most=1)
    check_shape("components", p, ("n_components", "n_features"))
    check_shape("word_distribution", q, (p.shape[1],))
    for parameter, values in (("components", p), ("word_distribution", q)):
        if not ((values >= 0) & np.isfinite(values)).all():
            raise InvalidDataError(wording.NEGATIVE_OR_NOT_FINITE, parameter=parameter)
    absent = (p > 0) & (q == 0)
    if absent.any():
        component, column = (int(at) for at in np.argwhere(absent)[0])
        raise InvalidDataError(
            "[word_without_probability] component {component} gives column {column} a positive "
            "probability, but word_distribution gives it zero",
            component=component,
            column=column,
        )
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(np.where(q > 0, q, 1.0))
    return np.asarray(log_p - (1.0 - lam) * log_q)


def word_probabilities(components: Floats) -> Floats:
    """Return P[word | topic] in rows, from components that are means of counts or that already."""
    sums = components.sum(axis=1, keepdims=True)
    return np.asarray(components / np.where(sums > 0, sums, 1.0))


def relevance_order(center: Floats, base: Floats, lam: float) -> Ints:
    """Return the columns of the words by descending relevance, for P[w | mu] and P[w] > 0.

    Ties (to 9 decimals) are broken by descending P[w | mu].
    """
    value = np.log(center) - (1.0 - lam) * np.log(base)
    return np.lexsort((ranks(center), -np.round(value, DECIMALS)))


def umass_coherence(top_words: ArrayLike, X: Any) -> Floats:
    """Return the UMass coherence of topics, from how often their words occur together.

        sum_{j=2..L} sum_{i<j} log (D(w_i, w_j) + 1) / D(w_i),

    with D the number of documents that contain a word, or both words.

    Parameters
    ----------
    top_words : array-like of int of shape (n_topics, L)
        Columns of the most probable words of each topic, in descending order.
    X : {ndarray, sparse matrix or array} of shape (n_samples, n_features)
        Word counts; only whether they are positive matters.

    Returns
    -------
    ndarray of shape (n_topics,)
        In nats, at most log 2 for each pair; higher is better. Pairs whose word w_i occurs in no
        document are omitted.

    Raises
    ------
    InvalidDataError
        If `top_words` does not contain columns of X.

    Notes
    -----
    The coherence of [1], section 4.3 of [2] (L = 20 there). Time O(nnz) of these columns.

    References
    ----------
    .. [1] D. Mimno et al. Optimizing semantic coherence in topic models. EMNLP 2011.
    .. [2] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4. Section
       4.3.

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
    return np.array([umass_of(together[np.ix_(topic, topic)]) for topic in words])


def umass_of(together: Floats) -> float:
    """Return the UMass coherence of a topic, from the documents with each pair of its words."""
    later, earlier = np.tril_indices(len(together), -1)
    alone = np.diag(together)[earlier]
    known = alone > 0
    return float(np.log((together[later, earlier][known] + 1.0) / alone[known]).sum())


def npmi_coherence(top_words: ArrayLike, X: Any) -> Floats:
    """Return the NPMI coherence of topics: normalized pointwise mutual information of words.

        mean over i < j of  log (p_ij / (p_i p_j)) / -log p_ij,

    with p the fraction of documents that contain a word, or both words.

    Parameters
    ----------
    top_words : array-like of int of shape (n_topics, L), L >= 2
        Columns of the most probable words of each topic.
    X : {ndarray, sparse matrix or array} of shape (n_samples, n_features)
        Word counts; only whether they are positive matters.

    Returns
    -------
    ndarray of shape (n_topics,)
        In [-1, 1]; higher is better. A pair scores -1 if its words never occur together, and 1 if
        they occur together in every document.

    Raises
    ------
    InvalidDataError
        If `top_words` does not contain columns of X.

    Notes
    -----
    The measure of [1], with documents as windows. Time O(nnz) of these columns.

    References
    ----------
    .. [1] G. Bouma. Normalized (pointwise) mutual information in collocation extraction. GSCL 2009.

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
    together /= X.shape[0]
    return np.array([npmi_of(together[np.ix_(topic, topic)]) for topic in words])


def npmi_of(together: Floats) -> float:
    """Return the NPMI coherence of a topic, from the fraction of documents with each pair."""
    pairs = npmi(together)[np.triu_indices(len(together), 1)]
    return float(pairs.mean()) if len(pairs) else 0.0


def npmi(together: Floats) -> Floats:
    """Return the NPMI of pairs, given the fraction of documents with both, or, at i = j, with i."""
    alone = np.diag(together)
    value = np.where(together >= 1.0, 1.0, -1.0)
    some = (together > 0) & (together < 1.0)
    p, product = together[some], np.outer(alone, alone)[some]
    value[some] = np.log(p / product) / -np.log(p)
    return value


def _document_counts(top_words: ArrayLike, X: Any) -> tuple[Ints, Floats]:
    """Return renumbered words, and the number of documents that contain each pair of them."""
    counts: Any = X if sp.issparse(X) else as_floats("X", X)
    X = sp.csc_array(counts)
    as_floats("top_words", top_words)  # rejects lists of unequal lengths
    table = np.asarray(top_words)
    low, high = table.min(initial=0), table.max(initial=0)
    if table.ndim != 2 or table.dtype.kind not in "iu" or low < 0 or high >= X.shape[1]:
        raise InvalidDataError(
            "[top_words_not_columns] top_words has shape {shape}, type {type} and values {low} to "
            "{high}; expected columns of X of shape (n_topics, n_words), 0 to {last}",
            shape=str(table.shape),
            type=str(table.dtype),
            low=low.item(),
            high=high.item(),
            last=X.shape[1] - 1,
        )
    columns, words = np.unique(table, return_inverse=True)
    occurs = (X[:, columns] > 0).astype(np.float64)
    return words.reshape(table.shape), np.asarray((occurs.T @ occurs).toarray())

"""T Theorem 3.2.2 and S Theorem 2: bounds on the error of estimated single-topic moments."""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats, check_choice, check_number
from momentree.exceptions import InvalidDataError, InvalidParameterError

Version = Literal["thesis", "paper"]

MAX_DOCUMENTS = 1e200
"""Largest number of documents: the square of larger numbers overflows."""
LONGEST = 2.0**53
"""Longest document in words: larger whole numbers are not exact as floats."""


def moment_error_bound(
    lengths: ArrayLike,
    delta: float,
    *,
    order: int = 2,
    m_norm: float = 0.0,
    version: Version = "thesis",
) -> float:
    """Bound the error of M2 or M3 of :class:`SingleTopicMoments`, estimated from documents.

    With probability at least 1 - delta, for m = 2 or 3 and the weighting by length,

        ||M~_m - M_m||_F <= sqrt(W (1 - ||M_m||_F^2)) + sqrt(2 W log(1 / delta)),
        W = sum_i t_i^2 / (sum_i t_i)^2,   t_i = c_i (c_i - 1) ... (c_i - m + 1),

    with c_i the length of document i.

    Parameters
    ----------
    lengths : array-like of int of shape (n,), >= 0
        Words in each document. Documents with fewer than `order` words do not contribute to the
        moment: their t_i is zero. Only the sum of all c_i in "paper" includes them.
    delta : float in (0, 1)
        Probability with which the bound may fail.
    order : {2, 3}, default=2
        Order m of the moment.
    m_norm : float in [0, 1], default=0.0
        ||M_m||_F of the true moment, if it is known; 0 is the worst case.
    version : {"thesis", "paper"}, default="thesis"
        "paper" is the bound of S Theorem 2, for comparison: its second term is
        sqrt(log(1 / delta)) max_i(t_i / (c_i - m + 1)) sqrt(sum_i c_i) / sum_i t_i. It is not a
        valid bound; see the notes.

    Returns
    -------
    float
        Bound on the Frobenius norm of the error. No error exceeds sqrt(2).

    Raises
    ------
    InvalidDataError
        If `lengths` are not whole numbers >= 0, or no document has `order` words.
    InvalidParameterError
        If `delta`, `order`, `m_norm` or `version` is out of range.

    See Also
    --------
    required_samples : Number of documents for a given error.

    Notes
    -----
    T Theorem 3.2.2 bounds the mean error by Jensen's inequality, and the deviation from it by
    McDiarmid's inequality over whole documents, which are independent given their lengths.
    Changing one document changes M~_m by at most 2 t_i / sum t; because entries are never
    negative, sqrt(W log(1 / delta)) suffices as the second term.

    S Theorem 2 applies McDiarmid's inequality to single words, which are independent only given the
    topic of their document: its second term vanishes for long documents, although the topics remain
    random. Counterexample: for two equally likely topics of one word each, the error is sqrt(2)
    |p - 1/2| for any length, with p the proportion of documents on the first topic. For 100
    documents of 1,000 words the bound at delta = 0.05 is 0.076, and the error exceeds it with
    probability 0.27. (Also, changing one word changes the moment by up to sqrt(6) (c - 1) / C2, not
    sqrt(2) c / C2, because both orders of a pair change.)

    Time and memory O(n).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Theorem 3.2.2.
    .. [2] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4.
       Theorem 2.

    Examples
    --------
    >>> from momentree.moments import moment_error_bound
    >>> round(moment_error_bound([100] * 10_000, 0.05), 4)
    0.0345
    >>> round(moment_error_bound([100] * 5_000 + [10] * 5_000, 0.05), 4)  # as 5,091 of 100 words
    0.0483
    """
    if order not in (2, 3):
        raise InvalidParameterError(
            "[not_an_order] {parameters.order:=value}; expected 2 or 3", value=order
        )
    check_number("delta", delta, above=0, below=1)
    check_number("m_norm", m_norm, at_least=0, at_most=1)
    check_choice("version", version, get_args(Version))
    c = _checked(lengths, order)
    before = c if order == 2 else c * (c - 1)
    t = before * (c - order + 1)
    T = t.sum()
    root_w = float(np.linalg.norm(t / T))
    mean = root_w * math.sqrt(1 - m_norm**2)
    if version == "thesis":
        return mean + root_w * math.sqrt(2 * math.log(1 / delta))
    return mean + math.sqrt(math.log(1 / delta) * c.sum()) * float(before.max() / T)


def required_samples(
    epsilon: float,
    delta: float,
    length: int,
    *,
    order: int = 2,
    m_norm: float = 0.0,
    version: Version = "thesis",
) -> int:
    """Return the number of documents of equal length for a given error of M2 or M3.

    The smallest n with  (sqrt(1 - ||M_m||_F^2) + sqrt(2 log(1 / delta))) / sqrt(n) < epsilon.

    Parameters
    ----------
    epsilon : float, > 0
        Upper limit of ||M~_m - M_m||_F.
    delta : float in (0, 1)
        Probability with which the error may exceed this limit.
    length : int
        Words in each document, at least `order`. The valid bound does not depend on the length,
        because longer documents do not show more topics.
    order : {2, 3}, default=2
        Order m of the moment.
    m_norm : float in [0, 1], default=0.0
        ||M_m||_F of the true moment, if it is known; 0 is the worst case.
    version : {"thesis", "paper"}, default="thesis"
        The bound, as in :func:`moment_error_bound`; "paper" is not valid.

    Returns
    -------
    int
        Number of documents.

    Raises
    ------
    InvalidDataError
        If `length` is not a whole number of at least `order`.
    InvalidParameterError
        If `epsilon`, `delta`, `order`, `m_norm` or `version` is out of range.

    Notes
    -----
    T Theorem 3.2.2 for documents of equal length (T Remark 3.2.2), for which W = 1 / n.

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019.

    Examples
    --------
    >>> from momentree.moments import moment_error_bound, required_samples
    >>> n = required_samples(0.05, 0.05, length=100)
    >>> n
    4755
    >>> moment_error_bound([100] * n, 0.05) < 0.05 <= moment_error_bound([100] * (n - 1), 0.05)
    True
    """
    check_number("epsilon", epsilon, above=0)
    # For documents of equal length every term of the bound is proportional to 1 / sqrt(n).
    one = moment_error_bound([length], delta, order=order, m_norm=m_norm, version=version)
    root = one / epsilon
    if root > math.sqrt(MAX_DOCUMENTS):
        raise InvalidParameterError(
            "[error_too_small] {parameters.epsilon:=value} requires more than {most:g} documents; "
            "give a larger error, such as 0.01",
            value=epsilon,
            most=MAX_DOCUMENTS,
        )
    return math.floor(root**2) + 1


def _checked(lengths: ArrayLike, order: int) -> Floats:
    """Return the lengths of documents as floats, after checking them."""
    c = as_floats("lengths", lengths)
    if c.ndim != 1 or not ((c >= 0) & (c <= LONGEST) & (c == np.floor(c))).all():
        raise InvalidDataError(
            "[bad_lengths] lengths must be a list of whole numbers from 0 to {longest:g}",
            longest=LONGEST,
        )
    if not (c >= order).any():
        raise InvalidDataError(
            "[documents_too_short] no document has {order} words, so moments of order {order} do "
            "not exist",
            order=order,
        )
    return c

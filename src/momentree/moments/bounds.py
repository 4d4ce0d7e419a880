"""How far estimated moments of a single-topic model are from the true ones (T Theorem 3.2.2)."""

from __future__ import annotations

import math
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._validation import as_floats
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = ["Version", "moment_error_bound", "required_samples"]

Version = Literal["thesis", "paper"]

MOST = 1e100
"""Square root of a number of documents beyond any use."""
LONGEST = 2.0**53
"""Words of a document; above this not every whole number is a float."""


def moment_error_bound(
    lengths: ArrayLike,
    delta: float,
    *,
    order: int = 2,
    m_norm: float = 0.0,
    version: Version = "thesis",
) -> float:
    """Return how far M2 or M3 estimated from documents is from the truth, at most.

    With probability at least 1 - delta, for m = 2 or 3 and the weighting by length,

        ||M~_m - M_m||_F <= sqrt(W (1 - ||M_m||_F^2)) + sqrt(2 W log(1 / delta)),
        W = sum_i t_i^2 / (sum_i t_i)^2,   t_i = c_i (c_i - 1) ... (c_i - m + 1),

    c_i the length of document i.

    Parameters
    ----------
    lengths : array-like of int of shape (n,), >= 0
        Words in each document. Documents of fewer than `order` words add nothing to the moment:
        their t_i is zero, and only the sum of all c_i in "paper" counts them.
    delta : float in (0, 1)
        Probability that the bound may fail.
    order : {2, 3}, default=2
        Which moment.
    m_norm : float in [0, 1], default=0.0
        ||M_m||_F of the true moment, where it is known; 0 gives the worst case of all models.
    version : {"thesis", "paper"}, default="thesis"
        "paper" has sqrt(log(1 / delta)) max_i(t_i / (c_i - m + 1)) sqrt(sum_i c_i) / sum_i t_i
        as its second term, as published in [2]. It is here to be compared with and is no valid
        bound: see the notes.

    Returns
    -------
    float
        Bound on the Frobenius norm of the error; it is never useful above sqrt(2), which no
        error exceeds.

    Raises
    ------
    InvalidDataError
        If `lengths` are not whole numbers >= 0, or no document has `order` words.
    InvalidParameterError
        If `delta`, `order`, `m_norm` or `version` is out of its range.

    See Also
    --------
    required_samples : The number of documents for a given error.

    Notes
    -----
    Theorem 3.2.2 of [1]: the mean error by Jensen's inequality, and its deviation by
    McDiarmid's inequality over whole documents, which are independent given their lengths. A
    change of one document moves M~_m by at most 2 t_i / sum t; because entries are never
    negative it is at most sqrt(2) t_i / sum t, so that sqrt(W log(1 / delta)) would do as the
    second term. The constant of the thesis is kept.

    Theorem 2 of [2] applies McDiarmid's inequality over single words instead. Words of a
    document are independent given its topic only, so that the inequality does not apply, and its
    second term vanishes for long documents although the chance in the topics stays. Two topics
    of one word each, equally likely, show it: the error is sqrt(2) |p - 1/2| with p the share of
    the first topic, whatever the length. For 100 documents of 1,000 words the bound of [2] at
    delta = 0.05 is 0.076, and it is exceeded with probability 0.27. (The change by one word is
    also up to sqrt(6) (c - 1) / C2, not sqrt(2) c / C2: both orders of a pair change.)

    Time and memory O(n).

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018. Theorem 3.2.2.
    .. [2] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018. Theorem 2.

    Examples
    --------
    >>> from momentree.moments import moment_error_bound
    >>> round(moment_error_bound([100] * 10_000, 0.05), 4)
    0.0345
    >>> round(moment_error_bound([100] * 5_000 + [10] * 5_000, 0.05), 4)  # as of 5,091 documents
    0.0483
    """
    if order not in (2, 3):
        msg = f"order={order!r}; expected 2 or 3"
        raise InvalidParameterError(msg)
    if not (isinstance(delta, Real) and 0 < delta < 1):
        msg = f"delta={delta!r}; expected a probability above 0 and below 1"
        raise InvalidParameterError(msg)
    if not (isinstance(m_norm, Real) and 0 <= m_norm <= 1):
        msg = f"m_norm={m_norm!r}; expected a number from 0 to 1"
        raise InvalidParameterError(msg)
    if version not in get_args(Version):
        msg = f"version={version!r} is unknown; choose one of {get_args(Version)}"
        raise InvalidParameterError(msg)
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
    """Return how many documents of one length make the error of M2 or M3 small.

    The least n with  (sqrt(1 - ||M_m||_F^2) + sqrt(2 log(1 / delta))) / sqrt(n) < epsilon.

    Parameters
    ----------
    epsilon : float, > 0
        ||M~_m - M_m||_F is to be below this.
    delta : float in (0, 1)
        Probability that it may not be.
    length : int
        Words in each document, at least `order`. The valid bound does not depend on it: longer
        documents do not show more topics.
    order : {2, 3}, default=2
        Which moment m.
    m_norm : float in [0, 1], default=0.0
        ||M_m||_F of the true moment, where it is known; 0 gives the worst case of all models.
    version : {"thesis", "paper"}, default="thesis"
        Which bound, as in :func:`moment_error_bound`; "paper" is not valid.

    Returns
    -------
    int
        Number of documents.

    Raises
    ------
    InvalidDataError
        If `length` is no whole number of at least `order`.
    InvalidParameterError
        If `epsilon`, `delta`, `order`, `m_norm` or `version` is out of its range.

    Notes
    -----
    Theorem 3.2.2 of [1] for documents of one length (Remark 3.2.2), where W = 1 / n.

    References
    ----------
    .. [1] M. Ruffini. Methods of moments for learning latent variable models: algorithms and
       applications. PhD thesis, Universitat Politecnica de Catalunya, 2018.

    Examples
    --------
    >>> from momentree.moments import moment_error_bound, required_samples
    >>> n = required_samples(0.05, 0.05, length=100)
    >>> n
    4755
    >>> moment_error_bound([100] * n, 0.05) < 0.05 <= moment_error_bound([100] * (n - 1), 0.05)
    True
    """
    if not (isinstance(epsilon, Real) and 0 < epsilon < math.inf):
        msg = f"epsilon={epsilon!r}; expected a number above 0"
        raise InvalidParameterError(msg)
    # Every term of the bound falls as 1 / sqrt(n) when documents have one length.
    one = moment_error_bound([length], delta, order=order, m_norm=m_norm, version=version)
    root = one / epsilon
    if root > MOST:
        msg = (
            f"epsilon={epsilon!r} takes more than {MOST**2:g} documents; expected a larger error, "
            "such as 0.01"
        )
        raise InvalidParameterError(msg)
    return math.floor(root**2) + 1


def _checked(lengths: ArrayLike, order: int) -> NDArray[np.float64]:
    """Return the lengths of all documents, as float."""
    c = as_floats("lengths", lengths)
    if c.ndim != 1 or not ((c >= 0) & (c <= LONGEST) & (c == np.floor(c))).all():
        msg = f"lengths={lengths!r}; expected a list of whole numbers from 0 to {LONGEST:g}"
        raise InvalidDataError(msg)
    if not (c >= order).any():
        msg = f"no document has {order} words, so moments of order {order} do not exist"
        raise InvalidDataError(msg)
    return c

"""Moments of the single-topic model: S Theorem 1, Remark 3; exact population moments."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._validation import check_counts, check_parameters, check_sample_weight
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.moments._population import PopulationMoments
from momentree.moments._three_words import three_words
from momentree.moments.factorial import FactorialMoments

__all__ = ["SingleTopicMoments", "Weighting"]

Floats = NDArray[np.float64]
Weighting = Literal["length", "uniform", "three_words"]


class SingleTopicMoments(FactorialMoments):
    """Estimate the moments M1, M2, M3 of a single-topic model from word counts.

    With r2 and r3 the weights of documents, c the length of document x, and sums over documents,

        M1 = sum r1 x,     M2 = sum r2 (x x^T - diag(x)),
        M3[a, b, c] = sum r3 x_a (x_b - [a = b]) (x_c - [a = c] - [b = c]),

    whose expectations are sum_i w_i mu_i, sum_i w_i mu_i mu_i^T and sum_i w_i mu_i^(x)3.
    The weightings differ in r alone (S Remark 3):

    - ``"length"`` (S Theorem 1): r2 = 1 / sum c(c-1), long documents count more;
    - ``"uniform"`` (Zou et al. 2013): r2 = 1 / (n c(c-1)), every document counts the same;
    - ``"three_words"`` (Anandkumar et al. 2012b): three words drawn from each document.

    With ``"length"`` these are the expectations only where the length of a document does not
    depend on its topic. Where it does, w_i in M1, M2 and M3 is in proportion to omega_i times the
    mean of c, c(c-1) and c(c-1)(c-2) in topic i, so that the three have no weights in common and
    neither weights nor topics are consistent. The other two hold for any lengths of three or more.

    Use :meth:`from_data` for the estimators and :meth:`from_parameters` for exact moments.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Word counts.
    row_weights : ndarray of shape (3, n)
        r1, r2, r3; documents with fewer than 2 (3) words have r2 = 0 (r3 = 0).
    unit : ndarray of shape (n,) or float, default=1.0
        What one word counts in each document; x - 1 and x - 2 above become x - unit, x - 2 unit.

    Attributes
    ----------
    m1 : ndarray of shape (d,)
        M1, sum 1.
    m2 : LinearOperator of shape (d, d)
        M2, symmetric.

    Notes
    -----
    The estimators of S Theorem 1 in the form of sums over rows that DESIGN calls whitened slices:
    the d x d x d tensor is never formed. Time O(nnz) for M2 v, O(nnz k^2) for the slices;
    memory O(d k^2 + n).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavalda. A new method of moments for latent variable
       models. Machine Learning 107, 2018. Theorem 1, Remark 3.
    .. [2] J. Zou, D. Hsu, D. Parkes, R. Adams. Contrastive learning using spectral methods.
       NIPS 2013. Propositions 3 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_data(np.array([[2, 1, 0], [0, 1, 2]]))
    >>> moments.m1.round(3)
    array([0.333, 0.333, 0.333])
    >>> (moments.m2 @ np.eye(3)).round(3)
    array([[0.167, 0.167, 0.   ],
           [0.167, 0.   , 0.167],
           [0.   , 0.167, 0.167]])
    """

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        weighting: Weighting = "length",
        sample_weight: ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> SingleTopicMoments:
        """Estimate the moments from documents.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Word counts >= 0.
        weighting : {"length", "uniform", "three_words"}, default="length"
            How documents of different lengths are weighted; see the class.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the documents; a weight of 2 is the same as the document twice.
        random_state : int, RandomState or None, default=None
            Draws the words of ``weighting="three_words"``; not used otherwise.

        Returns
        -------
        SingleTopicMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X holds negative values, NaN or infinities, is not two-dimensional, or no document
            has a positive weight and three words; for "three_words" also if counts are not whole
            numbers.
        InvalidParameterError
            If `weighting` is none of the three.
        """
        X = check_counts(X)
        w = check_sample_weight(sample_weight, X.shape[0])
        if weighting not in get_args(Weighting):
            msg = f"weighting={weighting!r} is unknown; choose one of {get_args(Weighting)}"
            raise InvalidParameterError(msg)
        moments = cls.from_rows(
            RowBlocks(X), sample_weight=w, weighting=weighting, random_state=random_state
        )
        if not moments.has_triples:
            msg = (
                "no document has three words or more, so third moments do not exist; "
                "use longer documents"
            )
            raise InvalidDataError(msg)
        return moments

    @classmethod
    def from_rows(
        cls,
        rows: RowBlocks,
        *,
        sample_weight: Floats,
        weighting: Weighting = "length",
        unit: Floats | float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> SingleTopicMoments:
        """Estimate the moments from rows that have been checked already.

        Parameters
        ----------
        rows : RowBlocks of shape (n, d)
            Word counts >= 0.
        sample_weight : ndarray of shape (n,)
            Weights >= 0.
        weighting : {"length", "uniform", "three_words"}, default="length"
            How documents are weighted.
        unit : ndarray of shape (n,) or float, default=1.0
            What one word counts in each document, where rows have been scaled.
        random_state : int, RandomState or None, default=None
            Draws the words of "three_words".

        Returns
        -------
        SingleTopicMoments
            Its ``has_triples`` is False, and its third moment zero, when no document has three
            words.
        """
        if weighting == "three_words":
            rows, unit = RowBlocks(three_words(rows.matrix, random_state)), 1.0
        uniform = weighting == "uniform"
        weights = document_weights(rows, sample_weight, uniform=uniform, unit=unit)
        return cls(rows, weights, unit)

    @staticmethod
    def from_parameters(weights: ArrayLike, components: ArrayLike) -> PopulationMoments:
        """Return the exact moments of a single-topic model.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        components : array-like of shape (k, d)
            Topics in rows, >= 0, each with sum 1.

        Returns
        -------
        PopulationMoments
            M1 = sum_i w_i mu_i, M2 = sum_i w_i mu_i mu_i^T, M3 = sum_i w_i mu_i^(x)3.

        Raises
        ------
        InvalidDataError
            If weights or components are not distributions or their shapes do not fit.
        """
        w, mu = check_parameters(weights, components)
        return PopulationMoments(w, mu.T)


def document_weights(
    rows: RowBlocks, sample_weight: Floats, *, uniform: bool, unit: Floats | float = 1.0
) -> Floats:
    """Return r1, r2, r3 of shape (3, n): the weight of each document in M1, M2 and M3.

    Documents with fewer than 2 (3) words get no weight in M2 (M3). Where no document has enough
    words the weights are all zero.
    """
    c = rows.row_sums
    words = c / unit
    # Whole counts need 2 (3) words. Damped lengths are no whole numbers: any that leaves a weight
    # above zero counts by it, unless each document is to count alike, whatever its weight. The
    # millionth is for the rounding of lengths that were scaled.
    shortest = 2 - 1e-6 if uniform else 1 + 1e-6
    pairs = np.where(words > shortest, c * (c - unit), 0.0)
    triples = np.where(words > shortest + 1, pairs * (c - 2 * unit), 0.0)
    r = np.zeros((3, len(c)))
    for m, size in enumerate((c, pairs, triples)):
        usable = size > 0
        weight = np.where(usable, sample_weight, 0.0)
        total = float(weight @ (usable if uniform else size))
        if total > 0:
            np.divide(weight, total * size if uniform else total, out=r[m], where=usable)
    return r

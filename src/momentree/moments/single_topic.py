"""S Theorem 1 (T Theorem 3.2.1): moments of the single-topic model from word counts."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

import momentree._validation as valid
from momentree.backends import RowArray, RowBlocks, Rows, collected
from momentree.core.choices import Weighting
from momentree.exceptions import InvalidDataError
from momentree.moments._base import PopulationMoments
from momentree.moments.factorial import FactorialMoments, document_weights


class SingleTopicMoments(FactorialMoments):
    """Estimate the moments M1, M2, M3 of a single-topic model from word counts.

    With r1, r2, r3 the weights of documents x,

        M1 = sum r1 x,     M2 = sum r2 (x x^T - diag(x)),
        M3[a, b, c] = sum r3 x_a (x_b - [a = b]) (x_c - [a = c] - [b = c]),

    whose expectations are sum_i w_i mu_i, sum_i w_i mu_i mu_i^T and sum_i w_i mu_i^(x)3.
    The weightings differ only in r. With c the length of a document (S Remark 3):

    - ``"length"`` (S Theorem 1): r2 = 1 / sum c(c-1); long documents have more weight;
    - ``"uniform"`` (Zou et al. 2013): r2 = 1 / (n c(c-1)); all documents have the same weight;
    - ``"three_words"`` (Anandkumar et al. 2012b): three words drawn from each document.

    Use :meth:`from_data` for the estimators and :meth:`from_parameters` for exact moments.

    Parameters
    ----------
    rows : Rows of shape (n, d)
        Word counts.
    row_weights : row array of shape (n, 3)
        r1, r2, r3; documents with fewer than 2 (3) words have r2 = 0 (r3 = 0).
    count_per_token : row array of shape (n,) or float, default=1.0
        The value of one occurrence of a word in each document; it replaces the 1 that is
        subtracted above.

    Notes
    -----
    The weighting ``"length"`` is unbiased only if the length of a document is independent of its
    topic. Otherwise the weights w_i differ between M1, M2 and M3, and neither weights nor topics
    are consistent. The other weightings are unbiased for all lengths of three or more.

    Time O(nnz) for M2 v, O(nnz k^2) for the slices; memory O(d k^2 + n).

    References
    ----------
    .. [1] M. Ruffini, M. Casanellas, R. Gavaldà. A new method of moments for latent variable
       models. Machine Learning 107, 1431–1455, 2018. doi:10.1007/s10994-018-5706-4.
       Theorem 1, Remark 3.
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
            Weights >= 0 of the documents; a weight of 2 is equivalent to two copies.
        random_state : int, RandomState or None, default=None
            Seed for ``weighting="three_words"``; None is the same as 0.

        Returns
        -------
        SingleTopicMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X is not two-dimensional or contains negative values, NaN or infinities, or if no
            document of positive weight has three words; for "three_words", also if counts are not
            whole numbers.
        InvalidParameterError
            If `weighting` is not one of these.
        """
        X = valid.check_counts(X)
        w = valid.check_sample_weight(sample_weight, X.shape[0])
        valid.check_choice("weighting", weighting, get_args(Weighting))
        moments = cls.from_rows(
            RowBlocks(X), sample_weight=w, weighting=weighting, random_state=random_state
        )
        if not moments.has_triples:
            raise InvalidDataError(
                "[no_document_of_three_words] no document has three words or more, so third "
                "moments do not exist; use longer documents"
            )
        return moments

    @classmethod
    def from_rows(
        cls,
        rows: Rows,
        *,
        sample_weight: RowArray,
        weighting: Weighting = "length",
        count_per_token: RowArray | float = 1.0,
        random_state: int | np.random.RandomState | None = None,
    ) -> SingleTopicMoments:
        """Estimate the moments from validated rows.

        Parameters
        ----------
        rows : Rows of shape (n, d)
            Word counts >= 0.
        sample_weight : row array of shape (n,)
            Weights >= 0.
        weighting : {"length", "uniform", "three_words"}, default="length"
            How documents are weighted.
        count_per_token : row array of shape (n,) or float, default=1.0
            The value of one occurrence of a word in each document, if rows were scaled.
        random_state : int, RandomState or None, default=None
            Seed for "three_words"; None is the same as 0.

        Returns
        -------
        SingleTopicMoments
            ``has_triples`` is False, and the third moment zero, if no document has three words.
        """
        if weighting == "three_words":
            drawn = three_words(collected(rows).matrix, random_state)
            rows, count_per_token = RowBlocks(drawn), 1.0
        weights = document_weights(
            rows, sample_weight, uniform=weighting == "uniform", count_per_token=count_per_token
        )
        return cls(rows, weights, count_per_token)

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
            If weights or components are not distributions or their shapes do not match.
        """
        w, mu = valid.check_parameters(weights, components)
        return PopulationMoments(w, mu.T)


def three_words(X: Any, random_state: int | np.random.RandomState | None) -> Any:
    """Draw three distinct word positions from each document (Anandkumar et al. 2012b).

    Documents with fewer than three words become empty. S Theorem 1 averages x1 (x) x2 (x) x3 over
    the six orders of three words, which keeps the expectation and makes it symmetric.
    """
    fractional = X.data != np.floor(X.data)
    if fractional.any():
        value = float(X.data[np.argmax(fractional)])
        raise InvalidDataError(
            "[three_words_need_whole_counts] {parameters.weighting:=weighting} draws single words "
            "and requires whole-number counts; X contains {value:g}",
            weighting="three_words",
            value=value,
        )
    rng = valid.generator(random_state)
    ends = np.cumsum(X.data.astype(np.int64))
    row_ends = np.concatenate(([0], ends))[X.indptr]
    start, c = row_ends[:-1], np.diff(row_ends)
    rows = np.flatnonzero(c >= 3)
    n = c[rows]
    # Draw distinct positions from shrinking ranges, and step over the earlier draws.
    first = rng.randint(0, n)
    second = rng.randint(0, n - 1)
    second += second >= first
    third = rng.randint(0, n - 2)
    low, high = np.minimum(first, second), np.maximum(first, second)
    third += third >= low
    third += third >= high
    positions = start[rows] + np.stack([first, second, third])
    words = X.indices[np.searchsorted(ends, positions, side="right")]
    drawn = (np.ones(words.size), (np.tile(rows, 3), words.ravel()))
    return sp.csr_array(drawn, shape=X.shape)

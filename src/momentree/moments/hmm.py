"""Moments of hidden Markov models, from triples of consecutive observations."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

import momentree._validation as valid
from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.moments.multiview import MultiviewMoments


class HMMMoments(MultiviewMoments):
    """Estimate M1, M2, M3 of a hidden Markov model from triples of consecutive observations.

    Given the state h_t, the observations x_(t-1), x_t and x_(t+1) are independent: three views of
    the state (section 3.3 of [1]). Let O have the means of x given each state in its columns, O =
    P[symbol | state] for symbols, A be the transition matrix, and w the distribution of h_t, the
    average over the positions t of the middle observation of all triples. Then

        M1 = O w,   M2 = O diag(w) O^T,   M3 = sum_j w_j O_j (x) O_j (x) O_j,
        E[x_t x_(t+1)^T] = O diag(v) A O^T,   E[x_1] = O pi for the first observation,

    where v is the average distribution of all states but the last of each sequence. A
    decomposition of these moments returns O and w;
    :func:`momentree.parameters.hmm_parameters` then solves for A and for the start pi. The chain
    need not be stationary: sequences may begin in any distribution pi, as w is an average.

    Use :meth:`from_data` for the estimators and :meth:`from_parameters` for exact moments.

    Parameters
    ----------
    rows : sequence of three RowBlocks of shape (n, d)
        x_(t-1), x_(t+1) and x_t, in this order, one row per triple.
    sample_weight : ndarray of shape (n,)
        Number of times each triple occurs.
    n_components : int >= 1
        Number of states k, the rank to which cross moments are truncated.
    first : ndarray of shape (d,)
        Mean of the first observations of all sequences.
    pairs : {ndarray, sparse array} of shape (d, d)
        E[x_t x_(t+1)^T] over all pairs.

    Attributes
    ----------
    first : ndarray of shape (d,)
        Mean of the first observations of all sequences.
    pairs : {ndarray, sparse array} of shape (d, d)
        E[x_t x_(t+1)^T]; sparse for symbols.
    view_sizes : tuple of int
        (d, d, d).
    singular_values : ndarray of shape (rank,)
        The largest singular values of E[x_(t-1) x_(t+1)^T]. The rank is k only if O and A have
        rank k; in particular, k states require k symbols. Noise is amplified by the inverse of the
        last one.

    See Also
    --------
    MultiviewMoments : The estimators, for any three views.

    Notes
    -----
    Triples of symbols are counted, and each different triple is one row: time and memory depend on
    their number, which is at most the number of observations, and no d x d matrix is formed beyond
    256 symbols.

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. Journal of Machine Learning Research 15, 2014.
    .. [2] D. Hsu, S. Kakade, T. Zhang. A spectral algorithm for learning hidden Markov models.
       Journal of Computer and System Sciences 78, 2012.

    Examples
    --------
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import HMMMoments
    >>> from momentree.parameters import hmm_parameters
    >>> A, O = [[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    >>> moments = HMMMoments.from_parameters([0.5, 0.5], A, O)
    >>> found = hmm_parameters(sidiwo(moments, 2), moments)
    >>> found.transmat.round(6)
    array([[0.9, 0.1],
           [0.3, 0.7]])
    """

    def __init__(
        self,
        rows: Sequence[RowBlocks],
        sample_weight: Floats,
        n_components: int,
        first: Floats,
        pairs: Any,
    ) -> None:
        super().__init__(rows, sample_weight, n_components)
        self.first, self.pairs = first, pairs

    @classmethod
    def from_data(  # type: ignore[override]
        cls,
        X: Any,
        lengths: ArrayLike | None = None,
        *,
        n_components: int,
        n_symbols: int | None = None,
    ) -> Self:
        """Estimate the moments from sequences.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_features)
            All observations, one sequence after another: one column of symbols, which are whole
            numbers >= 0, or two columns or more of features.
        lengths : array-like of int of shape (n_sequences,), default=None
            Length of each sequence, sum n_samples; None means one sequence.
        n_components : int >= 1
            Number of states k.
        n_symbols : int >= 1, default=None
            Number of symbols d; None is the largest symbol plus 1.

        Returns
        -------
        HMMMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X or `lengths` are invalid or do not match, or no sequence has three observations.
        InvalidParameterError
            If `n_components` or `n_symbols` is not a whole number of at least 1.
        """
        valid.check_integer("n_components", n_components, at_least=1)
        valid.check_integer("n_symbols", n_symbols, at_least=1, optional=True)
        if np.ndim(X) == 2 and np.shape(X)[1] > 1:
            values = valid.as_floats("X", X)
            if not np.isfinite(values).all():
                raise InvalidDataError(wording.NOT_FINITE, parameter="X")
            n = valid.check_sequence_lengths(lengths, len(values))
            rows = [sp.csr_array(values[at]) for at in _triples(n)]
            first, pairs = _at(n, 1)[0], _at(n, 2)
            weight: Floats = np.ones(rows[0].shape[0])
            P: Any = values[pairs[0]].T @ values[pairs[1]] / len(pairs[0])
            mean = values[first].mean(axis=0)
        else:
            symbols = valid.check_symbols(X, n_symbols)
            n = valid.check_sequence_lengths(lengths, len(symbols))
            d = int(symbols.max()) + 1 if n_symbols is None else n_symbols
            # Each different triple is one row, so that the order of sequences has no effect.
            different, copies = np.unique(
                np.stack([symbols[at] for at in _triples(n)], axis=1), axis=0, return_counts=True
            )
            weight = copies.astype(np.float64)
            rows = [_one_hot(column, d) for column in different.T]
            mean = np.bincount(symbols[_at(n, 1)[0]], minlength=d) / len(n)
            one, two = (symbols[at] for at in _at(n, 2))
            P = sp.coo_array((np.full(len(one), 1.0 / len(one)), (one, two)), shape=(d, d)).tocsr()
        return cls([RowBlocks(X) for X in rows], weight, n_components, mean, P)

    @classmethod
    def from_parameters(  # type: ignore[override]
        cls,
        startprob: ArrayLike,
        transmat: ArrayLike,
        emissionprob: ArrayLike,
        *,
        length: int = 3,
    ) -> Self:
        """Return the exact moments of a model with k states.

        Parameters
        ----------
        startprob : array-like of shape (k,)
            pi >= 0, sum 1.
        transmat : array-like of shape (k, k)
            A >= 0; rows sum to 1.
        emissionprob : array-like of shape (k, d)
            P[symbol | state], one row per state; or any means of the observations.
        length : int >= 3, default=3
            Length of the sequences. Moments are averages over their triples, so that the weights
            are w = mean over t = 2, ..., length - 1 of the distribution of h_t. If pi is the
            stationary distribution, w = pi for every length.

        Returns
        -------
        HMMMoments
            The moments; exact if A and the rows of `emissionprob` are linearly independent.

        Raises
        ------
        InvalidDataError
            If probabilities are invalid, means are not finite, or shapes do not match.
        InvalidParameterError
            If `length` is not a whole number of at least 3.
        """
        valid.check_integer("length", length, at_least=3)
        pi, A = valid.as_floats("startprob", startprob), valid.as_floats("transmat", transmat)
        mu = valid.as_floats("emissionprob", emissionprob)
        valid.check_shape("startprob", pi, ("k",))
        k = len(pi)
        valid.check_shape("transmat", A, (k, k))
        valid.check_shape("emissionprob", mu, (k, "d"))
        valid.check_distribution("startprob", pi)
        valid.check_distribution("transmat", A)
        if not np.isfinite(mu).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="emissionprob")
        states = [pi]
        for _ in range(length - 2):
            states.append(states[-1] @ A)
        before, all_but_last = np.mean(states[:-1], axis=0), np.mean(states, axis=0)
        w = before @ A
        # P[h_(t-1) = i | h_t = j] = v_i A_ij / w_j; a state of weight 0 keeps any distribution.
        joint = before[:, None] * A
        past = np.divide(joint, w, out=np.full((k, k), 1.0 / k), where=w > 0).T @ mu
        views = [RowBlocks(sp.csr_array(part)) for part in (past, A @ mu, mu)]
        return cls(views, w, k, pi @ mu, mu.T @ (all_but_last[:, None] * A) @ mu)


def _at(lengths: Ints, size: int) -> list[Ints]:
    """Return the positions of the 1st, ..., last observation of all runs of `size` of them.

    For size 1, only those at the start of sequences.
    """
    starts = np.cumsum(lengths) - lengths
    if size == 1:
        return [starts]
    runs = np.maximum(lengths - size + 1, 0)
    first = np.repeat(starts - np.cumsum(runs) + runs, runs) + np.arange(runs.sum())
    return [first + i for i in range(size)]


def _triples(lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the positions of the observation before, the one after, and the middle of triples."""
    one, two, three = _at(lengths, 3)
    if not len(one):
        raise InvalidDataError(
            "[no_consecutive_triples] the longest sequence has {longest:~observation}; moments "
            "require three consecutive ones: give longer sequences, or check lengths",
            longest=int(lengths.max()),
        )
    return one, three, two


def _one_hot(symbols: Ints, d: int) -> Any:
    n = len(symbols)
    return sp.csr_array((np.ones(n), symbols, np.arange(n + 1)), shape=(n, d))

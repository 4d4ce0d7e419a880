"""How many directions of M2 one half of the documents shows and the other half confirms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from momentree.backends import RowBlocks
from momentree.models._base import WHITENING_ITER
from momentree.moments import SingleTopicMoments
from momentree.moments.weighting import document_weights
from momentree.objects import Moments
from momentree.whitening import whiten

__all__ = ["Spectrum", "spectrum"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FLOOR = 3.0
"""Standard errors that a direction must hold out at. Of 120 samples of up to 20 topics, drawn
after the choice, 3 is right in 108 and too many in 1; 2 is too many in 7, 4 too few in 12."""
BAND = 1.0
"""The interval: what a floor of this many standard errors more, or fewer, would say."""
WHITENING_TOL = 1e-3


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of M2 in one half of the documents, and what they are worth in the other.

    Attributes
    ----------
    eigenvalues : ndarray of shape (m,)
        In the half that they were found in, descending; mean of both halves.
    held_out : ndarray of shape (m,)
        u^T M2 u in the other half, for the same eigenvectors u.
    standard_error : ndarray of shape (m,)
        Of `held_out` in one half.
    """

    eigenvalues: Floats
    held_out: Floats
    standard_error: Floats

    @property
    def floor(self) -> Floats:
        """What `held_out` must exceed, shape (m,)."""
        return FLOOR * self.standard_error

    def count(self, floor: float = FLOOR) -> int:
        """Return how many leading directions hold out above a number of standard errors."""
        below = self.held_out <= floor * self.standard_error
        return int(np.argmax(below)) if below.any() else len(below)

    @property
    def interval(self) -> tuple[int, int, int]:
        """The number of components, its lower and its upper end; 1 or more."""
        k, low, high = (max(1, self.count(FLOOR + step)) for step in (0.0, BAND, -BAND))
        return k, low, high


def spectrum(
    rows: RowBlocks,
    sample_weight: Floats,
    unit: Floats,
    groups: Ints,
    n_components: int,
    random_state: np.random.RandomState,
) -> Spectrum:
    """Return the leading eigenvalues of M2 by halves.

    With D = diag(M1) + I / d, S = D^(-1/2) M2 D^(-1/2), and A, B random halves of the documents,

        S_A u = lambda u,   held out: u^T S_B u.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Word counts, or log-scaled counts.
    sample_weight : ndarray of shape (n,)
        Weights > 0.
    unit : ndarray of shape (n,)
        What one word counts in each document.
    groups : ndarray of int of shape (n,)
        Documents of one group, which are copies of each other, go to the same half.
    n_components : int >= 1
        Most directions.
    random_state : RandomState
        Draws the halves.

    Returns
    -------
    Spectrum
        Fewer directions than asked for where a half has fewer; none where a half has no document
        of two words.

    Notes
    -----
    An eigenvector of noise in A is a fixed direction for B, which knows nothing of it: there its
    value has mean zero and an error that the documents of B tell. No distribution of noise is
    assumed, so that bursts of words raise the floor along with the eigenvalues. The scaling
    makes the noise of frequent and rare words alike, and the first eigenvalue about 1. Two
    whitenings of half the data: time O(nnz (2 k + 30)).
    """
    n_groups = int(groups.max(initial=-1)) + 1
    first = (random_state.permutation(n_groups) < n_groups // 2)[groups]
    halves = [
        _half(rows.take(at), sample_weight[at], unit[at])
        for at in (np.flatnonzero(first), np.flatnonzero(~first))
    ]
    if not all(half.weight.any() for half in halves):
        return Spectrum(np.empty(0), np.empty(0), np.empty(0))
    m1 = 0.5 * (halves[0].moments.m1 + halves[1].moments.m1)
    scale = 1.0 / np.sqrt(m1 + 1.0 / np.count_nonzero(m1))
    found = []
    for here, there in (halves, halves[::-1]):
        white = whiten(
            _Scaled(here.moments, scale),
            n_components,
            tol=WHITENING_TOL,
            max_iter=2 * n_components + WHITENING_ITER,
        )
        values = white.eigenvalues[: white.rank]
        V = scale[:, None] * white.E / np.sqrt(values)
        found.append(np.stack([values, *there.value(V)]))
    m = min(part.shape[1] for part in found)
    return Spectrum(*(0.5 * (found[0][:, :m] + found[1][:, :m])))


@dataclass(frozen=True)
class _Half:
    """Half of the documents: rows, sample weights, r2 of S Theorem 1, and moments."""

    rows: RowBlocks
    sample_weight: Floats
    unit: Floats
    weight: Floats
    moments: SingleTopicMoments

    def value(self, V: Floats) -> tuple[Floats, Floats]:
        """Return v^T M2 v for the columns of V and its standard error."""
        right, squares = np.ascontiguousarray(V), np.square(V)
        r2, unit = self.weight[:, None], self.unit[:, None]
        terms = np.square(self.rows.map(lambda B: B.dot(right)))
        terms -= unit * self.rows.map(lambda B: B.dot(squares))
        terms *= r2
        value = terms.sum(axis=0)
        c = self.rows.row_sums
        shares = self.weight * c * (c - self.unit)
        residuals = np.square(terms - np.multiply.outer(shares, value))
        return value, np.sqrt((residuals / self.sample_weight[:, None]).sum(axis=0))


def _half(rows: RowBlocks, sample_weight: Floats, unit: Floats) -> _Half:
    weights = document_weights(rows, sample_weight, uniform=False, count_per_token=unit)
    moments = SingleTopicMoments(rows, weights, unit)
    return _Half(rows, sample_weight, unit, weights[1], moments)


class _Scaled:
    """Moments of scaled features y = s * x."""

    def __init__(self, moments: Moments, scale: Floats) -> None:
        self._moments, self._scale = moments, scale

    @property
    def m1(self) -> Floats:
        return np.asarray(self._scale * self._moments.m1)

    @property
    def m2(self) -> LinearOperator:
        M2, s = self._moments.m2, self._scale

        def matmat(V: Floats) -> Floats:
            column = s if V.ndim == 1 else s[:, None]
            return np.asarray(column * (M2 @ (column * V)))

        return LinearOperator(shape=M2.shape, dtype=np.float64, matvec=matmat, matmat=matmat)

    def whitened_slices(self, W: Floats) -> Floats:
        s = self._scale
        return np.asarray(s[:, None, None] * self._moments.whitened_slices(W * s))

    def whitened_tensor(self, W: Floats) -> Floats:
        return self._moments.whitened_tensor(W * self._scale)

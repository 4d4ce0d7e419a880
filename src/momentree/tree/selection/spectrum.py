"""Find directions of M2 (S Theorem 1) in one half of the documents, and test them in the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.moments import SingleTopicMoments
from momentree.moments.weighting import document_weights
from momentree.objects import Moments
from momentree.whitening import whiten

FLOOR = 3.0
"""Minimum held-out value of a direction, in standard errors. On 120 new samples of up to 20 topics,
3 found the right number in 108 and too many in 1; 2 found too many in 7, and 4 too few in 12.
"""
BAND = 1.0
"""The interval comes from raising and lowering the floor by this many standard errors."""
WHITENING_TOL = 1e-3
WHITENING_ITER = 30


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues of M2 in one half of the documents, u^T M2 u in the other, and its error."""

    eigenvalues: Floats
    held_out: Floats
    standard_error: Floats

    @property
    def floor(self) -> Floats:
        """Minimum value of `held_out` for a direction to count, shape (m,)."""
        return FLOOR * self.standard_error

    def count(self, floor: float = FLOOR) -> int:
        """Return the number of leading directions above `floor` standard errors."""
        below = self.held_out <= floor * self.standard_error
        return int(np.argmax(below)) if below.any() else len(below)

    @property
    def interval(self) -> tuple[int, int, int]:
        """The number of components and its lower and upper limits, all at least 1."""
        k, low, high = (max(1, self.count(FLOOR + step)) for step in (0.0, BAND, -BAND))
        return k, low, high


def spectrum(
    rows: RowBlocks,
    sample_weight: Floats,
    count_per_token: Floats,
    groups: Ints,
    n_components: int,
    random_state: np.random.RandomState,
) -> Spectrum:
    """Return the leading eigenvalues of M2 in one half of the documents, tested in the other.

    With D = diag(M1) + I / d, S = D^(-1/2) M2 D^(-1/2), and A, B random halves of the documents,

        S_A u = lambda u,   held out: u^T S_B u.

    Noise in A is independent of B, so for eigenvectors that are noise, the held-out value has mean
    zero; the documents of B give its standard error, for any distribution of words. The scaling
    gives frequent and rare words similar noise, and a first eigenvalue of about 1.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    first = (random_state.permutation(n_groups) < n_groups // 2)[groups]
    halves = [
        _half(rows.take(at), sample_weight[at], count_per_token[at])
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
    """One half of the documents: rows, sample weights, r2 of S Theorem 1, and moments."""

    rows: RowBlocks
    sample_weight: Floats
    count_per_token: Floats
    weight: Floats
    moments: SingleTopicMoments

    def value(self, V: Floats) -> tuple[Floats, Floats]:
        """Return v^T M2 v for the columns of V and its standard error."""
        right, squares = np.ascontiguousarray(V), np.square(V)
        r2, token = self.weight[:, None], self.count_per_token[:, None]
        terms = np.square(self.rows.map(lambda B: B.dot(right)))
        terms -= token * self.rows.map(lambda B: B.dot(squares))
        terms *= r2
        value = terms.sum(axis=0)
        c = self.rows.row_sums
        fractions = self.weight * c * (c - self.count_per_token)
        residuals = np.square(terms - np.multiply.outer(fractions, value))
        return value, np.sqrt((residuals / self.sample_weight[:, None]).sum(axis=0))


def _half(rows: RowBlocks, sample_weight: Floats, count_per_token: Floats) -> _Half:
    weights = document_weights(rows, sample_weight, uniform=False, count_per_token=count_per_token)
    moments = SingleTopicMoments(rows, weights, count_per_token)
    return _Half(rows, sample_weight, count_per_token, weights[1], moments)


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

"""The criteria for every candidate number of components: completion and spectrum."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.core.ties import largest
from momentree.tree.growth import log
from momentree.tree.selection.candidates import Fits, Fold, SingleTopicFits, halves_of_words

PATIENCE = 2
CLEARLY = 3.0
"""Without candidates, the search ends after two numbers so many standard errors below the best."""
DIVISIBLE = 0.3
"""Least correlation of known and hidden words within a topic that could be divided."""


@dataclass(frozen=True)
class Curves:
    """Values for each candidate, as arrays of shape (m,); NaN if unknown.

    Completion is the log-likelihood per hidden word in nats, a mean over documents; its error is
    the standard error of the difference from the best.
    """

    candidates: Ints
    completion: Floats
    completion_error: Floats
    seconds: Floats

    @classmethod
    def unknown(cls, candidates: Ints) -> Curves:
        """Return curves filled with NaN."""
        return cls(candidates, *np.full((3, len(candidates)), np.nan))


@dataclass(frozen=True)
class Inner:
    """How far the topics of the best fit could be divided further; see `inner_dependence`.

    The correlation is the mean over topics, weighted by their documents. `divisible` is the number
    of topics whose correlation exceeds `DIVISIBLE`, a mean over folds.
    """

    correlation: float = 0.0
    divisible: float = 0.0


def evaluate(
    candidates: Ints,
    folds: list[Fold],
    makers: Sequence[Fits],
    *,
    only: Ints | None = None,
    early: bool = False,
) -> tuple[Curves, Inner]:
    """Fit every candidate to every fold, and measure completion.

    With `only`, the other candidates are left out. With `early`, stop once completion has clearly
    passed its best.
    """
    curves = Curves.unknown(candidates)
    values: list[Floats | None] = []
    for i, k in enumerate(candidates):
        if only is not None and k not in only:
            values.append(None)
            continue
        start = time.perf_counter()
        fits = [fit for maker in makers if (fit := maker(int(k))) is not None]
        complete = len(fits) == len(makers)
        values.append(np.concatenate([fit.completion for fit in fits]) if complete else None)
        curves.seconds[i] = time.perf_counter() - start
        _set_completion(curves, values, folds)
        log.info(
            "%d component(s): %s",
            k,
            f"{curves.completion[i]:.4f} nats a word" if complete else "too few groups to split",
        )
        if early and (not complete or _is_past(curves)):
            break
    return curves, _inner(curves, makers)


def _is_past(curves: Curves) -> bool:
    """Return whether the last numbers tried, from a quarter more on, are clearly worse.

    Beyond twice the best, one standard error is clear enough.
    """
    k, values, errors = curves.candidates, curves.completion, curves.completion_error
    if not np.isfinite(values).any():
        return False
    best = int(largest(values))
    later = np.isfinite(values) & (k > 1.25 * k[best])
    worse = (
        values[best] - values[later]
        > np.where(k > 2 * k[best], 1.0, CLEARLY)[later] * errors[later]
    )
    return len(worse) >= PATIENCE and bool(worse[-PATIENCE:].all())


def _inner(curves: Curves, makers: Sequence[Fits]) -> Inner:
    """Return how far the topics of the fit with the best completion could be divided."""
    if not np.isfinite(curves.completion).any():
        return Inner()
    best = int(curves.candidates[largest(curves.completion)])
    parts = [m.inner_dependence(best) for m in makers if isinstance(m, SingleTopicFits)]
    weights = np.concatenate([weight for weight, _ in parts]) if parts else np.zeros(0)
    if not weights.sum() > 0:
        return Inner()
    correlations = np.concatenate([correlation for _, correlation in parts])
    with np.errstate(divide="ignore"):
        clear = np.maximum(DIVISIBLE, CLEARLY / np.sqrt(weights))
    count = float(np.count_nonzero(correlations > clear)) / len(parts)
    return Inner(float(weights @ correlations / weights.sum()), count)


def _set_completion(curves: Curves, values: list[Floats | None], folds: list[Fold]) -> None:
    """Set the completion of each candidate, and the standard error of its difference.

    Every document counts alike: weighted by their words, a few long ones would decide.
    """
    weight = np.concatenate([fold.test_weight for fold in folds])
    words = np.concatenate([RowBlocks(fold.test).row_sums for fold in folds])
    total = float(weight.sum())
    if not total > 0:
        return
    for i, value in enumerate(values):
        if value is not None:
            curves.completion[i] = weight @ (value / words) / total
    if not np.isfinite(curves.completion).any():
        return
    best = values[int(largest(curves.completion))]
    for i, value in enumerate(values):
        if value is not None and best is not None:
            behind = (best - value) / words
            residual = behind - weight @ behind / total
            curves.completion_error[i] = np.sqrt(weight @ np.square(residual)) / total


FLOOR = 3.0
"""Minimum held-out value of a direction, in standard errors. On 120 new samples of up to 20 topics,
3 found the right number in 108 and too many in 1; 2 found too many in 7, and 4 too few in 12.
"""
BAND = 1.0
"""The interval comes from raising and lowering the floor by this many standard errors."""
MAYBE = 1.0
"""Directions between this and the floor may be noise or not."""
MORE = 1.5
"""The upper limit counts at most so many times the directions above the floor."""
SMALL = 100
"""Matrices with so few rows or columns are decomposed completely."""
SVD_TOL = 1e-3


@dataclass(frozen=True)
class Spectrum:
    """Singular values in one half of the documents, u^T S v in the other, and its error."""

    eigenvalues: Floats
    held_out: Floats
    standard_error: Floats

    @property
    def floor(self) -> Floats:
        """Minimum value of `held_out` for a direction to count, shape (m,)."""
        return FLOOR * self.standard_error

    def count(self, floor: float = FLOOR) -> int:
        """Return the number of directions above `floor` standard errors."""
        return int(np.count_nonzero(self.held_out > floor * self.standard_error))

    @property
    def interval(self) -> tuple[int, int, int]:
        """The number of components and its lower and upper limits, all at least 1.

        Values of noise are as often below zero as above, so directions below the floor that are
        more often above zero include some that are not noise; the upper limit counts these, and one
        standard error of their number.
        """
        k, low, high = (self.count(FLOOR + step) for step in (0.0, BAND, -BAND))
        above = self.count(MAYBE) - k
        below = int(np.count_nonzero(self.held_out < -MAYBE * self.standard_error))
        hidden = above - below + np.sqrt(above + below) if above > below else 0.0
        return max(1, k), max(1, low), max(1, high, int(min(k + hidden, MORE * k)))


def spectrum(
    X: Any,
    sample_weight: Floats,
    groups: Ints,
    n_components: int,
    random_state: np.random.RandomState,
) -> Spectrum:
    """Return the singular values of a part of M2 in one half of the documents, tested in the other.

    With y and z the frequencies of the words of a document in two halves of the vocabulary, w the
    weights of documents, D = diag(mean of y) + I / d, E the same for z, and A, B random halves of
    the documents,

        S = D^(-1/2) sum_i w_i y_i z_i^T E^(-1/2) / sum_i w_i
        S_A = U diag(lambda) V^T,   held out: u^T S_B v.

    The rank of S is the number of topics. S contains no product of a word with itself, so words
    that come in bursts do not raise its rank, and frequencies do not depend on lengths. Noise in A
    is independent of B: for directions that are noise, the held-out value has mean zero, and the
    documents of B give its standard error. The scaling gives frequent and rare words similar noise.
    """
    n_groups = int(groups.max(initial=-1)) + 1
    first = (random_state.permutation(n_groups) < n_groups // 2)[groups]
    columns = halves_of_words(X, sample_weight, random_state)
    views = [sp.csr_array(X[:, at], dtype=np.float64) for at in columns]
    lengths = [np.asarray(view.sum(axis=1), dtype=np.float64).ravel() for view in views]
    weight = sample_weight * np.sqrt(lengths[0] * lengths[1])
    halves = [np.flatnonzero(side & (weight > 0)) for side in (first, ~first)]
    if not all(len(half) for half in halves):
        return Spectrum(np.empty(0), np.empty(0), np.empty(0))
    scaled = [_scaled(view, c, weight) for view, c in zip(views, lengths, strict=True)]
    found = []
    for here, there in (halves, halves[::-1]):
        values, U, V = _directions([y[here] for y in scaled], weight[here], n_components)
        found.append(
            np.stack([values, *_held_out([y[there] for y in scaled], weight[there], U, V)])
        )
    m = min(part.shape[1] for part in found)
    return Spectrum(*(0.5 * (found[0][:, :m] + found[1][:, :m])))


def _scaled(view: Any, length: Floats, weight: Floats) -> Any:
    """Return the frequencies of words, divided by the roots of their means."""
    view = sp.diags_array(1.0 / np.maximum(length, 1e-300)) @ view
    mean = (view.T @ weight) / weight.sum()
    scale = 1.0 / np.sqrt(mean + 1.0 / max(int(np.count_nonzero(mean)), 1))
    return sp.csr_array(view @ sp.diags_array(scale))


def _directions(views: list[Any], weight: Floats, n: int) -> tuple[Floats, Floats, Floats]:
    """Return the largest singular values, in descending order, and their vectors in columns."""
    first, second = views
    shares = (weight / weight.sum())[:, None]
    shape = (first.shape[1], second.shape[1])

    def product(A: Any, B: Any, V: Floats) -> Floats:
        out = A.T @ (shares * (B @ V.reshape(len(V), -1)))
        return np.asarray(out.reshape(-1) if V.ndim == 1 else out)

    if min(shape) <= max(n + 1, SMALL):
        U, values, VT = np.linalg.svd(product(first, second, np.eye(shape[1])), full_matrices=False)
    else:
        S = LinearOperator(
            shape=shape,
            dtype=np.float64,
            matvec=lambda v: product(first, second, v),
            rmatvec=lambda u: product(second, first, u),
            matmat=lambda V: product(first, second, V),
            rmatmat=lambda U: product(second, first, U),
        )
        start = np.ones(min(shape))
        U, values, VT = svds(S, k=n, v0=start, tol=SVD_TOL)
    order = np.argsort(-values, kind="stable")[:n]
    return values[order], U[:, order], VT[order].T


def _held_out(views: list[Any], weight: Floats, U: Floats, V: Floats) -> tuple[Floats, Floats]:
    """Return u^T S v for the pairs of columns, and its standard error."""
    shares = (weight / weight.sum())[:, None]
    terms = (views[0] @ U) * (views[1] @ V)
    value = (shares * terms).sum(axis=0)
    return value, np.sqrt(np.square(shares * (terms - value)).sum(axis=0))

"""Compute completion, BIC and coherence for every candidate number of components."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.core.ties import largest
from momentree.metrics import npmi_coherence, umass_coherence
from momentree.tree.growth import log
from momentree.tree.selection.candidates import Fit, Fits, SingleTopicFits
from momentree.tree.selection.folds import Fold

Progress = Callable[[int, int], object]

N_WORDS = 20
"""Number of words per topic in the coherence, L in S section 4.3."""
PATIENCE = 2
CLEARLY = 3.0
"""Without candidates, the search ends after two numbers so many standard errors below the best."""
DIVISIBLE = 0.3
"""Least correlation of known and hidden words within a topic that could be divided."""


@dataclass(frozen=True)
class Curves:
    """Values for each candidate, as arrays of shape (m,); NaN if unknown.

    Completion is the log-likelihood per hidden word in nats, a mean over documents; its error is
    the standard error of the difference from the best. BIC is a mean over folds, coherence a mean
    over topics.
    """

    candidates: Ints
    completion: Floats
    completion_error: Floats
    bic: Floats
    umass: Floats
    npmi: Floats
    npmi_error: Floats
    seconds: Floats

    @classmethod
    def unknown(cls, candidates: Ints) -> Curves:
        """Return curves filled with NaN."""
        return cls(candidates, *np.full((7, len(candidates)), np.nan))


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
    progress: Progress | None,
    *,
    only: Ints | None = None,
    coherence_in: Any | None = None,
    early: bool = False,
) -> tuple[Curves, Inner]:
    """Fit every candidate to every fold; measure the coherence of the first fold in a matrix.

    With `only`, the other candidates are left out. With `early`, stop once completion has clearly
    passed its best.
    """
    curves = Curves.unknown(candidates)
    values: list[Floats | None] = []
    by_word = None if coherence_in is None else sp.csc_array(coherence_in)
    for i, k in enumerate(candidates):
        if only is not None and k not in only:
            values.append(None)
            continue
        start = time.perf_counter()
        fits = [fit for maker in makers if (fit := maker(int(k))) is not None]
        if complete := len(fits) == len(makers):
            curves.bic[i] = np.mean([fit.bic for fit in fits])
            if by_word is not None:
                _set_coherence(curves, i, fits[0], by_word)
        values.append(np.concatenate([fit.completion for fit in fits]) if complete else None)
        curves.seconds[i] = time.perf_counter() - start
        log.info(
            "%d component(s): %s", k, _values(curves, i) if complete else "too few groups to split"
        )
        if progress is not None:
            progress(i + 1, len(candidates))
        _set_completion(curves, values, folds)
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


def _set_coherence(curves: Curves, i: int, fit: Fit, by_word: Any) -> None:
    n_words = min(N_WORDS, by_word.shape[1])
    if n_words < 2:
        return
    top = np.argsort(-fit.topics, axis=0, kind="stable")[:n_words].T
    npmi = npmi_coherence(top, by_word)
    curves.umass[i] = umass_coherence(top, by_word).mean()
    curves.npmi[i] = npmi.mean()
    curves.npmi_error[i] = npmi.std(ddof=1) / np.sqrt(len(npmi)) if len(npmi) > 1 else 0.0


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


def _values(curves: Curves, i: int) -> str:
    return f"BIC {curves.bic[i]:.6g}, NPMI {curves.npmi[i]:.3f}, {curves.seconds[i]:.1f} s"

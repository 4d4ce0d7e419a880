"""Compute completion, BIC and coherence for every candidate number of components."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from momentree._types import Floats, Ints
from momentree.backends import RowBlocks
from momentree.metrics import npmi_coherence, umass_coherence
from momentree.models._base import log
from momentree.models.selection.candidates import Fit, Fits
from momentree.models.selection.folds import Fold

Progress = Callable[[int, int], object]

N_WORDS = 20
"""Number of words per topic in the coherence, L in S section 4.3."""


@dataclass(frozen=True)
class Curves:
    """Values for each candidate, as arrays of shape (m,); NaN if unknown.

    Completion is the log-likelihood per hidden word in nats; its error is the standard error of
    the difference from the best. BIC is a mean over folds, coherence a mean over topics.
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


def evaluate(
    candidates: Ints,
    folds: list[Fold],
    make: Callable[[Fold, int], Fits],
    X: Any,
    progress: Progress | None,
) -> Curves:
    """Fit every candidate to every fold; measure the coherence of the first fold in X."""
    curves = Curves.unknown(candidates)
    log.info("preparing fits of up to %d components to %d fold(s)", candidates[-1], len(folds))
    makers = [make(fold, int(candidates[-1])) for fold in folds]
    completion: list[Floats | None] = []
    by_word = sp.csc_array(X)
    for i, k in enumerate(candidates):
        start = time.perf_counter()
        fits = [fit for maker in makers if (fit := maker(int(k))) is not None]
        if complete := len(fits) == len(makers):
            curves.bic[i] = np.mean([fit.bic for fit in fits])
            _set_coherence(curves, i, fits[0], by_word)
        completion.append(np.concatenate([fit.completion for fit in fits]) if complete else None)
        curves.seconds[i] = time.perf_counter() - start
        log.info(
            "%d component(s): %s", k, _values(curves, i) if complete else "too few groups to split"
        )
        if progress is not None:
            progress(i + 1, len(candidates))
    _set_completion(curves, completion, folds)
    return curves


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
    """Set the completion of each candidate, and the standard error of its difference."""
    weight = np.concatenate([fold.test_weight for fold in folds])
    words = np.concatenate([RowBlocks(fold.hidden).row_sums for fold in folds])
    total = float(weight @ words)
    if not total > 0:
        return
    for i, value in enumerate(values):
        if value is not None:
            curves.completion[i] = weight @ value / total
    if not np.isfinite(curves.completion).any():
        return
    best = values[int(np.nanargmax(curves.completion))]
    for i, value in enumerate(values):
        if value is not None and best is not None:
            behind = best - value
            residual = behind - words * (weight @ behind / total)
            curves.completion_error[i] = np.sqrt(weight @ np.square(residual)) / total


def _values(curves: Curves, i: int) -> str:
    return f"BIC {curves.bic[i]:.6g}, NPMI {curves.npmi[i]:.3f}, {curves.seconds[i]:.1f} s"

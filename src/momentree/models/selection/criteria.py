"""Choose the number of components by each criterion, and combine the criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from momentree._types import Floats, Ints
from momentree.models.selection.curves import Curves
from momentree.models.selection.spectrum import Spectrum

INTERVAL = 2.0
"""Half-width of intervals: numbers more standard errors than this below the best are excluded."""
BIC_MARGIN = 10.0
"""A larger difference in BIC is very strong evidence (Kass and Raftery 1995)."""


class Estimate(NamedTuple):
    """A number of components with its interval."""

    n_components: int
    low: int
    high: int


def estimates(
    criteria: Sequence[str], curves: Curves, spectrum: Spectrum | None, *, between: bool
) -> dict[str, Estimate]:
    """Return the estimate of each criterion that has one, beginning with the deciding criterion.

    The first of `criteria` decides, or completion if the spectrum reaches the largest candidate and
    so has no upper bound. With `between`, the answer may lie between candidates: the spectrum may
    choose any number, and intervals extend to the next candidate that is ruled out.
    """
    k = curves.candidates
    whole = np.arange(k[0], k[-1] + 1) if between else k
    fitted = {
        "completion": _best(k, curves.completion, curves.completion_error),
        "bic": _best(k, -curves.bic, np.full(len(k), BIC_MARGIN / INTERVAL), ties=0.0),
        "coherence": _coherent(k, curves.npmi, curves.npmi_error),
    }
    found = {name: one and _with_gaps(one, k, whole) for name, one in fitted.items()}
    found["spectrum"] = _directions(whole, spectrum)
    order = list(criteria)
    if found["spectrum"] and found["spectrum"].n_components == k[-1]:
        order.sort(key=lambda name: name != "completion")
    return {name: one for name in order if (one := found[name]) is not None}


def combine(found: Mapping[str, Estimate]) -> Estimate:
    """Combine the estimates of all criteria.

    The first one decides. If that is completion, the answer moves down toward the spectrum within
    the interval of completion, because EM sometimes splits a topic by chance, whereas the spectrum
    involves no fit. The interval extends down to the spectrum.
    """
    k, low, high = next(iter(found.values()))
    bound = found["spectrum"].high if "spectrum" in found else high
    return Estimate(max(low, min(k, bound)), min(low, bound), high)


def _best(k: Ints, scores: Floats, errors: Floats, ties: float = 1.0) -> Estimate | None:
    """Return the fewest components within one standard error of the best; the interval uses two."""
    if not np.isfinite(scores).any():
        return None
    behind = np.nanmax(scores) - np.where(np.isfinite(scores), scores, -np.inf)
    errors = np.where(np.isfinite(errors), errors, 0.0)
    close, likely = k[behind <= ties * errors], k[behind <= INTERVAL * errors]
    return Estimate(int(close[0]), int(likely[0]), int(likely[-1]))


def _with_gaps(one: Estimate, k: Ints, whole: Ints) -> Estimate:
    """Extend an interval of candidates to the numbers between them."""
    below, above = k[k < one.low], k[k > one.high]
    low = int(whole[whole > below[-1]][0]) if len(below) else one.low
    high = int(whole[whole < above[0]][-1]) if len(above) else one.high
    return Estimate(one.n_components, low, high)


def _coherent(k: Ints, scores: Floats, errors: Floats) -> Estimate | None:
    # A single topic contains the frequent words of all documents, which always occur together.
    scores = np.where((k > 1) | (k[-1] == 1), scores, np.nan)
    if not np.isfinite(scores).any():
        return None
    error = errors[int(np.nanargmax(scores))]
    return _best(k, scores, np.full(len(k), error))


def _directions(k: Ints, spectrum: Spectrum | None) -> Estimate | None:
    """Return the largest candidates that do not exceed the number of directions."""
    if spectrum is None or not len(spectrum.eigenvalues):
        return None
    at = np.searchsorted(k, spectrum.interval, side="right") - 1
    return Estimate(*(int(k[max(0, i)]) for i in at))

"""Explain why a number of components was chosen and which criteria disagree, as messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import largest
from momentree.messages import Message
from momentree.tree.selection.criteria import MOST, Estimate
from momentree.tree.selection.curves import Curves

CLOSE = 0.99
"""At least this fraction of the gain is as good as the best."""
TINY = 1e-300


def reason(answer: Estimate, found: Mapping[str, Estimate], curves: Curves) -> Message:
    """Return the answer with its interval, then how each criterion compares."""
    k, low, high = answer
    if not found:
        alike = Message("n_topics", n=k), Message("documents_are_alike")
        return Message("n_components_chosen", facts=alike)
    wide = Message("n_topics_of", n=k, low=low, high=high)
    about = {
        "completion": _completion,
        "spectrum": _spectrum,
        "bic": _bic,
        "coherence": _coherence,
    }
    chosen = wide if low < high else Message("n_topics", n=k)
    facts = (fact for name in found for fact in about[name](answer, found, curves))
    return Message("n_components_chosen", facts=(chosen, *facts))


def _completion(
    answer: Estimate, found: Mapping[str, Estimate], curves: Curves
) -> Iterator[Message]:
    k, low, high = found["completion"]
    if next(iter(found)) == "completion":
        yield from _completion_decides(answer, found["completion"], curves)
    elif low <= answer.n_components <= high:
        yield Message("completion_agrees")
    elif k < answer.n_components:
        yield Message("completion_best_with_fewer", n=k)
    else:
        gain = _gain(curves)
        known = np.isfinite(gain)
        mine, most = np.interp((answer.n_components, k), curves.candidates[known], gain[known])
        if mine >= MOST * most:
            yield Message("completion_hardly_improves", n=k, after=answer.n_components)
        else:
            fraction = float(max(mine, 0.0) / max(most, TINY))
            yield Message("completion_improves", n=k, chosen=answer.n_components, fraction=fraction)


def _completion_decides(answer: Estimate, own: Estimate, curves: Curves) -> Iterator[Message]:
    k, gain = curves.candidates, _gain(curves)
    best = int(k[largest(gain)])
    yield Message("completion_best", n=best)
    if own.n_components < best:
        near = _at(curves, own.n_components) / max(float(np.nanmax(gain)), TINY)
        if near < CLOSE:
            yield Message("topics_divisible", n=own.n_components, fraction=MOST)
            return
        yield Message("completion_as_good", n=own.n_components)
    mine = _at(curves, answer.n_components)
    enough = k[np.isfinite(gain) & (gain >= MOST * mine)]
    if len(enough) and enough[0] < answer.n_components and mine > 0:
        first = int(k[np.isfinite(gain)][0])
        few = int(enough[0])
        yield Message("most_of_gain", n=few, fraction=MOST, chosen=answer.n_components, first=first)
    open_end = own.high >= k[-1]
    k = k[np.isfinite(curves.completion)]
    if open_end and len(k) > 1:
        yield Message("more_not_tried", n=int(k[-1]))
    if len(k) > 1 and (np.diff(k) > 1).any():
        yield Message("numbers_tried", tried=_runs(k))


def _gain(curves: Curves) -> Floats:
    values = curves.completion
    return np.asarray(values - values[np.isfinite(values)][0])


def _at(curves: Curves, n_components: int) -> float:
    """Return the gain of a number, interpolated between those that were tried."""
    gain = _gain(curves)
    known = np.isfinite(gain)
    return float(np.interp(n_components, curves.candidates[known], gain[known]))


def _spectrum(answer: Estimate, found: Mapping[str, Estimate], curves: Curves) -> Iterator[Message]:
    k, low, high = found["spectrum"]
    decides = next(iter(found)) == "spectrum"
    if k == curves.candidates[-1] > 1:
        yield Message("spectrum_supports_all", n=k)
        return
    if decides or low == high:
        yield Message("spectrum_supports", n=k)
    else:
        yield Message("spectrum_supports_about", n=k, low=low, high=high)
    other = found["completion"].n_components if "completion" in found else answer.n_components
    if decides or low <= answer.n_components <= other <= high:
        return
    if other > high:
        yield Message("fewer_complete_worse", n=other)
    else:
        yield Message("topics_may_be_merged")


def _bic(answer: Estimate, found: Mapping[str, Estimate], curves: Curves) -> Iterator[Message]:  # noqa: ARG001
    k, low, high = found["bic"]
    if low <= answer.n_components <= high:
        yield Message("bic_agrees") if len(found) > 1 else Message("bic_lowest", n=k)
    else:
        yield Message("bic_lowest" if k > answer.n_components else "bic_lowest_with_fewer", n=k)


def _coherence(
    answer: Estimate, found: Mapping[str, Estimate], curves: Curves
) -> Iterator[Message]:
    _, low, high = found["coherence"]
    several = np.where(curves.candidates > 1, curves.npmi, -np.inf)
    best = int(curves.candidates[largest(several)])
    if low == high == answer.n_components and len(found) > 1:
        yield Message("coherence_agrees")
    elif low < high and low <= answer.n_components <= high:
        yield Message("coherence_is_alike", low=low, high=high)
    else:
        yield Message("coherence_highest", n=best)


def _runs(k: Ints) -> list[int | Message]:
    """Abbreviate three or more consecutive numbers as a range: 1 to 6, 8 and 11."""
    parts: list[int | Message] = []
    for run in np.split(k, np.flatnonzero(np.diff(k) > 1) + 1):
        if len(run) > 2:
            parts.append(Message("range", low=int(run[0]), high=int(run[-1])))
        else:
            parts += map(int, run)
    return parts

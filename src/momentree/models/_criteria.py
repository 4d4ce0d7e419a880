"""What each criterion says about the number of components, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momentree.models._curves import Curves
from momentree.models._spectrum import Spectrum

__all__ = ["TRUST", "Verdict", "in_words", "together", "verdicts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

TRUST = ("completion", "spectrum", "bic", "coherence")
"""Criteria, the most trusted first."""
CERTAIN = 2.0
"""Standard errors beyond which a number of components is out of the interval."""
BIC_MARGIN = 10.0
"""Differences of BIC above it are called very strong evidence (Kass and Raftery 1995)."""
MOST = 0.9
"""The share of the gain over the fewest components that the reason names the price of."""


class Verdict(NamedTuple):
    """What a criterion says: a number of components and the ends of its interval."""

    n_components: int
    low: int
    high: int


def verdicts(names: tuple[str, ...], curves: Curves, found: Spectrum | None) -> dict[str, Verdict]:
    """Return what each criterion says, in the order of trust, where it says anything."""
    k = curves.candidates
    said = {
        "completion": _best(k, curves.completion, curves.completion_error),
        "spectrum": _directions(k, found),
        "bic": _best(k, -curves.bic, np.full(len(k), BIC_MARGIN / CERTAIN), ties=0.0),
        "coherence": _coherent(k, curves.npmi, curves.npmi_error),
    }
    return {name: v for name in TRUST if name in names and (v := said[name]) is not None}


def together(said: Mapping[str, Verdict]) -> Verdict:
    """Return what criteria say together.

    The most trusted one decides. The spectrum, which has no fits to go wrong, chooses fewer among
    those that completion leaves open: some fits split a topic by luck. The interval reaches down to
    what the spectrum says.
    """
    found = next(iter(said.values()))
    bound = said["spectrum"].high if "spectrum" in said else found.high
    k, low, high = found
    return Verdict(max(low, min(k, bound)), min(low, bound), high)


def _best(k: Ints, scores: Floats, errors: Floats, ties: float = 1.0) -> Verdict | None:
    """Return the fewest components within one standard error of the best; within two, the ends."""
    if not np.isfinite(scores).any():
        return None
    behind = np.nanmax(scores) - np.where(np.isfinite(scores), scores, -np.inf)
    errors = np.where(np.isfinite(errors), errors, 0.0)
    close, likely = k[behind <= ties * errors], k[behind <= CERTAIN * errors]
    return Verdict(int(close[0]), int(likely[0]), int(likely[-1]))


def _coherent(k: Ints, scores: Floats, errors: Floats) -> Verdict | None:
    # One topic, of the frequent words of all documents, takes no part unless it is alone.
    scores = np.where((k > 1) | (k[-1] == 1), scores, np.nan)
    if not np.isfinite(scores).any():
        return None
    error = errors[int(np.nanargmax(scores))]
    return _best(k, scores, np.full(len(k), error))


def _directions(k: Ints, found: Spectrum | None) -> Verdict | None:
    """Return the largest candidates that are not above the number of directions."""
    if found is None or not len(found.eigenvalues):
        return None
    at = np.searchsorted(k, found.interval, side="right") - 1
    return Verdict(*(int(k[max(0, i)]) for i in at))


def in_words(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    """Say why the answer is what it is, and which criteria say otherwise."""
    if not said:
        return f"{_components(answer.n_components)}: the samples cannot be told apart."
    tell = {
        "completion": _completion_told,
        "spectrum": _spectrum_told,
        "bic": _bic_told,
        "coherence": _coherence_told,
    }
    told = [sentence for name in said if (sentence := tell[name](answer, said, curves))]
    return f"{_components(answer.n_components)}. " + " ".join(told)


def _completion_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    k, scores = curves.candidates, curves.completion
    verdict = said["completion"]
    best = int(k[np.nanargmax(scores)])
    text = (
        f"Half of the words of a document that was left out tells the other half best with {best}"
    )
    if verdict.n_components < best:
        text += f"; {verdict.n_components} is the fewest within one standard error of it"
    text += "."
    gain = scores - scores[np.isfinite(scores)][0]
    at = int(np.searchsorted(k, answer.n_components))
    enough = k[np.isfinite(scores) & (gain >= MOST * gain[at])]
    if len(enough) and enough[0] < answer.n_components and gain[at] > 0:
        text += f" {enough[0]} give {MOST:.0%} of what {answer.n_components} gain over {k[0]}."
    return text + _at_the_end(verdict.high, curves)


def _spectrum_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    k, low, high = said["spectrum"]
    if k == curves.candidates[-1] > 1:
        return f"Halves of the samples agree on {k} directions or more, which is no bound."
    directions = "direction" if low == high == 1 else "directions"
    text = f"Halves of the samples agree on {_range(k, low, high)} {directions}"
    asked = said["completion"].n_components if "completion" in said else answer.n_components
    if asked > answer.n_components:
        return text + f": {answer.n_components} is the nearest that completion leaves open."
    if asked > high:
        return text + ": completion leaves none so small open."
    if answer.n_components < low:
        return text + ", which is more: some components may be merged."
    return text + "."


def _bic_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:  # noqa: ARG001
    k, low, high = said["bic"]
    if low <= answer.n_components <= high:
        return "BIC agrees." if len(said) > 1 else "BIC is lowest there."
    why = " (it charges for every word of every component: too few where words are many)"
    return f"BIC says {k}{why if k < answer.n_components else ''}."


def _coherence_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    _, low, high = said["coherence"]
    if low == high == answer.n_components:
        return "Coherence of words agrees."
    if low <= answer.n_components <= high:
        return f"Coherence of words cannot tell {low} to {high} apart."
    several = np.where(curves.candidates > 1, curves.npmi, -np.inf)
    return f"Coherence of words is highest with {curves.candidates[np.nanargmax(several)]}."


def _at_the_end(high: int, curves: Curves) -> str:
    last = int(curves.candidates[-1])
    if high < last or len(curves.candidates) == 1:
        return ""
    return f" {last} was the most that was tried: more may be better."


def _range(k: int, low: int, high: int) -> str:
    return str(k) if low == high else f"{k} ({low} to {high})"


def _components(k: int) -> str:
    return f"{k} component" + ("" if k == 1 else "s")

"""What each criterion says about the number of components, and what they say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from momentree.models._curves import Curves
from momentree.models._spectrum import Spectrum

__all__ = ["Verdict", "in_words", "together", "verdicts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

CERTAIN = 2.0
"""Standard errors beyond which a number of components is out of the interval."""
BIC_MARGIN = 10.0
"""Differences of BIC above it are called very strong evidence (Kass and Raftery 1995)."""
MOST = 0.9
"""The share of the gain over the fewest topics that the reason names the price of."""
TINY = 1e-300
ONE_HALF = "One half of the documents confirms"
GUESSING = "Guessing hidden words of a document from its other words"


class Verdict(NamedTuple):
    """What a criterion says: a number of components and the ends of its interval."""

    n_components: int
    low: int
    high: int


def verdicts(
    names: Sequence[str], curves: Curves, found: Spectrum | None, *, between: bool
) -> dict[str, Verdict]:
    """Return what each criterion says, the one that decides first, where it says anything.

    Parameters
    ----------
    names : sequence of str
        Criteria, the most trusted first.
    curves : Curves
        Of the candidates.
    found : Spectrum or None
        Of as many directions as the largest candidate.
    between : bool
        Whether the answer may be between candidates: the spectrum then names any number, and
        intervals reach to the next candidate that is ruled out.

    Returns
    -------
    dict
        In the order of trust; but a spectrum that goes on to the largest candidate bounds nothing,
        and decides only where completion says nothing.
    """
    k = curves.candidates
    whole = np.arange(k[0], k[-1] + 1) if between else k
    fitted = {
        "completion": _best(k, curves.completion, curves.completion_error),
        "bic": _best(k, -curves.bic, np.full(len(k), BIC_MARGIN / CERTAIN), ties=0.0),
        "coherence": _coherent(k, curves.npmi, curves.npmi_error),
    }
    said = {name: v and _with_gaps(v, k, whole) for name, v in fitted.items()}
    said["spectrum"] = _directions(whole, found)
    order = list(names)
    if said["spectrum"] and said["spectrum"].n_components == k[-1]:
        order.sort(key=lambda name: name != "completion")
    return {name: v for name in order if (v := said[name]) is not None}


def together(said: Mapping[str, Verdict]) -> Verdict:
    """Return what criteria say together.

    The first one decides. If it is completion, the spectrum, which has no fits to go wrong, chooses
    fewer among those that it leaves open: some fits split a topic by luck. The interval reaches
    down to what the spectrum says.
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


def _with_gaps(said: Verdict, k: Ints, whole: Ints) -> Verdict:
    """Let an interval of candidates reach to the numbers between them that nobody has tried."""
    below, above = k[k < said.low], k[k > said.high]
    low = int(whole[whole > below[-1]][0]) if len(below) else said.low
    high = int(whole[whole < above[0]][-1]) if len(above) else said.high
    return Verdict(said.n_components, low, high)


def _coherent(k: Ints, scores: Floats, errors: Floats) -> Verdict | None:
    # One topic, of the frequent words of all documents, takes no part unless it is alone.
    scores = np.where((k > 1) | (k[-1] == 1), scores, np.nan)
    if not np.isfinite(scores).any():
        return None
    error = errors[int(np.nanargmax(scores))]
    return _best(k, scores, np.full(len(k), error))


def _directions(k: Ints, found: Spectrum | None) -> Verdict | None:
    """Return the largest of some numbers that are not above the number of directions."""
    if found is None or not len(found.eigenvalues):
        return None
    at = np.searchsorted(k, found.interval, side="right") - 1
    return Verdict(*(int(k[max(0, i)]) for i in at))


def in_words(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    """Say why the answer is what it is, and which criteria say otherwise, one fact a sentence."""
    k, low, high = answer
    if not said:
        return f"{_topics(k)}. The documents cannot be told apart."
    tell = {
        "completion": _completion_told,
        "spectrum": _spectrum_told,
        "bic": _bic_told,
        "coherence": _coherence_told,
    }
    open_ = f" ({low} to {high} are possible)" if low < high else ""
    told = [f"{_topics(k)}{open_}.", *(tell[name](answer, said, curves) for name in said)]
    return " ".join(told)


def _completion_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    if next(iter(said)) == "completion":
        return " ".join(_completion_decides(answer, said["completion"], curves))
    k, low, high = said["completion"]
    if low <= answer.n_components <= high:
        return f"{GUESSING} agrees."
    if k < answer.n_components:
        return f"{GUESSING} is best with {_topics(k)} already."
    gain = _gain(curves)
    known = np.isfinite(gain)
    at = (answer.n_components, k)
    mine, most = np.interp(at, curves.candidates[known], gain[known])
    text = f"{GUESSING} goes on improving up to {_topics(k)}"
    if mine >= MOST * most:
        return f"{text}, but by little after {answer.n_components}."
    share = max(mine, 0.0) / max(most, TINY)
    return f"{text}. {_give(answer.n_components)} about {share:.0%} of that gain."


def _completion_decides(answer: Verdict, said: Verdict, curves: Curves) -> Iterator[str]:
    k, gain = curves.candidates, _gain(curves)
    best = int(k[np.nanargmax(gain)])
    yield f"{GUESSING} works best with {_topics(best)}."
    if said.n_components < best:
        yield f"With {said.n_components} it works as well within the error."
    at = int(np.searchsorted(k, answer.n_components))
    enough = k[np.isfinite(gain) & (gain >= MOST * gain[at])]
    if len(enough) and enough[0] < answer.n_components and gain[at] > 0:
        first = k[np.isfinite(gain)][0]
        yield (
            f"{_give(int(enough[0]))} {MOST:.0%} of what {answer.n_components} gain over {first}."
        )
    if said.high == k[-1] and len(k) > 1:
        yield f"More than {_topics(int(k[-1]))} may be better, but were not tried."
    if len(k) > 1 and (np.diff(k) > 1).any():
        yield f"The numbers that were tried are {_runs(k)}."


def _gain(curves: Curves) -> Floats:
    values = curves.completion
    return np.asarray(values - values[np.isfinite(values)][0])


def _spectrum_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    k, low, high = said["spectrum"]
    if k == curves.candidates[-1] > 1:
        text = f"{ONE_HALF} all {k} directions found in the other half, one for each topic."
        return f"{text} There may be more."
    decides = next(iter(said)) == "spectrum"
    shown = str(k) if decides else _range(k, low, high)
    directions = "direction" if shown == "1" else "directions"
    text = f"{ONE_HALF} {shown} {directions} found in the other half, one for each topic."
    asked = said["completion"].n_components if "completion" in said else answer.n_components
    if decides or low <= answer.n_components <= asked <= high:
        return text
    if asked > answer.n_components:
        return f"{text} {_topics(answer.n_components)} are between the two."
    if asked > high:
        return f"{text} But with fewer than {_topics(asked)} hidden words are guessed worse."
    return f"{text} So some topics may be merged."


def _bic_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:  # noqa: ARG001
    k, low, high = said["bic"]
    if low <= answer.n_components <= high:
        return "BIC agrees." if len(said) > 1 else "BIC is lowest there."
    if k > answer.n_components:
        return f"BIC says {k}."
    return f"BIC says {k}: it charges for every word of every topic, too much where words are many."


def _coherence_told(answer: Verdict, said: Mapping[str, Verdict], curves: Curves) -> str:
    _, low, high = said["coherence"]
    text = "Coherence of the main words of topics"
    if low == high == answer.n_components:
        return f"{text} agrees." if len(said) > 1 else f"{text} is highest there."
    if low <= answer.n_components <= high:
        return f"{text} cannot tell {low} to {high} apart."
    several = np.where(curves.candidates > 1, curves.npmi, -np.inf)
    return f"{text} is highest with {curves.candidates[np.nanargmax(several)]}."


def _runs(k: Ints) -> str:
    """Write numbers with three or more in a row as a range: 1 to 6, 8 and 11."""
    parts = []
    for run in np.split(k, np.flatnonzero(np.diff(k) > 1) + 1):
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(i) for i in run]
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _range(k: int, low: int, high: int) -> str:
    return str(k) if low == high else f"{k} ({low} to {high})"


def _topics(k: int) -> str:
    return f"{k} topic" + ("" if k == 1 else "s")


def _give(k: int) -> str:
    return f"{_topics(k)} give" + ("s" if k == 1 else "")

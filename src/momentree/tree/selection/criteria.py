"""Choose the number of components by both criteria, combine them, and say why."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from momentree._types import Floats, Ints
from momentree.core.ties import largest
from momentree.messages import Message
from momentree.tree.selection.curves import Curves, Inner, Spectrum

_N_COMPONENTS_CHOSEN = "[n_components_chosen] {facts:sentences}"
_N_TOPICS = "[n_topics] {n:~topic}."

Criterion = Literal["completion", "spectrum"]
INTERVAL = 2.0
"""Half-width of intervals: numbers more standard errors than this below the best are excluded."""
TEXT = 0.2
"""Mean correlation of the known and the hidden words of documents of one topic above which topics
could be divided without end. It is near 0 in samples from a model once all topics are found, and
0.23 to 0.79 in twelve corpora of text at the best number of topics."""
ENDLESS = 24
"""Directions of the second moment beyond which the spectrum has no upper bound: of the 32 that are
computed, noise hides some."""
SAME = 0.995
"""Part of the gain that counts as all of it: a topic cut in two gains a little by chance."""
MOST = 0.9
ENOUGH = 0.8
"""Parts of the gain that the answer and the lower end of its interval achieve on such text."""


class Estimate(NamedTuple):
    """A number of components with its interval."""

    n_components: int
    low: int
    high: int


def estimates(
    curves: Curves, spectrum: Spectrum, inner: Inner, *, first: Criterion, between: bool
) -> dict[Criterion, Estimate]:
    """Return the estimate of each criterion that has one, beginning with the deciding criterion.

    The criterion `first` decides, or completion if the spectrum comes near the largest number of
    directions and so has no upper bound; then topics could be divided without end, as `inner` says
    of the fits. If they could, but the spectrum has a clear end beyond the answer of completion,
    then there are too few documents for fits to learn the directions that exist, and the spectrum
    decides. With `between`, the answer may lie between candidates: the spectrum may
    choose any number, and intervals extend to the next candidate that is ruled out.
    """
    k = curves.candidates
    whole = np.arange(k[0], k[-1] + 1) if between else k
    directions = _directions(whole, spectrum)
    endless = directions is not None and directions.n_components >= min(int(k[-1]), ENDLESS)
    text = inner.correlation >= TEXT or (endless and first == "spectrum")
    decides: Criterion = "completion" if endless else first
    completion = _completion(curves, inner, whole, text=text)
    few = directions is not None and directions.n_components <= ENDLESS // 2
    if text and few and completion and directions and directions > completion:
        decides = "spectrum"
    if completion and not text:
        completion = _with_gaps(completion, k, whole)
    both: dict[Criterion, Estimate | None] = {"completion": completion, "spectrum": directions}
    order = sorted(both, key=lambda name: name != decides)
    return {name: estimate for name in order if (estimate := both[name]) is not None}


def combine(found: Mapping[Criterion, Estimate]) -> Estimate:
    """Return the estimate of the deciding criterion, the first.

    Its interval extends to that of completion or the spectrum, which rest on different parts of the
    data, if the two overlap or nearly so: where they lie far apart, the data are not of the model.
    """
    first = next(iter(found.values()))
    low, high = first.low, first.high
    for other in found.values():
        if 0.5 * first.n_components <= other.n_components <= 1.5 * first.n_components:
            low, high = min(low, other.n_components), max(high, other.high)
    return Estimate(first.n_components, low, high)


def _completion(curves: Curves, inner: Inner, whole: Ints, *, text: bool) -> Estimate | None:
    """Return the number of topics by document completion.

    If the words of a document are independent given its topic, the documents could come from the
    best model, and its number of topics is the answer: the fewest that are as good, within one
    standard error or half a percent of the gain. Otherwise there are ever finer topics, and the
    best number grows with the number of documents; then the answer is the fewest topics with `MOST`
    of the gain.
    """
    k, scores = curves.candidates, curves.completion
    own = _best(k, scores, curves.completion_error)
    if own is None or own.n_components == k[0]:
        return own
    known = np.isfinite(scores)
    gain = scores[known] - scores[known][0]
    if not text:
        fewest = int(k[known][gain >= SAME * gain.max()][0])
        return Estimate(
            min(own.n_components, fewest), min(own.low, fewest), own.high + round(inner.divisible)
        )
    best = int(largest(gain))
    between = np.interp(whole, k[known][: best + 1], gain[: best + 1])
    most, enough = (int(whole[between >= part * gain[best]][0]) for part in (MOST, ENOUGH))
    return Estimate(most, enough, int(k[known][best]))


def _best(k: Ints, scores: Floats, errors: Floats) -> Estimate | None:
    """Return the fewest components within one standard error of the best; the interval uses two."""
    if not np.isfinite(scores).any():
        return None
    behind = np.nanmax(scores) - np.where(np.isfinite(scores), scores, -np.inf)
    errors = np.where(np.isfinite(errors), errors, 0.0)
    close, likely = k[behind <= errors], k[behind <= INTERVAL * errors]
    return Estimate(int(close[0]), int(likely[0]), int(likely[-1]))


def _with_gaps(one: Estimate, k: Ints, whole: Ints) -> Estimate:
    """Extend an interval of candidates to the numbers between them."""
    below, above = k[k < one.low], k[k > one.high]
    low = int(whole[whole > below[-1]][0]) if len(below) else one.low
    high = int(whole[whole < above[0]][-1]) if len(above) else one.high
    return Estimate(one.n_components, low, high)


def _directions(k: Ints, spectrum: Spectrum) -> Estimate | None:
    """Return the largest candidates that do not exceed the number of directions."""
    if not len(spectrum.eigenvalues):
        return None
    at = np.searchsorted(k, spectrum.interval, side="right") - 1
    return Estimate(*(int(k[max(0, i)]) for i in at))


CLOSE = 0.99
"""At least this fraction of the gain is as good as the best."""


def reason(answer: Estimate, found: Mapping[Criterion, Estimate], curves: Curves) -> Message:
    """Return the answer with its interval, then what each criterion says."""
    k, low, high = answer
    if not found:
        alike = Message("[documents_are_alike] The documents do not differ enough to form topics.")
        return Message(_N_COMPONENTS_CHOSEN, facts=(Message(_N_TOPICS, n=k), alike))
    wide = Message(
        "[n_topics_of] {n:~topic} ({low} to {high} are plausible).", n=k, low=low, high=high
    )
    decides = next(iter(found))
    facts = [wide if low < high else Message(_N_TOPICS, n=k)]
    for name, estimate in found.items():
        if name == "completion":
            facts += _about_completion(estimate, curves, decides=name == decides)
        else:
            facts.append(_about_spectrum(estimate, int(curves.candidates[-1])))
    return Message(_N_COMPONENTS_CHOSEN, facts=tuple(facts))


def _about_completion(found: Estimate, curves: Curves, *, decides: bool) -> Iterator[Message]:
    known = np.isfinite(curves.completion)
    k, gain = curves.candidates[known], curves.completion[known] - curves.completion[known][0]
    best = int(largest(gain))
    yield Message(
        "[completion_best] Document completion works best with {n:~topic}.", n=int(k[best])
    )
    if decides and found.n_components < k[best]:
        part = float(np.interp(found.n_components, k, gain)) / float(gain[best])
        yield Message(
            "[completion_as_good] It works as well with {n}, within one standard error."
            if part >= CLOSE
            else (
                "[topics_divisible] But these topics could be divided into ever finer ones; "
                "{n:~topic} {n:?achieves/achieve} {fraction:.0%} of the improvement."
            ),
            n=found.n_components,
            fraction=MOST,
        )
    if decides and found.high >= curves.candidates[-1] and len(k) > 1:
        yield Message(
            "[more_not_tried] More than {n:~topic} may be better, but were not tried.", n=int(k[-1])
        )


def _about_spectrum(found: Estimate, tried: int) -> Message:
    k, low, high = found
    if k == tried > 1:
        return Message(
            "[spectrum_supports_all] Cross-validation of the spectrum supports all {n:~topic} "
            "tried; there may be more.",
            n=k,
        )
    return Message(
        "[spectrum_supports] Cross-validation of the spectrum supports {n:~topic}."
        if low == high
        else (
            "[spectrum_supports_about] Cross-validation of the spectrum supports {n:~topic} ({low} "
            "to {high})."
        ),
        n=k,
        low=low,
        high=high,
    )

"""The diagnostics of a flat model in words, and as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree.report._fitted import FittedFlat
from momentree.report.documents import clean_text

__all__ = ["about", "advice", "diagnostics"]

_STARTS = {
    "tree": "It started from the leaves of a tree that the moments split step by step.",
    "tfidf": "It started from the raw moments of tf-idf rows, with no model of the words.",
    "single-topic": "It started from the topics of a model with one topic a document.",
    "moments": "It started from the moments of the model, taken apart into all topics at once.",
}


def about(model: FittedFlat, n_topics: int) -> str:
    """Return one sentence on what a model is.

    Parameters
    ----------
    model : FittedFlat
        A fitted model.
    n_topics : int
        Number of its topics.

    Returns
    -------
    str
        For readers who have never heard of it.
    """
    topics = f"{n_topics} topic{'' if n_topics == 1 else 's'}"
    name = type(model).__name__
    if hasattr(model, "alpha_"):
        return f"A topic model (latent Dirichlet allocation): each document mixes {topics}."
    if name == "SingleTopicModel":
        return f"A topic model (single topic): each document is about one of {topics}."
    return f"A mixture model ({name}): each document belongs to one of {topics}."


def diagnostics(model: FittedFlat) -> dict[str, Any]:
    """Say how a fit went, in words and in numbers.

    Parameters
    ----------
    model : FittedFlat
        A fitted model.

    Returns
    -------
    dict
        JSON-able: ``words``, sentences on how it went; ``advice``, sentences on what to mind in
        the result;
        ``values``, all of ``diagnostics_``.
    """
    found = model.diagnostics_
    words = [_STARTS[found["start"]]] if found.get("start") in _STARTS else []
    steps, refine = getattr(model, "n_iter_", None), model.get_params().get("refine")
    if refine and steps is not None:
        times = f"{steps} step{'' if steps == 1 else 's'}"
        name = "EM" if refine == "em" else f"The refinement ({refine})"
        end = "" if getattr(model, "converged_", True) else ", its limit, before it stood still"
        words.append(f"{name} then improved it in {times}{end}.")
    elif "refine" in model.get_params():
        words.append("No refinement followed: these are the answers of the moments alone.")
    if refine:
        # Of the decomposition: what the refinement made of it is another matter.
        words += [f"Before the refinement: {clean_text(str(s))}" for s in found.get("warnings", ())]
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        words.append(
            f"The total concentration is {float(alpha.sum()):.3g}: the smaller, the fewer topics "
            "has a document."
        )
    return {
        "words": words,
        "advice": advice(model),
        "values": {
            clean_text(key): _plain(value)
            for key, value in sorted(found.items())
            if key != "warnings"
        },
    }


def advice(model: FittedFlat) -> list[str]:
    """Return what to mind about the result of a fit.

    Parameters
    ----------
    model : FittedFlat
        A fitted model.

    Returns
    -------
    list of str
        Sentences, none where nothing is wrong.
    """
    found, params = model.diagnostics_, model.get_params()
    asked = params.get("n_components")
    sentences = []
    if not params.get("refine"):
        sentences = [clean_text(str(sentence)) for sentence in found.get("warnings", ())]
    if found.get("reason"):
        got = len(model.weights_)
        sentences.insert(0, f"{got} of {asked} topics were found: {clean_text(str(found['reason']))}.")
    return sentences


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it; numbers that are not finite become None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return clean_text(str(value))

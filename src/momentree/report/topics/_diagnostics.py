"""Describe a flat model and its diagnostics, in words and as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree.messages import Message
from momentree.report._estimators import FittedFlat
from momentree.report.text import clean_text, for_readers

_STARTS = {
    "tree": "The starting values came from the leaves of a tree, split step by step.",
    "tfidf": "The starting values came from the raw moments of tf-idf rows.",
    "single-topic": "The starting values were the topics of a single-topic model.",
    "moments": "The starting values came from the method of moments, all topics at once.",
}


def describe_model(model: FittedFlat, n_topics: int) -> str:
    """Return one sentence that explains the model to readers who do not know it."""
    topics = f"{n_topics} topic{'' if n_topics == 1 else 's'}"
    name = type(model).__name__
    if hasattr(model, "alpha_"):
        return f"A topic model (latent Dirichlet allocation): each document is a mix of {topics}."
    if name == "SingleTopicModel":
        return f"A topic model (single topic): each document is about one of {topics}."
    return f"A mixture model ({name}): each document belongs to one of {topics}."


def diagnostics(model: FittedFlat) -> dict[str, Any]:
    """Return the diagnostics of a fit: sentences (``words``, ``warnings``) and ``values``."""
    found, params = model.diagnostics_, model.get_params()
    refine, steps = params.get("refine"), getattr(model, "n_iter_", None)
    words = [_STARTS[found["start"]]] if found.get("start") in _STARTS else []
    warnings = [for_readers(message) for message in found.get("warnings", ())]
    if refine and steps is not None:
        times = f"{steps} iteration{'' if steps == 1 else 's'}"
        name = "EM" if refine == "em" else f"The refinement ({refine})"
        end = "converged after" if getattr(model, "converged_", True) else "did not converge in"
        words.append(f"{name} {end} {times}.")
    elif "refine" in params:
        words.append("There was no refinement: these are the estimates of the method of moments.")
    if refine:  # the warnings concern the initialization, not the result
        words += [f"Before refinement: {warning}" for warning in warnings]
        warnings = []
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        words.append(
            f"The total concentration is {float(alpha.sum()):.3g}; the smaller it is, the fewer "
            f"topics a document mixes."
        )
    if found.get("reason"):
        fewer = f"{len(model.weights_)} of {params.get('n_components')} topics were found"
        warnings.insert(0, f"{fewer}: {for_readers(found['reason'])}.")
    values = {key: value for key, value in sorted(found.items()) if key != "warnings"}
    return {"words": words, "warnings": warnings, "values": _plain(values)}


def _plain(value: Any) -> Any:
    """Return a value that JSON can represent; non-finite numbers become None."""
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
    return for_readers(value if isinstance(value, Message) else str(value))

"""Describe a flat model and its diagnostics, in words and as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentree.core.pages import counted
from momentree.messages import Message
from momentree.report._estimators import FittedFlat
from momentree.report.text import clean_text, for_readers

_STARTS = {
    "tree": Message("start_of_tree"),
    "tfidf": Message("start_of_tfidf"),
    "single-topic": Message("start_of_single_topic"),
    "moments": Message("start_of_moments"),
}


def describe_model(model: FittedFlat, n_topics: int) -> str:
    """Return one sentence that explains the model to readers who do not know it."""
    name = type(model).__name__
    if hasattr(model, "alpha_"):
        return for_readers(Message("about_lda", n_topics=n_topics))
    if name == "SingleTopicModel":
        return for_readers(Message("about_single_topic", n_topics=n_topics))
    return for_readers(Message("about_mixture", name=name, n_topics=n_topics))


def diagnostics(model: FittedFlat) -> dict[str, Any]:
    """Return the diagnostics of a fit: sentences (``words``, ``warnings``) and ``values``."""
    found, params = model.diagnostics_, model.get_params()
    refine, steps = params.get("refine"), getattr(model, "n_iter_", None)
    words = [_STARTS[found["start"]]] if found.get("start") in _STARTS else []
    warnings = list(found.get("warnings", ()))
    if refine and steps is not None:
        method = "EM" if refine == "em" else Message("refinement", method=refine)
        converged = getattr(model, "converged_", True)
        code = "refinement_converged" if converged else "refinement_not_converged"
        words.append(Message(code, method=method, n_iter=steps))
    elif "refine" in params:
        words.append(Message("no_refinement"))
    if refine:  # the warnings concern the initialization, not the result
        words += [Message("before_refinement", warning=warning) for warning in warnings]
        warnings = []
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        words.append(Message("total_concentration", alpha0=float(alpha.sum())))
    if reason := found.get("reason"):
        choice = getattr(model, "choice_", None)
        asked = params.get("n_components") if choice is None else choice.n_components
        warnings.insert(
            0, Message("fewer_topics", found=len(model.weights_), requested=asked, reason=reason)
        )
    sizes = counted(np.asarray(model.labels_), len(model.weights_))
    if sizes.any() and not sizes.all():
        warnings.append(Message("topics_without_documents", n_topics=int((sizes == 0).sum())))
    values = {key: value for key, value in sorted(found.items()) if key != "warnings"}
    return {
        "words": list(map(for_readers, words)),
        "warnings": list(map(for_readers, warnings)),
        "values": _plain(values),
    }


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

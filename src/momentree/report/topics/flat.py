"""Describe a flat model: diagnostics, relations of topics, and the choice of their number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import cosine_similarity

from momentree._types import Floats
from momentree.core.pages import counted
from momentree.messages import Message
from momentree.report.text import clean_text, for_readers

if TYPE_CHECKING:
    from momentree.tree.selection import ComponentChoice

_SIMILAR, _RELATED = 0.1, 0.05
"""Minimum strength of the relations shown."""
_STARTS = {
    "tree": Message(
        "[start_of_tree] The starting values came from the leaves of a tree, split step by step."
    ),
    "tfidf": Message(
        "[start_of_tfidf] The starting values came from the raw moments of tf-idf rows."
    ),
    "single-topic": Message(
        "[start_of_single_topic] The starting values were the topics of a single-topic model."
    ),
    "moments": Message(
        "[start_of_moments] The starting values came from the method of moments, all topics at "
        "once."
    ),
}


def describe_model(model: Any, n_topics: int) -> str:
    """Return one sentence that explains the model to readers who do not know it."""
    name = type(model).__name__
    if hasattr(model, "alpha_"):
        return for_readers(
            Message(
                "[about_lda] A topic model (latent Dirichlet allocation): each document is a mix "
                "of {n_topics:~topic}.",
                n_topics=n_topics,
            )
        )
    if name == "SingleTopicModel":
        return for_readers(
            Message(
                "[about_single_topic] A topic model (single topic): each document is about one of "
                "{n_topics:~topic}.",
                n_topics=n_topics,
            )
        )
    return for_readers(
        Message(
            "[about_mixture] A mixture model ({name}): each document belongs to one of "
            "{n_topics:~topic}.",
            name=name,
            n_topics=n_topics,
        )
    )


def diagnostics(model: Any) -> dict[str, Any]:
    """Return the diagnostics of a fit: sentences (``words``, ``warnings``) and ``values``."""
    facts, params = model.diagnostics_, model.get_params()
    refine, steps = params.get("refine"), getattr(model, "n_iter_", None)
    words = [_STARTS[facts["start"]]] if facts.get("start") in _STARTS else []
    warnings = list(facts.get("warnings", ()))
    if refine and steps is not None:
        method = (
            "EM"
            if refine == "em"
            else Message("[refinement] The refinement ({method})", method=refine)
        )
        converged = getattr(model, "converged_", True)
        code = (
            "[refinement_converged] {method} converged after {n_iter:~iteration}."
            if converged
            else "[refinement_not_converged] {method} did not converge in {n_iter:~iteration}."
        )
        words.append(Message(code, method=method, n_iter=steps))
    elif "refine" in params:
        words.append(
            Message(
                "[no_refinement] There was no refinement: these are the estimates of the method of "
                "moments."
            )
        )
    if refine:  # the warnings concern the initialization, not the result
        words += [
            Message("[before_refinement] Before refinement: {warning}", warning=warning)
            for warning in warnings
        ]
        warnings = []
    alpha = getattr(model, "alpha_", None)
    if alpha is not None:
        words.append(
            Message(
                "[total_concentration] The total concentration is {alpha0:.3g}; the smaller it is, "
                "the fewer topics a document mixes.",
                alpha0=float(alpha.sum()),
            )
        )
    if reason := facts.get("reason"):
        choice = getattr(model, "choice_", None)
        asked = params.get("n_components") if choice is None else choice.n_components
        warnings.insert(
            0,
            Message(
                "[fewer_topics] {found} of {requested} topics were found: {reason}.",
                found=len(model.weights_),
                requested=asked,
                reason=reason,
            ),
        )
    sizes = counted(np.asarray(model.labels_), len(model.weights_))
    if sizes.any() and not sizes.all():
        warnings.append(
            Message(
                "[topics_without_documents] {n_topics:~topic} {n_topics:?is/are} the main topic of "
                "no document; ask for fewer topics",
                n_topics=int((sizes == 0).sum()),
            )
        )
    values = {key: value for key, value in sorted(facts.items()) if key != "warnings"}
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


def relations(P: Floats, proportions: Floats | None) -> dict[str, Any]:
    """Measure how topics relate: by words P[word | topic] (k, d), and over the documents."""
    cosine = np.clip(cosine_similarity(P), 0.0, 1.0)
    correlation, together, apart = None, [], []
    if proportions is not None:
        correlation = _correlation(proportions)
        together = _pairs(correlation, correlation > _RELATED)
        apart = _pairs(-correlation, correlation < -_RELATED)
    return {
        "cosine": _rounded(cosine),
        "correlation": None if correlation is None else _rounded(correlation),
        "alike": _pairs(cosine, cosine > _SIMILAR),
        "together": together,
        "apart": [[i, j, -value] for i, j, value in apart],
    }


def _correlation(proportions: Floats) -> Floats:
    centered = proportions - proportions.mean(axis=0)
    norms = np.linalg.norm(centered, axis=0)
    # Proportions that differ only by rounding errors are constant.
    flat = norms <= 1e-9 * np.sqrt(len(proportions))
    unit = np.where(flat, 0.0, centered / np.where(flat, 1.0, norms))
    correlation = np.clip(unit.T @ unit, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _pairs(strength: Floats, wanted: NDArray[np.bool_]) -> list[list[float]]:
    first, second = np.triu_indices(len(strength), 1)
    value = np.round(strength[first, second], 3)
    order = np.argsort(-value, kind="stable")
    order = order[wanted[first, second][order]][:5]
    return [[int(first[i]), int(second[i]), float(value[i])] for i in order]


def _rounded(matrix: Floats) -> list[list[float]]:
    # Adding zero turns -0.0 into 0.0.
    values: list[list[float]] = (np.round(matrix, 2) + 0.0).tolist()
    return values


def describe_choice(choice: ComponentChoice | None) -> dict[str, Any] | None:
    """Return a choice as plain values; None if the number was given."""
    if choice is None:
        return None
    table = choice.table
    k, gain = table["n_components"].to_numpy(), table["completion"].to_numpy(dtype=np.float64)
    known = np.isfinite(gain)
    k, gain = k[known], gain[known]
    curve: list[list[float]] = []
    if len(gain) > 1 and gain.max() > gain[0]:
        fractions = (gain - gain[0]) / (gain.max() - gain[0])
        curve = [[int(n), round(float(part), 4)] for n, part in zip(k, fractions, strict=True)]
    return {
        "n_components": int(choice.n_components),
        "low": int(choice.interval[0]),
        "high": int(choice.interval[1]),
        "reason": for_readers(choice.reason),
        "curve": curve,
    }

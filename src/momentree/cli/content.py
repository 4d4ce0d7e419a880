"""The content of ``--json``: the parts of a summary that programs read, as plain values.

The report is made from the same summary, so that what it suppresses is absent here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from momentree.cli.tables import decimals
from momentree.metrics.words import word_probabilities

Summary = Mapping[str, Any]
N_CODES, N_WORDS = 20, 20
"""Codes of a group, and words of a topic."""


def picked(source: Summary, *names: str, **renamed: str) -> dict[str, Any]:
    """Return entries of a summary, some by another name: ``n_codes="n_features"``."""
    return {name: source[name] for name in names} | {
        name: source[old] for name, old in renamed.items()
    }


def leaves_of(summary: Summary) -> list[Summary]:
    """Return the leaves, topics, groups or states of a summary."""
    return [node for node in summary["nodes"] if node["leaf"] is not None]


def long_name(node: Summary) -> str:
    """Return the name of a group or state."""
    return " · ".join(node["long_name_parts"])


def long_names(summary: Summary) -> list[str]:
    """Return the names of groups or states, by their numbers."""
    names = {node["leaf"]: long_name(node) for node in leaves_of(summary)}
    return [names[j] for j in range(len(names))]


def tree_content(summary: Summary, model: Any) -> dict[str, Any]:
    """Return a tree of topics, nested."""
    return {
        **picked(summary, "title"),
        **_numbers_of_documents(summary),
        **picked(summary, "n_leaves", "agreement", "made", n_words="n_features"),
        "tree": model.to_dict(),
    }


def topics_content(summary: Summary, model: Any) -> dict[str, Any]:
    """Return flat topics with their words."""
    words = _top_words(model)
    content = {
        **picked(summary, "title", "about"),
        **_numbers_of_documents(summary),
        **picked(summary, "agreement", "made", "diagnostics", n_words="n_features"),
        "n_topics": summary["n_leaves"],
        "topics": [
            {
                **picked(node, "name", topic="leaf", n_documents="n_samples"),
                "share": _rounded(node["share"]),
                "weight": _rounded(model.weights_[node["leaf"]]),
                "words": words[node["leaf"]],
            }
            for node in leaves_of(summary)
        ],
    }
    if (alpha := getattr(model, "alpha_", None)) is not None:
        content["alpha"] = [_rounded(value) for value in alpha]  # by topic number
        content["alpha0"] = _rounded(alpha.sum())
    return content


def groups_content(summary: Summary, remarks: Sequence[str]) -> dict[str, Any]:
    """Return groups of records, by their codes or by their measurements."""
    measured = "features" in summary
    size = "n_features" if measured else "n_codes"
    return {
        "kind": "flat" if summary["kind"].endswith("flat") else "tree",
        **picked(summary, "title", "n_records", "n_left_out", **{size: "n_features"}),
        **picked(summary, "min_cell", "notes", "made", "quality", n_groups="n_leaves"),
        "remarks": list(remarks),
        **({"features": [_feature(one) for one in summary["features"]]} if measured else {}),
        "nodes": [
            {
                **picked(node, "id", "parent", "children", "size", "share", "share_interval"),
                "group": node["leaf"],
                "name": long_name(node),
                "n_records": node["n_samples"] if node["exact"] else None,
                **(_differences(summary, node) if measured else _codes_of_group(summary, node)),
            }
            for node in summary["nodes"]
        ],
        "outcomes": [
            {
                **picked(outcome, "name", "numbers"),
                "missing": known_counts(outcome["missing"]),
                "classes": [
                    {
                        "name": entry["name"],
                        "n_records": known_counts(entry["counts"]),
                        "n_all": known_counts([entry["total"]])[0],
                    }
                    for entry in outcome["classes"]
                ],
            }
            for outcome in summary["outcomes"]
        ],
        **picked(summary, "certainty", "corrected", "table_one"),
        "fits": summary["fits"] and summary["fits"]["numbers"],
    }


def states_content(summary: Summary, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the states of sequences, their codes and moves."""
    return {
        **picked(summary, "title", "n_sequences", "n_steps", "min_cell", "notes", "made"),
        **picked(summary, "startprob", "transmat", n_codes="n_features", n_states="n_leaves"),
        "remarks": list(remarks),
        "states": [
            {
                **picked(node, "share", "sequences", "stay", "next", state="leaf"),
                "name": long_name(node),
                "codes": _codes(summary, node, "probability", "share_of_all"),
            }
            for node in leaves_of(summary)
        ],
        **picked(summary, "areas", "paths", "certainty", "fits"),
    }


def known_counts(counts: Sequence[int]) -> list[int | None]:
    """Return counts by group, with None for suppressed ones."""
    return [count if count >= 0 else None for count in counts]


def _codes_of_group(summary: Summary, node: Summary) -> dict[str, Any]:
    codes = _codes(summary, node, "rate", "rate_of_all")[:N_CODES]
    return {"residual": node["residual"], "codes": codes}


def _codes(summary: Summary, node: Summary, here: str, of_all: str) -> list[dict[str, Any]]:
    codes = summary["codes"]
    return [
        {"code": codes["code"][j], "name": codes["name"][j], here: rate, of_all: codes["rate"][j]}
        for j, rate in zip(node["top"], node["top_rates"], strict=True)
    ]


def _feature(feature: Summary) -> dict[str, Any]:
    return {
        **picked(feature, "name", "kind", "unit", "separation", "numbers"),
        "missing": known_counts(feature["missing"]),
        "classes": [
            {"name": entry["name"], "n_records": known_counts(entry["counts"])}
            for entry in feature["classes"]
        ],
    }


def _differences(summary: Summary, node: Summary) -> dict[str, Any]:
    keys = ("here", "here_low", "here_high", "rest", "all", "d", "low", "high", "estimated")
    differences = []
    for entry in node["differences"]:
        feature = summary["features"][entry["feature"]]
        value = None if entry["class"] is None else feature["classes"][entry["class"]]["name"]
        value = feature["words"][1] if feature["binary"] else value
        differences.append({"feature": feature["name"], "value": value, **picked(entry, *keys)})
    return {"differences": differences}


def _numbers_of_documents(summary: Summary) -> dict[str, int]:
    """Return the numbers of documents, of passages if a document was cut, and of those left out."""
    n, left_out = summary["n_documents"], {"n_in_no_topic": summary["n_in_no_topic"]}
    if "passages_of" not in summary:
        return {"n_documents": n, **left_out}
    return {"n_documents": summary["passages_of"], "n_passages": n, **left_out}


def _top_words(model: Any) -> list[list[dict[str, Any]]]:
    """Return the most relevant words of each topic with their probabilities."""
    column = {str(word): j for j, word in enumerate(model.vocabulary_)}
    P = word_probabilities(model.components_)
    return [
        [{"word": word, "probability": _rounded(row[column[word]])} for word in words]
        for words, row in zip(model.top_words(N_WORDS), P, strict=True)
    ]


def _rounded(value: float) -> float:
    return float(decimals(value))

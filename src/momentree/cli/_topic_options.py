"""Which options of ``momentree topics`` go together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import typer

import momentree.cli._options as options
from momentree.core.choices import TopicModel
from momentree.exceptions import InvalidParameterError

_HERE = (
    *("memory", "embeddings", "vocabulary", "phrases", "passages", "order", "search"),
    *("label_column", "id_column", "unique", "encoding", "separator", "sheet", "skip_rows"),
    "header",
)
"""Options that need all documents on this machine."""


def read_model(
    values: Iterable[str], save: Path | None
) -> tuple[TopicModel | None, dict[str, Path | None]]:
    """Return the model named by ``--model``, and the file named by it or by ``--save``."""
    choices: tuple[TopicModel, ...] = get_args(TopicModel)
    kinds = [model for value in values for model in choices if model == value]
    files = [Path(value) for value in values if value not in choices]
    for file in files:
        if not file.suffix and len(file.parts) == 1:
            raise InvalidParameterError(
                "not_a_model", parameter="model", value=str(file), choices=list(choices)
            )
    if len(kinds) > 1:
        raise InvalidParameterError("two_models", parameter="model", names=kinds)
    if len(files) + (save is not None) > 1:
        raise InvalidParameterError("two_model_files")
    target = {"model": files[0]} if files else {"save": save}
    return (kinds[0] if kinds else None), dict(target)


def check_on_cluster(context: typer.Context, *, model: TopicModel | None) -> None:
    """Refuse options that need all documents on this machine."""
    for name in _HERE:
        if options.given(context, name) and context.params[name] not in ("none", "auto"):
            raise InvalidParameterError("not_with_scheduler", parameter=name)
    if options.given(context, "n_topics") and context.params["n_topics"] is None:
        raise InvalidParameterError("auto_on_cluster", parameter="n_topics")
    if model == "lda" and context.params["refine"]:
        raise InvalidParameterError("lda_on_cluster", parameter="refine", value=None)


def check_together(context: typer.Context, *, flat: bool, model: TopicModel | None) -> None:
    """Refuse options that would have no effect."""

    def refuse(code: str, *names: str) -> None:
        for name in names:
            if options.given(context, name):
                raise InvalidParameterError(code, parameter=name)

    log_scaling = context.params["log_scaling"]
    if context.params["memory"] is not None:
        refuse("not_with_memory", "embeddings", "phrases", "order")
        if options.given(context, "n_topics") and context.params["n_topics"] is None:
            raise InvalidParameterError("auto_with_memory", parameter="n_topics")
    if context.params["embeddings"] is not None:
        refuse("not_with_embeddings", "flat", "search", "log_scaling", "weighting")
        if context.params["passages"] not in (None, "auto"):
            refuse("passages_with_embeddings", "passages")
    if flat:
        refuse("applies_to_trees", "depth", "growth", "min_samples_leaf")
    else:
        refuse("applies_to_flat", "alpha0")
        if model is not None:
            raise InvalidParameterError("model_applies_to_flat", parameter="model", value=model)
    if context.params["output"] is None:
        refuse("applies_to_report", "order", "documents")
    if model != "lda":
        refuse("applies_to_lda", "alpha0")
        if flat and log_scaling == "log1p" and context.params["weighting"] == "three_words":
            raise InvalidParameterError("three_words_log_scaled")
    else:
        refuse("lda_not_searched", "search")
        if log_scaling != "none":
            refuse("lda_log_scaled", "log_scaling")

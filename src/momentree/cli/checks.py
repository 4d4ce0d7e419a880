"""Which options go together: refusals that need neither the input nor a library."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from momentree.cli.options import Options
from momentree.core.choices import TopicModel
from momentree.exceptions import InvalidParameterError

_APPLIES_TO_REPORT = (
    "[applies_to_report] {parameter} applies only to the report; add {parameters.output:FILE.html}"
)
_APPLIES_TO_CSV = (
    "[applies_to_csv] {parameter} applies only to the CSV table; add {parameters.csv:FILE.csv}"
)
_APPLIES_TO_TREES = (
    "[applies_to_trees] {parameter} applies only to trees; leave out {parameter} or "
    "{parameters.flat}"
)
_NOT_WITH_MEMORY = (
    "{parameter} needs all documents or records in memory; leave out {parameter} or "
    "{parameters.memory}"
)
_AUTO_WITH_MEMORY = (
    "{parameters.memory} does not allow {parameter:auto}, which fits many models; give a number, "
    "such as the one found for a sample"
)


_ON_THIS_MACHINE = (
    *("memory", "embeddings", "vocabulary", "phrases", "passages", "order", "search"),
    *("label_column", "id_column", "unique", "encoding", "separator", "sheet", "skip_rows"),
    "header",
)
"""Options that need all documents on this machine."""
_WHOLE_TABLE = ("join", "on", "sheet")
"""Options that need the whole table in memory."""
_WHOLE_RECORDS = (
    *("outcome", "covariate", "fits", "stability", "merge", "split", "include_records"),
    *_WHOLE_TABLE,
)
"""Options that need all records with codes in memory."""


def model_of(options: Options) -> tuple[TopicModel | None, Path | None]:
    """Return the model and the file that ``--model`` of ``topics`` names."""
    choices: tuple[TopicModel, ...] = get_args(TopicModel)
    values = options.model or ()
    kinds = [model for value in values for model in choices if model == value]
    files = [Path(value) for value in values if value not in choices]
    for file in files:
        if not file.suffix and len(file.parts) == 1:
            raise InvalidParameterError(
                "[not_a_model] {parameters.model:{value}}; expected {choices:or}, or a file name "
                "ending in .mt to save the model",
                value=str(file),
                choices=list(choices),
            )
    if len(kinds) > 1:
        raise InvalidParameterError(
            "[two_models] {parameters.model} names two models, {names:and}; give one", names=kinds
        )
    if len(files) + (options.save is not None) > 1:
        raise InvalidParameterError(
            "[two_model_files] two files were given for the model; give only one "
            "{parameters.save:FILE.mt} or {parameters.model:FILE.mt}"
        )
    return (kinds[0] if kinds else None), (files[0] if files else None)


def check_topics(options: Options) -> None:
    """Refuse options of ``topics`` that would have no effect."""
    model, _ = model_of(options)
    _check_memory(options)
    if options.memory is not None:
        if name := options.first_given("embeddings", "phrases", "order"):
            raise InvalidParameterError(_NOT_WITH_MEMORY, parameter=name)
        if options.n_topics is None and "n_topics" in options.given:
            raise InvalidParameterError(_AUTO_WITH_MEMORY, parameter="n_topics")
    if options.embeddings is not None:
        if name := options.first_given("flat", "search", "log_scaling", "weighting"):
            raise InvalidParameterError(
                "{parameter} has no effect on a tree of embeddings; leave out {parameter} or "
                "{parameters.embeddings}",
                parameter=name,
            )
        if options.passages not in (None, "auto"):
            raise InvalidParameterError(
                "passages have no embeddings of their own; leave out {parameters.passages} or "
                "{parameters.embeddings}"
            )
    if options.flat:
        if name := options.first_given("depth", "growth", "min_samples_leaf"):
            raise InvalidParameterError(_APPLIES_TO_TREES, parameter=name)
    elif "alpha0" in options.given:
        raise InvalidParameterError(
            "[applies_to_flat] {parameters.alpha0} applies only to flat topics; add "
            "{parameters.flat}"
        )
    elif model is not None:
        raise InvalidParameterError(
            "[model_applies_to_flat] {parameters.model:{value}} is a flat model; add "
            "{parameters.flat}",
            value=model,
        )
    if options.output is None and (name := options.first_given("order", "documents")):
        raise InvalidParameterError(_APPLIES_TO_REPORT, parameter=name)
    if options.csv is None and options.escape_formulas:
        raise InvalidParameterError(_APPLIES_TO_CSV, parameter="escape_formulas")
    _check_model(options, model)


def _check_model(options: Options, model: TopicModel | None) -> None:
    """Refuse options that a flat model of topics does not have."""
    if model == "lda":
        if "search" in options.given:
            raise InvalidParameterError(
                "[lda_not_searched] {parameters.model:lda} has its own starts; leave out "
                "{parameters.search}"
            )
        if options.log_scaling is not None and "log_scaling" in options.given:
            raise InvalidParameterError(
                "[lda_log_scaled] {parameters.model:lda} requires unscaled counts; leave out "
                "{parameters.log_scaling}"
            )
        return
    if "alpha0" in options.given:
        raise InvalidParameterError(
            "[applies_to_lda] {parameters.alpha0} applies only to lda; add {parameters.model:lda}, "
            "or leave it out"
        )
    three_words = options.weighting == "three_words"
    if options.flat and three_words and options.log_scaling == "log1p":
        raise InvalidParameterError(
            "[three_words_log_scaled] {parameters.weighting:three_words} requires unscaled counts; "
            "add {parameters.log_scaling:none}"
        )


def check_on_cluster(options: Options, model: TopicModel | None) -> None:
    """Refuse options that need all documents on this machine."""
    for name in _ON_THIS_MACHINE:
        if name in options.given and options.by_name[name] not in ("none", "auto"):
            raise InvalidParameterError(
                "{parameter} needs all documents on one machine; leave out {parameter}, or read "
                "the files without {parameters.scheduler} and patterns",
                parameter=name,
            )
    if options.n_topics is None and "n_topics" in options.given:
        raise InvalidParameterError(
            "{parameters.n_topics:auto} fits many models on one machine; with rows on a cluster, "
            "give a number, such as the one found for a sample of the documents"
        )
    if model == "lda" and options.refine:
        raise InvalidParameterError(
            "the EM of lda needs all documents on one machine; add {parameters.refine:=value}, or "
            "read the files without {parameters.scheduler} and patterns",
            value=None,
        )


def check_clusters(options: Options) -> None:
    """Refuse options of ``clusters`` that would have no effect."""
    _check_memory(options)
    if options.flat and "min_samples_leaf" in options.given:
        raise InvalidParameterError(_APPLIES_TO_TREES, parameter="min_samples_leaf")
    if options.output is None and options.include_records:
        raise InvalidParameterError(_APPLIES_TO_REPORT, parameter="include_records")
    if options.escape_formulas and not (options.csv or options.table_one or options.fits_table):
        raise InvalidParameterError(_APPLIES_TO_CSV, parameter="escape_formulas")
    if options.fits is None and options.fits_table is not None:
        raise InvalidParameterError(
            "[applies_to_fits] {parameters.fits_table} writes the table of fits; add "
            "{parameters.fits:2-10}, or leave it out"
        )


def check_in_parts(options: Options, *, measured: bool) -> None:
    """Refuse options that need all records in memory; measurements are those of a sample."""
    if name := options.first_given(*(_WHOLE_TABLE if measured else _WHOLE_RECORDS)):
        raise InvalidParameterError(_NOT_WITH_MEMORY, parameter=name)
    if options.groups is None and not measured:
        raise InvalidParameterError(_AUTO_WITH_MEMORY, parameter="groups")


def check_sequences(options: Options) -> None:
    """Refuse options of ``sequences`` that would have no effect."""
    if options.output is None and options.include_sequences:
        raise InvalidParameterError(_APPLIES_TO_REPORT, parameter="include_sequences")
    if options.escape_formulas and not (options.csv or options.sequence_csv):
        raise InvalidParameterError(_APPLIES_TO_CSV, parameter="escape_formulas")


def check_moments(options: Options) -> None:
    """Refuse a model beside a question, which names one, and reading what was read already."""
    if options.source.suffix == ".rows":
        reading = [option.name for option in options.table if option.reads]
        if name := options.first_given("model", "vocabulary", "keep", *reading):
            raise InvalidParameterError(
                "[rows_were_read] the rows in {path} were read and kept in an earlier round; leave "
                "out {parameter}",
                path=str(options.source),
                parameter=name,
            )
    if options.question is not None and "model" in options.given:
        raise InvalidParameterError(
            "[model_of_round] {parameters.model} belongs to the first round; {parameters.round} "
            "has the model"
        )


def check_merge(options: Options) -> None:
    """Refuse numbers of groups without a use, or without one, and those of lists for trees."""
    fits = options.next is not None or options.fit is not None
    name = options.first_given("leaves", "components")
    if name is not None and not fits:
        raise InvalidParameterError(
            "[components_of_next] {parameter} determines the next round and the model; add "
            "{parameters.next:FILE.mom} or {parameters.fit:FILE.mt}",
            parameter=name,
        )
    if fits and name is None:
        raise InvalidParameterError(
            "[components_needed] the next round depends on the number of components; add "
            "{parameters.components:6}, or {parameters.leaves:6} for a tree"
        )
    if options.leaves is not None and (other := options.first_given("components", "steps")):
        raise InvalidParameterError(
            "[flat_or_tree] {parameter} is for a flat list, and {parameters.leaves} for a tree",
            parameter=other,
        )


def _check_memory(options: Options) -> None:
    if options.resume and options.memory is None:
        raise InvalidParameterError(
            "{parameters.resume} continues a run with {parameters.memory}; add it, with the value "
            "of that run"
        )


def files_of_demo(options: Options) -> dict[str, Path]:
    """Return the report of ``demo``, and the table next to it that ``--records`` writes."""
    name = "momentree-demo-records.html" if options.records else "momentree-demo.html"
    output = options.output or Path(name)
    table = {"csv": output.with_suffix(".csv")} if options.records else {}
    return {"output": output, **table}

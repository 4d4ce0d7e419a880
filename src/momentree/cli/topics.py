"""``momentree topics``: documents in, topics out, as a tree or as a flat list."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from momentree.cli._options import (
    FITTING,
    READING_TEXT,
    WRITING,
    Encoding,
    EscapeFormulas,
    IdColumn,
    Model,
    Output,
    Quiet,
    Refine,
    Separator,
    TextColumn,
    Title,
    Verbose,
    Vocabulary,
    count_or_auto,
    count_or_fraction,
    given,
    input_path,
    positive_or_auto,
)
from momentree.cli._run import Run, check_needed
from momentree.exceptions import InvalidParameterError

__all__ = ["EXAMPLES", "topics"]

EXAMPLES = """
[bold]Examples[/bold]

A folder of text files, eight topics, a report:\n
  momentree topics letters/ --output letters.html

A table in Italian, its known labels compared with the topics:\n
  momentree topics news.csv --label-column section --language it

As many topics as the data support, and a model for new documents:\n
  momentree topics news.jsonl.gz --leaves auto --save news.mt

Every leaf split three times, from the moments alone:\n
  momentree topics counts.npz --growth depth --depth 3 --no-refine

Twelve topics that mix within documents, over the years:\n
  momentree topics speeches.csv --flat --model lda --components 12 --order year -o speeches.html
"""

Growth = Literal["best_first", "depth"]
LogScaling = Literal["log1p", "none"]
Weighting = Literal["length", "uniform", "three_words"]

WORDS = "Counting words"
TREE = "Growing the tree"
FLAT = "Flat topics, without a tree"


def topics(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            parser=input_path,
            help="A folder of text files; a CSV, TSV, JSON Lines or Parquet file; or word counts: "
            "UCI bag-of-words, SciPy .npz, Matrix Market, SVMlight.",
        ),
    ],
    leaves: Annotated[
        int | None,
        typer.Option(
            "--leaves",
            "-k",
            metavar="N|auto",
            parser=count_or_auto,
            help="Number of leaves. With auto, the BIC decides.",
            rich_help_panel=TREE,
        ),
    ] = 8,
    depth: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Maximum depth of the tree.", rich_help_panel=TREE),
    ] = None,
    growth: Annotated[
        Growth,
        typer.Option(
            help="best_first splits the leaf that gains most; depth splits every leaf down to "
            "--depth.",
            rich_help_panel=TREE,
        ),
    ] = "best_first",
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Minimum number of documents in a leaf.", rich_help_panel=TREE
        ),
    ] = 5,
    flat: Annotated[
        bool,
        typer.Option("--flat", help="Find a flat list of topics, no tree.", rich_help_panel=FLAT),
    ] = False,
    components: Annotated[
        int | None,
        typer.Option(
            metavar="K|auto",
            parser=count_or_auto,
            help="Number of topics. With auto, cross-validation with default settings decides.",
            rich_help_panel=FLAT,
        ),
    ] = 8,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE.mt",
            help="single-topic: one topic a document; lda: documents mix topics. A file name means "
            "--save. Repeatable, once for each.",
            show_default="single-topic",
            rich_help_panel=FLAT,
        ),
    ] = None,
    alpha0: Annotated[
        float | None,
        typer.Option(
            metavar="A|auto",
            parser=positive_or_auto,
            help="Total concentration of lda where the moments start: the smaller, the fewer "
            "topics a document has. EM then estimates it.",
            show_default="auto",
            rich_help_panel=FLAT,
        ),
    ] = None,
    refine: Refine = True,
    log_scaling: Annotated[
        LogScaling,
        typer.Option(
            help="Replace each count x by log(1 + x), so that repeated words weigh less.",
            rich_help_panel=FITTING,
        ),
    ] = "log1p",
    weighting: Annotated[
        Weighting,
        typer.Option(
            help="Weight of documents in the moments. three_words requires --log-scaling none.",
            rich_help_panel=FITTING,
        ),
    ] = "length",
    id_column: IdColumn = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    text_column: TextColumn = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column with known labels, to compare with the topics.",
            rich_help_panel=READING_TEXT,
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            metavar="NAME|input",
            help="Column with numbers or dates that orders the documents in the chart of topic "
            "proportions.",
            rich_help_panel=READING_TEXT,
        ),
    ] = "input",
    vocabulary: Vocabulary = None,
    language: Annotated[
        str,
        typer.Option(
            metavar="CODE",
            help="Language whose stop words are left out; none keeps all words.",
            rich_help_panel=WORDS,
        ),
    ] = "en",
    stop_words: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=input_path,
            help="More words to leave out, one a line.",
            rich_help_panel=WORDS,
        ),
    ] = None,
    min_df: Annotated[
        float | None,
        typer.Option(
            metavar="N|FRACTION",
            parser=count_or_fraction,
            help="Leave out words in fewer documents than this number, or fraction (0.01).",
            show_default="5, or 2 below 1,000 documents",
            rich_help_panel=WORDS,
        ),
    ] = None,
    max_df: Annotated[
        float | None,
        typer.Option(
            metavar="N|FRACTION",
            parser=count_or_fraction,
            help="Leave out words in more documents than this number, or fraction.",
            show_default="0.5",
            rich_help_panel=WORDS,
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Keep only this many words, the most frequent.",
            show_default="20000",
            rich_help_panel=WORDS,
        ),
    ] = None,
    token_pattern: Annotated[
        str | None,
        typer.Option(
            metavar="REGEX", help="Regular expression that matches a word.", rich_help_panel=WORDS
        ),
    ] = None,
    keep_case: Annotated[
        bool,
        typer.Option(
            "--keep-case", help="Keep capitals apart from small letters.", rich_help_panel=WORDS
        ),
    ] = False,
    output: Output = None,
    title: Title = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Table with the leaf or topic of each document.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="The tree, or the topics.", rich_help_panel=WRITING),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.mt", help="The model, for momentree assign.", rich_help_panel=WRITING
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the topics of documents and draw them: a tree, or with --flat a list.

    All files are written together at the end; after an error, none is.
    """
    kind, target = _read_model(model or (), save)
    _check_together(context, flat=flat, model=kind)
    check_needed(context, "escape_formulas", needs="csv", code="applies_to_csv")
    run = Run(
        context,
        inputs=(source, vocabulary, stop_words),
        outputs={"output": output, "csv": csv, "json": json, **target},
        escape_formulas=escape_formulas,
        quiet=quiet,
        verbose=verbose,
    )
    with run.stage(f"reading {source.name or source}"):
        from momentree import readers
        from momentree.cli import _topics

        places: Any = None
        table: dict[str, Any] = {
            "text_column": text_column,
            "encoding": encoding,
            "separator": separator,
        }
        if order != "input":
            places = _topics.read_order(source, order, **table)
        reading: dict[str, Any] = {
            **table,
            "label_column": label_column,
            "id_column": id_column,
            "vocabulary": vocabulary,
            "stop_words": stop_words,
            "min_df": min_df,
            "max_df": max_df,
            "max_features": max_features,
            "token_pattern": token_pattern,
        }
        corpus = readers.read_corpus(
            source,
            # What was not given keeps the defaults of the reader.
            **{name: value for name, value in reading.items() if value is not None},
            language=None if language.lower() == "none" else language,
            lowercase=not keep_case,
        )
    for message in corpus.notes:
        run.note(message)
    parameters: dict[str, Any] = {"refine": "em" if refine else None}
    scaling = None if log_scaling == "none" else log_scaling
    if flat:
        # A flat model has other defaults than a tree.
        if given(context, "weighting"):
            parameters["weighting"] = weighting
        if kind == "lda":
            parameters["alpha0"] = alpha0
        elif given(context, "log_scaling"):
            parameters["log_scaling"] = scaling
        result = _topics.fit_flat(
            run, corpus, kind or "single-topic", components, parameters, title=title, order=places
        )
    else:
        parameters |= {
            "max_leaf_nodes": leaves,
            "max_depth": depth,
            "min_samples_leaf": min_samples_leaf,
            "growth": growth,
            "log_scaling": scaling,
            "weighting": weighting,
        }
        result = _topics.grow_tree(run, corpus, parameters, title=title, order=places)
    run.finish(result)


def _read_model(
    values: Iterable[str], save: Path | None
) -> tuple[Model | None, dict[str, Path | None]]:
    """Return the model that ``--model`` names, and the file that it or ``--save`` names.

    Raises
    ------
    InvalidParameterError
        If a value is neither, or there are two of a kind.
    """
    choices: tuple[Model, ...] = get_args(Model)
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


def _check_together(context: typer.Context, *, flat: bool, model: Model | None) -> None:
    """Refuse options that would have no effect.

    Raises
    ------
    InvalidParameterError
        If an option is for the other kind of topics, or for another model.
    """

    def refuse(code: str, parameter: str) -> None:
        raise InvalidParameterError(code, parameter=parameter)

    scaled = context.params["log_scaling"] != "none"
    for name in ("leaves", "depth", "growth", "min_samples_leaf"):
        if flat and given(context, name):
            refuse("leaves_of_flat" if name == "leaves" else "applies_to_trees", name)
    for name in ("components", "alpha0"):
        if not flat and given(context, name):
            refuse("applies_to_flat", name)
    if model is not None and not flat:
        raise InvalidParameterError("model_applies_to_flat", parameter="model", value=model)
    if given(context, "order") and context.params["output"] is None:
        refuse("applies_to_report", "order")
    if model != "lda" and given(context, "alpha0"):
        refuse("applies_to_lda", "alpha0")
    if flat and model != "lda" and context.params["weighting"] == "three_words" and scaled:
        refuse("three_words_log_scaled", "weighting")
    if model == "lda" and given(context, "log_scaling") and scaled:
        refuse("lda_log_scaled", "log_scaling")

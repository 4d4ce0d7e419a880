"""``momentree topics``: documents in, topics out, as a tree or as a flat list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momentree.cli._choices import (
    Growth,
    LogScaling,
    Weighting,
    check_table,
    check_together,
    flat_parameters,
    parse_concentration,
    parse_leaves,
    parse_share,
    read_model_option,
)
from momentree.cli._guard import guarded
from momentree.cli._options import (
    READING,
    WRITING,
    EscapeFormulas,
    Output,
    Quiet,
    Separator,
    Title,
    Verbose,
    input_path,
)

if TYPE_CHECKING:
    from momentree.datasets import Corpus

__all__ = ["EXAMPLES", "topics"]

EXAMPLES = """
[bold]Examples[/bold]

A folder of text files, eight topics, a report:\n
  momentree topics letters/ --output letters.html

A table in Italian with known labels to compare with:\n
  momentree topics news.csv --label-column section --language it

As many topics as the data bear, and a model for new documents:\n
  momentree topics news.jsonl.gz --leaves auto --save news.mt

Every leaf split three times, by the moments alone:\n
  momentree topics counts.npz --growth depth --depth 3 --no-refine

Twelve topics that documents mix, no tree, and their shares over the years:\n
  momentree topics speeches.csv --flat --model lda --components 12 --order year -o speeches.html
"""

WORDS = "Counting words"
TREE = "Growing the tree"
FLAT = "Flat topics, without a tree"
FITTING = "Fitting"


@guarded()
def topics(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            parser=input_path,
            help="A folder of text files, a CSV, TSV, JSON Lines or Parquet file, or word counts: "
            "UCI bag-of-words, SciPy .npz, Matrix Market, SVMlight.",
        ),
    ],
    leaves: Annotated[
        int,
        typer.Option(
            "--leaves",
            "-k",
            metavar="N|auto",
            parser=parse_leaves,
            help="Number of leaves; auto lets a penalty on size decide.",
            rich_help_panel=TREE,
        ),
    ] = "8",  # type: ignore[assignment]
    depth: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Most splits from root to leaf.", rich_help_panel=TREE
        ),
    ] = None,
    growth: Annotated[
        Growth,
        typer.Option(
            help="best_first splits what gains most; depth splits all down to --depth.",
            rich_help_panel=TREE,
        ),
    ] = Growth.best_first,
    min_samples_leaf: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Fewest documents in a leaf.", rich_help_panel=TREE),
    ] = 5,
    flat: Annotated[
        bool,
        typer.Option("--flat", help="A flat list of topics, no tree.", rich_help_panel=FLAT),
    ] = False,
    components: Annotated[
        int,
        typer.Option(
            "--components",
            metavar="K|auto",
            parser=parse_leaves,
            help="Number of topics; auto lets the data choose, with the default settings.",
            rich_help_panel=FLAT,
        ),
    ] = "8",  # type: ignore[assignment]
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE.mt",
            help="single-topic (the default): one topic a document; lda: documents mix topics. "
            "A FILE.mt is taken as by --save; may be given twice, once for each.",
            rich_help_panel=FLAT,
        ),
    ] = None,
    alpha0: Annotated[
        float,
        typer.Option(
            metavar="A|auto",
            parser=parse_concentration,
            help="For lda, the total concentration where the moments start: the smaller, the fewer "
            "topics in a document. Refinement estimates it anew.",
            rich_help_panel=FLAT,
        ),
    ] = "auto",  # type: ignore[assignment]
    refine: Annotated[
        bool, typer.Option(help="Refine the moments' answer by EM.", rich_help_panel=FITTING)
    ] = True,
    log_scaling: Annotated[
        LogScaling, typer.Option(help="Damp large counts.", rich_help_panel=FITTING)
    ] = LogScaling.log1p,
    weighting: Annotated[
        Weighting,
        typer.Option(
            help="Weight of documents in the moments; three_words needs --log-scaling none.",
            rich_help_panel=FITTING,
        ),
    ] = Weighting.length,
    text_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column with the text (else guessed).", rich_help_panel=READING
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column with known labels, to compare the topics with.",
            rich_help_panel=READING,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column with names of documents.", rich_help_panel=READING
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            metavar="COLUMN|input",
            help="Column with numbers or dates, by which the chart of shares goes from left to "
            "right.",
            rich_help_panel=READING,
        ),
    ] = "input",
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of text files.", rich_help_panel=READING)
    ] = "utf-8",
    separator: Separator = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=input_path,
            help="Words of a matrix of counts, one a line.",
            rich_help_panel=READING,
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            metavar="CODE",
            help="Language of the stop words to leave out; none keeps all words.",
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
            metavar="N|SHARE",
            parser=parse_share,
            help="Leave out words in fewer documents than this number, or share with a point.",
            show_default="5, or 2 below 1,000 documents",
            rich_help_panel=WORDS,
        ),
    ] = None,
    max_df: Annotated[
        float | None,
        typer.Option(
            metavar="N|SHARE",
            parser=parse_share,
            help="Leave out words in more documents than this.",
            show_default="0.5",
            rich_help_panel=WORDS,
        ),
    ] = None,
    max_features: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Keep only this many of the most frequent words.",
            show_default="20000",
            rich_help_panel=WORDS,
        ),
    ] = None,
    token_pattern: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="What counts as a word.", rich_help_panel=WORDS),
    ] = None,
    keep_case: Annotated[
        bool,
        typer.Option("--keep-case", help="Do not lower-case words.", rich_help_panel=WORDS),
    ] = False,
    output: Output = None,
    title: Title = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Leaf or topic of each document.", rich_help_panel=WRITING
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="The tree or the topics.", rich_help_panel=WRITING),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.mt",
            help="The model, for momentree assign (also --model FILE.mt).",
            rich_help_panel=WRITING,
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find the topics of a pile of documents and draw them: a tree, or with --flat a list.

    Files are written whole or not at all, all together at the end.
    """
    from momentree.cli import _flat, _tree, _work
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress

    target = read_model_option(model or (), save)
    check_together(context, flat=flat, model=target.model)
    check_table(escape_formulas=escape_formulas, csv=csv)
    outputs = Outputs(path for path in (source, vocabulary, stop_words) if path is not None)
    outputs.add("--output", output, (".html", ".htm"))
    outputs.add("--csv", csv, (".csv",))
    outputs.add("--json", json, (".json",))
    outputs.add(target.option, target.path, (".mt",))
    progress = Progress(quiet=quiet, verbose=verbose)

    with progress.stage(f"reading {source.name or source}"):
        places = None
        if order != "input":
            places = _work.read_order(
                source, order, text_column=text_column, encoding=encoding, separator=separator
            )
        corpus = _read(
            source,
            text_column=text_column,
            label_column=label_column,
            id_column=id_column,
            encoding=encoding,
            separator=separator,
            vocabulary=vocabulary,
            language=None if language.lower() == "none" else language,
            stop_words=stop_words,
            min_df=min_df,
            max_df=max_df,
            max_features=max_features,
            token_pattern=token_pattern,
            lowercase=not keep_case,
        )
    for message in corpus.notes:
        _work.tell(str(message), quiet=quiet)
    job = _work.Job(
        corpus=corpus,
        title=title,
        order=places,
        escape_formulas=escape_formulas,
        outputs=outputs,
        save_option=target.option,
        progress=progress,
        quiet=quiet,
    )
    if flat:
        parameters = flat_parameters(
            context,
            target.model,
            refine=refine,
            log_scaling=log_scaling,
            weighting=weighting,
            alpha0=alpha0,
        )
        _flat.run(job, target.model or "single-topic", components, parameters)
        return
    parameters = {
        "max_leaf_nodes": leaves or None,
        "max_depth": depth,
        "min_samples_leaf": min_samples_leaf,
        "growth": growth.value,
        "refine": "em" if refine else None,
        "log_scaling": None if log_scaling is LogScaling.none else log_scaling.value,
        "weighting": weighting.value,
    }
    _tree.run(job, parameters)


def _read(source: Path, **options: Any) -> Corpus:
    from momentree.datasets import read_corpus

    # What was not given is left to the defaults of the reader.
    keep_none = {"language"}
    given = {k: v for k, v in options.items() if v is not None or k in keep_none}
    return read_corpus(source, **given)

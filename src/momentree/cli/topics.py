"""``momentree topics``: documents in, a tree of topics out."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momentree._version import __version__
from momentree.cli._guard import guarded

if TYPE_CHECKING:
    from momentree.datasets import Corpus
    from momentree.tree import TopicTree

__all__ = ["EXAMPLES", "topics"]

EXAMPLES = """
[bold]Examples[/bold]

A folder of text files, eight topics, a report:\n
  momentree topics letters/ --output letters.html

A table in Italian with known labels to compare with:\n
  momentree topics news.csv --label-column section --language it

As many topics as the data bear, and a model for new documents:\n
  momentree topics news.jsonl.gz --leaves auto --model news.mt

Every leaf split three times, by the moments alone:\n
  momentree topics counts.npz --growth depth --depth 3 --no-refine
"""

READING = "Reading"
WORDS = "Counting words"
TREE = "Growing the tree"
WRITING = "Output (existing files are replaced)"


class Growth(StrEnum):
    """How the tree grows."""

    best_first = "best_first"
    depth = "depth"


class Damping(StrEnum):
    """How counts are damped."""

    log1p = "log1p"
    none = "none"


class Weighting(StrEnum):
    """How documents are weighted in the moments."""

    length = "length"
    uniform = "uniform"
    three_words = "three_words"


def parse_leaves(value: str) -> int:
    """Read a number of leaves; ``auto`` is 0, as a command line option cannot be None."""
    if value == "auto":
        return 0
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        message = f"{value!r} is neither a number of at least 1 nor 'auto'."
        raise typer.BadParameter(message)
    return number


def parse_share(value: str) -> float:
    """Read a number of documents (an integer) or a share of them (a number with a point)."""
    message = f"{value!r} is neither a number of documents (5) nor a share of them (0.05)."
    try:
        number = float(value) if "." in value else int(value)
    except ValueError:
        raise typer.BadParameter(message) from None
    if number < 0 or (isinstance(number, float) and number > 1):
        raise typer.BadParameter(message)
    return number


@guarded()
def topics(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
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
    refine: Annotated[
        bool, typer.Option(help="Refine the moments' answer by EM.", rich_help_panel=TREE)
    ] = True,
    damping: Annotated[
        Damping, typer.Option(help="Damp large counts.", rich_help_panel=TREE)
    ] = Damping.log1p,
    weighting: Annotated[
        Weighting,
        typer.Option(
            help="Weight of documents in the moments; three_words needs --damping none.",
            rich_help_panel=TREE,
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
            help="Column with known labels, to compare the leaves with.",
            rich_help_panel=READING,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column with names of documents.", rich_help_panel=READING
        ),
    ] = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of text files.", rich_help_panel=READING)
    ] = "utf-8",
    separator: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="Between columns (else found).", rich_help_panel=READING),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Words of a matrix of counts, one a line.", rich_help_panel=READING
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
            metavar="FILE", help="More words to leave out, one a line.", rich_help_panel=WORDS
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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="The report, one page that needs no network.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Leaf of each document.", rich_help_panel=WRITING),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="The tree.", rich_help_panel=WRITING),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.mt", help="The model, for momentree assign.", rich_help_panel=WRITING
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print nothing.", rich_help_panel=WRITING)
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Log each step and its time on stderr.",
            rich_help_panel=WRITING,
        ),
    ] = False,
) -> None:
    """Grow a tree of topics from a pile of documents and draw it.

    Files are written whole or not at all, all together at the end.
    """
    from momentree.cli import _work
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress

    outputs = Outputs(path for path in (source, vocabulary, stop_words) if path is not None)
    outputs.add("--output", output, (".html", ".htm"))
    outputs.add("--csv", csv, (".csv",))
    outputs.add("--json", json, (".json",))
    outputs.add("--model", model, (".mt",))
    progress = Progress(quiet=quiet, verbose=verbose)

    with progress.stage(f"reading {source.name or source}"):
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
    for message in corpus.skipped:
        _work.tell(message, quiet=quiet)
    parameters = {
        "max_leaf_nodes": leaves or None,
        "max_depth": depth,
        "min_samples_leaf": min_samples_leaf,
        "growth": growth.value,
        "refine": "em" if refine else None,
        "damping": None if damping is Damping.none else damping.value,
        "weighting": weighting.value,
    }
    tree, took = _work.grow_tree(corpus, progress, parameters)
    summary = _work.summarize_tree(tree, corpus, progress, took=took, whole="--output" in outputs)
    with progress.stage("writing"), outputs.writing() as write:
        write("--output", lambda path: _write_report(path, summary))
        write("--csv", lambda path: _write_assignments(path, tree, corpus))
        write("--json", lambda path: _work.write_json(path, _json_content(tree, summary)))
        write("--model", lambda path: _save(path, tree, corpus))
    if not quiet:
        _work.show_tree(summary, took)
        _work.list_files(outputs)


def _read(source: Path, **options: Any) -> Corpus:
    from momentree.datasets import read_corpus

    # What was not given is left to the defaults of the reader.
    keep_none = {"language"}
    given = {k: v for k, v in options.items() if v is not None or k in keep_none}
    return read_corpus(source, **given)


def _write_report(path: Path, summary: dict[str, Any]) -> None:
    from momentree.report import write_html

    write_html(summary, path)


def _write_assignments(path: Path, tree: TopicTree, corpus: Corpus) -> None:
    from momentree.cli import _work

    rows = _work.assignments(tree, corpus.X)
    if corpus.labels is None:
        header: tuple[str, ...] = ("id", *_work.ASSIGNMENT_HEADER)
        columns: Iterable[tuple[str, ...]] = zip(corpus.ids, strict=True)
    else:
        header = ("id", "label", *_work.ASSIGNMENT_HEADER)
        columns = zip(corpus.ids, corpus.labels, strict=True)
    table = ((*known, *row) for known, row in zip(columns, rows, strict=True))
    _work.write_csv(path, header, table)


def _json_content(tree: TopicTree, summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": "momentree.tree",
        "momentree": __version__,
        "title": summary["title"],
        "n_documents": summary["n_documents"],
        "n_words": summary["n_features"],
        "n_leaves": summary["n_leaves"],
        "agreement": summary["agreement"],
        "made": summary["made"],
        "tree": tree.to_dict(),
    }


def _save(path: Path, tree: TopicTree, corpus: Corpus) -> None:
    config = None if corpus.vectorizer is None else corpus.vectorizer.to_dict()
    tree.save(path, vectorizer_config=config)

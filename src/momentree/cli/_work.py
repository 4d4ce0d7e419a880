"""What the commands share: fit, summarize, draw, write tables."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from momentree.cli._output import Outputs
from momentree.cli._progress import Progress, seconds
from momentree.cli._screen import one_line, printable, say, show
from momentree.cli._tables import Table
from momentree.cli._terminal import draw_topics, print_text, stdout_console
from momentree.exceptions import InvalidParameterError, ReadError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from momentree.datasets import Corpus
    from momentree.models._base import FlatModel
    from momentree.tree import TopicTree

__all__ = [
    "Job",
    "assignments",
    "decimals",
    "grow_tree",
    "list_files",
    "read_order",
    "save",
    "show_topics",
    "summarize_model",
    "tell",
    "wrapped",
    "write_assignments",
    "write_json",
    "write_report",
]

# Smaller probabilities are noise of the arithmetic.
_LEAST = 1e-6


@dataclass(frozen=True)
class Job:
    """What a command works on, and where its answer goes.

    Parameters
    ----------
    corpus : Corpus
        The documents.
    title : str or None
        Heading of what is shown; the name of the input by default.
    order : Series or None
        By what they stand in the chart of shares.
    escape_formulas : bool
        Whether the table of documents is safe to open in a spreadsheet.
    outputs : Outputs
        The files.
    save_option : str
        The option that names the file of the model.
    progress : Progress
        Tells what is done.
    quiet : bool
        Print nothing.
    """

    corpus: Corpus
    title: str | None
    order: pd.Series[Any] | None
    escape_formulas: bool
    outputs: Outputs
    save_option: str
    progress: Progress
    quiet: bool


def tell(message: str, *, quiet: bool) -> None:
    """Note something on stderr that the user should know but that stops nothing."""
    if not quiet:
        say(f"momentree: note: {one_line(message)}")


def grow_tree(
    corpus: Corpus, progress: Progress, parameters: Mapping[str, Any]
) -> tuple[TopicTree, float]:
    """Fit a tree to a corpus; return it with the seconds that took."""
    with progress.stage("growing the tree"):
        from momentree.tree import TopicTree

        start = time.perf_counter()
        tree = TopicTree(**parameters).fit(corpus.X, feature_names=corpus.vocabulary)
        return tree, time.perf_counter() - start


def read_order(source: Path, column: str, **options: Any) -> pd.Series[Any]:
    """Read the column of a table that puts documents in order.

    Raises
    ------
    MomentreeError
        If there is no such column, or it holds neither numbers nor dates.
    """
    import pandas as pd

    from momentree import datasets
    from momentree.report.topics import sort_documents

    if source.is_dir() or datasets.holds_counts(source):
        message = f"--order {column} names a column, and {source} has none: leave it out."
        raise InvalidParameterError(message)
    try:
        # Read as labels are: one value a row, "" where there is none.
        documents = datasets.read_documents(source, label_column=column, **options)
    except ReadError as error:
        raise ReadError(str(error).replace("for the label", "for --order")) from error
    values = pd.Series(documents.labels, name=column, dtype=object)
    sort_documents(values, len(values))  # before the work, not after it
    return values


def summarize_model(
    model: TopicTree | FlatModel,
    corpus: Corpus,
    progress: Progress,
    *,
    took: float,
    whole: bool,
    title: str | None = None,
    order: pd.Series[Any] | None = None,
    shares: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Summarize a model: all of it for a report, or only what a drawing shows."""
    with progress.stage("summarizing"):
        from momentree.report import summarize

        return summarize(
            model,
            corpus.X if whole else None,
            ids=corpus.ids if whole else None,
            texts=corpus.texts if whole else None,
            labels=_known_labels(corpus),
            order=order if whole else None,
            topic_proportions=shares,
            title=title or corpus.name,
            made_with=_made_with(corpus, took),
        )


def _known_labels(corpus: Corpus) -> list[Any] | None:
    # An empty label says that the label is not known; a report knows that as None.
    return None if corpus.labels is None else [label or None for label in corpus.labels]


def _made_with(corpus: Corpus, took: float) -> dict[str, object]:
    notes: dict[str, object] = {"input": corpus.name}
    if corpus.vectorizer is not None:
        settings = corpus.vectorizer.to_dict()
        for name in ("language", "min_df", "max_df", "max_features", "lowercase"):
            if settings.get(name) is not None:
                notes[name.replace("_", " ")] = settings[name]
    notes["time to fit"] = seconds(took)
    return notes


def show_topics(summary: Mapping[str, Any], took: float, remarks: Iterable[str] = ()) -> None:
    """Print the drawing of a tree or of flat topics with lines above and below it."""
    console = stdout_console()
    text = Text()
    n, one, many = summary["n_leaves"], "leaf", "leaves"
    if summary["kind"] == "flat":
        one, many = "topic", "topics"
    text.append(one_line(summary["title"]), style="bold")
    text.append(
        f": {summary['n_documents']:,} documents, {summary['n_features']:,} words, "
        f"{n} {one if n == 1 else many}, {seconds(took)}\n\n"
    )
    text.append_text(draw_topics(summary, console))
    reason = summary["nodes"][0]["reason"]
    if n == 1 and reason:
        text.append(f"\nNot split: {reason}\n", style="dim")
    agreement = summary["agreement"]
    if agreement is not None:
        text.append(
            f"\nAgreement of {many} and labels: NMI {agreement['nmi']:.3f}, "
            f"ARI {agreement['ari']:.3f}\n",
        )
    for remark in remarks:
        text.append("\n").append_text(wrapped(Text(remark, style="dim"), console)).append("\n")
    print_text(console, text)


def wrapped(text: Text, console: Console) -> Text:
    """Return a text in lines no wider than a console."""
    lines = text.wrap(console, console.width)
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def list_files(outputs: Outputs) -> None:
    """Say which files were written."""
    if outputs.paths:
        show("\nWrote " + ", ".join(map(printable, outputs.paths)) + "\n")


def decimals(value: float) -> str:
    """Write a share or probability with at most six digits that say something."""
    return f"{value:.6g}" if value >= _LEAST else "0"


def assignments(
    model: TopicTree | FlatModel, X: Any, proba: NDArray[np.float64] | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return a header, and for each document where it belongs, with probabilities as text.

    What ``predict_proba(X)`` returns may be given where it is known already.
    """
    proba = model.predict_proba(X) if proba is None else proba
    # Inference is the long part of a flat model: it runs once.
    places = model.predict(X) if hasattr(model, "tree_") else proba.argmax(axis=1)
    best = [decimals(p[j]) for j, p in zip(places, proba, strict=True)]
    if hasattr(model, "tree_"):
        names = [leaf.name for leaf in model.leaves_]
        rows = [(int(j), names[j], p) for j, p in zip(places, best, strict=True)]
        return ["leaf", "name", "probability"], rows
    from momentree.report.topics import topic_names

    names = topic_names(model)
    header = ["topic", "name", "probability", *(f"topic_{j}" for j in range(len(names)))]
    return header, [
        (int(j), names[j], p, *map(decimals, row))
        for j, p, row in zip(places, best, proba, strict=True)
    ]


def write_assignments(
    path: Path, model: TopicTree | FlatModel, job: Job, proba: NDArray[np.float64] | None = None
) -> None:
    """Write where each document belongs, with its id and known label, as a CSV file."""
    corpus = job.corpus
    header, rows = assignments(model, corpus.X, proba)
    known = [corpus.ids] if corpus.labels is None else [corpus.ids, corpus.labels]
    table = ((*values, *row) for *values, row in zip(*known, rows, strict=True))
    header = ["id", *["label"][: len(known) - 1], *header]
    Table(header, table, job.escape_formulas).write(path)


def write_report(path: Path, summary: Mapping[str, Any]) -> None:
    """Write the page of a summary."""
    from momentree.report import write_html

    write_html(summary, path)


def save(path: Path, model: TopicTree | FlatModel, corpus: Corpus) -> None:
    """Write a model with the way its words are counted."""
    config = None if corpus.vectorizer is None else corpus.vectorizer.to_dict()
    model.save(path, vectorizer_config=config)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values as JSON, in UTF-8."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")

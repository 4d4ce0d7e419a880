"""What the commands share: grow a tree, summarize it, draw it, write tables."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.text import Text

from momentree.cli._output import Outputs
from momentree.cli._progress import Progress, seconds
from momentree.cli._terminal import draw_tree, print_text, stdout_console

if TYPE_CHECKING:
    from momentree.datasets import Corpus
    from momentree.tree import TopicTree

__all__ = [
    "ASSIGNMENT_HEADER",
    "assignments",
    "grow_tree",
    "list_files",
    "print_csv",
    "show_tree",
    "summarize_tree",
    "tell",
    "write_csv",
    "write_json",
]

ASSIGNMENT_HEADER = ("leaf", "name", "probability")


def tell(message: str, *, quiet: bool) -> None:
    """Note something on stderr that the user should know but that stops nothing."""
    if not quiet:
        print(f"momentree: note: {' '.join(message.split())}", file=sys.stderr, flush=True)


def grow_tree(
    corpus: Corpus, progress: Progress, parameters: Mapping[str, Any]
) -> tuple[TopicTree, float]:
    """Fit a tree to a corpus; return it with the seconds that took."""
    with progress.stage("growing the tree"):
        from momentree.tree import TopicTree

        start = time.perf_counter()
        tree = TopicTree(**parameters).fit(corpus.X, feature_names=corpus.vocabulary)
        return tree, time.perf_counter() - start


def summarize_tree(
    tree: TopicTree, corpus: Corpus, progress: Progress, *, took: float, whole: bool
) -> dict[str, Any]:
    """Summarize a tree: all of it for a report, or only what a drawing shows."""
    with progress.stage("summarizing"):
        from momentree.report import summarize

        return summarize(
            tree,
            corpus.X if whole else None,
            ids=corpus.ids if whole else None,
            texts=corpus.texts if whole else None,
            labels=_known_labels(corpus),
            title=corpus.name,
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
    notes["time to grow the tree"] = seconds(took)
    return notes


def show_tree(summary: Mapping[str, Any], took: float) -> None:
    """Print the drawing of a tree with a line above and below it."""
    console = stdout_console()
    text = Text()
    n_leaves = summary["n_leaves"]
    text.append(str(summary["title"]), style="bold")
    text.append(
        f": {summary['n_documents']:,} documents, {summary['n_features']:,} words, "
        f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}, {seconds(took)}\n\n"
    )
    text.append_text(draw_tree(summary, console))
    if n_leaves == 1:
        text.append(f"\nNot split: {summary['nodes'][0]['reason']}\n", style="dim")
    agreement = summary["agreement"]
    if agreement is not None:
        text.append(
            f"\nAgreement of leaves and labels: NMI {agreement['nmi']:.3f}, "
            f"ARI {agreement['ari']:.3f}\n",
        )
    print_text(console, text)


def list_files(outputs: Outputs) -> None:
    """Say which files were written."""
    if outputs.paths:
        sys.stdout.write("\nWrote " + ", ".join(map(str, outputs.paths)) + "\n")


def assignments(tree: TopicTree, X: Any) -> list[tuple[int, str, str]]:
    """Return the leaf of each document, its name and its probability as text."""
    leaves = tree.predict(X)
    proba = tree.predict_proba(X)
    names = [leaf.name for leaf in tree.leaves_]
    return [
        (int(leaf), names[leaf], f"{p[leaf]:.6g}") for leaf, p in zip(leaves, proba, strict=True)
    ]


def print_csv(file: TextIO, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as CSV to an open file."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as a CSV file, in UTF-8."""
    with path.open("w", encoding="utf-8", newline="") as file:
        print_csv(file, header, rows)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values as JSON, in UTF-8."""
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")

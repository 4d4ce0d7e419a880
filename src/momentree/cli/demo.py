"""``momentree demo``: a tree of real text that every installation has, and its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momentree.cli._guard import guarded

__all__ = ["demo"]

DEMO_LEAVES = 12


@guarded()
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="Where the report goes.")
    ] = Path("momentree-demo.html"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log each step and its time on stderr.")
    ] = False,
) -> None:
    """Grow a tree from real text, draw it and write a report to open in a browser.

    The text is the documentation of NumPy, SciPy and scikit-learn, which every installation
    has: no network is needed.
    """
    from momentree.cli import _work
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress
    from momentree.cli._screen import show

    progress = Progress(quiet=quiet, verbose=verbose)
    outputs = Outputs()
    outputs.add("--output", output, (".html", ".htm"))

    with progress.stage("reading the docstrings of NumPy, SciPy and scikit-learn"):
        from momentree.datasets import load_docstrings
        from momentree.readers.text import vectorize

        corpus = vectorize(load_docstrings())
    tree, took = _work.grow_tree(corpus, progress, {"max_leaf_nodes": DEMO_LEAVES})
    summary = _work.summarize_model(tree, corpus, progress, took=took, whole=True)
    with progress.stage("writing the report"), outputs.writing() as write:
        from momentree.report import write_html

        write("--output", lambda path: write_html(summary, path))
    if not quiet:
        _work.show_topics(summary, took)
        show(f"\nThe report is in {output}. Open it in a browser: {output.resolve().as_uri()}\n")

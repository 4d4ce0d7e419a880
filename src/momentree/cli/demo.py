"""``momentree demo``: grow a tree from text that comes with every installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momentree.cli._options import Quiet, Verbose
from momentree.cli._run import Run
from momentree.cli.screen import show

DEMO_LEAVES = 12


def demo(
    context: typer.Context,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="The report.")
    ] = Path("momentree-demo.html"),
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Grow a tree of topics from real text, print it and write a report for the browser.

    The text is the documentation of NumPy, SciPy and scikit-learn, which are installed with
    momentree; the demo works offline.
    """
    run = Run(context, outputs={"output": output}, quiet=quiet, verbose=verbose)
    with run.stage("reading the docstrings of NumPy, SciPy and scikit-learn"):
        from momentree import datasets, readers
        from momentree.cli._names import GivenNames
        from momentree.cli._topics import grow_tree

        corpus = readers.vectorize(datasets.load_docstrings())
    run.finish(grow_tree(run, corpus, {"max_leaf_nodes": DEMO_LEAVES}, GivenNames()))
    if not quiet:
        show(f"\nTo see the report, open {output.resolve().as_uri()} in a browser.\n")

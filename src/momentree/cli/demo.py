"""``momentree demo``: a report on text, or on made-up records, without any input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from momentree.cli._options import Quiet, Verbose
from momentree.cli._run import Run
from momentree.cli.screen import show

EXAMPLES = """
[bold]Examples[/bold]

Topics of text that is installed with momentree:\n
  momentree demo

Groups of made-up hospital visits, whose table, visits.csv, you can then group yourself:\n
  momentree demo --records --output visits.html\n
  momentree clusters visits.csv --rollup icd10 --outcome died
"""

DEMO_LEAVES = 12
DEMO_GROUPS = 8


def demo(
    context: typer.Context,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            help="The report.",
            show_default="momentree-demo.html, or momentree-demo-records.html",
        ),
    ] = None,
    records: Annotated[
        bool,
        typer.Option(
            "--records",
            help="Find groups of made-up hospital visits with ICD-10 codes instead of topics; the "
            "table is written next to the report.",
        ),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Grow a tree of topics from real text, print it and write a report for the browser.

    The text is the documentation of NumPy, SciPy and scikit-learn, which are installed with
    momentree; the demo works offline. With --records, the report shows groups of made-up hospital
    visits instead.
    """
    output = output or Path(f"momentree-demo{'-records' if records else ''}.html")
    table = output.with_suffix(".csv") if records else None
    run = Run(context, outputs={"output": output, "csv": table}, quiet=quiet, verbose=verbose)
    if table is None:
        _find_topics(run)
    else:
        _find_groups(run, table)
    if not quiet:
        show(f"\nTo see the report, open {output.resolve().as_uri()} in a browser.\n")


def _find_topics(run: Run) -> None:
    with run.stage("reading the docstrings of NumPy, SciPy and scikit-learn"):
        from momentree import datasets, readers
        from momentree.cli._names import GivenNames
        from momentree.cli._topics import grow_tree

        corpus = readers.vectorize(datasets.load_docstrings())
    run.finish(grow_tree(run, corpus, {"max_leaf_nodes": DEMO_LEAVES}, GivenNames()))


def _find_groups(run: Run, table: Path) -> None:
    """Find groups of made-up visits, read from the table that is written with the report."""
    with run.stage("drawing hospital visits"):
        import tempfile

        from momentree import datasets, readers
        from momentree.cli._clusters import find_groups
        from momentree.cli._names import GivenNames
        from momentree.cli.tables import CsvTable

        visits = datasets.make_hospital_visits(random_state=0).table
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / table.name
            visits.to_csv(file, index=False)
            records = readers.read_records(
                file, rollup="icd10", outcome_columns=["died", "length_of_stay"]
            )
    result = find_groups(
        run,
        records,
        DEMO_GROUPS,
        {},
        flat=False,
        edits=(),
        given=GivenNames(),
        stability=False,
        title="Made-up hospital visits",
        min_cell=5,
        include_records=False,
    )
    rows = visits.to_numpy(dtype=object).tolist()
    run.finish(replace(result, table=lambda: CsvTable(list(visits.columns), rows)))

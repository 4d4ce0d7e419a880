"""``momentree demo``: a report on text, or on made-up records, without any input."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import momentree.cli.clusters as groups
import momentree.cli.topics as trees
from momentree import datasets, readers
from momentree.cli import checks, option_table, options, screen, tables
from momentree.cli._run import Run, Task, perform

N_LEAVES, N_GROUPS = 12, 8


def read(run: Run, _held: ExitStack) -> Any:
    """Read the docstrings, or draw visits and read them from a table."""
    if not run.options.records:
        corpus = readers.vectorize(datasets.load_docstrings())
        return trees.Documents(corpus, N_LEAVES)
    visits = datasets.make_hospital_visits(random_state=0).table
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / checks.files_of_demo(run.options)["csv"].name
        visits.to_csv(file, index=False)
        outcomes = ["died", "length_of_stay"]
        records = readers.read_records(file, rollup="icd10", outcome_columns=outcomes)
    return visits, groups.Table(records, title="Made-up hospital visits")


def proceed(run: Run, data: Any) -> None:
    """Find topics or groups as with the defaults of these commands."""
    report = checks.files_of_demo(run.options)["output"]
    if not run.options.records:
        run.options = options.Options(
            option_table.options_of("topics"), {"n_topics": N_LEAVES, "output": report}
        )
        perform(trees.TREE, run, data)
    else:
        visits, table = data
        run.options = options.Options(
            option_table.options_of("clusters"), {"groups": N_GROUPS, "output": report}
        )
        perform(_with_table(visits), run, table)
    if not run.quiet:
        screen.show(f"\nTo see the report, open {report.resolve().as_uri()} in a browser.\n")


def _with_table(visits: Any) -> Task:
    """Return the task of the groups, which writes the visits instead of the groups of each."""
    rows = tables.CsvTable(list(visits.columns), visits.to_numpy(dtype=object).tolist())
    return replace(
        groups.TASK,
        write=lambda *_: {"csv": lambda path: rows.write(path, escape_formulas=False)},
    )

"""``momentree demo``: a report on text, or on made-up records, without any input."""

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import momentree.cli.clusters as groups
import momentree.cli.topics as trees
from momentree import datasets, readers
from momentree.cli import option_table, options, screen, tables
from momentree.cli._run import Run, perform

N_LEAVES, N_GROUPS = 12, 8


def read(run: Run, _held: ExitStack) -> Any:
    """Read the docstrings, or draw visits and read them from a table next to the report."""
    wanted, is_records = run.options.output, run.options.records
    output = wanted or Path("momentree-demo-records.html" if is_records else "momentree-demo.html")
    run.outputs.add("output", output, option_table.HTML)
    command, number = ("clusters", N_GROUPS) if is_records else ("topics", N_LEAVES)
    table, values = option_table.options_of(command), {"groups": number, "output": output}
    run.options = options.Options(table, values, values)
    if not is_records:
        corpus = readers.vectorize(datasets.load_docstrings())
        return trees.TREE, trees.Documents(corpus, N_LEAVES)
    csv = output.with_suffix(".csv")
    run.outputs.add("csv", csv, (".csv",))
    visits = datasets.make_hospital_visits(random_state=0).table
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / csv.name
        visits.to_csv(file, index=False)
        outcomes = ["died", "length_of_stay"]
        records = readers.read_records(file, rollup="icd10", outcome_columns=outcomes)
    rows = tables.CsvTable(list(visits.columns), visits.to_numpy(dtype=object).tolist())
    task = replace(
        groups.TASK,
        write=lambda *_: {"csv": lambda path: rows.write(path, escape_formulas=False)},
    )
    return task, groups.Table(records, title="Made-up hospital visits")


def proceed(run: Run, data: Any) -> None:
    """Find topics or groups as with the defaults of these commands."""
    perform(data[0], run, data[1])
    if not run.quiet:
        report = run.options.output.resolve().as_uri()
        screen.show(f"\nTo see the report, open {report} in a browser.\n")

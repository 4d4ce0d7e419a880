"""``momentree clusters``: records of codes in, groups of records out, as a tree or a flat list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from momentree.cli._edits import read_edits
from momentree.cli._options import (
    READING_RECORDS,
    WRITING,
    CodeColumns,
    Encoding,
    EscapeFormulas,
    IdColumn,
    Ignore,
    Output,
    Quiet,
    Refine,
    Separator,
    Sheet,
    SkipRows,
    Title,
    UnionBy,
    Verbose,
    count_or_auto,
    given,
    input_path,
)
from momentree.cli._run import Run, check_needed
from momentree.exceptions import InvalidParameterError

__all__ = ["EXAMPLES", "clusters"]

EXAMPLES = """
[bold]Examples[/bold]

A table with a row for each record and codes in columns DX1, DX2, ...:\n
  momentree clusters visits.csv --code-column 'DX*' --rollup icd9 -o visits.html

A table with a row for each code, and the readmission rate of each group:\n
  momentree clusters codes.csv --id-column visit --code-column icd --outcome readmitted

Admissions combined by patient, as many groups as the data support, and a model for new patients:\n
  momentree clusters stays.csv --union-by patient --groups auto --save stays.mt

The same groups, with group 3 split and then 2 and 5 merged:\n
  momentree clusters visits.csv --split 3 --merge 2,5 -o visits.html
"""

Empty = Literal["missing", "zero"]

CODES = "Codes"
GROUPS = "Groups"
EDITING = "Editing groups by hand (in the order written)"


def clusters(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            parser=input_path,
            help="A CSV, TSV, Parquet, Excel or OpenDocument table with a row for each record (its "
            "codes in one cell, in several columns, or as columns of 0 and 1), or with a row for "
            "each code of a record.",
        ),
    ],
    groups: Annotated[
        int | None,
        typer.Option(
            "--groups",
            "-k",
            metavar="N|auto",
            parser=count_or_auto,
            help="Number of groups. With auto, the BIC decides.",
            rich_help_panel=GROUPS,
        ),
    ] = 8,
    flat: Annotated[
        bool,
        typer.Option(
            "--flat",
            help="Find a flat list of groups (a mixture), no tree.",
            rich_help_panel=GROUPS,
        ),
    ] = False,
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Minimum number of records in a group of a tree.",
            rich_help_panel=GROUPS,
        ),
    ] = 5,
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Outcome column, or a pattern; report its rate per group. Repeatable.",
            rich_help_panel=GROUPS,
        ),
    ] = None,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability",
            help="Report how well the groups of five overlapping samples agree.",
            rich_help_panel=GROUPS,
        ),
    ] = False,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Merge groups, numbered as without this option. Repeatable.",
            rich_help_panel=EDITING,
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A|A:N",
            help="Split a group in two, or in N, numbered as without this option. Repeatable.",
            rich_help_panel=EDITING,
        ),
    ] = None,
    refine: Refine = True,
    id_column: IdColumn = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    code_column: CodeColumns = None,
    union_by: UnionBy = None,
    sheet: Sheet = None,
    skip_rows: SkipRows = 0,
    ignore: Ignore = None,
    empty: Annotated[
        Empty,
        typer.Option(
            help="Meaning of empty cells in columns of 0 and 1: missing (unknown), or zero (no).",
            rich_help_panel=READING_RECORDS,
        ),
    ] = "missing",
    rollup: Annotated[
        str | None,
        typer.Option(
            metavar="icd9|icd10|FILE",
            help="Roll codes up to their first three characters, or to the groups in a table with "
            "columns code and group.",
            rich_help_panel=CODES,
        ),
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=input_path,
            help="Names of codes: a table with columns code and name.",
            rich_help_panel=CODES,
        ),
    ] = None,
    min_records: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Leave out codes in fewer records.",
            show_default="5, or 2 below 1,000 records",
            rich_help_panel=CODES,
        ),
    ] = None,
    cumulative_frequency: Annotated[
        float | None,
        typer.Option(
            metavar="FRACTION",
            help="Keep only the most frequent codes that make up this fraction of all entries.",
            show_default="all",
            rich_help_panel=CODES,
        ),
    ] = None,
    min_codes: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Fit to records with at least N codes; the others are assigned afterwards.",
            rich_help_panel=CODES,
        ),
    ] = 1,
    keep_constant: Annotated[
        bool,
        typer.Option(
            "--keep-constant", help="Keep codes that every record has.", rich_help_panel=CODES
        ),
    ] = False,
    output: Output = None,
    title: Title = None,
    min_cell: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Suppress nonzero counts of records below N, and the cells from which they could "
            "be derived, in the drawing, the report and --json.",
            rich_help_panel=WRITING,
        ),
    ] = 5,
    include_records: Annotated[
        bool,
        typer.Option(
            "--include-records",
            help="Show up to 2,000 single records with their ids in the report. Without it, the "
            "report holds none.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Table with the group of each record, by id. Nothing is suppressed.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="The groups and their codes.", rich_help_panel=WRITING
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.mt",
            help="The model, for momentree assign. It holds no records, but exact frequencies.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find groups of records by their codes and draw them: a tree, or with --flat a list.

    All files are written together at the end; after an error, none is.
    """
    edits = read_edits(context, {"merge": merge or (), "split": split or ()})
    if flat and given(context, "min_samples_leaf"):
        raise InvalidParameterError("applies_to_trees", parameter="min_samples_leaf")
    check_needed(context, "include_records", needs="output", code="applies_to_report")
    check_needed(context, "escape_formulas", needs="csv", code="applies_to_csv")
    groups_of_codes = Path(rollup) if rollup is not None and Path(rollup).is_file() else None
    run = Run(
        context,
        inputs=(source, names, groups_of_codes),
        outputs={"output": output, "csv": csv, "json": json, "save": save},
        quiet=quiet,
        verbose=verbose,
        escape_formulas=escape_formulas,
    )
    with run.stage(f"reading {source.name or source}"):
        from momentree import readers
        from momentree.cli import _clusters

        records = readers.read_records(
            source,
            id_column=id_column,
            code_columns=code_column or None,
            union_by=union_by,
            outcome_columns=outcome or (),
            ignore_columns=ignore or (),
            rollup=rollup,
            names=names,
            min_records=min_records,
            cumulative_frequency=cumulative_frequency,
            min_codes=min_codes,
            drop_constant=not keep_constant,
            empty=empty,
            encoding=encoding,
            separator=separator,
            sheet=sheet,
            skip_rows=skip_rows,
        )
    for note in records.notes:
        run.note(note)
    job = _clusters.Job(
        records=records,
        n_groups=groups,
        flat=flat,
        min_samples_leaf=min_samples_leaf,
        refine="em" if refine else None,
        edits=edits,
        stability=stability,
        include_records=include_records,
        min_cell=min_cell,
        title=title,
    )
    run.finish(_clusters.find_groups(run, job))

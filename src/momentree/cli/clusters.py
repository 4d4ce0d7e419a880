"""``momentree clusters``: records of codes in, groups of records out, as a tree or a flat list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from momentree.cli._choices import Empty, check_table, given, parse_leaves
from momentree.cli._edits import read_edits
from momentree.cli._guard import guarded, in_options
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
from momentree.exceptions import InvalidParameterError

__all__ = ["EXAMPLES", "clusters"]

EXAMPLES = """
[bold]Examples[/bold]

A table with a row for each record and codes in columns DX1, DX2, ...:\n
  momentree clusters visits.csv --code-column 'DX*' --rollup icd9 -o visits.html

A table with a row for each code, and how often each group was readmitted:\n
  momentree clusters codes.csv --id-column visit --code-column icd --outcome readmitted

Admissions joined to patients, as many groups as the data bear, for new patients later:\n
  momentree clusters stays.csv --union-by patient --groups auto --save stays.mt

The same groups again, with group 3 split and then 2 and 5 merged:\n
  momentree clusters visits.csv --split 3 --merge 2,5 -o visits.html
"""

CODES = "Codes"
GROUPS = "Groups"
EDITING = "Editing groups by hand (in the order written)"
# The options that are named otherwise than for topics.
SPELLING = {"max_leaf_nodes": "groups", "n_components": "groups"}


@guarded(SPELLING, less="raise --min-records")
def clusters(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            parser=input_path,
            help="A CSV, TSV, Parquet, Excel or OpenDocument table: a row for each record with its "
            "codes in one cell, in several columns or as columns of 0 and 1; or a row for each "
            "code of a record.",
        ),
    ],
    groups: Annotated[
        int,
        typer.Option(
            "--groups",
            "-k",
            metavar="N|auto",
            parser=parse_leaves,
            help="Number of groups; auto lets a penalty on their number decide.",
            rich_help_panel=GROUPS,
        ),
    ] = "8",  # type: ignore[assignment]
    flat: Annotated[
        bool,
        typer.Option(
            "--flat", help="A flat list of groups (a mixture), no tree.", rich_help_panel=GROUPS
        ),
    ] = False,
    min_samples_leaf: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Fewest records in a group of a tree.", rich_help_panel=GROUPS
        ),
    ] = 5,
    refine: Annotated[
        bool, typer.Option(help="Refine the moments' answer by EM.", rich_help_panel=GROUPS)
    ] = True,
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that is no code, to tell its rate in each group; may be repeated, and a "
            "pattern.",
            rich_help_panel=GROUPS,
        ),
    ] = None,
    stability: Annotated[
        bool,
        typer.Option(
            "--stability",
            help="Tell how well five repeats on overlapping samples agree.",
            rich_help_panel=GROUPS,
        ),
    ] = False,
    merge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Merge groups, by the numbers that this command shows without the option.",
            rich_help_panel=EDITING,
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A|A:N",
            help="Split a group in two, or in N, by the number that this command shows without the "
            "option.",
            rich_help_panel=EDITING,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Column with the ids of records.", rich_help_panel=READING
        ),
    ] = None,
    code_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Column with codes (else found where that is safe); may be repeated, and a "
            "pattern such as 'DX*'.",
            rich_help_panel=READING,
        ),
    ] = None,
    union_by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column whose rows make one record, such as the patient of an admission.",
            rich_help_panel=READING,
        ),
    ] = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of text.", rich_help_panel=READING)
    ] = "utf-8",
    separator: Separator = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Sheet of a spreadsheet.",
            show_default="the first",
            rich_help_panel=READING,
        ),
    ] = None,
    skip_rows: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Rows above the one that names the columns, such as a title.",
            rich_help_panel=READING,
        ),
    ] = 0,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that is neither code nor id nor outcome; may be repeated, and a pattern.",
            rich_help_panel=READING,
        ),
    ] = None,
    empty: Annotated[
        Empty,
        typer.Option(
            help="What an empty cell means in columns of 0 and 1: not known, or no.",
            rich_help_panel=READING,
        ),
    ] = Empty.missing,
    rollup: Annotated[
        str | None,
        typer.Option(
            metavar="icd9|icd10|FILE",
            help="Bring codes to their first three characters, or to the groups of a table with "
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
    coverage: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Keep the commonest codes that make up this share of all entries.",
            show_default="all",
            rich_help_panel=CODES,
        ),
    ] = None,
    min_codes: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Learn from records with at least so many codes; others are assigned only.",
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
            help="Hide numbers of records below this, but for zero, and what would tell them: on "
            "the screen, in the report and in --json.",
            rich_help_panel=WRITING,
        ),
    ] = 5,
    include_records: Annotated[
        bool,
        typer.Option(
            "--include-records",
            help="Draw records themselves, with ids, in the report (at most 2,000). Else it holds "
            "none.",
            rich_help_panel=WRITING,
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="The group of each record, by its id: a table of single records, with nothing "
            "hidden.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    json: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="The groups with their codes.", rich_help_panel=WRITING
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.mt",
            help="The model, for momentree assign: no ids and codes of single records, but exact "
            "frequencies.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Find groups of records by their codes and draw them: a tree, or with --flat a list.

    Files are written whole or not at all, all together at the end.
    """
    from momentree.cli import _clusters, _work
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress

    edits = read_edits(context, {"merge": merge or (), "split": split or ()})
    if flat and given(context, "min_samples_leaf"):
        message = "--min-samples-leaf is for trees: leave it out, or leave out --flat."
        raise InvalidParameterError(message)
    if include_records and output is None:
        message = "--include-records is for the report: add --output FILE.html."
        raise InvalidParameterError(message)
    check_table(escape_formulas=escape_formulas, csv=csv)
    mapping = Path(rollup) if rollup is not None and Path(rollup).is_file() else None
    outputs = Outputs(path for path in (source, names, mapping) if path is not None)
    outputs.add("--output", output, (".html", ".htm"))
    outputs.add("--csv", csv, (".csv",))
    outputs.add("--json", json, (".json",))
    outputs.add("--save", save, (".mt",))
    progress = Progress(quiet=quiet, verbose=verbose)

    with progress.stage(f"reading {source.name or source}"):
        from momentree.datasets import read_records

        records = read_records(
            source,
            id_column=id_column,
            code_columns=code_column or None,
            union_by=union_by,
            outcome_columns=outcome or (),
            ignore_columns=ignore or (),
            rollup=rollup,
            names=names,
            min_records=min_records,
            cumulative_frequency=coverage,
            min_codes=min_codes,
            drop_constant=not keep_constant,
            empty=empty.value,
            encoding=encoding,
            separator=separator,
            sheet=sheet,
            skip_rows=skip_rows,
        )
    for message in records.notes:
        _work.tell(in_options(message), quiet=quiet)
    _clusters.run(
        _clusters.Job(
            records=records,
            groups=groups,
            flat=flat,
            min_samples_leaf=min_samples_leaf,
            refine=refine,
            edits=edits,
            stability=stability,
            include_records=include_records,
            escape_formulas=escape_formulas,
            min_cell=min_cell,
            title=title,
            outputs=outputs,
            progress=progress,
            quiet=quiet,
        )
    )

"""``momentree sequences``: find the states of sequences of codes, and moves between them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import momentree.cli._options as options
from momentree.cli._run import Run, check_needed

EXAMPLES = """
[bold]Examples[/bold]

Clicks, in a table with one row per click:\n
  momentree sequences clicks.csv --id-column user --code-column page -o clicks.html

Diagnoses of patients over time, rolled up, in six states, and a model for new patients:\n
  momentree sequences visits.csv -k 6 --rollup icd10 --save visits.mt

The most likely state of each step, and the share of each state in each sequence:\n
  momentree sequences visits.csv --csv steps.csv --sequence-csv patients.csv

States with names of your own:\n
  momentree sequences clicks.csv -k 3 --rename 0=Browsing --rename 1=Buying -o clicks.html
"""

code_option = options.in_panel("Codes")
state_option = options.in_panel("States")


def sequences(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            parser=options.input_path,
            help="A CSV, TSV, Parquet, Excel or OpenDocument table with one row per step: the id "
            "of its sequence, its time and its code. Or with one row per sequence, with all codes "
            "in one cell.",
        ),
    ],
    states: Annotated[
        int | None,
        state_option(
            "--states",
            "-k",
            metavar="N|auto",
            parser=options.states_or_auto,
            help="Number of states. With auto, the lowest BIC of 2 to 10 states determines it.",
            show_default="auto",
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        options.sequences_option(
            metavar="NAME",
            help="Column that says which rows form a sequence, such as the id of a patient.",
            show_default="detected",
        ),
    ] = None,
    time_column: options.TimeColumn = None,
    code_column: Annotated[
        str | None,
        options.sequences_option(
            metavar="NAME", help="Column with the codes.", show_default="detected"
        ),
    ] = None,
    time_format: options.TimeFormat = None,
    encoding: options.Encoding = "auto",
    separator: options.Separator = None,
    sheet: options.Sheet = None,
    skip_rows: options.SkipRows = 0,
    header: options.Header = None,
    min_sequences: Annotated[
        int | None,
        code_option(
            metavar="N",
            parser=options.count,
            help="Merge codes that occur in fewer than N sequences into one.",
            show_default="5, or 2 below 1,000 sequences",
        ),
    ] = None,
    rollup: Annotated[
        str | None,
        code_option(
            metavar="icd9|icd10|FILE",
            help="Roll codes up to their first three characters, or to the groups in a table with "
            "columns code and group.",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        code_option(
            metavar="FILE|icd9|icd10|none",
            help="Names of codes: a table with columns code and name, or the titles of ICD. Or "
            "names of states: columns number and name. May be given once for each.",
            show_default="titles of ICD if the codes are clearly diagnoses",
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        options.output_option(metavar="N=NAME", help="Name a state. Repeatable."),
    ] = None,
    output: options.Output = None,
    title: options.Title = None,
    min_cell: Annotated[
        int,
        options.output_option(
            metavar="N",
            parser=options.count,
            help="Suppress what fewer than N sequences have in common, on the screen, in the "
            "report and in --json.",
        ),
    ] = 5,
    include_sequences: Annotated[
        bool,
        options.output_option(
            "--include-sequences",
            help="Show up to 40 individual sequences with their ids in the report, which otherwise "
            "contains none.",
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.csv",
            help="Table with the most likely state of each step. Nothing is suppressed.",
        ),
    ] = None,
    sequence_csv: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.csv",
            help="Table with the share of each state in each sequence. Nothing is suppressed.",
        ),
    ] = None,
    escape_formulas: options.EscapeFormulas = False,
    json: Annotated[
        Path | None,
        options.output_option(metavar="FILE.json", help="The states, their codes and moves."),
    ] = None,
    save: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.mt",
            help="The model, for momentree assign. It contains no ids, but exact frequencies.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Find the states of sequences of codes, such as the visits of patients or the clicks of users.

    A hidden Markov model is fitted: each step is in one of a few states, which differ in their
    codes, and the state of a step depends on that of the step before. All files are written
    together at the end; after an error, none is written.
    """
    check_needed(context, "include_sequences", needs="output", code="applies_to_report")
    if sequence_csv is None:
        check_needed(context, "escape_formulas", needs="csv", code="applies_to_csv")
    mappings = [Path(name) for name in (rollup, *(names or ())) if name is not None]
    run = Run(
        context,
        inputs=(source, *filter(Path.is_file, mappings)),
        outputs={
            "output": output,
            "csv": csv,
            "sequence_csv": sequence_csv,
            "json": json,
            "save": save,
        },
        quiet=quiet,
        verbose=verbose,
        escape_formulas=escape_formulas,
    )
    with run.stage(f"reading {source.name or source}"):
        from momentree import readers
        from momentree.cli._names import GivenNames, sort_names
        from momentree.cli._sequences import find_states, notes_shown

        names_of_codes, names_of_states = sort_names(names or ())
        given = GivenNames.read(rename or (), names_of_states)
        found = readers.read_sequences(
            source,
            id_column=id_column,
            time_column=time_column,
            code_column=code_column,
            time_format=time_format,
            min_sequences=min_sequences,
            rollup=rollup,
            names=names_of_codes,
            encoding=encoding,
            separator=separator,
            sheet=sheet,
            skip_rows=skip_rows,
            header=header,
        )
    for note in notes_shown(found, min_cell):
        run.note(note)
    result = find_states(
        run,
        found,
        states,
        given=given,
        min_cell=min_cell,
        include_sequences=include_sequences,
        title=title,
    )
    run.finish(result)

"""``momentree clusters``: find groups of records, by codes or by measurements."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

import momentree.cli._options as options
from momentree.cli._edits import read_edits
from momentree.cli._run import Run, check_needed
from momentree.core.choices import Empty, Form
from momentree.exceptions import InvalidParameterError

EXAMPLES = """
[bold]Examples[/bold]

A table with one row per record and codes in columns DX1, DX2, ...:\n
  momentree clusters visits.csv --code-column 'DX*' --rollup icd9 -o visits.html

A table with one row per code, and the readmission rate of each group:\n
  momentree clusters codes.csv --id-column visit --code-column icd --outcome readmitted

The codes of MIMIC, with outcomes from its table of admissions:\n
  momentree clusters DIAGNOSES_ICD.csv --join ADMISSIONS.csv --on HADM_ID --outcome '*EXPIRE*'

Admissions joined by patient, as many groups as the data support, and a model for new patients:\n
  momentree clusters stays.csv --union-by patient --groups auto --save stays.mt

Table one by group for a paper, and fits with 2 to 10 groups:\n
  momentree clusters visits.csv --covariate age --covariate sex --table-one one.xlsx --fits 2-10

A table of measurements: lab values, yes or no, categories; the last column is an outcome:\n
  momentree clusters patients.csv --outcome died -o patients.html

The same groups, with group 3 split and then 2 and 5 merged:\n
  momentree clusters visits.csv --split 3 --merge 2,5 -o visits.html

Groups with names of your own:\n
  momentree clusters visits.csv --rename 0="Births" --rename 3="Heart failure" -o visits.html
"""

_FITTING = ("groups", "flat", "min_samples_leaf", "refine")
_READING = ("id_column", "ignore_columns", "empty", "encoding", "separator", "skip_rows", "header")
_ROLES = ("outcome_columns", "covariate_columns")
_JOINED = ("join", "on", "sheet")
"""Options that need the whole table in memory."""
_WHOLE = (
    *("outcome", "covariate", "fits", "stability", "merge", "split", "include_records"),
    *_JOINED,
)
"""Options that need all records with codes in memory."""

code_option = options.in_panel("Codes")
group_option = options.in_panel("Groups")
editing_option = options.in_panel("Editing groups (edits apply in the order given)")


def clusters(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            parser=options.input_path,
            help="A CSV, TSV, Parquet, Excel or OpenDocument table with one row per record (codes "
            "in one cell, in several columns, or as columns of 0 and 1; or measurements: numbers, "
            "yes or no, categories) or one row per code of a record; or a folder of counts that "
            "store_counts has written.",
        ),
    ],
    groups: Annotated[
        int | None,
        group_option(
            "--groups",
            "-k",
            metavar="N|auto",
            parser=options.count_or_auto,
            help="Number of groups. With auto, BIC determines it; for measurements, it does so by "
            "default.",
        ),
    ] = 8,
    flat: Annotated[
        bool,
        group_option("--flat", help="Find a flat list of groups (a mixture) instead of a tree."),
    ] = False,
    min_samples_leaf: Annotated[
        int,
        group_option(
            metavar="N",
            parser=options.count,
            help="Minimum number of records in a group of a tree.",
        ),
    ] = 5,
    outcome: Annotated[
        list[str] | None,
        group_option(
            metavar="NAME",
            help="Outcome column, or a pattern; report its rate per group. Repeatable.",
        ),
    ] = None,
    covariate: Annotated[
        list[str] | None,
        group_option(
            metavar="NAME",
            help="Covariate, such as age or sex, or a pattern; describe it per group, and report "
            "how it predicts the group. Repeatable.",
        ),
    ] = None,
    fits: Annotated[
        range | None,
        group_option(
            metavar="LOW-HIGH",
            parser=options.count_range,
            help="Compare fits with these numbers of groups, such as 2-10: log-likelihood, AIC, "
            "BIC, entropy and smallest group; with --stability, stability as well.",
        ),
    ] = None,
    stability: Annotated[
        bool,
        group_option(
            "--stability", help="Report how well the groups of five overlapping samples agree."
        ),
    ] = False,
    merge: Annotated[
        list[str] | None,
        editing_option(
            metavar="A,B",
            help="Merge groups; numbers are as shown without this option. Repeatable.",
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        editing_option(
            metavar="A|A:N",
            help="Split a group in two or N; numbers are as shown without this option. Repeatable.",
        ),
    ] = None,
    rename: options.Rename = None,
    refine: options.Refine = True,
    id_column: options.IdColumn = None,
    encoding: options.Encoding = "auto",
    separator: options.Separator = None,
    code_column: options.CodeColumns = None,
    union_by: options.UnionBy = None,
    sheet: options.Sheet = None,
    skip_rows: options.SkipRows = 0,
    header: options.Header = None,
    ignore: options.Ignore = None,
    form: Annotated[
        Form,
        options.records_option(
            **options.choice_of(Form),
            help="Whether the table contains codes or measurements; auto judges by its columns.",
        ),
    ] = "auto",
    kind: options.Kinds = None,
    missing: options.Missing = None,
    join: Annotated[
        list[Path] | None,
        options.records_option(
            metavar="FILE",
            parser=options.input_path,
            help="Another table with outcomes of the same records. Repeatable.",
        ),
    ] = None,
    on: Annotated[
        list[str] | None,
        options.records_option(
            metavar="COLUMN",
            help="Column by which to join a table, or LEFT=RIGHT if it has two names. Repeatable.",
            show_default="the only column in both tables",
        ),
    ] = None,
    empty: Annotated[
        Empty,
        options.records_option(
            **options.choice_of(Empty),
            help="Meaning of empty cells in columns of 0 and 1: missing (unknown), or zero (no).",
        ),
    ] = "missing",
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
            "names of groups: columns number and name. May be given once for each.",
            show_default="titles of ICD if the codes are clearly diagnoses",
        ),
    ] = None,
    min_records: Annotated[
        int | None,
        code_option(
            metavar="N",
            parser=options.count,
            help="Drop codes that occur in fewer than N records.",
            show_default="5, or 2 below 1,000 records",
        ),
    ] = None,
    cumulative_frequency: Annotated[
        float | None,
        code_option(
            metavar="FRACTION",
            parser=options.fraction,
            help="Keep only the most frequent codes that make up this fraction of all entries.",
            show_default="all",
        ),
    ] = None,
    min_codes: Annotated[
        int | None,
        code_option(
            metavar="N",
            parser=options.whole_number,
            help="Fit only records with at least N codes; assign the others afterwards.",
            show_default="1; 0 for columns of yes and no",
        ),
    ] = None,
    keep_constant: Annotated[
        bool, code_option("--keep-constant", help="Keep codes that every record has.")
    ] = False,
    memory: options.Memory = None,
    resume: options.Resume = False,
    output: options.Output = None,
    title: options.Title = None,
    min_cell: Annotated[
        int,
        options.output_option(
            metavar="N",
            parser=options.count,
            help="Suppress nonzero counts of records below N, and the cells they could be derived "
            "from, on the screen, in the report and in --json.",
        ),
    ] = 5,
    include_records: Annotated[
        bool,
        options.output_option(
            "--include-records",
            help="Show up to 2,000 individual records in the report, with their ids if they have "
            "codes. Otherwise it contains none.",
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.csv",
            help="Table with the group of each record, by id. Nothing is suppressed.",
        ),
    ] = None,
    table_one: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE",
            help="Table one, the characteristics of each group: .csv, .xlsx or .tex. Suppressed "
            "like the report.",
        ),
    ] = None,
    fits_table: Annotated[
        Path | None,
        options.output_option(metavar="FILE", help="The table of --fits: .csv, .xlsx or .tex."),
    ] = None,
    escape_formulas: options.EscapeFormulas = False,
    json: Annotated[
        Path | None, options.output_option(metavar="FILE.json", help="The groups and their codes.")
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
    """Find groups of records by codes or measurements; print a tree or, with --flat, a list.

    All files are written together at the end; after an error, none is written.
    """
    check_needed(context, "resume", needs="memory", code="resume_needs_memory")
    edits = read_edits(context, {"merge": merge or (), "split": split or ()})
    if flat and options.given(context, "min_samples_leaf"):
        raise InvalidParameterError("applies_to_trees", parameter="min_samples_leaf")
    check_needed(context, "include_records", needs="output", code="applies_to_report")
    if table_one is None and fits_table is None:
        check_needed(context, "escape_formulas", needs="csv", code="applies_to_csv")
    if fits_table is not None:
        check_needed(context, "fits_table", needs="fits", code="applies_to_fits")
    mappings = [Path(name) for name in (rollup, *(names or ())) if name is not None]
    outputs = {
        "output": output,
        "csv": csv,
        "json": json,
        "save": save,
        "table_one": table_one,
        "fits_table": fits_table,
    }
    run = Run(
        context,
        inputs=(source, *(join or ()), *filter(Path.is_file, mappings)),
        outputs=outputs,
        quiet=quiet,
        verbose=verbose,
        escape_formulas=escape_formulas,
    )
    parameters: dict[str, Any] = {"refine": "em" if refine else None}
    if not flat:
        # With at least 5 records in each group, a size shown as "<6" would be known to be 5.
        raised = min_cell if min_samples_leaf == min_cell - 1 else min_samples_leaf
        parameters["min_samples_leaf"] = raised
    reading: dict[str, Any] = {
        "id_column": id_column,
        "outcome_columns": outcome or (),
        "covariate_columns": covariate or (),
        "ignore_columns": ignore or (),
        "join": join or (),
        "on": on or (),
        "empty": empty,
        "encoding": encoding,
        "separator": separator,
        "sheet": sheet,
        "skip_rows": skip_rows,
        "header": header,
    }
    with ExitStack() as held:
        with run.stage(f"reading {source.name or source}"):
            from momentree import readers
            from momentree.cli._names import GivenNames, sort_names
            from momentree.cli._reading import contains_measurements, notes_on_form, read_table
            from momentree.cli.stored import BYTES_OF_RECORD, kept, note_fit, work_folder
            from momentree.report.records import notes_shown

            names_of_codes, names_of_groups = sort_names(names or ())
            given = GivenNames.read(rename or (), names_of_groups)
            measured = contains_measurements(context, source, form, names_of_codes, reading)
            coding: dict[str, Any] = {
                "code_columns": code_column or None,
                "union_by": union_by,
                "rollup": rollup,
                "names": names_of_codes,
                "min_records": min_records,
                "cumulative_frequency": cumulative_frequency,
                "min_codes": min_codes,
                "drop_constant": not keep_constant,
            }
            of_kinds = {"kinds": options.kinds_by_column(kind or ()), "missing": missing or ()}
            more = of_kinds if measured else coding
            records: readers.Records | readers.Measurements
            if memory is None:
                records = read_table(source, reading, more, measured=measured)
            else:
                _check_in_parts(context, measured=measured)
                work = work_folder(source, outputs)
                held.enter_context(kept(run, work, resume=resume))
                store: Any = readers.sample_measurements if measured else readers.store_records
                wanted = (*_READING, *(_ROLES if measured else ()))
                records = store(
                    source,
                    work.path,
                    memory=memory,
                    resume=resume,
                    also={name: context.params[name] for name in _FITTING},
                    **{name: reading[name] for name in wanted},
                    **more,
                )
                if not measured:
                    note_fit(run, len(records), memory, BYTES_OF_RECORD)
        for note in [*notes_shown(records, min_cell), *notes_on_form(records, form)]:
            run.note(note)
        if isinstance(records, readers.Measurements):
            if not records.only_numbers and options.given(context, "min_samples_leaf"):
                raise InvalidParameterError("edits_need_a_tree", parameter="min_samples_leaf")
            from momentree.cli._measurements import find_measured_groups

            find: Any = find_measured_groups
            groups = groups if options.given(context, "groups") else None
        else:
            from momentree.cli._clusters import find_groups

            find = find_groups
        result = find(
            run,
            records,
            groups,
            parameters,
            flat=flat,
            edits=edits,
            given=given,
            stability=stability,
            candidates=fits,
            title=title,
            min_cell=min_cell,
            include_records=include_records,
        )
        run.finish(result)


def _check_in_parts(context: typer.Context, *, measured: bool) -> None:
    """Refuse options that need all records in memory; measurements are those of a sample."""
    for name in _JOINED if measured else _WHOLE:
        if options.given(context, name):
            raise InvalidParameterError("not_with_memory", parameter=name)
    if context.params["groups"] is None and not measured:
        raise InvalidParameterError("auto_with_memory", parameter="groups")

"""``momentree moments``: the sums of a table, to merge with those of other sites."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import momentree.cli._options as options
from momentree.cli._run import Run
from momentree.core.choices import Empty
from momentree.exceptions import InvalidParameterError

EXAMPLES = """
[bold]Examples[/bold]

Each hospital, first round: the sums of its visits\n
  momentree moments visits.csv --code-column 'DX*' --rollup icd9 --save north1.mom

Whoever merges the sums sends back a file, and each hospital answers it\n
  momentree moments visits.csv --code-column 'DX*' --rollup icd9 --round r2.mom --save north2.mom

Documents, with a list of words that all sites share\n
  momentree moments letters/ --vocabulary words.txt --save archive1.mom
"""

Model = Literal["auto", "single-topic", "lda", "poisson", "bernoulli"]


def moments(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            parser=options.input_path,
            help="A table of coded records as for momentree clusters, or documents or word counts "
            "as for momentree topics.",
        ),
    ],
    save: Annotated[
        Path,
        options.output_option(
            metavar="FILE.mom",
            help="The sums, to send to whoever merges them. No row can be read from one file, but "
            "the difference of two files of one site reveals the rows in which they differ.",
        ),
    ],
    question: Annotated[
        Path | None,
        options.fitting_option(
            "--round",
            metavar="FILE.mom",
            parser=options.input_path,
            help="Answer the question of this round, a file written by momentree merge --next.",
            show_default="the first round",
        ),
    ] = None,
    model: Annotated[
        Model,
        options.fitting_option(
            **options.choice_of(Model),
            help="The model whose moments are added up. auto is bernoulli for tables of codes, and "
            "single-topic for folders, texts and counts. A table with a column of texts needs "
            "single-topic or lda.",
        ),
    ] = "auto",
    min_cell: Annotated[
        int,
        options.output_option(
            metavar="N",
            parser=options.count,
            help="Treat columns that occur in fewer than N rows of this table as absent, and pairs "
            "of columns likewise; they may be frequent elsewhere, which the result then lacks.",
        ),
    ] = 5,
    id_column: options.IdColumn = None,
    encoding: options.Encoding = "auto",
    separator: options.Separator = None,
    sheet: options.Sheet = None,
    skip_rows: options.SkipRows = 0,
    header: options.Header = None,
    text_column: options.TextColumn = None,
    vocabulary: Annotated[
        Path | None,
        options.text_option(
            metavar="FILE",
            parser=options.input_path,
            help="List of the words to count, one per line, the same at all sites; or the words of "
            "a matrix of counts, in column order.",
        ),
    ] = None,
    code_column: options.CodeColumns = None,
    union_by: options.UnionBy = None,
    ignore: options.Ignore = None,
    empty: Annotated[
        Empty,
        options.records_option(
            **options.choice_of(Empty),
            help="Meaning of empty cells in columns of 0 and 1: missing (unknown), or zero (no). "
            "Moments require complete records.",
        ),
    ] = "missing",
    rollup: Annotated[
        str | None,
        options.records_option(
            metavar="icd9|icd10|FILE",
            help="Roll codes up to their first three characters, or to the groups in a table with "
            "columns code and group.",
        ),
    ] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Add up the moments of a table, to merge with those of other tables or sites.

    The file contains sums, and no row. Sites that may share sums but no rows send such files to
    momentree merge, which returns the question of the next round, or a model.
    """
    if question is not None and options.given(context, "model"):
        raise InvalidParameterError("model_of_round", parameter="model")
    run = Run(
        context,
        inputs=(source, question, vocabulary),
        outputs={"save": save},
        suffixes={"save": ".mom"},
        quiet=quiet,
        verbose=verbose,
    )
    reading: dict[str, Any] = {
        "id_column": id_column,
        "encoding": encoding,
        "separator": separator,
        "sheet": sheet,
        "skip_rows": skip_rows,
        "header": header,
    }
    of_codes: dict[str, Any] = {
        "code_columns": code_column or None,
        "union_by": union_by,
        "ignore_columns": ignore or (),
        "empty": empty,
        "rollup": rollup,
    }
    with run.stage(f"reading {source.name or source}"):
        from momentree.cli._moments import add_up, read_rows

        table = read_rows(run, source, question, model, reading, of_codes, text_column, vocabulary)
    add_up(run, table, min_cell)

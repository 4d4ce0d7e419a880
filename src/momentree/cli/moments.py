"""``momentree moments`` and ``momentree merge``: sites answer questions, and a model is fitted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import momentree.cli._options as options
from momentree.cli._run import Run
from momentree.core.choices import Empty
from momentree.exceptions import InvalidParameterError

MOMENTS_EXAMPLES = """
[bold]Examples[/bold]

Each hospital, first round: how many visits it has, and which codes\n
  momentree moments visits.csv --code-column 'DX*' --rollup icd9 --save north1.mom

Whoever merges the files sends back a question, and each hospital answers it\n
  momentree moments visits.csv --code-column 'DX*' --rollup icd9 --round r2.mom --save north2.mom

Documents, with a list of words that all sites share\n
  momentree moments letters/ --vocabulary words.txt --save archive1.mom
"""
MERGE_EXAMPLES = """
[bold]Examples[/bold]

The question of the second round of three hospitals\n
  momentree merge north1.mom south1.mom west1.mom --components 6 --next r2.mom

All answers so far: write the next question, or the model once no question is left\n
  momentree merge north*.mom south*.mom west*.mom --components 6 --next r3.mom --fit groups.mt

A tree instead of a flat list\n
  momentree merge north*.mom south*.mom west*.mom --leaves 6 --next r3.mom --fit tree.mt
"""

Model = Literal["auto", "single-topic", "lda", "poisson", "bernoulli"]
Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        parser=options.input_path,
        help="A table of coded records as for momentree clusters, or documents or word counts "
        "as for momentree topics.",
    ),
]
Answer = Annotated[
    Path,
    options.output_option(
        metavar="FILE.mom",
        help="The answer, to send to whoever merges it. No row can be read from one file, but "
        "the difference of two files of one site reveals the rows in which they differ.",
    ),
]
QuestionFile = Annotated[
    Path | None,
    options.fitting_option(
        "--round",
        metavar="FILE.mom",
        parser=options.input_path,
        help="Answer the question of this round, a file written by momentree merge --next.",
        show_default="the first round",
    ),
]
ModelName = Annotated[
    Model,
    options.fitting_option(
        **options.choice_of(Model),
        help="The model of the rows. auto is bernoulli for tables of codes, and single-topic for "
        "folders, texts and counts. A table with a column of texts needs single-topic or lda.",
    ),
]
MinCell = Annotated[
    int,
    options.output_option(
        metavar="N",
        parser=options.count,
        help="Treat columns that occur in fewer than N rows of this table as absent, and pairs of "
        "columns and groups of rows likewise; they may be frequent elsewhere, which the result "
        "then lacks.",
    ),
]
Vocabulary = Annotated[
    Path | None,
    options.text_option(
        metavar="FILE",
        parser=options.input_path,
        help="List of the words to count, one per line, the same at all sites; or the words of "
        "a matrix of counts, in column order.",
    ),
]
EmptyCells = Annotated[
    Empty,
    options.records_option(
        **options.choice_of(Empty),
        help="Meaning of empty cells in columns of 0 and 1: missing (unknown), or zero (no). "
        "Sums over sites require complete records.",
    ),
]
Rollup = Annotated[
    str | None,
    options.records_option(
        metavar="icd9|icd10|FILE",
        help="Roll codes up to their first three characters, or to the groups in a table with "
        "columns code and group.",
    ),
]


def moments(
    context: typer.Context,
    source: Table,
    save: Answer,
    question: QuestionFile = None,
    model: ModelName = "auto",
    min_cell: MinCell = 5,
    id_column: options.IdColumn = None,
    encoding: options.Encoding = "auto",
    separator: options.Separator = None,
    sheet: options.Sheet = None,
    skip_rows: options.SkipRows = 0,
    header: options.Header = None,
    text_column: options.TextColumn = None,
    vocabulary: Vocabulary = None,
    code_column: options.CodeColumns = None,
    union_by: options.UnionBy = None,
    ignore: options.Ignore = None,
    empty: EmptyCells = "missing",
    rollup: Rollup = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Answer a question about a table with sums over its rows, to merge with those of other sites.

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
    of_texts = {"text_column": text_column, "vocabulary": vocabulary}
    with run.stage(f"reading {source.name or source}"):
        from momentree.cli._moments import Question, answer, read_table

        asked = None if question is None else Question.load(question)
        table = read_table(run, source, asked, model, reading, of_codes, of_texts)
    answer(run, table, asked, min_cell)


Answers = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE.mom...",
        parser=options.input_path,
        help="The files of all sites in all rounds so far, written by momentree moments.",
    ),
]
Components = Annotated[
    int | None,
    options.fitting_option(
        "--components",
        "-k",
        metavar="K",
        parser=options.count,
        help="Fit a flat list of K components.",
    ),
]
Leaves = Annotated[
    int | None,
    options.fitting_option(
        metavar="K", parser=options.count, help="Grow a tree of K leaves instead of a flat list."
    ),
]
Steps = Annotated[
    int | None,
    options.fitting_option(
        metavar="N",
        parser=options.whole_number,
        help="Number of steps of EM of a flat list, at most; 0 estimates it by moments alone, in "
        "fewer rounds.",
        show_default="until EM converges",
    ),
]
Next = Annotated[
    Path | None,
    options.output_option(
        "--next",
        metavar="FILE.mom",
        help="The question of the next round, for momentree moments --round at each site.",
    ),
]
Fit = Annotated[
    Path | None,
    options.output_option(
        metavar="FILE.mt",
        help="The model, for momentree assign. With --next, it is written once no question is "
        "left.",
    ),
]
Merged = Annotated[
    Path | None,
    options.output_option(
        metavar="FILE.mom",
        help="The merged sums of files of one round, to merge with further files of this round.",
    ),
]


def merge(
    context: typer.Context,
    sources: Answers,
    components: Components = None,
    leaves: Leaves = None,
    steps: Steps = None,
    next_round: Next = None,
    fit: Fit = None,
    save: Merged = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Merge the answers of several tables or sites, and continue with the next question or a model.

    Moments take about 12 rounds, and each step of EM is one more; a tree takes about a hundred. The
    result is that of the pooled rows, up to rounding, if no site suppressed anything.
    """
    fits = next_round is not None or fit is not None
    number = components if leaves is None else leaves
    if number is not None and not fits:
        name = "components" if leaves is None else "leaves"
        raise InvalidParameterError("components_of_next", parameter=name)
    if fits and number is None:
        raise InvalidParameterError("components_needed", parameter="components")
    if leaves is not None and (components is not None or steps is not None):
        name = "steps" if components is None else "components"
        raise InvalidParameterError("flat_or_tree", parameter=name)
    run = Run(
        context,
        inputs=sources,
        outputs={"next": next_round, "fit": fit, "save": save},
        suffixes={"next": ".mom", "fit": ".mt", "save": ".mom"},
        quiet=quiet,
        verbose=verbose,
    )
    with run.stage("merging"):
        from momentree.cli._moments import continue_with, merged

        states = merged(run, sources)
    continue_with(run, states, components, leaves, steps)

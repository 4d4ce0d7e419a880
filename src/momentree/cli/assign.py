"""``momentree assign``: assign new data to the leaves, topics or groups of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import momentree.cli._options as options
from momentree.cli._run import Run
from momentree.cli.screen import show
from momentree.exceptions import InvalidDataError, InvalidParameterError

EXAMPLES = """
[bold]Examples[/bold]

Print the leaf of each new document:\n
  momentree assign news.mt today.csv

Assign new documents to a model of embeddings:\n
  momentree assign news.mt today.csv --embeddings today.npy

Write the table to a file:\n
  momentree assign news.mt today.csv --id-column url --csv today-topics.csv

Assign new records:\n
  momentree assign stays.mt new-stays.csv --csv new-groups.csv

Find the states of new sequences:\n
  momentree assign clicks.mt new-clicks.csv --csv new-states.csv
"""

_ONLY = {
    "applies_to_documents": ("text_column", "vocabulary", "tokenizer", "embeddings"),
    "applies_to_records": ("union_by", "ignore", "complete"),
    "applies_to_sequences": ("time_column", "time_format"),
    "applies_to_codes": ("code_column",),
}
"""Options that apply only to some models, by the code of the error for others."""
_ALLOWED = {
    "documents": ("applies_to_documents",),
    "records": ("applies_to_records", "applies_to_codes"),
    "sequences": ("applies_to_sequences", "applies_to_codes"),
}


def assign(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            parser=options.input_path,
            help="A model file written by --save of momentree topics, clusters or sequences.",
        ),
    ],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="NEW_INPUT",
            parser=options.input_path,
            help="New documents, records or sequences, in any form that the command accepts that "
            "wrote the model.",
        ),
    ],
    embeddings: options.Embeddings = None,
    id_column: options.IdColumn = None,
    encoding: options.Encoding = "auto",
    separator: options.Separator = None,
    text_column: options.TextColumn = None,
    vocabulary: options.Vocabulary = None,
    tokenizer: options.Tokenizer = None,
    code_column: options.CodeColumns = None,
    time_column: options.TimeColumn = None,
    time_format: options.TimeFormat = None,
    union_by: options.UnionBy = None,
    sheet: options.Sheet = None,
    skip_rows: options.SkipRows = 0,
    header: options.Header = None,
    ignore: options.Ignore = None,
    complete: Annotated[
        bool,
        options.records_option(
            "--complete",
            help="The records are as complete as those of the fit, so that a code that a record "
            "lacks counts as much as one that it has.",
        ),
    ] = False,
    csv: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.csv", help="Write the table to this file instead of printing it."
        ),
    ] = None,
    escape_formulas: options.EscapeFormulas = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Assign new documents, records or sequences by a saved model.

    The output is a table with the columns id, leaf (or topic, group or state), name and
    probability, and one column for each topic or group. Words and codes are counted as for the
    model; unknown ones are ignored. Columns of tables default to those of the model. A record
    whose codes do not decide between groups has an empty group. For sequences, the table has one
    row per step, in order, with its most likely state. --quiet omits notes, not the table.
    """
    run = Run(
        context,
        inputs=(model, source, vocabulary, embeddings),
        outputs={"csv": csv},
        quiet=quiet,
        verbose=verbose,
        escape_formulas=escape_formulas,
    )
    with run.stage(f"reading {model.name}"):
        from momentree import models
        from momentree.cli._assign import (
            assign_documents,
            assign_embeddings,
            assign_records,
            is_of_records,
        )
        from momentree.cli._sequences import assign_steps, is_of_sequences

        loaded = models.load(model)
        of_records, of_sequences = is_of_records(loaded), is_of_sequences(loaded)
        if not of_sequences and not hasattr(loaded, "vocabulary_"):
            raise InvalidDataError(
                "no_groups_to_assign", path=str(model), kind=type(loaded).__name__
            )
    kind = "records" if of_records else "sequences" if of_sequences else "documents"
    for code, names in _ONLY.items():
        for name in names:
            if code not in _ALLOWED[kind] and options.given(context, name):
                raise InvalidParameterError(code, parameter=name, path=str(model), kind=kind)
    of_embeddings = getattr(loaded, "data_", "") == "embeddings"
    if of_embeddings and embeddings is None:
        raise InvalidParameterError("model_needs_embeddings", path=str(model))
    if embeddings is not None and not of_embeddings:
        raise InvalidParameterError("model_without_embeddings", path=str(model))
    reading: dict[str, Any] = {
        "id_column": id_column,
        "encoding": encoding,
        "separator": separator,
        "sheet": sheet,
        "skip_rows": skip_rows,
        "header": header,
    }
    if of_sequences:
        if len(code_column or ()) > 1:
            raise InvalidParameterError("one_code_column", parameter="code_column")
        reading |= {
            "code_column": code_column[0] if code_column else None,
            "time_column": time_column,
            "time_format": time_format,
        }
        table, result = assign_steps(run, loaded, source, reading)
    elif of_records:
        reading |= {
            "code_columns": code_column or None,
            "union_by": union_by,
            "ignore_columns": ignore or (),
        }
        table, result = assign_records(run, loaded, source, reading, complete=complete)
    else:
        reading["text_column"] = text_column
    if embeddings is not None:
        if tokenizer is not None:
            raise InvalidParameterError(
                "no_tokenizer_in_model", parameter="tokenizer", value=tokenizer
            )
        table, result = assign_embeddings(run, loaded, source, vocabulary, reading, embeddings)
    elif kind == "documents":
        table, result = assign_documents(run, loaded, source, vocabulary, reading, tokenizer)
    if csv is None:
        table.print(escape_formulas=escape_formulas)
    else:
        run.write_table(table)
        if not quiet:
            show(f"{run.words(result)}\n")
    run.end()

"""``momentree assign``: a saved model and new data in, their leaves, topics or groups out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momentree.cli._choices import given
from momentree.cli._guard import guarded, in_options
from momentree.cli._options import WRITING, EscapeFormulas, input_path
from momentree.exceptions import InvalidDataError, InvalidParameterError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from momentree.cli._progress import Progress
    from momentree.models._base import FlatModel
    from momentree.tree import ClusterTree, TopicTree

    Model = TopicTree | ClusterTree | FlatModel

__all__ = ["EXAMPLES", "assign"]

EXAMPLES = """
[bold]Examples[/bold]

The leaf of each new document, on the screen:\n
  momentree assign news.mt today.csv

Into a file:\n
  momentree assign news.mt today.csv --id-column url --csv today-topics.csv

New records, read as those of momentree clusters were:\n
  momentree assign stays.mt new-stays.csv --csv new-groups.csv
"""

_FOR_TEXT = ("text_column", "vocabulary")
_FOR_RECORDS = ("code_column", "union_by", "sheet", "skip_rows", "ignore")


@guarded(less="give a smaller part of the input at a time")
def assign(
    context: typer.Context,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL",
            parser=input_path,
            help="What momentree topics or momentree clusters wrote by --save.",
        ),
    ],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="NEW_INPUT",
            parser=input_path,
            help="New documents, in any form that topics reads, or new records, as clusters reads "
            "them.",
        ),
    ],
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Write the table here instead of printing it.",
            rich_help_panel=WRITING,
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    text_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column with the text (else guessed).")
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column with names of documents or ids of records."),
    ] = None,
    code_column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="For records: column with codes, or pattern; may be repeated.",
            show_default="as in clusters",
        ),
    ] = None,
    union_by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="For records: column whose rows make one record.",
            show_default="as in clusters",
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For records: sheet of a spreadsheet.", show_default="the first"
        ),
    ] = None,
    skip_rows: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="For records: rows above the one that names the columns."
        ),
    ] = 0,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="For records: column that is neither code nor id, or pattern; may be repeated.",
        ),
    ] = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of text files.")
    ] = "utf-8",
    separator: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Between columns (else found).")
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", parser=input_path, help="Words of a matrix of counts, one a line."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no notes and no summary.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log each step and its time on stderr.")
    ] = False,
) -> None:
    """Assign new documents or records to the leaves, topics or groups of a saved model.

    The table has the columns id, leaf, name and probability; of a flat model id, topic,
    name, probability and the share of each topic; of records id, group, name, probability and the
    probability of each group. Words and codes are counted as the model counted them; those that it
    does not know are left out.
    """
    from momentree.cli import _work
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress
    from momentree.cli._screen import show
    from momentree.cli._tables import Table

    outputs = Outputs(path for path in (model, source, vocabulary) if path is not None)
    outputs.add("--csv", csv, (".csv",))
    progress = Progress(quiet=quiet, verbose=verbose)

    with progress.stage(f"reading {model.name}"):
        from momentree.models import load

        loaded: Any = load(model)
    of_records = (loaded.vectorizer_config_ or {}).get("kind") == "records"
    _check_options(context, model, of_records=of_records)
    reading: dict[str, Any] = {"id_column": id_column, "encoding": encoding, "separator": separator}
    if of_records:
        reading |= {
            "code_columns": code_column or None,
            "union_by": union_by,
            "sheet": sheet,
            "skip_rows": skip_rows,
            "ignore_columns": ignore or (),
        }
        ids, header, found = _assign_records(loaded, source, reading, progress, quiet=quiet)
        places = f"{len(header) - 3} groups"
    else:
        reading["text_column"] = text_column
        ids, header, found = _assign_documents(
            loaded, source, vocabulary, reading, progress, quiet=quiet
        )
        is_tree = hasattr(loaded, "tree_")
        places = f"{loaded.n_leaves_} leaves" if is_tree else f"{len(loaded.weights_)} topics"
    rows = [(i, *row) for i, row in zip(ids, found, strict=True)]
    table = Table(["id", *header], rows, escape_formulas)
    if csv is None:
        table.print()
        return
    with outputs.writing() as write:
        write("--csv", table.write)
    if not quiet:
        what = "records" if of_records else "documents"
        show(f"Assigned {len(rows):,} {what} to {places}.\n")
        _work.list_files(outputs)


def _check_options(context: typer.Context, model: Path, *, of_records: bool) -> None:
    """Refuse options that would be without effect: their user expects one."""
    what, other = ("records", "documents") if of_records else ("documents", "records")
    for name in _FOR_TEXT if of_records else _FOR_RECORDS:
        if given(context, name):
            option = "--" + name.replace("_", "-")
            message = f"{option} is for {other}, but {model} is a model of {what}: leave it out."
            raise InvalidParameterError(message)


def _assign_documents(
    model: Any,
    source: Path,
    vocabulary: Path | None,
    options: dict[str, Any],
    progress: Progress,
    *,
    quiet: bool,
) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    """Return ids of new documents, names of columns, and what these columns hold."""
    from momentree.cli import _work

    with progress.stage(f"reading {source.name or source}"):
        ids, X = _read_for(model, source, vocabulary, options)
    silent = int((X.sum(axis=1) == 0).sum())
    if silent:
        is_tree = hasattr(model, "tree_")
        _work.tell(
            f"{silent:,} of {X.shape[0]:,} documents have no word that the model knows; "
            f"{'they go to the largest leaf' if is_tree else 'they get the shares of the whole'}.",
            quiet=quiet,
        )
    with progress.stage("assigning"):
        return ids, *_work.assignments(model, X)


def _assign_records(
    model: Any, source: Path, options: dict[str, Any], progress: Progress, *, quiet: bool
) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    """Return ids of new records, names of columns, and what these columns hold."""
    from momentree.cli import _group_files, _work

    with progress.stage(f"reading {source.name or source}"):
        from momentree.datasets import RecordCoder, read_records

        config = dict(model.vectorizer_config_)
        names = config.pop(_group_files.GROUP_NAMES, None)
        few_codes = config.pop(_group_files.FEW_CODES, 0)
        coder = RecordCoder.from_dict(config)
        _check_extras(model, names, few_codes)
        # All are to be assigned: none has too few codes.
        records = read_records(source, coder=coder, min_codes=0, **options)
    for message in records.notes:
        _work.tell(in_options(message), quiet=quiet)
    X: Any = records.X
    n_codes = (X == 1).sum(axis=1)
    few = int(((n_codes > 0) & (n_codes < few_codes)).sum())
    if few:
        _work.tell(
            f"{few:,} of {X.shape[0]:,} records have fewer than {few_codes} codes; three of four "
            f"that the groups were made of have as many or more. The group of a record with few "
            f"codes rests on what it lacks, and is less certain than its probability says.",
            quiet=quiet,
        )
    silent = int((n_codes == 0).sum())
    if silent:
        _work.tell(
            f"{silent:,} of {X.shape[0]:,} records have no code that the model knows; their group "
            f"rests on what they lack.",
            quiet=quiet,
        )
    with progress.stage("assigning"):
        names = names or _group_files.names_of(model)
        return records.ids, *_group_files.assigned(model, X, names, every=True)


def _check_extras(model: Model, names: object, few_codes: object) -> None:
    """Check what `clusters` writes beside the settings of the reader."""
    from momentree.cli import _group_files

    k = len(_group_files.names_of(model))
    good = isinstance(names, list) and len(names) == k and all(isinstance(x, str) for x in names)
    if names is not None and not good:
        msg = f"the model is damaged: its {k} groups have the names {names!r}"
        raise InvalidDataError(msg)
    if not isinstance(few_codes, int) or isinstance(few_codes, bool):
        msg = f"the model is damaged: {few_codes!r} is no number of codes"
        raise InvalidDataError(msg)


def _read_for(
    model: Model, source: Path, vocabulary: Path | None, options: dict[str, Any]
) -> tuple[list[str], sp.csr_array]:
    """Read new documents as counts in the columns of a model."""
    from momentree import datasets

    if datasets.holds_counts(source):
        corpus = datasets.read_counts(source, vocabulary=vocabulary)
        return corpus.ids, datasets.align_columns(corpus, model.vocabulary_.tolist()).X
    config = model.vectorizer_config_
    if config is None:
        message = (
            f"the model was made from word counts, but {source} holds text. Give counts, or make "
            f"a model from text with momentree topics --save."
        )
        raise InvalidDataError(message)
    documents = datasets.read_documents(source, **options)
    return documents.ids, datasets.TextVectorizer.from_dict(config).transform(documents.texts)

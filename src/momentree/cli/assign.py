"""``momentree assign``: a saved model and new documents in, their leaves or topics out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from momentree.cli._guard import guarded
from momentree.exceptions import InvalidDataError, ReadError

if TYPE_CHECKING:
    import scipy.sparse as sp

    from momentree.models._base import FlatModel
    from momentree.tree import TopicTree

__all__ = ["EXAMPLES", "assign"]

EXAMPLES = """
[bold]Examples[/bold]

The leaf of each new document, on the screen:\n
  momentree assign news.mt today.csv

Into a file:\n
  momentree assign news.mt today.csv --id-column url --csv today-topics.csv
"""


@guarded()
def assign(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="What momentree topics --save wrote.")
    ],
    source: Annotated[
        Path,
        typer.Argument(metavar="NEW_INPUT", help="New documents, in any form that topics reads."),
    ],
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Write the table here instead of printing it."),
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column with the text (else guessed).")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option(metavar="NAME", help="Column with names of documents.")
    ] = None,
    encoding: Annotated[
        str, typer.Option(metavar="NAME", help="Encoding of text files.")
    ] = "utf-8",
    separator: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Between columns (else found).")
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Words of a matrix of counts, one a line."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print no notes and no summary.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log each step and its time on stderr.")
    ] = False,
) -> None:
    """Assign new documents to the leaves of a saved tree, or to saved topics.

    The table has the columns id, leaf, name and probability; of a flat model id, topic,
    name, probability and the share of each topic. Words are counted as the model counted them;
    words that it does not know are left out.
    """
    from momentree.cli import _work
    from momentree.cli._output import Outputs
    from momentree.cli._progress import Progress

    outputs = Outputs(path for path in (model, source, vocabulary) if path is not None)
    outputs.add("--csv", csv, (".csv",))
    progress = Progress(quiet=quiet, verbose=verbose)

    with progress.stage(f"reading {model.name}"):
        from momentree.models.persistence import load_any

        if not model.exists():
            message = (
                f"cannot read {model}: there is no such file. Give one that momentree topics "
                f"--save wrote."
            )
            raise ReadError(message)
        loaded = load_any(model)
    with progress.stage(f"reading {source.name or source}"):
        options = {
            "text_column": text_column,
            "id_column": id_column,
            "encoding": encoding,
            "separator": separator,
        }
        ids, X = _read_for(loaded, source, vocabulary, options)
    is_tree = hasattr(loaded, "tree_")
    silent = int((X.sum(axis=1) == 0).sum())
    if silent:
        _work.tell(
            f"{silent:,} of {X.shape[0]:,} documents have no word that the model knows; "
            f"{'they go to the largest leaf' if is_tree else 'they get the shares of the whole'}.",
            quiet=quiet,
        )
    with progress.stage("assigning"):
        columns, found = _work.assignments(loaded, X)
    header = ["id", *columns]
    rows = [(i, *row) for i, row in zip(ids, found, strict=True)]
    if csv is None:
        _work.print_csv(sys.stdout, header, rows)
        return
    with outputs.writing() as write:
        write("--csv", lambda path: _work.write_csv(path, header, rows))
    if not quiet:
        places = f"{loaded.n_leaves_} leaves" if is_tree else f"{len(loaded.weights_)} topics"
        typer.echo(f"Assigned {len(rows):,} documents to {places}.")
        _work.list_files(outputs)


def _read_for(
    model: TopicTree | FlatModel, source: Path, vocabulary: Path | None, options: dict[str, Any]
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

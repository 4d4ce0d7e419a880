"""Options that several commands share, and how the values of options are read."""

from math import inf
from pathlib import Path
from typing import Annotated, Literal

import typer

from momentree.messages import Message

__all__ = [
    "FITTING",
    "READING",
    "READING_RECORDS",
    "READING_TEXT",
    "WRITING",
    "CodeColumns",
    "Encoding",
    "EscapeFormulas",
    "IdColumn",
    "Ignore",
    "Model",
    "Output",
    "Quiet",
    "Refine",
    "Separator",
    "Sheet",
    "SkipRows",
    "TextColumn",
    "Title",
    "UnionBy",
    "Verbose",
    "Vocabulary",
    "count_or_auto",
    "count_or_fraction",
    "given",
    "input_path",
    "positive_or_auto",
]

READING = "Reading the input"
READING_TEXT = "Reading documents"
READING_RECORDS = "Reading records"
WRITING = "Output (existing files are replaced)"
FITTING = "Fitting"

Model = Literal["single-topic", "lda"]


def given(context: typer.Context, name: str) -> bool:
    """Whether the user wrote an option, rather than left it to its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def input_path(text: str) -> Path:
    """Read the path of an input; an empty one, as of an unset variable, is an error."""
    if not text:
        raise _refused("empty_path")
    return Path(text)


def count_or_auto(text: str) -> int | None:
    """Read a whole number of at least 1, or ``auto``, which is None."""
    if text == "auto":
        return None
    if not str(text).isdecimal() or int(text) < 1:
        raise _refused("not_a_count_or_auto", value=text)
    return int(text)


def positive_or_auto(text: str) -> float | None:
    """Read a positive number, or ``auto``, which is None."""
    if text == "auto":
        return None
    number = _number(text, float)
    if not 0 < number < inf:
        raise _refused("not_positive_or_auto", value=text)
    return number


def count_or_fraction(text: str) -> float:
    """Read a number of documents (an integer) or a fraction of them (with a decimal point)."""
    is_fraction = "." in text
    number = _number(text, float if is_fraction else int)
    if not 0 <= number <= (1 if is_fraction else inf):
        raise _refused("not_a_count_or_fraction", value=text)
    return number


def _number(text: str, kind: type[int] | type[float]) -> float:
    try:
        return kind(text)
    except ValueError:
        return -1


def _refused(code: str, **values: object) -> typer.BadParameter:
    # An error of momentree is a ValueError, of which typer reports the value alone.
    return typer.BadParameter(str(Message(code, **values)))


TextColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column that holds the text.",
        show_default="detected",
        rich_help_panel=READING_TEXT,
    ),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=input_path,
        help="Words of a matrix of counts, one a line, in the order of its columns.",
        show_default="found beside the matrix",
        rich_help_panel=READING_TEXT,
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Column with the id of each row.", rich_help_panel=READING),
]
Encoding = Annotated[
    str, typer.Option(metavar="NAME", help="Encoding of text files.", rich_help_panel=READING)
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="CHAR",
        help="Character between columns.",
        show_default="detected",
        rich_help_panel=READING,
    ),
]
CodeColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Column with codes, or a pattern such as 'DX*'. Repeatable.",
        show_default="detected",
        rich_help_panel=READING_RECORDS,
    ),
]
UnionBy = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Column whose rows make up one record, such as the patient of an admission.",
        rich_help_panel=READING_RECORDS,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Sheet of a spreadsheet.",
        show_default="the first",
        rich_help_panel=READING_RECORDS,
    ),
]
SkipRows = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Rows to skip above the column names, such as a title.",
        rich_help_panel=READING_RECORDS,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Column to ignore, or a pattern. Repeatable.",
        rich_help_panel=READING_RECORDS,
    ),
]
Refine = Annotated[
    bool, typer.Option(help="Refine the moment estimates by EM.", rich_help_panel=FITTING)
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.html",
        help="Report: one page that works offline.",
        rich_help_panel=WRITING,
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="In the CSV table, put an apostrophe before text that a spreadsheet would run as a "
        "formula.",
        rich_help_panel=WRITING,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Title of the report and of the drawing.",
        show_default="name of the input",
        rich_help_panel=WRITING,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing.", rich_help_panel=WRITING)
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Log each step and its time on standard error.",
        rich_help_panel=WRITING,
    ),
]

"""Options shared by several commands, and parsers for the values of options."""

from collections.abc import Iterable
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from momentree.core.choices import MOST_NGRAM, ColumnKind
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message


def in_panel(name: str) -> Any:
    """Return a version of `typer.Option` for one panel of the help."""
    return partial(typer.Option, rich_help_panel=name)


reading_option = in_panel("Reading the input")
text_option = in_panel("Reading documents")
records_option = in_panel("Reading records")
sequences_option = in_panel("Reading sequences")
output_option = in_panel("Output (existing files are replaced)")
fitting_option = in_panel("Fitting")


def given(context: typer.Context, name: str) -> bool:
    """Whether the user set an option explicitly."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def input_path(text: str) -> Path:
    """Parse the path of an input; an empty one, as from an unset variable, is an error."""
    if not text:
        raise _refused("empty_path")
    return Path(text)


def words_or_file(text: str, parameter: str) -> Path | tuple[str, ...]:
    """Parse words separated by commas, or the path of a file of words."""
    path = input_path(text)
    if path.is_file():
        return path
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    # One name with a folder or a suffix is a file that does not exist.
    if not words or ("," not in text and (path.suffix or len(path.parts) > 1)):
        raise InvalidParameterError("no_file_of_words", parameter=parameter, value=text)
    return words


def choice_of(kind: Any) -> dict[str, Any]:
    """Return the settings of an option that takes one of the choices of a ``Literal``."""
    names = get_args(kind)

    def choice(text: str) -> str:
        if text not in names:
            raise _refused("not_an_option", value=text, choices=names)
        return text

    return {"parser": choice, "metavar": f"<{'|'.join(names)}>"}


def whole_number(text: str) -> int:
    """Parse an integer of at least 0."""
    if not str(text).isdecimal():
        raise _refused("not_a_whole_number", value=text)
    return int(text)


def count(text: str, code: str = "not_a_count") -> int:
    """Parse an integer of at least 1."""
    if not str(text).isdecimal() or int(text) < 1:
        raise _refused(code, value=text)
    return int(text)


def words_of_passage(text: str) -> int | str | None:
    """Parse ``auto``, ``none``, or a number of words."""
    if text in ("auto", "none"):
        return None if text == "none" else text
    return count(text, code="not_passages_option")


def count_or_auto(text: str) -> int | None:
    """Parse an integer of at least 1, or ``auto``, which is None."""
    return None if text == "auto" else count(text, code="not_a_count_or_auto")


def states_or_auto(text: str) -> int | None:
    """Parse an integer of at least 2, or ``auto``, which is None."""
    if text == "auto":
        return None
    if not str(text).isdecimal() or int(text) < 2:
        raise _refused("not_states_or_auto", value=text)
    return int(text)


def whole_number_or_all(text: str) -> int | Literal["all"]:
    """Parse an integer of at least 0, or ``all``."""
    if text == "all":
        return "all"
    if not str(text).isdecimal():
        raise _refused("not_a_whole_number_or_all", value=text)
    return int(text)


def ngrams(text: str) -> int:
    """Parse a number of words from 1 to 5."""
    number = count(text, code="not_ngrams")
    if number > MOST_NGRAM:
        raise _refused("not_ngrams", value=text)
    return number


def count_range(text: str) -> range:
    """Parse two numbers of groups, such as 2-10; the range includes both."""
    low, _, high = text.partition("-")
    if not (low.strip().isdecimal() and high.strip().isdecimal()):
        raise _refused("not_a_range", value=text)
    if not 1 <= int(low) <= int(high):
        raise _refused("not_a_range", value=text)
    return range(int(low), int(high) + 1)


def kinds_by_column(values: Iterable[str]) -> dict[str, str]:
    """Parse kinds of columns: ``age=number``."""
    kinds = {}
    for value in values:
        column, equals, kind = value.rpartition("=")
        if not (equals and column and kind in get_args(ColumnKind)):
            choices = get_args(ColumnKind)
            raise InvalidParameterError(
                "not_column_kind", parameter="kinds", value=value, choices=choices
            )
        kinds[column] = kind
    return kinds


def positive_or_auto(text: str) -> float | None:
    """Parse a positive number, or ``auto``, which is None."""
    if text == "auto":
        return None
    number = _number(text, float)
    if not 0 < number < inf:
        raise _refused("not_positive_or_auto", value=text)
    return number


def count_or_fraction(text: str) -> float:
    """Parse a number of documents (an integer) or a fraction of them (with a decimal point)."""
    is_fraction = "." in text
    number = _number(text, float if is_fraction else int)
    if not 0 <= number <= (1 if is_fraction else inf):
        raise _refused("not_a_count_or_fraction", value=text)
    return number


def fraction(text: str) -> float:
    """Read a fraction above 0, of at most 1."""
    number = _number(text, float)
    if not 0 < number <= 1:
        raise _refused("not_a_fraction", value=text)
    return number


def _number(text: str, kind: type[int] | type[float]) -> float:
    try:
        return kind(text)
    except ValueError:
        return -1


def _refused(code: str, **values: object) -> typer.BadParameter:
    # Errors of momentree are ValueErrors, for which typer would print only the value.
    return typer.BadParameter(str(Message(code, **values)))


TextColumn = Annotated[
    list[str] | None,
    text_option(
        metavar="NAME",
        help="Column with the text. Repeatable: the columns are joined.",
        show_default="detected",
    ),
]
Tokenizer = Annotated[
    str | None,
    text_option(
        metavar="MODULE:FUNCTION",
        help="Python function that splits a text into words, such as jieba:lcut or one in a file "
        "of this folder. It is imported and run.",
    ),
]
Vocabulary = Annotated[
    Path | None,
    text_option(
        metavar="FILE",
        parser=input_path,
        help="List of words for a matrix of counts, one per line, in column order.",
        show_default="in the folder of the matrix",
    ),
]
IdColumn = Annotated[
    str | None, reading_option(metavar="NAME", help="Column with the id of each row.")
]
Encoding = Annotated[
    str,
    reading_option(
        metavar="NAME|auto", help="Encoding of text files. auto guesses it for each file."
    ),
]
Separator = Annotated[
    str | None,
    reading_option(metavar="CHAR", help="Character between columns.", show_default="detected"),
]
CodeColumns = Annotated[
    list[str] | None,
    records_option(
        metavar="NAME",
        help="Column with codes, or a pattern such as 'DX*'. Repeatable.",
        show_default="detected",
    ),
]
Kinds = Annotated[
    list[str] | None,
    records_option(
        metavar="COLUMN=KIND",
        help="Kind of a column of measurements, by name or pattern: number, yes_no, category or "
        "count. Repeatable.",
        show_default="detected",
    ),
]
Missing = Annotated[
    list[str] | None,
    records_option(
        metavar="VALUE",
        help="A value of measurements that stands for a missing one, such as 999, besides empty "
        "cells, NA, ? and -. Repeatable.",
    ),
]
TimeColumn = Annotated[
    str | None,
    sequences_option(
        metavar="NAME|none",
        help="Column that orders the steps: numbers or dates; none is the order of the rows.",
        show_default="detected",
    ),
]
TimeFormat = Annotated[
    str | None,
    sequences_option(
        metavar="FORMAT", help="Format of the times, such as %d/%m/%Y.", show_default="detected"
    ),
]
Raw = Annotated[
    bool,
    text_option(
        "--raw",
        help="Keep HTML, mail headers, quoted replies, signatures, URLs and page numbers.",
    ),
]
Embeddings = Annotated[
    Path | None,
    reading_option(
        metavar="FILE.npy",
        parser=input_path,
        help="Embeddings of the documents, one row each, in the order of the documents: they form "
        "the groups, and the words name them.",
    ),
]
Passages = Annotated[
    str,
    text_option(
        metavar="auto|none|N",
        parser=words_of_passage,
        help="Cut long texts into passages of N words; auto decides by their length.",
    ),
]
UnionBy = Annotated[
    str | None,
    records_option(
        metavar="NAME",
        help="Join rows with equal values in this column, such as a patient id, into one record.",
    ),
]
Sheet = Annotated[
    str | None,
    reading_option(metavar="NAME", help="Sheet of a spreadsheet.", show_default="the first"),
]
SkipRows = Annotated[
    int,
    reading_option(
        metavar="N",
        parser=whole_number,
        help="Rows to skip above the header row, such as a title.",
    ),
]
Header = Annotated[
    bool | None,
    reading_option(
        "--header/--no-header",
        help="Whether the first row of a table names its columns.",
        show_default="detected",
    ),
]
Ignore = Annotated[
    list[str] | None,
    records_option(metavar="NAME", help="Column to ignore, or a pattern. Repeatable."),
]
Memory = Annotated[
    str | None,
    reading_option(
        metavar="SIZE",
        help="Work in this much memory, such as 1GB or 800MB, with what was read in a folder "
        "on disk next to the output.",
        show_default="as much as needed",
    ),
]
Resume = Annotated[
    bool,
    reading_option(
        "--resume", help="With --memory: continue after the last finished step of a stopped run."
    ),
]
Scheduler = Annotated[
    str | None,
    reading_option(
        metavar="ADDRESS",
        help="Read Parquet files and fit on the workers of this scheduler of Dask, such as "
        "tcp://10.0.0.1:8786.",
    ),
]
Refine = Annotated[bool, fitting_option(help="Refine the result of the moments by EM.")]
Rename = Annotated[
    list[str] | None,
    output_option(
        metavar="N=NAME",
        help="Name a leaf, topic or group; 0-3=NAME names the node above leaves 0 to 3. "
        "Repeatable.",
    ),
]
Output = Annotated[
    Path | None,
    output_option(
        "--output", "-o", metavar="FILE.html", help="Report: one page that works offline."
    ),
]
EscapeFormulas = Annotated[
    bool,
    output_option(
        "--escape-formulas",
        help="In the CSV file, put an apostrophe before text that a spreadsheet would run as a "
        "formula.",
    ),
]
Title = Annotated[
    str | None,
    output_option(
        metavar="TEXT",
        help="Title of the report and of the printed result.",
        show_default="from the input",
    ),
]
Quiet = Annotated[bool, output_option("--quiet", "-q", help="Print only errors.")]
Verbose = Annotated[
    bool, output_option("--verbose", "-v", help="Log each step and its time to standard error.")
]

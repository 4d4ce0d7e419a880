"""Options that several commands have, word for word."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "READING",
    "WRITING",
    "EscapeFormulas",
    "Output",
    "Quiet",
    "Separator",
    "Title",
    "Verbose",
    "input_path",
]

READING = "Reading"
WRITING = "Output (existing files are replaced)"


def input_path(text: str) -> Path:
    """Read the path of an input; an empty one, as of an unset variable, is no current folder."""
    if not text:
        message = "the path is empty; give a file or folder ('.' is the current folder)"
        raise typer.BadParameter(message)
    return Path(text)


Separator = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Between columns (else found).", rich_help_panel=READING),
]

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.html",
        help="The report, one page that needs no network.",
        rich_help_panel=WRITING,
    ),
]

EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="In the CSV table, an apostrophe before text that a spreadsheet would run.",
        rich_help_panel=WRITING,
    ),
]

Title = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Heading of the report and the drawing.",
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
        help="Log each step and its time on stderr.",
        rich_help_panel=WRITING,
    ),
]

"""The command ``momentree``: files in, files out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from momentree._version import __version__
from momentree.cli._edits import InOrder
from momentree.cli._guard import INTERRUPTED, Commands, prepare_process
from momentree.cli._screen import one_line
from momentree.cli.assign import EXAMPLES as ASSIGN_EXAMPLES
from momentree.cli.assign import assign
from momentree.cli.clusters import EXAMPLES as CLUSTERS_EXAMPLES
from momentree.cli.clusters import clusters
from momentree.cli.demo import demo
from momentree.cli.topics import EXAMPLES as TOPICS_EXAMPLES
from momentree.cli.topics import topics

__all__ = ["app", "main"]

app = typer.Typer(
    name="momentree",
    cls=Commands,
    help="Topics of text and groups of records, as trees and lists, by the method of moments.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _help(command: Callable[..., None]) -> str:
    """Return the text of a command with each paragraph on one line, to be wrapped anew."""
    return "\n\n".join(map(one_line, (command.__doc__ or "").split("\n\n")))


app.command(help=_help(demo))(demo)
app.command(help=_help(topics), epilog=TOPICS_EXAMPLES)(topics)
app.command(cls=InOrder, help=_help(clusters), epilog=CLUSTERS_EXAMPLES)(clusters)
app.command(help=_help(assign), epilog=ASSIGN_EXAMPLES)(assign)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"momentree {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    del version


def main() -> None:
    """Run the command ``momentree`` with the arguments of the process, and end the process."""
    prepare_process()
    try:
        app()
    except KeyboardInterrupt:
        # Before or after a command, which answers for itself while it runs.
        sys.exit(INTERRUPTED)
    finally:
        sys.stdout.flush()

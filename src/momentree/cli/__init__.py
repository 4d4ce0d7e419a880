"""The command ``momentree``: read files, find topics or groups, write files."""

import sys
from typing import Annotated

import typer

from momentree._version import __version__
from momentree.cli.commands import COMMANDS
from momentree.cli.guard import INTERRUPTED, USUAL, Command, Commands, prepare_process
from momentree.cli.screen import one_line

__all__ = ["app", "main"]

app = typer.Typer(
    name="momentree",
    cls=Commands,
    help="Find topics in documents, groups of records and states of sequences by the method of "
    "moments.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _spec in COMMANDS:
    app.command(
        cls=Command,
        # Each paragraph is one line, so that typer wraps it to the terminal.
        help="\n\n".join(map(one_line, _spec.help.split("\n\n"))),
        epilog=_spec.epilog,
        context_settings={
            "help_option_names": ["-h", "--help", *(["--help-all"] if _spec.name in USUAL else [])]
        },
    )(_spec.as_function())


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
    """Run the command ``momentree`` with the arguments of the process."""
    prepare_process()
    try:
        app()
    except KeyboardInterrupt:
        # Before or after a command, which handles it while it runs.
        sys.exit(INTERRUPTED)
    finally:
        sys.stdout.flush()

"""The command ``momentree``: read files, find topics or groups, write files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from momentree._version import __version__
from momentree.cli.assign import EXAMPLES as ASSIGN_EXAMPLES
from momentree.cli.assign import assign
from momentree.cli.clusters import EXAMPLES as CLUSTERS_EXAMPLES
from momentree.cli.clusters import clusters
from momentree.cli.demo import EXAMPLES as DEMO_EXAMPLES
from momentree.cli.demo import demo
from momentree.cli.guard import INTERRUPTED, USUAL, Command, Commands, prepare_process
from momentree.cli.moments import MERGE_EXAMPLES, MOMENTS_EXAMPLES, merge, moments
from momentree.cli.screen import one_line
from momentree.cli.sequences import EXAMPLES as SEQUENCES_EXAMPLES
from momentree.cli.sequences import sequences
from momentree.cli.topics import EXAMPLES as TOPICS_EXAMPLES
from momentree.cli.topics import topics

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


_COMMANDS: dict[Callable[..., None], str] = {
    demo: DEMO_EXAMPLES,
    topics: TOPICS_EXAMPLES,
    clusters: CLUSTERS_EXAMPLES,
    sequences: SEQUENCES_EXAMPLES,
    assign: ASSIGN_EXAMPLES,
    moments: MOMENTS_EXAMPLES,
    merge: MERGE_EXAMPLES,
}
for _command, _examples in _COMMANDS.items():
    # Each paragraph is one line, so that typer wraps it to the terminal.
    _help = "\n\n".join(map(one_line, (_command.__doc__ or "").split("\n\n")))
    _names = {"help_option_names": ["-h", "--help"]}
    if _command.__name__ in USUAL:
        _names["help_option_names"].append("--help-all")
    app.command(cls=Command, help=_help, epilog=_examples, context_settings=_names)(_command)


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

"""``momentree moments``: the sums of a table, to merge with those of other sites."""

from __future__ import annotations

from contextlib import ExitStack

from momentree.cli._moments import Rows, add_up, read_rows
from momentree.cli._run import Run


def read(run: Run, _held: ExitStack) -> Rows:
    """Read rows, with the columns of the question if there is one."""
    options = run.options
    reading, of_codes = options.read_by(), options.read_by("records")
    return read_rows(
        run,
        options.source,
        options.question,
        options.model,
        reading,
        {name: value for name, value in of_codes.items() if name not in reading},
        options.text_column,
        options.vocabulary,
    )


def proceed(run: Run, rows: Rows) -> None:
    """Add up the rows, and write the sums."""
    add_up(run, rows, run.options.min_cell)

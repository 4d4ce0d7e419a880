"""``momentree merge``: merge the sums of sites, ask the next question, or fit a model."""

from __future__ import annotations

from contextlib import ExitStack

from momentree.cli._merge import continue_with, merged
from momentree.cli._run import Run
from momentree.moments import State


def read(run: Run, _held: ExitStack) -> State:
    """Read the sums of sites, and merge them."""
    return merged(run, run.options.sources)


def proceed(run: Run, state: State) -> None:
    """Write the next question, a model, or the merged sums."""
    options = run.options
    continue_with(
        run,
        state,
        options.components,
        writes_next=options.next is not None,
        fits=options.fit is not None,
    )

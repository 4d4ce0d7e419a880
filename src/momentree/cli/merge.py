"""``momentree merge``: merge the sums of sites, ask the next question, or fit a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import momentree.cli._options as options
from momentree.cli._run import Run
from momentree.exceptions import InvalidParameterError

EXAMPLES = """
[bold]Examples[/bold]

Merge the first round of three hospitals, and write the question of the second\n
  momentree merge north1.mom south1.mom west1.mom --components 6 --next r2.mom

Merge the answers, and write a model from the moments alone\n
  momentree merge north2.mom south2.mom west2.mom --fit groups.mt

Or refine it by EM: one more round for each step\n
  momentree merge north2.mom south2.mom west2.mom --next r3.mom
"""


def merge(
    context: typer.Context,
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.mom...",
            parser=options.input_path,
            help="Files of one round, written by momentree moments at each site, or merged ones.",
        ),
    ],
    components: Annotated[
        int | None,
        options.fitting_option(
            "--components",
            "-k",
            metavar="K",
            parser=options.count,
            help="Number of components, for --next after a first round.",
        ),
    ] = None,
    next_round: Annotated[
        Path | None,
        options.output_option(
            "--next",
            metavar="FILE.mom",
            help="The question of the next round, for momentree moments --round at each site.",
        ),
    ] = None,
    fit: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.mt",
            help="The model, for momentree assign, after the last round of moments or any step of "
            "EM.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        options.output_option(
            metavar="FILE.mom", help="The merged sums, to merge further files of the same round."
        ),
    ] = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Merge the sums of several tables or sites, and continue with the next round or a model.

    Moments take two rounds, a third and fourth with more than 1,024 columns; each step of EM is one
    more. The result is that of the pooled rows, up to rounding, if no site suppressed anything.
    """
    if components is not None and next_round is None:
        raise InvalidParameterError("components_of_next", parameter="components")
    run = Run(
        context,
        inputs=sources,
        outputs={"next": next_round, "fit": fit, "save": save},
        suffixes={"next": ".mom", "fit": ".mt", "save": ".mom"},
        quiet=quiet,
        verbose=verbose,
    )
    with run.stage("merging"):
        from momentree.cli._merge import continue_with, merged

        state = merged(run, sources)
    continue_with(run, state, components, writes_next=next_round is not None, fits=fit is not None)

"""What the options of ``momentree topics`` may be, and which of them go together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args

import typer

from momentree.exceptions import InvalidParameterError

__all__ = [
    "Empty",
    "Growth",
    "LogScaling",
    "Model",
    "Target",
    "Weighting",
    "check_table",
    "check_together",
    "flat_parameters",
    "given",
    "parse_concentration",
    "parse_leaves",
    "parse_share",
    "read_model_option",
]

Model = Literal["single-topic", "lda"]
MODELS: tuple[Model, ...] = get_args(Model)
_MODEL_SUFFIX = ".mt"
_FOR_TREES = ("leaves", "depth", "growth", "min_samples_leaf")
_FOR_FLAT = ("components", "alpha0")


class Growth(StrEnum):
    """How the tree grows."""

    best_first = "best_first"
    depth = "depth"


class LogScaling(StrEnum):
    """How counts are scaled."""

    log1p = "log1p"
    none = "none"


class Empty(StrEnum):
    """What an empty cell of a wide table of records means."""

    missing = "missing"
    zero = "zero"


class Weighting(StrEnum):
    """How documents are weighted in the moments."""

    length = "length"
    uniform = "uniform"
    three_words = "three_words"


def parse_leaves(value: str) -> int:
    """Read a number of leaves; ``auto`` is 0, as a command line option cannot be None."""
    if value == "auto":
        return 0
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        message = f"{value!r} is neither a number of at least 1 nor 'auto'."
        raise typer.BadParameter(message)
    return number


def parse_share(value: str) -> float:
    """Read a number of documents (an integer) or a share of them (a number with a point)."""
    message = f"{value!r} is neither a number of documents (5) nor a share of them (0.05)."
    try:
        number = float(value) if "." in value else int(value)
    except ValueError:
        raise typer.BadParameter(message) from None
    if number < 0 or (isinstance(number, float) and number > 1):
        raise typer.BadParameter(message)
    return number


def parse_concentration(value: str) -> float:
    """Read a total concentration; ``auto`` is 0, as a command line option cannot be None."""
    if value == "auto":
        return 0.0
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        message = f"{value!r} is neither a number above 0 nor 'auto'."
        raise typer.BadParameter(message)
    return number


@dataclass(frozen=True)
class Target:
    """What ``--model`` and ``--save`` ask for.

    Parameters
    ----------
    model : str or None
        "single-topic" or "lda" where it was given.
    option : str
        The option that names the file of the model.
    path : Path or None
        That file.
    """

    model: Model | None
    option: str
    path: Path | None


def read_model_option(values: Iterable[str], save: Path | None) -> Target:
    """Tell the kind of a model from the file of one: ``--model`` takes either, or both.

    Raises
    ------
    InvalidParameterError
        When a value is neither, or there are two of one sort.
    """
    kinds = [model for value in values for model in MODELS if model == value]
    files = [Path(value) for value in values if value not in MODELS]
    for file in files:
        if not file.suffix and len(file.parts) == 1:
            message = (
                f"--model {file} is neither a model ({', '.join(MODELS)}) nor a file to save it "
                f"in, whose name must end in {_MODEL_SUFFIX}."
            )
            raise InvalidParameterError(message)
    if len(kinds) > 1:
        message = f"--model names two models, {kinds[0]} and {kinds[1]}; give one of them."
        raise InvalidParameterError(message)
    if len(files) + (save is not None) > 1:
        message = "the model is saved in one file; give one --save FILE.mt, or one --model FILE.mt."
        raise InvalidParameterError(message)
    if files:
        return Target(kinds[0] if kinds else None, "--model", files[0])
    return Target(kinds[0] if kinds else None, "--save", save)


def given(context: typer.Context, name: str) -> bool:
    """Whether an option was written by the user, not left to its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def check_together(context: typer.Context, *, flat: bool, model: str | None) -> None:
    """Refuse options that would be without effect: their user expects one.

    Raises
    ------
    InvalidParameterError
        When an option is for the other kind of topics, or for another model.
    """

    def refuse(option: str, reason: str) -> None:
        message = f"{option} {reason}."
        raise InvalidParameterError(message)

    for name in _FOR_TREES if flat else _FOR_FLAT:
        if given(context, name):
            option = "--" + name.replace("_", "-")
            if flat:
                instead = "; give --components for their number" if name == "leaves" else ""
                refuse(option, f"is for trees: leave it out, or leave out --flat{instead}")
            refuse(option, "is for a flat list of topics: add --flat")
    if model is not None and not flat:
        refuse(f"--model {model}", "is for a flat list of topics: add --flat")
    if given(context, "order") and context.params["output"] is None:
        refuse("--order", "is for the chart in the report: add --output FILE.html")
    if model != "lda" and given(context, "alpha0"):
        refuse("--alpha0", "is for --model lda: add that, or leave it out")
    draws = context.params["weighting"] == "three_words"
    if flat and model != "lda" and draws and context.params["log_scaling"] != "none":
        refuse("--weighting three_words", "draws words from whole counts: add --log-scaling none")
    if model == "lda" and given(context, "log_scaling") and context.params["log_scaling"] != "none":
        refuse("--log-scaling", "does not go with --model lda, which takes counts as they are")


def check_table(*, escape_formulas: bool, csv: Path | None) -> None:
    """Refuse an option for a table that is not asked for.

    Raises
    ------
    InvalidParameterError
        If there is no table.
    """
    if escape_formulas and csv is None:
        message = "--escape-formulas is for the table: add --csv FILE.csv, or leave it out."
        raise InvalidParameterError(message)


def flat_parameters(
    context: typer.Context,
    model: str | None,
    *,
    refine: bool,
    log_scaling: LogScaling,
    weighting: Weighting,
    alpha0: float,
) -> dict[str, Any]:
    """Return the parameters of a flat model; what was not given is left to its defaults."""
    parameters: dict[str, Any] = {"refine": "em" if refine else None}
    if given(context, "weighting"):
        parameters["weighting"] = weighting.value
    if model == "lda":
        parameters["alpha0"] = alpha0 or None
    elif given(context, "log_scaling"):
        parameters["log_scaling"] = None if log_scaling is LogScaling.none else log_scaling.value
    return parameters

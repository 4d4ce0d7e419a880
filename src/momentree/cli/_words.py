"""Word messages for a command: options instead of parameters, reasons without mathematics."""

from __future__ import annotations

import ast
import shlex
from contextlib import suppress
from typing import Any

from momentree.messages import PYTHON, Audience
from momentree.messages.catalogue.report import PLAIN

# Python parameters and the corresponding options, of which a command has at most one.
_OPTIONS = {
    "code_columns": ("--code-column",),
    "ignore_columns": ("--ignore",),
    "max_depth": ("--depth",),
    "max_leaf_nodes": ("--leaves", "--groups"),
    "n_components": ("--components", "--groups"),
    "outcome_columns": ("--outcome",),
}
# Values with their own option.
_SWITCHES = {
    ("drop_constant", "False"): "--keep-constant",
    ("lowercase", "False"): "--keep-case",
    ("refine", "None"): "--no-refine",
    ("refine", "'em'"): "--refine",
}
# For a limit that was reached, name the option that sets it.
_WORDS = {code: PLAIN[code] for code in PLAIN if not code.endswith("_reached")}


def audience_of(command: Any) -> Audience:
    """Return the audience of a command: the user who typed it."""
    flags = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}

    def as_option(name: str, value: str | None) -> str:
        switch = _SWITCHES.get((name, str(value)))
        if switch in flags:
            return str(switch)
        spellings = (*_OPTIONS.get(name, ()), "--" + name.replace("_", "-"))
        flag = next((flag for flag in spellings if flag in flags), None)
        if flag is None:
            return PYTHON.parameter(name, value)
        return flag if value is None else f"{flag} {_typed(value)}"

    return Audience(as_option, _WORDS)


def _typed(value: str) -> str:
    """Return a value as typed in a shell, without Python quotes."""
    if value == "None":
        return "none"
    with suppress(ValueError, SyntaxError):
        literal = ast.literal_eval(value)
        if isinstance(literal, str):
            return shlex.quote(literal)
    return value

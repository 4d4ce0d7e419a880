"""Messages in the words of a command: parameters as its options, reasons without mathematics."""

from __future__ import annotations

import ast
import shlex
from contextlib import suppress
from typing import Any

from momentree.messages import PYTHON, Audience
from momentree.messages.catalogue.report import PLAIN

# Parameters of Python and the options that stand for them; a command has one of these at most.
_OPTIONS = {
    "code_columns": ("--code-column",),
    "ignore_columns": ("--ignore",),
    "max_depth": ("--depth",),
    "max_leaf_nodes": ("--leaves", "--groups"),
    "n_components": ("--components", "--groups"),
    "outcome_columns": ("--outcome",),
}
# Values that have an option of their own.
_SWITCHES = {
    ("drop_constant", "False"): "--keep-constant",
    ("lowercase", "False"): "--keep-case",
    ("refine", "None"): "--no-refine",
    ("refine", "'em'"): "--refine",
}
# Limits that were reached are worded by the options that set them.
_WORDS = {code: PLAIN[code] for code in PLAIN if not code.endswith("_reached")}


def audience_of(command: Any) -> Audience:
    """Return the audience of a command: whoever typed it."""
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
    """Return a value as it is typed in a shell, without the quotes of Python."""
    if value == "None":
        return "none"
    with suppress(ValueError, SyntaxError):
        literal = ast.literal_eval(value)
        if isinstance(literal, str):
            return shlex.quote(literal)
    return value

"""Word messages for a command: options instead of parameters, reasons without mathematics."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Mapping
from typing import Any

from momentree.messages import PYTHON, Audience
from momentree.messages.catalogue.report import PLAIN

# Python parameters and the corresponding options, of which a command has at most one.
_OPTIONS = {
    "code_columns": ("--code-column",),
    "covariate_columns": ("--covariate",),
    "ignore_columns": ("--ignore",),
    "kinds": ("--kind",),
    "max_depth": ("--depth",),
    "max_leaf_nodes": ("--leaves", "--groups"),
    "min_count": ("--min-cell",),
    "n_components": ("--components", "--groups", "--states"),
    "n_topics": ("-k",),
    "ngram_range": ("--ngrams",),
    "outcome_columns": ("--outcome",),
}
# Values with their own option.
_SWITCHES: Mapping[str, Mapping[object, str]] = {
    "drop_constant": {False: "--keep-constant"},
    "header": {True: "--header", "True": "--header", False: "--no-header", "False": "--no-header"},
    "lowercase": {False: "--keep-case"},
    "raw": {True: "--raw"},
    "resume": {True: "--resume"},
    "refine": {None: "--no-refine", "em": "--refine"},
    "unique": {True: "--unique", False: "--every-copy"},
}
_SAMPLES = {
    "clusters": "record",
    "merge": "row",
    "moments": "row",
    "sequences": "step",
    "topics": "document",
}
# For these, name the option that sets the limit.
_LIMITS = ("max_depth_reached", "max_leaf_nodes_reached")
_WORDS = {code: PLAIN[code] for code in PLAIN if code not in _LIMITS}


def audience_of(command: Any) -> Audience:
    """Return the audience of a command: the user who typed it."""
    flags = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}

    def as_option(name: str, text: str | None, value: Any) -> str:
        # A damaged model may have a list for a parameter.
        switch = _SWITCHES.get(name, {}).get(value if isinstance(value, Hashable) else "")
        if switch in flags:
            return str(switch)
        spellings = (*_OPTIONS.get(name, ()), "--" + name.replace("_", "-"))
        flag = next((flag for flag in spellings if flag in flags), None)
        if flag is None:
            return PYTHON.parameter(name, text, value)
        if text is None:
            return flag
        if isinstance(value, str) and value != text:  # not text of the template
            return f"{flag} {shlex.quote(value)}"
        return f"{flag} {'none' if value is None else text}"

    sample = _SAMPLES.get(command.name, PYTHON.sample)
    return Audience(as_option, _WORDS, sample)

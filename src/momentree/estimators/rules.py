"""Rules of parameters: the choices of each, or a check of its value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral
from typing import Any, get_args

from momentree._validation import check_choice, check_flag, check_integer, check_number
from momentree.core.choices import Refine

Rule = tuple[Any, ...] | Callable[[str, Any], None]
"""The choices of a parameter, or a function that raises an error for a value."""
Rules = Mapping[str, Rule]


def check_verbose(name: str, value: Any) -> None:
    """Check a flag, or a number as of scikit-learn's levels."""
    check_flag(name, bool(value) if isinstance(value, Integral) else value)


def whole(at_least: int, **more: Any) -> Rule:
    """Return the rule of a whole number."""
    return partial(check_integer, at_least=at_least, **more)


def number(**ends: Any) -> Rule:
    """Return the rule of a number between some ends."""
    return partial(check_number, **ends)


REFINE: Rule = (*get_args(Refine), None)


def check(estimator: Any, rules: Rules) -> None:
    """Raise an error if a parameter of an estimator breaks its rule."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        if isinstance(rule, tuple):
            check_choice(name, value, rule)
        else:
            rule(name, value)

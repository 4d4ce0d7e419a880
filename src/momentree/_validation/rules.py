"""Rules and checks of parameters: numbers, choices, flags and random states."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, cast, get_args

import numpy as np
from sklearn.utils import check_random_state

from momentree.core.choices import Refine
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message


def check_number(
    parameter: str,
    value: object,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    optional: bool = False,
) -> None:
    """Check that a parameter is a finite number in a range, or None if it is optional.

    `at_least` and `at_most` include the limit, `above` and `below` exclude it. The error code is
    ``not_a_number``.
    """
    if optional and value is None:
        return
    sound = (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and (at_least is None or float(value) >= at_least)
        and (above is None or float(value) > above)
        and (at_most is None or float(value) <= at_most)
        and (below is None or float(value) < below)
    )
    if not sound:
        expected = Message(
            "[number] a number {ends:and}", ends=_ends(at_least, above, at_most, below)
        )
        raise _not_a_number(parameter, value, expected, optional=optional)


def check_integer(
    parameter: str,
    value: object,
    *,
    at_least: int,
    at_most: int | None = None,
    optional: bool = False,
    words: Sequence[str] = (),
) -> None:
    """Check that a parameter is a whole number in a range, or None if it is optional.

    It may also be one of `words`, such as "auto". The error code is ``not_a_number``.
    """
    if (optional and value is None) or (isinstance(value, str) and value in words):
        return
    sound = (
        isinstance(value, Integral)
        and not isinstance(value, bool)
        and int(value) >= at_least
        and (at_most is None or int(value) <= at_most)
    )
    if not sound:
        expected = Message(
            "[whole_number] a whole number {ends:and}", ends=_ends(at_least, None, at_most, None)
        )
        if words:
            expected = Message(
                "[or_word] {expected}, or {words:quoted or}", expected=expected, words=list(words)
            )
        raise _not_a_number(parameter, value, expected, optional=optional)


def _ends(
    at_least: float | None, above: float | None, at_most: float | None, below: float | None
) -> list[Message]:
    """Return the limits of a range as messages."""
    if at_least is not None and at_most is not None:
        return [Message("[from_to] from {low:,} to {high:,}", low=at_least, high=at_most)]
    ends = {
        "[at_least] of at least {end:,}": at_least,
        "[above] above {end:,}": above,
        "[at_most] of at most {end:,}": at_most,
        "[below] below {end:,}": below,
    }
    return [Message(template, end=end) for template, end in ends.items() if end is not None]


def _not_a_number(
    parameter: str, value: object, expected: Message, *, optional: bool
) -> InvalidParameterError:
    if optional:
        expected = Message("[or_none] {expected}, or None", expected=expected)
    return InvalidParameterError(
        "[not_a_number] {parameter:=value}; expected {expected}",
        parameter=parameter,
        value=_plain(value),
        expected=expected,
    )


def _plain(value: object) -> object:
    """Return a NumPy scalar as a Python scalar, whose repr shows only the number."""
    return value.item() if isinstance(value, np.generic) else value


def check_choice(parameter: str, value: object, choices: Sequence[str | None]) -> None:
    """Check that a parameter is one of `choices`, such as ``get_args`` of a ``Literal``."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise InvalidParameterError(
            "[not_a_choice] {parameter:=value}; expected {choices:quoted or}",
            parameter=parameter,
            value=_plain(value),
            choices=list(choices),
        )


def check_flag(parameter: str, value: object, *, optional: bool = False) -> None:
    """Check that a parameter is True or False; 0 and 1 pass too, as in scikit-learn."""
    if optional and value is None:
        return
    if not isinstance(value, Integral | np.bool_) or value not in (0, 1):
        raise InvalidParameterError(
            "[not_a_flag] {parameter:=value}; expected True or False",
            parameter=parameter,
            value=_plain(value),
        )


def generator(random_state: int | np.random.RandomState | None) -> np.random.RandomState:
    """Return the random generator for a seed; None means seed 0, for reproducible results."""
    seed: Any = 0 if random_state is None else random_state
    try:
        return cast("np.random.RandomState", check_random_state(seed))
    except ValueError as error:
        raise InvalidParameterError(
            "[not_a_random_state] {parameters.random_state:=value}; expected an integer, a "
            "RandomState or None",
            value=random_state,
        ) from error


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

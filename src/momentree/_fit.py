"""Restore an estimator whose fit was refused, failed or was interrupted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

E = TypeVar("E")
P = ParamSpec("P")
T = TypeVar("T")


def all_or_nothing(
    fit: Callable[Concatenate[E, P], T],
) -> Callable[Concatenate[E, P], T]:
    """Make a method that fits an estimator restore all its attributes when it raises.

    Checks and fits set attributes one by one. An estimator with some attributes of a failed fit
    would predict nonsense. `fit` must not change any attribute in place.
    """

    @wraps(fit)
    def whole(self: E, /, *args: P.args, **kwargs: P.kwargs) -> T:
        attributes: dict[str, Any] = vars(self)
        before = dict(attributes)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            attributes.clear()
            attributes.update(before)
            raise

    return whole

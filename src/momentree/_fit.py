"""A fit that is refused, fails or is interrupted leaves the estimator as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["all_or_nothing"]

E = TypeVar("E")
P = ParamSpec("P")
T = TypeVar("T")


def all_or_nothing(
    fit: Callable[Concatenate[E, P], T],
) -> Callable[Concatenate[E, P], T]:
    """Make a method that fits an estimator restore all its attributes when it raises.

    Scikit-learn's checks set ``n_features_in_`` before the data are found wanting, and a fit sets
    its results one by one. An estimator that kept some of them would predict nonsense.

    Parameters
    ----------
    fit : callable
        A method that sets attributes of its estimator, and changes none of them in place.

    Returns
    -------
    callable
        The method; after any exception, Ctrl-C included, the estimator has the attributes that it
        had before.
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

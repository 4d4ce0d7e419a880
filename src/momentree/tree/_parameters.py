"""Checks of the parameters of a tree, and the limits of growth that they amount to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np

from momentree.exceptions import InvalidParameterError

__all__ = ["Limits", "check_parameters", "fail"]


@dataclass(frozen=True)
class Limits:
    """How far a tree may grow.

    Attributes
    ----------
    leaves, depth : int or inf
        Most leaves and most depth.
    stops_itself : bool
        Whether a penalty decides when splits end.
    """

    leaves: float
    depth: float
    stops_itself: bool

    @classmethod
    def of(cls, tree: Any) -> Limits:
        """Return the limits that the parameters of an estimator amount to."""
        leaves = math.inf if tree.max_leaf_nodes is None else tree.max_leaf_nodes
        depth = math.inf if tree.max_depth is None else tree.max_depth
        if tree.growth == "depth":
            if tree.max_depth is None and tree.max_leaf_nodes is not None:
                depth = math.ceil(math.log2(tree.max_leaf_nodes))
            leaves = math.inf
        return cls(leaves, depth, math.isinf(leaves) and math.isinf(depth))


def check_parameters(tree: Any, choices: Mapping[str, tuple[str | None, ...]]) -> None:
    """Check every parameter of an estimator.

    Parameters
    ----------
    tree : TreeEstimator
        The estimator.
    choices : mapping
        For each parameter that is a choice, the values.

    Raises
    ------
    InvalidParameterError
        Naming the first parameter that is out of its range, its value and the range.
    """
    for name, low, optional in (
        ("max_leaf_nodes", 1, True),
        ("max_depth", 0, True),
        ("max_iter", 1, False),
        ("n_components", 1, True),
    ):
        value = getattr(tree, name, None if optional else 0)
        if value is None and optional:
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < low:
            expected = f"a whole number of {low} or more" + (" or None" if optional else "")
            fail(name, value, expected)
    for name, zero in (("min_samples_leaf", False), ("smoothing", False), ("tol", True)):
        value = getattr(tree, name)
        number = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
        if not number or value < 0 or (value == 0 and not zero):
            fail(name, value, "a number of zero or more" if zero else "a number above zero")
    if not isinstance(tree.exact, bool | np.bool_):
        fail("exact", tree.exact, "True or False")
    for name, values in choices.items():
        value = getattr(tree, name)
        if (value is not None and not isinstance(value, str)) or value not in values:
            fail(name, value, "one of " + ", ".join(repr(choice) for choice in values))


def fail(name: str, value: object, expected: str) -> NoReturn:
    """Refuse the value of a parameter."""
    msg = f"{name}={value!r}; expected {expected}"
    raise InvalidParameterError(msg)

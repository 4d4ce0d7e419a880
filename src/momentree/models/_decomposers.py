"""The parameter `decomposition` of all flat models: a name, or a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import momentree.decomposition as decompositions
from momentree._validation import check_choice
from momentree.exceptions import InvalidParameterError
from momentree.objects import Decomposition, Moments
from momentree.whitening import whiten

DecompositionName = Literal[
    "sidiwo",
    "svtd",
    "tensor_power_method",
    "als",
    "svd_method",
    "eigendecomposition",
    "jennrich",
    "random_projections",
]
Decomposer = DecompositionName | Callable[..., Decomposition]

DECOMPOSITIONS: tuple[str, ...] = get_args(DecompositionName)
"""Names of the functions in ``momentree.decomposition`` that a flat model accepts."""
WHITENING_TOL = 1e-4
"""Residual of the eigenpairs of estimated moments, far below the error of the moments."""
WHITENING_ITER = 30
"""Products with M2, beyond two per component, if its spectrum is flat."""


def check_decomposer(method: object) -> None:
    """Check that the parameter is a name or a function."""
    if not callable(method):
        check_choice("decomposition", method, DECOMPOSITIONS)


def decomposer(method: str | Callable[..., Decomposition]) -> Callable[..., Decomposition]:
    """Return the function of a name, or the function itself."""
    found: Callable[..., Decomposition]
    found = method if callable(method) else getattr(decompositions, method)
    return found


def decomposed(
    moments: Moments, k: int, method: str | Callable[..., Decomposition], random_state: Any
) -> Decomposition:
    """Whiten estimated moments as precisely as they deserve, and decompose them."""
    white = whiten(moments, k, tol=WHITENING_TOL, max_iter=2 * k + WHITENING_ITER)
    return decomposer(method)(moments, k, random_state=random_state, whitening=white)


def with_named_decomposition(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with the name of the decomposition, which must be one of the package."""
    method = params.get("decomposition")
    if not callable(method):
        return params
    name = getattr(method, "__name__", "")
    if getattr(decompositions, name, None) is not method:
        raise InvalidParameterError("own_decomposition", parameter="decomposition")
    return {**params, "decomposition": name}

"""An assigner as plain values and arrays, for the files of trees and of flat models."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree import objects
from momentree._container import Arrays, check_numbers, check_shape
from momentree.assignment.assigners import (
    Assigner,
    Division,
    MixtureAssigner,
    NestedAssigner,
    RuleAssigner,
)
from momentree.assignment.rules import LinearRule, ScoreRule
from momentree.objects import MixtureParameters

__all__ = ["assigner_of", "assigner_state", "check_assigner", "parameters_of"]


def assigner_state(
    assigner: Assigner, arrays: dict[str, NDArray[Any]], prefix: str = ""
) -> dict[str, Any]:
    """Return an assigner as values that JSON knows.

    Parameters
    ----------
    assigner : Assigner
        Of any kind.
    arrays : dict of str to ndarray
        Its arrays are put there, under names that begin with `prefix`.
    prefix : str, default=""
        Of the names of its arrays.

    Returns
    -------
    dict
        For :func:`assigner_of`.
    """
    if isinstance(assigner, NestedAssigner):
        parts = [
            {
                "assigner": assigner_state(part.assigner, arrays, f"{prefix}part{i}."),
                "leaves": list(part.leaves),
            }
            if isinstance(part, Division)
            else part
            for i, part in enumerate(assigner.parts)
        ]
        base = assigner_state(assigner.base, arrays, f"{prefix}base.")
        return {"kind": "nested", "base": base, "parts": parts}
    if isinstance(assigner, MixtureAssigner):
        p = assigner.parameters
        for field in fields(p):
            arrays[f"{prefix}leaf_{field.name}"] = getattr(p, field.name)
        arrays[f"{prefix}leaf_of"] = assigner.leaf
        return {"kind": "mixture", "family": type(p).__name__, "prefix": prefix}
    assert isinstance(assigner, RuleAssigner)  # noqa: S101 - there is no fourth
    rules = assigner.rules
    # One column a side; a linear rule has one column for its two sides.
    coefs = [np.atleast_2d(rule.coef.T).T for rule in rules]
    intercepts = [rule.intercept if isinstance(rule, LinearRule) else np.nan for rule in rules]
    sides = [len(sides) for sides in assigner.children]
    children = [side for sides in assigner.children for side in sides]
    arrays |= {
        f"{prefix}rule_coefs": np.concatenate(coefs, axis=1) if coefs else np.empty((0, 0)),
        f"{prefix}rule_intercepts": np.array(intercepts, dtype=np.float64),
        f"{prefix}rule_constants": np.concatenate(
            [rule.constant for rule in rules if isinstance(rule, ScoreRule)] or [np.empty(0)]
        ),
        f"{prefix}rule_children": np.array(children, dtype=np.intp),
        f"{prefix}rule_sides": np.array(sides, dtype=np.intp),
    }
    return {"kind": "rules", "prefix": prefix}


def assigner_of(state: dict[str, Any], arrays: Arrays) -> Assigner:
    """Return the assigner that a state of :func:`assigner_state` tells.

    Its parts fit one another; whether it fits a model, :func:`check_assigner` tells.

    Raises
    ------
    ValueError, KeyError, TypeError
        If they do not.
    """
    kind = state["kind"]
    if kind == "nested":
        return _nested(state, arrays)
    if kind == "mixture":
        return _mixture(state, arrays)
    if kind == "rules":
        return _rules(state["prefix"], arrays)
    msg = f"an assigner of the kind {kind!r}"
    raise ValueError(msg)


def check_assigner(
    assigner: Assigner, family: type[MixtureParameters], n_statistics: int, n_leaves: int
) -> None:
    """Refuse an assigner that does not fit a model: compiled code trusts its shapes.

    Parameters
    ----------
    assigner : Assigner
        From :func:`assigner_of`.
    family : type of MixtureParameters
        Of the mixtures in it.
    n_statistics : int
        Columns of the rows that it reads.
    n_leaves : int
        Number of leaves.

    Raises
    ------
    ValueError
        If it does not fit.
    """
    if isinstance(assigner, NestedAssigner):
        check_assigner(assigner.base, family, n_statistics, len(assigner.parts))
        found: set[int] = set()
        for part in assigner.parts:
            if isinstance(part, Division):
                check_assigner(part.assigner, family, n_statistics, len(part.leaves))
                found.update(part.leaves)
            else:
                found.add(part)
    elif isinstance(assigner, MixtureAssigner):
        p = assigner.parameters
        if type(p) is not family:
            msg = f"parameters of the class {type(p).__name__}, not {family.__name__}"
            raise ValueError(msg)
        check_shape("coefficients", p.coefficients, (n_statistics, p.n_components))
        found = set(assigner.leaf.tolist())
    else:
        assert isinstance(assigner, RuleAssigner)  # noqa: S101 - there is no fourth
        for rule in assigner.rules:
            check_shape("coefficients", rule.coef, (n_statistics, *rule.coef.shape[1:]))
        sides = [side for sides in assigner.children for side in sides]
        found = {-1 - side for side in sides if side < 0} or {0}
    if found != set(range(n_leaves)):
        msg = f"its leaves are {sorted(found)}, not those from 0 to {n_leaves - 1}"
        raise ValueError(msg)


def _nested(state: dict[str, Any], arrays: Arrays) -> NestedAssigner:
    def whole(number: Any) -> int:
        if type(number) is not int:
            msg = f"{number!r} is no number of a leaf"
            raise TypeError(msg)
        return number

    parts: list[int | Division] = []
    for part in state["parts"]:
        if isinstance(part, dict):
            leaves = tuple(whole(leaf) for leaf in part["leaves"])
            parts.append(Division(assigner_of(part["assigner"], arrays), leaves))
        else:
            parts.append(whole(part))
    return NestedAssigner(assigner_of(state["base"], arrays), tuple(parts))


def _mixture(state: dict[str, Any], arrays: Arrays) -> MixtureAssigner:
    family = getattr(objects, state["family"])
    if not issubclass(family, MixtureParameters):
        msg = f"{state['family']!r} is no class of parameters"
        raise TypeError(msg)
    prefix = state["prefix"]
    found = {field.name: arrays[f"{prefix}leaf_{field.name}"] for field in fields(family)}
    parameters: MixtureParameters = parameters_of(family, found)
    leaf = arrays[f"{prefix}leaf_of"].astype(np.intp, casting="same_kind")
    check_shape("leaf_of", leaf, (parameters.n_components,))
    for name, values in found.items():
        if values.shape != parameters.centers.shape:  # else one number a component
            check_shape(name, values, (parameters.n_components,))
    return MixtureAssigner(parameters, leaf)


def parameters_of(family: type[Any], values: dict[str, NDArray[Any]]) -> Any:
    """Return parameters of a class from their arrays.

    Raises
    ------
    ValueError
        If one holds something else than finite floats, or has a sign that it cannot have.
    """
    for name, array in values.items():
        check_numbers(name, array, array.shape)
        # The signs that logarithms require; only the centers of Gaussians may be below zero.
        if (array < 0).any() and not (name == "centers" and getattr(family, "signed", False)):
            msg = "parameters below zero"
            raise ValueError(msg)
    return family(**values)


def _rules(prefix: str, arrays: Arrays) -> RuleAssigner:
    coefs = arrays[f"{prefix}rule_coefs"].astype(np.float64, casting="same_kind")
    intercepts = arrays[f"{prefix}rule_intercepts"].astype(np.float64, casting="same_kind")
    sides = arrays[f"{prefix}rule_sides"].astype(np.intp, casting="same_kind")
    flat = arrays[f"{prefix}rule_children"].astype(np.intp, casting="same_kind")
    m = len(sides)
    linear = ~np.isnan(intercepts)
    widths = np.where(linear, 1, sides)
    check_shape("rule_intercepts", intercepts, (m,))
    check_shape("rule_coefs", coefs, (coefs.shape[0], int(widths.sum())))
    check_shape("rule_children", flat, (int(sides.sum()),))
    constants = arrays[f"{prefix}rule_constants"].astype(np.float64, casting="same_kind")
    check_shape("rule_constants", constants, (int(sides[~linear].sum()),))
    check_numbers("rule_coefs", coefs, coefs.shape)
    check_numbers("rule_constants", constants, constants.shape)
    parent = np.repeat(np.arange(m), sides)
    # Each rule but the first is the child of one rule that stands before it.
    inner = sorted(flat[flat >= 0].tolist())
    after = (flat < 0) | (flat > parent)
    good = inner == list(range(1, m)) and bool(after.all())
    if not good or (sides < 2).any() or (linear & (sides != 2)).any():
        msg = "the sides of its rules lead nowhere"
        raise ValueError(msg)
    columns = np.split(coefs, np.cumsum(widths)[:-1], axis=1)
    of_scores = iter(np.split(constants, np.cumsum(sides[~linear])[:-1]))
    rules = tuple(
        LinearRule(part[:, 0], float(b)) if straight else ScoreRule(part, next(of_scores))
        for part, b, straight in zip(columns, intercepts, linear, strict=False)
    )
    children = np.split(flat, np.cumsum(sides)[:-1])
    return RuleAssigner(rules, tuple(tuple(part.tolist()) for part in children[:m]))

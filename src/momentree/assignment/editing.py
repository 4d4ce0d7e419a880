"""Edits of groups by hand (T Remark 4.4.1), of any model: divide one further, merge several."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from momentree.assignment.assigners import Assigner, NestedAssigner
from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = [
    "check_group",
    "check_groups",
    "check_n_groups",
    "check_same_gaps",
    "check_same_rows",
    "largest",
    "merged",
    "new_numbers",
    "refuse_split",
    "renumbered",
    "split",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def check_group(group: object, n_groups: int) -> int:
    """Return the number of a group.

    Raises
    ------
    InvalidParameterError
        If there is no group of this number.
    """
    whole = isinstance(group, Integral) and not isinstance(group, bool)
    if not whole or not 0 <= int(group) < n_groups:  # type: ignore[call-overload]
        msg = f"group={group!r}; expected the number of a group, from 0 to {n_groups - 1}"
        raise InvalidParameterError(msg)
    return int(group)  # type: ignore[call-overload, no-any-return]


def check_groups(groups: object, n_groups: int) -> list[int]:
    """Return the numbers of groups, ascending.

    Raises
    ------
    InvalidParameterError
        If they are not two different numbers of groups or more.
    """
    try:
        found = sorted({check_group(group, n_groups) for group in groups})  # type: ignore[attr-defined]
    except (TypeError, InvalidParameterError):
        found = []
    if len(found) < 2:
        msg = (
            f"groups={groups!r}; expected the numbers of two groups or more, from 0 to "
            f"{n_groups - 1}"
        )
        raise InvalidParameterError(msg)
    return found


def check_n_groups(n_groups: object) -> int:
    """Return into how many groups to divide one.

    Raises
    ------
    InvalidParameterError
        If it is no whole number of 2 or more.
    """
    whole = isinstance(n_groups, Integral) and not isinstance(n_groups, bool)
    if not whole or int(n_groups) < 2:  # type: ignore[call-overload]
        msg = f"n_groups={n_groups!r}; expected a whole number, 2 or more"
        raise InvalidParameterError(msg)
    return int(n_groups)  # type: ignore[call-overload, no-any-return]


def check_same_rows(n_samples: int, labels: Ints) -> None:
    """Check that there are as many samples as were fitted.

    Raises
    ------
    InvalidDataError
        If there are not.
    """
    if n_samples != len(labels):
        msg = (
            f"X has {n_samples} rows, the fit had {len(labels)}: groups are edited with the data "
            "of fit, in the order of fit"
        )
        raise InvalidDataError(msg)


def check_same_gaps(missing: Any | None, *, held_gaps: bool) -> None:
    """Check that no value is missing where none was in the fit.

    Raises
    ------
    InvalidDataError
        If one is.
    """
    if missing is not None and not held_gaps:
        msg = "X holds missing values, and the data of fit held none: give the data of fit"
        raise InvalidDataError(msg)


def refuse_split(group: int, reason: str) -> NoReturn:
    """Say why a group cannot be divided.

    Raises
    ------
    InvalidDataError
        Always.
    """
    msg = f"group {group} cannot be split: {reason}"
    raise InvalidDataError(msg)


def split(
    assigner: Assigner, labels: Ints, group: int, inner: Assigner, inner_labels: Ints
) -> tuple[Assigner, Ints]:
    """Divide one group further.

    Parameters
    ----------
    assigner : Assigner
        Of all samples to groups.
    labels : ndarray of int of shape (n_samples,)
        Group of each sample of the fit.
    group : int
        The group to divide.
    inner : Assigner
        Of the samples of the group to its parts.
    inner_labels : ndarray of int of shape (n_samples_of_group,)
        Part of each sample of the group.

    Returns
    -------
    assigner : Assigner
        The parts stand in the place of the group, and the groups after it move on.
    labels : ndarray of int of shape (n_samples,)
        New group of each sample.
    """
    out = labels + (inner.n_leaves - 1) * (labels > group)
    out[labels == group] = group + inner_labels
    return NestedAssigner.of(assigner, group, inner), out


def merged(
    assigner: Assigner, labels: Ints, groups: Sequence[int], weight: Floats
) -> tuple[Assigner, Ints]:
    """Make one group of several.

    Parameters
    ----------
    assigner : Assigner
        Of all samples to groups.
    labels : ndarray of int of shape (n_samples,)
        Group of each sample of the fit.
    groups : sequence of int
        Two or more different groups.
    weight : ndarray of shape (n_samples,)
        Sample weights.

    Returns
    -------
    assigner : Assigner
        The new group stands in the place of the largest of `groups`, the others are no more, and
        the groups after them move up.
    labels : ndarray of int of shape (n_samples,)
        New group of each sample.
    """
    k = assigner.n_leaves
    to = new_numbers(k, groups, largest(groups, np.bincount(labels, weights=weight, minlength=k)))
    return assigner.renumbered(to), to[labels]


def largest(groups: Sequence[int], sizes: NDArray[Any]) -> int:
    """Return the largest of some groups; of equal ones the first."""
    return max(groups, key=lambda group: (sizes[group], -group))


def new_numbers(n_groups: int, groups: Sequence[int], place: int) -> Ints:
    """Return the new number of each group, shape (n_groups,), where several become one.

    Parameters
    ----------
    n_groups : int
        Number of groups.
    groups : sequence of int
        Those that become one.
    place : int
        The one of them in whose place it stands.
    """
    old = np.arange(n_groups)
    old[list(groups)] = place
    return np.unique(old, return_inverse=True)[1].astype(np.intp)


def renumbered(assigner: Assigner, labels: Ints, order: Ints) -> tuple[Assigner, Ints]:
    """Give groups another order.

    Parameters
    ----------
    assigner : Assigner
        Of all samples to groups.
    labels : ndarray of int of shape (n_samples,)
        Group of each sample of the fit.
    order : ndarray of int of shape (n_groups,)
        The old number of each group.

    Returns
    -------
    assigner : Assigner
        With the new numbers.
    labels : ndarray of int of shape (n_samples,)
        New group of each sample.
    """
    to = np.empty_like(order)
    to[order] = np.arange(len(order))
    return assigner.renumbered(to), to[labels]

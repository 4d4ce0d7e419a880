"""Checks that the measures of groups share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree.exceptions import InvalidDataError, InvalidParameterError

__all__ = [
    "OTHER",
    "Clusterer",
    "check_labels",
    "check_positive",
    "fitted_labels",
    "outcome_classes",
]

OTHER = "other"
"""Class of all that have no class of their own."""
_NUMBER = re.compile(r"(?:^-)?\d+(?:[.,]\d+)?")
_BELOW = ("<", "under", "below", "up to", "less", "before", "bis", "unter")
MAX_NUMBERS = 10
"""Numbers with more values than this are measured, not named: they need a threshold."""
MAX_CLASSES = 50
"""Texts with more values than this are names or dates rather than categories."""


class Clusterer(Protocol):
    """An estimator that puts each sample into a cluster."""

    def fit(self, X: Any) -> Self:
        """Fit to the rows of X; ``labels_`` or ``predict`` tells the clusters."""
        ...


def fitted_labels(fitted: Any, X: Any) -> NDArray[Any]:
    """Return the cluster of each sample that an estimator was fitted to."""
    return np.asarray(fitted.labels_ if hasattr(fitted, "labels_") else fitted.predict(X))


def check_positive(name: str, value: object) -> None:
    """Check that a parameter is a whole number of one or more.

    Raises
    ------
    InvalidParameterError
        If it is not.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        msg = f"{name}={value!r}; expected a whole number, 1 or more"
        raise InvalidParameterError(msg)


def check_labels(
    labels: ArrayLike, n: int | None, n_groups: int | None
) -> tuple[NDArray[np.intp], int]:
    """Return the group of each record and the number of groups.

    Raises
    ------
    InvalidDataError
        If labels are no n whole numbers in 0 to k - 1.
    InvalidParameterError
        If `n_groups` is no whole number of 1 or more.
    """
    groups = np.asarray(labels)
    if groups.ndim != 1 or not groups.size or (n is not None and len(groups) != n):
        expected = "one for each record" if n is None else f"{n}, one for each record"
        msg = f"labels have shape {groups.shape}; expected a list of groups, {expected}"
        raise InvalidDataError(msg)
    if groups.dtype.kind not in "iub":
        msg = f"labels have type {groups.dtype}; expected whole numbers, the group of each record"
        raise InvalidDataError(msg)
    if n_groups is not None:
        check_positive("n_groups", n_groups)
    k = int(groups.max()) + 1 if n_groups is None else int(n_groups)
    if groups.min() < 0 or groups.max() >= k:
        msg = (
            f"labels run from {groups.min()} to {groups.max()}; expected 0 to {max(k, 1) - 1}. "
            f"Leave out records without a group, or give a larger n_groups."
        )
        raise InvalidDataError(msg)
    return groups.astype(np.intp), k


def check_list(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a list of numbers or texts, one for each record.

    Raises
    ------
    InvalidDataError
        If it is no list, or mixes kinds of values that have no order.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        msg = f"{name} have shape {array.shape}; expected a list, one entry for each record"
        raise InvalidDataError(msg)
    try:
        np.sort(array)
    except TypeError as error:
        msg = f"{name} mix values that have no order ({error}); give numbers, or texts"
        raise InvalidDataError(msg) from error
    return array


def outcome_classes(
    outcome: ArrayLike, n: int, threshold: float | None
) -> tuple[NDArray[np.intp], list[str], bool]:
    """Return the class of each record, the names of classes, and whether they are no and yes.

    The class of a missing outcome (None, NaN, an empty text) is -1. Yes and no come from true
    and false, from 1 and 0 and from a threshold; no is class 0, also where it never occurs.

    Raises
    ------
    InvalidDataError
        If there are not n outcomes, they are no numbers where there is a threshold, or have too
        many values without one.
    """
    import pandas as pd

    given = np.asarray(outcome, dtype=object) if isinstance(outcome, list) else outcome
    if np.shape(given) != (n,):
        msg = f"outcome has shape {np.shape(given)} for {n} labels; give one value for each record"
        raise InvalidDataError(msg)
    values = pd.Series(given)
    missing = values.isna().to_numpy() | (values.astype(object) == "").to_numpy()
    known: Any = values[~missing]
    codes = np.full(n, -1, dtype=np.intp)
    if threshold is not None:
        numbers = pd.to_numeric(known, errors="coerce").to_numpy(dtype=np.float64)
        if np.isnan(numbers).any():
            msg = (
                f"outcome holds {known.iloc[int(np.isnan(numbers).argmax())]!r}; expected numbers "
                f"to compare with threshold={threshold!r}"
            )
            raise InvalidDataError(msg)
        codes[~missing] = numbers > threshold
        return codes, [f"at most {threshold:g}", f"above {threshold:g}"], True
    known = known.infer_objects()
    kinds = list(known.unique())
    numeric = pd.api.types.is_numeric_dtype(known.dtype)
    if numeric and set(kinds) <= {0, 1}:
        codes[~missing] = known.to_numpy(dtype=np.float64) > 0
        names = ["False", "True"] if pd.api.types.is_bool_dtype(known.dtype) else ["0", "1"]
        return codes, names, True
    if len(kinds) > (MAX_NUMBERS if numeric else MAX_CLASSES):
        # None is quoted: a text may be the name of a person.
        msg = f"outcome has {len(kinds)} different values; " + (
            f"numbers are classes up to {MAX_NUMBERS} values: give threshold= to ask whether they "
            f"are above it"
            if numeric
            else f"expected at most {MAX_CLASSES} categories: join some, or choose another column"
        )
        raise InvalidDataError(msg)
    order = sorted(kinds) if numeric else sorted(kinds, key=str)
    if not numeric:
        order = [order[j] for j in _natural_order([str(kind) for kind in order])]
    place = {kind: i for i, kind in enumerate(order)}
    codes[~missing] = [place[value] for value in known]
    return codes, [f"{kind:g}" if numeric else str(kind) for kind in order], False


def _natural_order(names: Sequence[str]) -> list[int]:
    """Return the order of classes: by the first number of each, else by name; "other" is last."""
    found = [_NUMBER.search(name) for name in names]
    kinds = [name for name in names if name != OTHER]
    by_number = all(hit for hit, name in zip(found, names, strict=True) if name != OTHER)

    def place(j: int) -> tuple[bool, float, bool, str]:
        hit = found[j]
        if not by_number or hit is None:
            return names[j] == OTHER and len(kinds) > 0, 0.0, False, names[j]
        # "< 1" comes before "1 to 17", and "75 and over" after "75".
        below = any(word in names[j].lower() for word in _BELOW)
        return False, float(hit[0].replace(",", ".")), not below, names[j]

    return sorted(range(len(names)), key=place)

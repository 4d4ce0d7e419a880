"""Values of an outcome: classes from a threshold, booleans, few numbers or texts; or numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.exceptions import InvalidDataError

OTHER = "other"
"""Class of all remaining values."""
MAX_NUMBERS = 10
"""Outcomes with more distinct numbers are measurements and require a threshold."""
MAX_CLASSES = 50
"""Outcomes with more distinct strings are names or dates, not categories."""

_NUMBER = re.compile(r"(?:^-)?\d+(?:[.,]\d+)?")
_BELOW = ("<", "under", "below", "up to", "less", "before", "bis", "unter")


def outcome_classes(
    outcome: ArrayLike, n: int, threshold: float | None
) -> tuple[Ints, list[str], bool]:
    """Return the class of each record, the names of the classes, and whether they are no and yes.

    A missing outcome (None, NaN, an empty string) has class -1. For a yes-or-no outcome (booleans,
    0 and 1, or numbers compared with a threshold), classes 0 and 1 are no and yes, even if one of
    them never occurs.
    """
    import pandas as pd

    known, missing = _known(outcome, n)
    codes = np.full(n, -1, dtype=np.intp)
    if threshold is not None:
        numbers = pd.to_numeric(known, errors="coerce").to_numpy(dtype=np.float64)
        if np.isnan(numbers).any():
            bad = known.iloc[int(np.isnan(numbers).argmax())]
            raise InvalidDataError("outcome_not_a_number", value=bad, threshold=threshold)
        codes[~missing] = numbers > threshold
        return codes, [f"at most {threshold:g}", f"above {threshold:g}"], True
    known = known.infer_objects()
    kinds = list(known.unique())
    numeric = pd.api.types.is_numeric_dtype(known.dtype)
    if numeric and set(kinds) <= {0, 1}:
        codes[~missing] = known.to_numpy(dtype=np.float64) > 0
        names = ["False", "True"] if pd.api.types.is_bool_dtype(known.dtype) else ["0", "1"]
        return codes, names, True
    # The messages quote no value: a value may be the name of a person.
    if numeric and len(kinds) > MAX_NUMBERS:
        raise InvalidDataError("outcome_of_many_numbers", found=len(kinds), most=MAX_NUMBERS)
    if not numeric and len(kinds) > MAX_CLASSES:
        raise InvalidDataError("outcome_of_many_texts", found=len(kinds), most=MAX_CLASSES)
    order = sorted(kinds) if numeric else sorted(kinds, key=str)
    if not numeric:
        order = [order[j] for j in _natural_order([str(kind) for kind in order])]
    place = {kind: i for i, kind in enumerate(order)}
    codes[~missing] = [place[value] for value in known]
    return codes, [f"{kind:g}" if numeric else str(kind) for kind in order], False


def outcome_numbers(outcome: ArrayLike, n: int) -> Floats | None:
    """Return a numeric outcome with more than ten values as floats, NaN if missing, or None."""
    import pandas as pd

    known, missing = _known(outcome, n)
    known = known.infer_objects()
    if not pd.api.types.is_numeric_dtype(known.dtype) or known.nunique() <= MAX_NUMBERS:
        return None
    numbers = np.full(n, np.nan)
    numbers[~missing] = known.to_numpy(dtype=np.float64)
    return numbers


def _known(outcome: ArrayLike, n: int) -> tuple[Any, NDArray[np.bool_]]:
    """Return the known values of an outcome as a series, and which are missing, shape (n,)."""
    import pandas as pd

    given: Any = outcome if hasattr(outcome, "shape") else np.asarray(outcome, dtype=object)
    check_shape("outcome", given, (n,))
    values = pd.Series(given)
    missing = (values.isna() | (values.astype(object) == "")).to_numpy()
    return values[~missing], missing


def _natural_order(names: Sequence[str]) -> list[int]:
    """Return the order of classes: by the first number if every name contains one, else by name.

    "other" is last, and "< 1" comes before "1 to 17".
    """
    found = [_NUMBER.search(name) for name in names]
    by_number = all(hit for hit, name in zip(found, names, strict=True) if name != OTHER)

    def place(j: int) -> tuple[bool, float, bool, str]:
        hit = found[j]
        if not by_number or hit is None:
            return names[j] == OTHER, 0.0, False, names[j]
        below = any(word in names[j].lower() for word in _BELOW)
        return False, float(hit[0].replace(",", ".")), not below, names[j]

    return sorted(range(len(names)), key=place)

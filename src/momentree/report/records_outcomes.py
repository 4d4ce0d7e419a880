"""Outcomes of records as classes, counted in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree.metrics._checks import MAX_CLASSES, OTHER, outcome_classes
from momentree.report.documents import clean_text
from momentree.report.numbers import percent
from momentree.report.records_privacy import (
    HIDDEN,
    SMALL,
    Published,
    estimated,
    hide_parts,
    hide_yes,
)

__all__ = ["class_rate", "count_outcomes", "rate_texts", "why_no_classes"]

_MAX_NUMBERS = 10
_MAX_CLASSES = 20
"""Categories beyond these are joined: a longer list is not read."""
_YES = {"", "yes", "y", "true", "t", "1"}


def count_outcomes(
    outcomes: Mapping[str, Any],
    labels: NDArray[np.intp],
    n_groups: int,
    min_cell: int,
    words: Mapping[str, tuple[str, str]],
) -> list[dict[str, Any]]:
    """Count the classes of each outcome in each group, and hide what is small.

    Parameters
    ----------
    outcomes : mapping of str to array-like of shape (n,)
        Yes and no, categories or numbers.
    labels : ndarray of int of shape (n,)
        Group of each record.
    n_groups : int
        k.
    min_cell : int >= 1
        The smallest count above zero that may be shown.
    words : mapping of str to pair of str
        What no and yes are called in an outcome.

    Returns
    -------
    list of dict
        For each outcome ``name``; ``binary``, whether only yes is told; ``missing``, records of
        each group in which it is not known; ``classes``: ``name``, ``counts`` (k) and ``total``.
        Numbers of more than ten values become four classes of about equal size, and of more than
        twenty categories the rare ones are joined. So are those of fewer than `min_cell` records;
        where they are fewer still when joined, they are taken for missing. An outcome of which no
        class remains is left out. Categories stand by the numbers in their names, such as ages, or
        else by name. Hidden counts are negative, see `momentree.report.records_privacy`.
    """
    found = []
    for name, values in outcomes.items():
        series, quarters = _few(values)
        classes, names, binary = outcome_classes(series, len(labels), None)
        names = [label.partition(" ")[2] for label in names] if quarters else names
        if not binary:
            classes, names = _without_rare(classes, names, min_cell)
            if not names:
                continue
        table = np.zeros((n_groups, len(names) + 1), dtype=np.int64)
        np.add.at(table, (labels, classes), 1)  # the last column, -1, holds missing ones
        if binary:
            published = hide_yes(table, min_cell)
            names = names[1:]
            # "died" needs no "yes", but "sex" needs a "male".
            word = words.get(name, ("", ""))[1]
            yes = "" if word.lower() in _YES else word
        else:
            yes = ""
            published = hide_parts(table, min_cell)
        found.append(
            {
                "name": clean_text(f"{name}: {yes}" if yes else name),
                "binary": binary,
                "missing": published.counts[:, -1].tolist(),
                "classes": [
                    {
                        "name": clean_text(class_name),
                        "counts": published.counts[:, j].tolist(),
                        "total": int(published.totals[j]),
                    }
                    for j, class_name in enumerate(names)
                ],
            }
        )
    return found


def rate_texts(
    outcomes: Sequence[Mapping[str, Any]],
    leaves: Sequence[int],
    about: NDArray[np.float64],
    min_cell: int,
) -> list[str]:
    """Return how often outcomes of yes and no occur in some groups together, as text.

    Parameters
    ----------
    outcomes : sequence of dict
        From `count_outcomes`.
    leaves : sequence of int
        The groups.
    about : ndarray of shape (k,)
        Sizes of all groups.
    min_cell : int >= 1
        As it was for them.

    Returns
    -------
    list of str
        A percentage, after "≈" where a hidden count enters; "<5" for one small count, and "hidden"
        for one that would tell how few have it not.
    """
    at = list(leaves)
    texts = []
    for outcome in (entry for entry in outcomes if entry["binary"]):
        if len(at) == 1 and (count := outcome["classes"][0]["counts"][at[0]]) < 0:
            texts.append(f"<{min_cell}" if count == SMALL else "hidden")
            continue
        rate, guessed = class_rate(outcome, 0, at, about, min_cell)
        text = percent(rate) if np.isfinite(rate) else "–"
        texts.append(f"≈ {text}" if guessed else text)
    return texts


def class_rate(
    outcome: Mapping[str, Any],
    at: int,
    leaves: Sequence[int],
    about: NDArray[np.float64],
    min_cell: int,
) -> tuple[float, bool]:
    """Return how many of the records of some groups are in a class of an outcome.

    Parameters
    ----------
    outcome : dict
        From `count_outcomes`.
    at : int
        The class.
    leaves : sequence of int
        The groups.
    about : ndarray of shape (k,)
        Sizes of all groups.
    min_cell : int >= 1
        As it was for the outcome.

    Returns
    -------
    rate : float
        In [0, 1] of those in which the outcome is known; NaN where it is in none.
    guessed : bool
        Whether a hidden number has a part in it. What is hidden to protect a small number is about
        what the other classes leave of the group.
    """
    groups = list(leaves)
    table = np.array([one["counts"] for one in outcome["classes"]] + [outcome["missing"]])
    one = outcome["classes"][at]
    counts = np.array(one["counts"])
    small = estimated(Published(counts[:, None], np.array([one["total"]])), min_cell)[:, 0]
    left = about - np.where(table >= 0, table, 0).sum(axis=0)
    n_small = (table == SMALL).sum(axis=0)
    if outcome["binary"]:
        # Yes is hidden where few have no, which has no column of its own.
        n_small = n_small + (counts == HIDDEN)
    left = np.maximum(0.0, left - n_small * min_cell / 2.0)
    shared = left / np.maximum((table == HIDDEN).sum(axis=0), 1)
    ones = np.where(counts == HIDDEN, shared, small)
    missing = np.array(outcome["missing"])
    lacking = np.where(missing == HIDDEN, shared, np.where(missing < 0, min_cell / 2.0, missing))
    known = float((about - lacking)[groups].sum())
    unsure = counts[groups] < 0
    told = outcome["binary"] and one["total"] >= 0 and unsure.sum() == (counts < 0).sum()
    guessed = bool((unsure.any() and not told) or (missing[groups] < 0).any())
    return (min(float(ones[groups].sum()) / known, 1.0) if known > 0 else float("nan")), guessed


def why_no_classes(values: Any) -> str:
    """Tell why an outcome is no outcome of classes, in words that quote none of its values.

    Parameters
    ----------
    values : array-like of shape (n,)
        One for each record.

    Returns
    -------
    str
        Empty for numbers and for texts that repeat. Texts of more than 50 different values, or of
        more than ten of which most records have one of their own, are names, dates or ids.
    """
    import pandas as pd

    known = _known(_series(values))
    if pd.api.types.is_numeric_dtype(known.dtype):
        return ""
    n_kinds = known.nunique()
    if n_kinds <= MAX_CLASSES and (n_kinds <= _MAX_NUMBERS or 2 * n_kinds <= len(known)):
        return ""
    return (
        f"it holds {n_kinds:,} different texts, which are names, dates or ids rather than classes; "
        f"expected at most {MAX_CLASSES} that repeat"
    )


def _without_rare(
    classes: NDArray[np.intp], names: list[str], min_cell: int
) -> tuple[NDArray[np.intp], list[str]]:
    """Join classes of few records to "other", or take them for missing where it is rare itself.

    The name of a class of one record may be all that a reader needs to know who it is.
    """
    totals = np.bincount(classes[classes >= 0], minlength=len(names))
    rare = totals < min_cell
    if not rare.any():
        return classes, names
    joined = rare | np.array([name == OTHER for name in names])
    place = np.append(np.cumsum(~joined) - 1, -1)  # of -1, which is missing
    kept = [name for name, gone in zip(names, joined, strict=True) if not gone]
    few = totals[joined].sum() < min_cell
    place[:-1][joined] = -1 if few else len(kept)
    return place[classes].astype(np.intp), kept if few else [*kept, OTHER]


def _few(values: Any) -> tuple[Any, bool]:
    """Return an outcome of few values, rare ones joined, and whether it is quarters of numbers."""
    import pandas as pd

    series = _series(values)
    known = _known(series)
    kinds = known.unique()
    if pd.api.types.is_numeric_dtype(known.dtype):
        few = len(kinds) <= _MAX_NUMBERS
        return (series, False) if few else (_quarters(series), True)
    if len(kinds) <= _MAX_CLASSES:
        return series, False
    # By number, then by name: the order of the rows has no say.
    counts = known.astype(str).value_counts()
    order = sorted(counts.index, key=lambda kind: (-int(counts[kind]), kind))
    kept = set(order[: _MAX_CLASSES - 1])
    texts = series.astype(object)
    return texts.where(series.isna() | texts.astype(str).isin({*kept, ""}), OTHER), False


def _series(values: Any) -> Any:
    # Here and not above: figures and topics never ask for it, and it is slow to load.
    import pandas as pd

    array = np.asarray(values, dtype=object) if isinstance(values, list) else np.asarray(values)
    if array.dtype.kind in "OU":
        # Tables of text hold no half of a character, which a file may have.
        array = np.array([clean_text(v) if isinstance(v, str) else v for v in array], dtype=object)
    return pd.Series(array)


def _known(series: Any) -> Any:
    return series[series.notna() & (series.astype(object) != "")].infer_objects()


def _quarters(series: Any) -> Any:
    import pandas as pd

    numbers = pd.to_numeric(series, errors="coerce").astype(np.float64)
    cuts = np.unique(np.nanquantile(numbers, [0.25, 0.5, 0.75], method="lower"))
    names = [f"up to {cuts[0]:g}"]
    names += [f"above {low:g}, up to {high:g}" for low, high in pairwise(cuts)]
    names += [f"above {cuts[-1]:g}"]
    place = np.searchsorted(cuts, numbers.to_numpy(), side="left")
    # Numbered, so that classes sort by size and not by name; the numbers go again.
    named = np.array([f"{i} {name}" for i, name in enumerate(names)], dtype=object)[
        np.minimum(place, len(cuts))
    ]
    named[np.isnan(numbers.to_numpy())] = None
    return pd.Series(named)

"""Count the classes of outcomes in each group, and compute rates from published counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.messages import Message
from momentree.metrics._outcomes import MAX_CLASSES, OTHER, outcome_classes
from momentree.report.disclosure import HIDDEN, SMALL, Disclosure, Published
from momentree.report.numbers import percent
from momentree.report.text import clean_text

_MAX_NUMBERS = 10
_MAX_CLASSES = 20
"""Maximum number of categories; the others are merged, to keep lists readable."""
_YES = {"", "yes", "y", "true", "t", "1"}


def count_outcomes(
    outcomes: Mapping[str, Any],
    labels: Ints,
    n_groups: int,
    min_cell: int,
    words: Mapping[str, tuple[str, str]],
) -> list[dict[str, Any]]:
    """Count the classes of each outcome in each group, and suppress small counts.

    Numeric outcomes with more than ten values are divided at their quartiles. Rare categories
    beyond twenty are merged, and so are those with fewer than `min_cell` records (missing if still
    fewer together). Binary outcomes count only "yes". `words` contains the words for "no" and "yes"
    of each outcome. Outcomes without remaining classes are omitted.
    """
    disclosure = Disclosure(min_cell)
    found = []
    for name, values in outcomes.items():
        series, quartiles = _few_values(values)
        classes, names, binary = outcome_classes(series, len(labels), None)
        names = [label.partition(" ")[2] for label in names] if quartiles else names
        if not binary:
            classes, names = disclosure.join_rare(classes, names, OTHER)
            if not names:
                continue
        table = np.zeros((n_groups, len(names) + 1), dtype=np.int64)
        np.add.at(table, (labels, classes), 1)  # missing values (-1) are in the last column
        yes = ""
        if binary:
            published = disclosure.suppress_binary(table)
            names = names[1:]
            # "died" needs no "yes", but "sex" needs "male".
            word = words.get(name, ("", ""))[1]
            yes = "" if word.lower() in _YES else word
        else:
            published = disclosure.suppress_classes(table)
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
    sizes: Floats,
    disclosure: Disclosure,
) -> list[str]:
    """Return the rates of the binary outcomes of `count_outcomes` in some groups, as text.

    Each is a percentage, preceded by "≈" if it depends on a suppressed count, "<5" for a small
    count, or "hidden" for a count from which a small one could be derived.
    """
    at = list(leaves)
    texts = []
    for outcome in (entry for entry in outcomes if entry["binary"]):
        if len(at) == 1 and (count := outcome["classes"][0]["counts"][at[0]]) < 0:
            texts.append(disclosure.symbol if count == SMALL else "hidden")
            continue
        rate, estimated = class_rate(outcome, 0, at, sizes, disclosure.min_cell)
        text = percent(rate) if np.isfinite(rate) else "–"
        texts.append(f"≈ {text}" if estimated else text)
    return texts


def class_rate(
    outcome: Mapping[str, Any],
    at: int,
    leaves: Sequence[int],
    sizes: Floats,
    min_cell: int,
) -> tuple[float, bool]:
    """Return the rate of a class of an outcome in some groups, and whether it is an estimate.

    The rate refers to records with a known value, and is NaN if there are none. A count hidden to
    protect a small one is estimated by the size of the group minus the counts of other classes.
    """
    groups = list(leaves)
    half = min_cell / 2.0
    table = np.array([one["counts"] for one in outcome["classes"]] + [outcome["missing"]])
    one = outcome["classes"][at]
    counts, missing = np.array(one["counts"]), np.array(outcome["missing"])
    published = Published(counts[:, None], np.array([one["total"]]))
    small = Disclosure(min_cell).estimate(published)[:, 0]
    n_small = (table == SMALL).sum(axis=0)
    if outcome["binary"]:
        # "Yes" is hidden if "no", which has no column, is small.
        n_small = n_small + (counts == HIDDEN)
    left = sizes - np.where(table >= 0, table, 0).sum(axis=0) - n_small * half
    hidden = np.maximum(0.0, left) / np.maximum((table == HIDDEN).sum(axis=0), 1)
    ones = np.where(counts == HIDDEN, hidden, small)
    unknown = np.where(missing == HIDDEN, hidden, np.where(missing < 0, half, missing))
    known = float((sizes - unknown)[groups].sum())
    unsure = counts[groups] < 0
    summed = outcome["binary"] and one["total"] >= 0 and unsure.sum() == (counts < 0).sum()
    estimated = bool((unsure.any() and not summed) or (missing[groups] < 0).any())
    return (min(float(ones[groups].sum()) / known, 1.0) if known > 0 else float("nan")), estimated


def why_no_classes(values: Any) -> Message | None:
    """Return why an outcome cannot be divided into classes, without quoting any of its values.

    Text with more than 50 different values, or with more than ten of which most are unique, is
    taken for names, dates or ids. Numbers, and text that repeats, are accepted (None).
    """
    import pandas as pd

    known = _known(_series(values))
    if pd.api.types.is_numeric_dtype(known.dtype):
        return None
    n_texts = known.nunique()
    if n_texts <= MAX_CLASSES and (n_texts <= _MAX_NUMBERS or 2 * n_texts <= len(known)):
        return None
    return Message("texts_are_no_classes", n_texts=int(n_texts), most=MAX_CLASSES)


def _few_values(values: Any) -> tuple[Any, bool]:
    """Return an outcome with few values, rare ones merged, and whether they are quartiles."""
    import pandas as pd

    series = _series(values)
    known = _known(series)
    kinds = known.unique()
    if pd.api.types.is_numeric_dtype(known.dtype):
        few = len(kinds) <= _MAX_NUMBERS
        return (series, False) if few else (_quartiles(series), True)
    if len(kinds) <= _MAX_CLASSES:
        return series, False
    # Sort by count, then by name, so that the order of the rows does not matter.
    counts = known.astype(str).value_counts()
    order = sorted(counts.index, key=lambda kind: (-int(counts[kind]), kind))
    kept = set(order[: _MAX_CLASSES - 1])
    texts = series.astype(object)
    return texts.where(series.isna() | texts.astype(str).isin({*kept, ""}), OTHER), False


def _series(values: Any) -> Any:
    # Imported here, because it is slow to load and not needed for figures and topics.
    import pandas as pd

    array = np.asarray(values, dtype=object) if isinstance(values, list) else np.asarray(values)
    if array.dtype.kind in "OU":
        # pandas cannot hold lone surrogates, which a file may contain.
        array = np.array([clean_text(v) if isinstance(v, str) else v for v in array], dtype=object)
    return pd.Series(array)


def _known(series: Any) -> Any:
    return series[series.notna() & (series.astype(object) != "")].infer_objects()


def _quartiles(series: Any) -> Any:
    import pandas as pd

    numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64)
    cuts = np.unique(np.nanquantile(numbers, [0.25, 0.5, 0.75], method="lower"))
    names = [f"up to {cuts[0]:g}"]
    names += [f"above {low:g}, up to {high:g}" for low, high in pairwise(cuts)]
    names += [f"above {cuts[-1]:g}"]
    # Numbered, so that classes sort by size instead of name; the caller removes the numbers.
    numbered = np.array([f"{i} {name}" for i, name in enumerate(names)], dtype=object)
    classes = numbered[np.minimum(np.searchsorted(cuts, numbers, side="left"), len(cuts))]
    classes[np.isnan(numbers)] = None
    return pd.Series(classes)

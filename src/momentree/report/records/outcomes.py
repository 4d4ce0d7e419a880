"""Count the classes of outcomes in each group, and compute rates from published counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from momentree._types import Floats, Ints
from momentree.messages import Message
from momentree.metrics.outcomes import (
    MAX_CLASSES,
    MAX_NUMBERS,
    OTHER,
    outcome_classes,
    outcome_numbers,
)
from momentree.report.disclosure import SMALL, Disclosure, Published
from momentree.report.numbers import percent
from momentree.report.records.statistics import number_statistics
from momentree.report.text import clean_text

_MAX_CLASSES = 20
"""Maximum number of categories; the others are merged, to keep lists readable."""
_YES = {"", "yes", "y", "true", "t", "1"}


def count_outcomes(
    outcomes: Mapping[str, Any],
    labels: Ints,
    n_groups: int,
    min_cell: int,
    words: Mapping[str, tuple[str, str]],
    covariates: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Count the classes of each outcome in each group, and suppress small counts.

    Numeric outcomes with more than ten values are divided at their quartiles. Rare categories
    beyond twenty are merged, and so are those with fewer than `min_cell` records (missing if still
    fewer together). Binary outcomes count only "yes". `words` contains the words for "no" and "yes"
    of each outcome. ``numbers`` are the means and quartiles of `number_statistics`, or None;
    ``covariate`` is whether the name is in `covariates`.
    Outcomes without remaining classes are omitted.
    """
    disclosure = Disclosure(min_cell)
    found = []
    for name, values in outcomes.items():
        classes, names, binary = _classes(values)
        table = np.zeros((n_groups, len(names) + 1), dtype=np.int64)
        np.add.at(table, (labels, classes), 1)  # missing values (-1) are in the last column
        if not binary:
            table, names = disclosure.join_rare(table, names, OTHER)
            if not names:
                continue
        yes = ""
        published = disclosure.suppress_classes(table)
        numbers = outcome_numbers(_series(values), len(labels))
        if numbers is not None:
            published = published.hide_classes()
        if binary:
            published = Published(published.counts[:, 1:], published.totals[1:])
            names = names[1:]
            # "died" needs no "yes", but "sex" needs "male".
            word = words.get(name, ("", ""))[1]
            yes = "" if word.lower() in _YES else word
        found.append(
            {
                "name": clean_text(f"{name}: {yes}" if yes else name),
                "binary": binary,
                "covariate": name in covariates,
                "missing": published.counts[:, -1].tolist(),
                "classes": [
                    {
                        "name": clean_text(class_name),
                        "counts": published.counts[:, j].tolist(),
                        "total": int(published.totals[j]),
                    }
                    for j, class_name in enumerate(names)
                ],
                "numbers": None
                if numbers is None
                else number_statistics(
                    numbers,
                    labels,
                    n_groups,
                    disclosure,
                    published.counts[:, -1],
                    np.asarray((published.counts < 0).any(axis=1)),
                ),
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
        rate, estimated = disclosure.class_rate(outcome, 0, at, sizes)
        text = percent(rate) if np.isfinite(rate) else "–"
        texts.append(f"≈ {text}" if estimated else text)
    return texts


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
    if n_texts <= MAX_CLASSES and (n_texts <= MAX_NUMBERS or 2 * n_texts <= len(known)):
        return None
    return Message("texts_are_no_classes", n_texts=int(n_texts), most=MAX_CLASSES)


def _classes(values: Any) -> tuple[Ints, list[str], bool]:
    """Return the classes of an outcome like `outcome_classes`, but at most twenty."""
    import pandas as pd

    series = _series(values)
    known = _known(series)
    numeric = pd.api.types.is_numeric_dtype(known.dtype)
    if numeric and known.nunique() > MAX_NUMBERS:
        return (*_quartiles(series), False)
    if not numeric and known.nunique() > _MAX_CLASSES:
        # Sort by count, then by name, so that the order of the rows does not matter.
        counts = known.astype(str).value_counts()
        order = sorted(counts.index, key=lambda kind: (-int(counts[kind]), kind))
        kept = set(order[: _MAX_CLASSES - 1])
        texts = series.astype(object)
        series = texts.where(series.isna() | texts.astype(str).isin({*kept, ""}), OTHER)
    return outcome_classes(series, len(series), None)


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


def _quartiles(series: Any) -> tuple[Ints, list[str]]:
    """Return the quarter of each number, or -1, and the names of the quarters."""
    import pandas as pd

    numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64)
    cuts = np.unique(np.nanquantile(numbers, [0.25, 0.5, 0.75], method="lower"))
    names = [f"up to {cuts[0]:g}"]
    names += [f"above {low:g}, up to {high:g}" for low, high in pairwise(cuts)]
    names += [f"above {cuts[-1]:g}"] if np.nanmax(numbers) > cuts[-1] else []
    return np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers)), names

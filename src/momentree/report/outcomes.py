"""Count the classes of outcomes in each group, and compute rates from published counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from momentree._types import Ints
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics.outcomes import (
    MAX_CLASSES,
    MAX_NUMBERS,
    OTHER,
    outcome_classes,
    outcome_numbers,
)
from momentree.report.disclosure import SMALL, Disclosure, Published
from momentree.report.groups import Groups
from momentree.report.statistics import number_statistics
from momentree.report.text import NO_VALUE, clean_text, clean_values, percent

if TYPE_CHECKING:
    from momentree.datasets import Measurements, Records

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
    counted = []
    for name, values in outcomes.items():
        title = name
        classes, names, binary = _classes(values)
        table = np.zeros((n_groups, len(names) + 1), dtype=np.int64)
        np.add.at(table, (labels, classes), 1)  # missing values (-1) are in the last column
        if not binary:
            table, names = disclosure.join_rare(table, names, OTHER)
            if not names:
                continue
        published = disclosure.suppress_classes(table)
        numbers = outcome_numbers(pd.Series(clean_values(values)), len(labels))
        if numbers is not None:
            published = published.hide_classes()
        if binary:
            published = Published(published.counts[:, 1:], published.totals[1:])
            names = names[1:]
            # "died" needs no "yes", but "sex" needs "male".
            yes = words.get(name, ("", ""))[1]
            title = f"{name}: {yes}" if yes.lower() not in _YES else name
        counts, missing = published.counts.T[:-1].tolist(), published.counts[:, -1]
        narrowed = np.asarray((published.counts < 0).any(axis=1))
        counted.append(
            {
                "name": clean_text(title),
                "binary": binary,
                "covariate": name in covariates,
                "missing": missing.tolist(),
                "classes": [
                    {"name": clean_text(class_name), "counts": counts[j], "total": total}
                    for j, (class_name, total) in enumerate(
                        zip(names, published.totals.tolist(), strict=False)
                    )
                ],
                "numbers": numbers
                if numbers is None
                else number_statistics(numbers, labels, n_groups, disclosure, missing, narrowed),
            }
        )
    return counted


def add_rates(
    nodes: Sequence[dict[str, Any]], outcomes: Sequence[Mapping[str, Any]], groups: Groups
) -> None:
    """Add the rates of the binary outcomes of `count_outcomes` to the nodes, as text.

    Each is a percentage, preceded by "≈" if it depends on a suppressed count, "<5" for a small
    count, or "hidden" for a count from which a small one could be derived.
    """
    binary, disclosure = [entry for entry in outcomes if entry["binary"]], groups.disclosure
    for node in nodes:
        node["outcome_rates"] = []
        for outcome in binary:
            counts = [outcome["classes"][0]["counts"][group] for group in node["leaves"]]
            if len(counts) == 1 and counts[0] < 0:
                text = disclosure.symbol if counts[0] == SMALL else "hidden"
            else:
                rate, guess = disclosure.class_rate(outcome, 0, node["leaves"], groups.estimates)
                text = percent(rate) if np.isfinite(rate) else NO_VALUE
                text = f"≈ {text}" if guess else text
            node["outcome_rates"].append(text)


def why_no_classes(values: Any) -> Message | None:
    """Return why an outcome cannot be divided into classes, without quoting any of its values.

    Text with more than 50 different values, or with more than ten of which most are unique, is
    taken for names, dates or ids. Numbers, and text that repeats, are accepted (None).
    """
    known = _known(pd.Series(clean_values(values)))
    if pd.api.types.is_numeric_dtype(known.dtype):
        return None
    n_texts = known.nunique()
    if n_texts <= MAX_CLASSES and (n_texts <= MAX_NUMBERS or 2 * n_texts <= len(known)):
        return None
    return Message(
        "[texts_are_no_classes] it has {n_texts:,} different texts, which look like names, dates "
        "or ids; expected at most {most} categories with several records each",
        n_texts=int(n_texts),
        most=MAX_CLASSES,
    )


def _classes(values: Any) -> tuple[Ints, list[str], bool]:
    """Return the classes of an outcome like `outcome_classes`, but at most twenty."""
    series = pd.Series(clean_values(values))
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


def _known(series: Any) -> Any:
    return series[series.notna() & (series.astype(object) != "")].infer_objects()


def _quartiles(series: Any) -> tuple[Ints, list[str]]:
    """Return the quarter of each number, or -1, and the names of the quarters."""
    numbers = pd.to_numeric(series, errors="coerce").to_numpy(dtype=np.float64)
    cuts = np.unique(np.nanquantile(numbers, [0.25, 0.5, 0.75], method="lower"))
    names = [f"up to {cuts[0]:g}"]
    names += [f"above {low:g}, up to {high:g}" for low, high in pairwise(cuts)]
    names += [f"above {cuts[-1]:g}"] if np.nanmax(numbers) > cuts[-1] else []
    return np.where(np.isnan(numbers), -1, np.searchsorted(cuts, numbers)), names


def outcomes_in_order(records: Any, first: str | None) -> dict[str, Any]:
    """Return the outcomes of the fitted records, one of them first."""
    names = list(records.outcomes)
    if first not in (None, *names):
        raise InvalidDataError(
            "[no_such_outcome] {parameters.outcome:=value}; the outcomes of the records are "
            "{names:quoted list}",
            value=first,
            names=names,
        )
    return {
        name: np.asarray(records.outcomes[name])[np.asarray(records.enough, dtype=bool)]
        for name in sorted(names, key=lambda name: name != first)
    }


def notes_shown(records: Records | Measurements, min_cell: int) -> list[Message]:
    """Return the notes on reading, without those from which a small count could be derived.

    A reader of the notes also knows the number of records of the fit, and how many of them have no
    known value of an outcome, and could subtract them.

    Parameters
    ----------
    records : Records or Measurements
        As returned by `momentree.datasets.read_records` or `read_measurements`.
    min_cell : int >= 1
        Smallest nonzero count that may be shown.

    Returns
    -------
    list of Message
        Notes in the order of the records, and one with the number of notes left out, if any.
    """
    enough = np.asarray(records.enough, dtype=bool)
    shown = {int(enough.sum()), int((~enough).sum())}
    for values in records.outcomes.values():
        known = np.asarray(values)[enough]
        shown.add(int((pd.isna(known) | (known == "")).sum()))
    return Disclosure(min_cell).notes(tuple(records.notes or ()), shown - set(range(min_cell)))

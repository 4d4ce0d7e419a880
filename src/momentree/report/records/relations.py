"""How groups relate to outcomes and covariates, and how good and certain the groups are."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._types import Floats, Int64s, Ints
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics import classification_table
from momentree.report.disclosure import Disclosure
from momentree.report.records._quality import summarize_quality
from momentree.report.records.corrected import (
    correct_covariates,
    correct_outcomes,
    describe_certainty,
)
from momentree.report.records.fits import describe_fits
from momentree.report.records.outcomes import count_outcomes, why_no_classes
from momentree.report.text import clean_text


def describe_relations(
    records: Any,
    outcomes: Mapping[str, Any],
    labels: Ints,
    proba: Floats,
    sizes: Int64s,
    estimates: Floats,
    quality: Mapping[str, Any] | None,
    disclosure: Disclosure,
) -> tuple[dict[str, Any], list[Message]]:
    """Describe outcomes, covariates and the quality of k groups, from published counts.

    Parameters
    ----------
    records : Records or Measurements
        The records; only the names of their covariates and outcomes are used.
    outcomes : mapping of str to ndarray of shape (n,)
        Values of each outcome and covariate, in the order of the page.
    labels : ndarray of int of shape (n,)
        Group of each record.
    proba : ndarray of shape (n, k)
        Probability of each group.
    sizes : ndarray of int of shape (k,)
        Published sizes of the groups.
    estimates : ndarray of shape (k,)
        Estimates of all sizes.
    quality : mapping or None
        Measures of quality; see `momentree.report.summarize_records`.
    disclosure : Disclosure
        Which counts may be shown.

    Returns
    -------
    entries : dict
        ``outcomes``, ``quality``, ``certainty``, ``corrected`` and ``fits`` of the summary.
    notes : list of Message
        Outcomes that are not shown, with the reason.
    """
    k, min_cell = len(sizes), disclosure.min_cell
    reasons = {name: why_no_classes(values) for name, values in outcomes.items()}
    counted = count_outcomes(
        {name: values for name, values in outcomes.items() if reasons[name] is None},
        labels,
        k,
        min_cell,
        records.outcome_names,
        getattr(records, "covariates", ()),
    )

    @cache
    def counts_of(name: str) -> list[dict[str, Any]]:
        some = {name: outcomes[name]} if name in outcomes else {}
        return count_outcomes(some, labels, k, min_cell, records.outcome_names)

    def permits_accuracy(name: str) -> bool:
        values = outcomes.get(name)
        return values is None or disclosure.permits_accuracy(counts_of(name), values.tolist())

    def rough_auc(name: str) -> float | None:
        binary = [outcome for outcome in counts_of(name) if outcome["binary"]]
        return disclosure.rough_auc(binary[0], estimates) if binary else None

    def covariates() -> tuple[dict[str, Any], list[str]]:
        """Return the covariates of which nothing is suppressed, and the names of the others."""
        given = [name for name in getattr(records, "covariates", ()) if reasons.get(name) is None]
        shown = {name: outcomes[name] for name in given if permits_relation(name)}
        return shown, [clean_text(name) for name in given if name not in shown]

    def permits_relation(name: str) -> bool:
        found = count_outcomes({name: outcomes[name]}, labels, k, min_cell, {})
        if not found or found[0]["numbers"] is None:
            return permits_accuracy(name)
        return min(found[0]["missing"]) >= 0 and not any(found[0]["numbers"]["hidden"])

    certainty = classification_table(labels, proba)
    fits = (quality or {}).get("fits")
    entries = {
        "outcomes": counted,
        "quality": summarize_quality(quality or {}, k, disclosure, permits_accuracy, rough_auc),
        "certainty": describe_certainty(certainty, sizes, disclosure),
        "corrected": {
            **correct_outcomes(counted, certainty, sizes, estimates, disclosure),
            "covariates": correct_covariates(labels, proba, *covariates()),
        }
        if k > 1
        else None,
        "fits": describe_fits(fits, disclosure, sizes_known=bool((sizes >= 0).all()))
        if fits is not None
        else None,
    }
    notes = [
        Message("outcome_not_shown", outcome=name, reason=reason)
        for name, reason in reasons.items()
        if reason is not None
    ]
    return entries, notes


def outcomes_in_order(records: Any, first: str | None, enough: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the outcomes of the fitted records, one of them first."""
    names = list(records.outcomes)
    if first not in (None, *names):
        raise InvalidDataError("no_such_outcome", parameter="outcome", value=first, names=names)
    return {
        name: np.asarray(records.outcomes[name])[enough]
        for name in sorted(names, key=lambda name: name != first)
    }

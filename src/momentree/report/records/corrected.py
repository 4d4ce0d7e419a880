"""Outcomes and covariates of groups, corrected for uncertain assignment, from published numbers.

Corrected rates are linear in the counts of the assigned records, so a suppressed count would follow
from exact ones. They are therefore computed from the published counts and their estimates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats, Int64s
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.metrics import Classification, corrected_covariates
from momentree.metrics.distal import CorrectedOutcome, bch_means, bch_sample_sizes, corrected_from
from momentree.report.disclosure import Disclosure
from momentree.report.text import clean_text, for_readers

_CONFIDENCE = 0.95
_DIGITS = 4


def describe_certainty(
    found: Classification, sizes: Int64s, disclosure: Disclosure
) -> dict[str, Any]:
    """Return the entropy, and the mean posteriors per assigned group; None for hidden groups."""
    rows = [
        None if size < 0 or not np.isfinite(row).all() else row.tolist()
        for row, size in zip(_published_posterior(found, disclosure), sizes, strict=True)
    ]
    return {"entropy": round(found.entropy, 3), "mean_posterior": rows}


def _published_posterior(found: Classification, disclosure: Disclosure) -> Floats:
    return np.round(found.mean_posterior, 3 if disclosure.hides else 9)


def _published_probabilities(
    found: Classification, estimates: Floats, disclosure: Disclosure
) -> Floats:
    """Return the classification probabilities that follow from the published mean posteriors."""
    if not disclosure.hides:
        return found.probabilities
    joint = np.nan_to_num(_published_posterior(found, disclosure)) * estimates[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((joint / joint.sum(axis=0)).T)


def correct_outcomes(
    counted: Sequence[Mapping[str, Any]],
    found: Classification,
    sizes: Int64s,
    estimates: Floats,
    disclosure: Disclosure,
) -> dict[str, Any]:
    """Return the corrected rates and means of outcomes by the three-step method (BCH).

    ``outcomes`` has one entry for each outcome of `count_outcomes` that can be corrected: ``name``,
    ``numeric``, ``estimated`` (whether a count is suppressed), and ``classes`` with ``name``,
    ``estimates``, ``low``, ``high`` and ``p_value``, None where the count of the group itself is
    suppressed, and ``impossible``, the groups whose rate is None because it is clearly below 0 or
    above 1. ``reason`` says why there is none.
    """
    D = _published_probabilities(found, estimates, disclosure)
    outcomes, reason = [], None
    for outcome in counted:
        try:
            if outcome["numbers"] is not None:
                one = _corrected_mean(outcome, D, sizes)
                unsure = False
            else:
                one, unsure = _corrected_rates(outcome, D, sizes, estimates, disclosure)
        except InvalidDataError as error:
            reason = for_readers(error.message)
            continue
        if one is not None:
            outcomes.append(_entry(outcome, one, sizes, unsure))
    impossible = any(one["impossible"] for entry in outcomes for one in entry["classes"])
    return {"outcomes": outcomes, "impossible": impossible, "reason": reason}


def _corrected_mean(
    outcome: Mapping[str, Any], D: Floats, sizes: Int64s
) -> CorrectedOutcome | None:
    """Return corrected means, or None if a mean or its number of records is hidden."""
    entries, missing = outcome["numbers"]["groups"], np.array(outcome["missing"])
    if None in entries or (sizes < 0).any() or (missing < 0).any():
        return None
    n = (sizes - missing).astype(np.float64)
    means = np.array([entry["mean"] for entry in entries])
    center = float(n @ means / n.sum())
    means = means - center
    squares = (n - 1) * np.array([entry["sd"] for entry in entries]) ** 2 + n * means**2
    estimates, covariances = bch_means(D, n, (n * means)[:, None], squares[:, None])
    return corrected_from(
        ("mean",),
        estimates + center,
        covariances,
        n=int(n.sum()),
        confidence=_CONFIDENCE,
        most=None,
    )


def _corrected_rates(
    outcome: Mapping[str, Any],
    D: Floats,
    sizes: Int64s,
    estimates: Floats,
    disclosure: Disclosure,
) -> tuple[CorrectedOutcome, bool]:
    """Return corrected rates, and whether they depend on estimates of suppressed counts."""
    missing = np.array(outcome["missing"])
    known = estimates - np.where(missing < 0, disclosure.min_cell / 2.0, missing)
    known = np.maximum(known, 0.0)
    columns, unsure = [], bool((sizes < 0).any() or (missing < 0).any())
    for at, one in enumerate(outcome["classes"]):
        counts = np.array(one["counts"])
        rates = [
            disclosure.class_rate(outcome, at, [group], estimates)[0]
            for group in range(len(estimates))
        ]
        columns.append(np.where(counts >= 0, counts, np.nan_to_num(rates) * known))
        unsure |= bool((counts < 0).any())
    sums = np.minimum(np.column_stack(columns), known[:, None])
    means, covariances = bch_means(D, known, sums, sums)
    found = corrected_from(
        tuple(one["name"] for one in outcome["classes"]),
        means,
        covariances,
        n=round(float(known.sum())),
        confidence=_CONFIDENCE,
        most=bch_sample_sizes(D, known),
    )
    return found, unsure


def _entry(
    outcome: Mapping[str, Any], found: CorrectedOutcome, sizes: Int64s, unsure: bool
) -> dict[str, Any]:
    numeric = outcome["numbers"] is not None
    whole = outcome["numbers"]["all"] if numeric else None
    digits = whole["digits"] if whole else _DIGITS
    hidden = np.zeros((len(found.classes), len(sizes)), dtype=bool)
    if not numeric:
        hidden = np.array([one["counts"] for one in outcome["classes"]]) < 0
        hidden |= (sizes < 0) | (np.array(outcome["missing"]) < 0)

    def shown(values: Floats, at: int) -> list[float | None]:
        return _numbers(np.where(hidden[at] | found.impossible[:, at], np.nan, values), digits)

    return {
        "name": outcome["name"],
        "numeric": numeric,
        "binary": outcome["binary"],
        "digits": digits,
        "estimated": unsure,
        "classes": [
            {
                "name": name,
                "impossible": np.flatnonzero(found.impossible[:, at] & ~hidden[at]).tolist(),
                "estimates": shown(found.estimates[:, at], at),
                "low": shown(found.intervals[:, at, 0], at),
                "high": shown(found.intervals[:, at, 1], at),
                "p_value": None if hidden[at].any() else _number(found.p_values[at], 6),
            }
            for at, name in enumerate(found.classes)
        ],
    }


def correct_covariates(
    labels: ArrayLike, proba: Floats, covariates: Mapping[str, Any], left_out: Sequence[str]
) -> dict[str, Any] | None:
    """Return odds ratios of covariates without suppressed counts; None if there are no covariates.

    ``reason`` says why there are no odds ratios; `left_out` are covariates with small counts.
    """
    if not covariates and not left_out:
        return None
    reason, terms, reference = None, [], None
    if covariates:
        try:
            cleaned = {clean_text(name): _cleaned(values) for name, values in covariates.items()}
            found = corrected_covariates(labels, proba, cleaned, confidence=_CONFIDENCE)
        except InvalidDataError as error:
            reason = for_readers(error.message)
        else:
            reference = found.reference
            if not found.converged:
                reason = for_readers(Message("covariates_separate"))
            terms = [
                {
                    "name": name,
                    "odds_ratios": _numbers(found.odds_ratios[:, j], 3),
                    "low": _numbers(found.intervals[:, j, 0], 3),
                    "high": _numbers(found.intervals[:, j, 1], 3),
                    "p_value": _number(found.p_values[j], 6),
                }
                for j, name in enumerate(found.terms)
            ]
            references = dict(found.references)
    return {
        "terms": terms,
        "reference": reference,
        "references": references if terms else {},
        "left_out": list(left_out),
        "reason": reason,
    }


def _cleaned(values: Any) -> Any:
    """Return values without lone surrogates, which pandas cannot hold."""
    array = np.asarray(values)
    if array.dtype.kind not in "OU":
        return array
    return np.array([clean_text(v) if isinstance(v, str) else v for v in array], dtype=object)


def _numbers(values: Floats, digits: int) -> list[float | None]:
    return [_number(value, digits) for value in values]


def _number(value: float, digits: int) -> float | None:
    return round(float(value), digits) if np.isfinite(value) else None

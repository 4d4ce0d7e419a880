"""Outcomes and covariates of groups, corrected for uncertain assignment, from published numbers.

Corrected rates are linear in the counts of the assigned records, so a suppressed count would follow
from exact ones. They are therefore computed from the published counts and their estimates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from momentree import exceptions, messages, metrics
from momentree._types import Floats
from momentree.metrics import three_step
from momentree.report import text
from momentree.report.disclosure import Disclosure
from momentree.report.groups import Groups

_CONFIDENCE = 0.95
_DIGITS = 4


def describe_certainty(table: metrics.Classification, groups: Groups) -> dict[str, Any]:
    """Return the entropy, and the mean posteriors per assigned group; None for hidden groups."""
    posterior = _published_posterior(table, groups.disclosure)
    rows = [
        None if size < 0 or not np.isfinite(row).all() else row.tolist()
        for row, size in zip(posterior, groups.sizes, strict=True)
    ]
    return {"entropy": round(table.entropy, 3), "mean_posterior": rows}


def _published_posterior(table: metrics.Classification, disclosure: Disclosure) -> Floats:
    return np.round(table.mean_posterior, 3 if disclosure.hides else 9)


def _published_probabilities(table: metrics.Classification, groups: Groups) -> Floats:
    """Return the classification probabilities that follow from the published mean posteriors."""
    if not groups.disclosure.hides:
        return table.probabilities
    posterior = _published_posterior(table, groups.disclosure)
    joint = np.nan_to_num(posterior) * groups.estimates[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((joint / joint.sum(axis=0)).T)


def correct_outcomes(
    counted: Sequence[Mapping[str, Any]], table: metrics.Classification, groups: Groups
) -> dict[str, Any]:
    """Return the corrected rates and means of outcomes by the three-step method (BCH).

    ``outcomes`` has one entry for each outcome of `count_outcomes` that can be corrected: ``name``,
    ``numeric``, ``estimated`` (whether a count is suppressed), and ``classes`` with ``name``,
    ``estimates``, ``low``, ``high`` and ``p_value``, None where the count of the group itself is
    suppressed, and ``impossible``, the groups whose rate is None because it is clearly below 0 or
    above 1. ``reason`` says why there is none.
    """
    D = _published_probabilities(table, groups)
    outcomes, reason = [], None
    result: three_step.CorrectedOutcome | None
    for outcome in counted:
        try:
            if outcome["numbers"] is None:
                result, unsure = _corrected_rates(outcome, D, groups)
            else:
                result, unsure = _corrected_mean(outcome, D, groups), False
        except exceptions.InvalidDataError as error:
            reason = text.for_readers(error.message)
            continue
        if result is not None:
            outcomes.append(_entry(outcome, result, groups, unsure))
    impossible = any(one["impossible"] for entry in outcomes for one in entry["classes"])
    return {"outcomes": outcomes, "impossible": impossible, "reason": reason}


def _corrected_mean(
    outcome: Mapping[str, Any], D: Floats, groups: Groups
) -> three_step.CorrectedOutcome | None:
    """Return corrected means, or None if a mean or its number of records is hidden."""
    entries, missing = outcome["numbers"]["groups"], np.array(outcome["missing"])
    if None in entries or (groups.sizes < 0).any() or (missing < 0).any():
        return None
    n = (groups.sizes - missing).astype(np.float64)
    means = np.array([entry["mean"] for entry in entries])
    center = float(n @ means / n.sum())
    means = means - center
    squares = (n - 1) * np.array([entry["sd"] for entry in entries]) ** 2 + n * means**2
    return three_step.correct_sums(
        ("mean",),
        D,
        n,
        (n * means)[:, None],
        squares[:, None],
        center=center,
        rates=False,
        confidence=_CONFIDENCE,
    )


def _corrected_rates(
    outcome: Mapping[str, Any], D: Floats, groups: Groups
) -> tuple[three_step.CorrectedOutcome, bool]:
    """Return corrected rates, and whether they depend on estimates of suppressed counts."""
    classes, missing = outcome["classes"], np.array(outcome["missing"])
    counts = np.array([one["counts"] for one in classes]).T
    known = groups.disclosure.known(groups.estimates, missing)
    rates = [
        groups.disclosure.group_rates(outcome, at, groups.estimates)[0]
        for at in range(len(classes))
    ]
    guesses = np.nan_to_num(np.column_stack(rates)) * known[:, None]
    sums = np.minimum(np.where(counts >= 0, counts, guesses), known[:, None])
    names = tuple(one["name"] for one in classes)
    corrected = three_step.correct_sums(
        names, D, known, sums, sums, rates=True, confidence=_CONFIDENCE
    )
    return corrected, bool(min(groups.sizes.min(), missing.min(), counts.min()) < 0)


def _entry(
    outcome: Mapping[str, Any], corrected: three_step.CorrectedOutcome, groups: Groups, unsure: bool
) -> dict[str, Any]:
    numeric = outcome["numbers"] is not None
    whole = outcome["numbers"]["all"] if numeric else None
    digits = whole["digits"] if whole else _DIGITS
    hidden = np.zeros((len(corrected.classes), groups.k), dtype=bool)
    if not numeric:
        hidden = np.array([one["counts"] for one in outcome["classes"]]) < 0
        hidden |= (groups.sizes < 0) | (np.array(outcome["missing"]) < 0)
    classes = []
    for at, name in enumerate(corrected.classes):
        impossible = corrected.impossible[:, at]
        columns = {
            "estimates": corrected.estimates[:, at],
            "low": corrected.intervals[:, at, 0],
            "high": corrected.intervals[:, at, 1],
        }
        classes.append(
            {
                "name": name,
                "impossible": np.flatnonzero(impossible & ~hidden[at]).tolist(),
                **{
                    key: text.finite_numbers(
                        np.where(hidden[at] | impossible, np.nan, values), digits
                    )
                    for key, values in columns.items()
                },
                "p_value": None
                if hidden[at].any()
                else text.finite_number(corrected.p_values[at], 6),
            }
        )
    return {
        "name": outcome["name"],
        "numeric": numeric,
        "binary": outcome["binary"],
        "digits": digits,
        "estimated": unsure,
        "classes": classes,
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
            cleaned = {
                text.clean_text(name): text.clean_values(v) for name, v in covariates.items()
            }
            table = metrics.corrected_covariates(labels, proba, cleaned, confidence=_CONFIDENCE)
        except exceptions.InvalidDataError as error:
            reason = text.for_readers(error.message)
        else:
            reference = table.reference
            if not table.converged:
                reason = text.for_readers(
                    messages.Message(
                        "[covariates_separate] a covariate separates some groups almost perfectly, "
                        "so that some odds ratios have no finite estimate; leave it out, or "
                        "combine its classes"
                    )
                )
            terms = [
                {
                    "name": name,
                    "odds_ratios": text.finite_numbers(table.odds_ratios[:, j], 3),
                    "low": text.finite_numbers(table.intervals[:, j, 0], 3),
                    "high": text.finite_numbers(table.intervals[:, j, 1], 3),
                    "p_value": text.finite_number(table.p_values[j], 6),
                }
                for j, name in enumerate(table.terms)
            ]
            references = dict(table.references)
    return {
        "terms": terms,
        "reference": reference,
        "references": references if terms else {},
        "left_out": list(left_out),
        "reason": reason,
    }

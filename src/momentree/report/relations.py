"""How groups relate to outcomes and covariates, and how good and certain the groups are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import chi2

from momentree import messages, metrics
from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.core.ties import largest_first
from momentree.report import corrected, estimators, tables, text
from momentree.report.disclosure import Disclosure
from momentree.report.groups import Groups
from momentree.report.outcomes import add_rates, count_outcomes, notes_shown, why_no_classes

if TYPE_CHECKING:
    from momentree.datasets import Measurements, Records

_IN_PART, _YES = 0.6, 0.75
"""Limits for the mean Jaccard similarity of a group to its match in resampled records: groups below
0.6 should not be trusted, those from 0.75 are stable (C. Hennig, Cluster-wise assessment of cluster
stability, Computational Statistics & Data Analysis 52, 2007)."""

_MAX_PAIRS = 3
"""Pairs of items that are shown."""
_BY_CHANCE = 0.05
"""Probability, at most, that any pair of independent items exceeds the limit of all pairs."""


def describe_groups(
    estimator: Any,
    kind: str,
    records: Records | Measurements,
    groups: Groups,
    nodes: Sequence[dict[str, Any]],
    outcomes: Mapping[str, Any],
    quality: Mapping[str, Any] | None,
    *,
    title: str | None,
    made_with: Mapping[str, object] | None,
    suppressed: tuple[bool, bool],
) -> dict[str, Any]:
    """Return the sections that all pages of groups of records have.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator.
    kind : {"records", "measurements"}
        The kind of page.
    records : Records or Measurements
        The records.
    groups : Groups
        Groups of the records.
    nodes : list of dict
        The nodes, to which the rates of outcomes are added.
    outcomes : mapping of str to ndarray of shape (n,)
        Values of each outcome and covariate, in the order of the page.
    quality : mapping or None
        Measures of quality; see `momentree.report.summarize_records`.
    title, made_with : str, mapping, optional
        Heading, and lines on how the page was made.
    suppressed : tuple of bool
        Whether totals are suppressed, and counts of groups.

    Returns
    -------
    dict
        The head of the summary, ``nodes``, ``outcomes``, ``quality``, ``certainty``, ``corrected``
        and ``fits``.
    """
    relations, omitted = _relations(records, outcomes, groups, quality or {})
    if relations["fits"]:
        tables.hide_certain(relations["fits"], totals=suppressed[0], counts=suppressed[1])
    add_rates(nodes, relations["outcomes"], groups)
    notes = [*notes_shown(records, groups.disclosure.min_cell), *omitted]
    kind = f"{kind}-{'flat' if groups.flat else 'tree'}"
    return {
        **estimators.head(estimator, kind, title or "Groups of records", notes, made_with),
        "n_records": len(groups.labels),
        "n_left_out": groups.disclosure.count(int((~np.asarray(records.enough, bool)).sum())),
        "n_leaves": groups.k,
        "min_cell": groups.disclosure.min_cell,
        "nodes": nodes,
        **relations,
    }


def _relations(
    records: Any, outcomes: Mapping[str, Any], groups: Groups, quality: Mapping[str, Any]
) -> tuple[dict[str, Any], list[messages.Message]]:
    """Describe outcomes, covariates and quality; return them, and what is not shown."""
    reasons = {name: why_no_classes(values) for name, values in outcomes.items()}
    given, disclosure = getattr(records, "covariates", ()), groups.disclosure
    cells = groups.labels, groups.k, disclosure.min_cell
    counts = {
        name: count_outcomes({name: outcomes[name]}, *cells, records.outcome_names, given)
        for name, reason in reasons.items()
        if reason is None
    }
    counted = [entry for entries in counts.values() for entry in entries]
    certainty = metrics.classification_table(groups.labels, groups.proba)
    permits = _Permits(outcomes, counts, groups)
    covariates = [name for name in given if reasons.get(name) is None]
    exact = {name: outcomes[name] for name in covariates if permits.covariate(name)}
    left_out = [text.clean_text(name) for name in covariates if name not in exact]
    fits, sizes_known = quality.get("fits"), bool((groups.sizes >= 0).all())
    entries = {
        "outcomes": counted,
        "quality": _quality(quality, permits),
        "certainty": corrected.describe_certainty(certainty, groups),
        "corrected": {
            **corrected.correct_outcomes(counted, certainty, groups),
            "covariates": corrected.correct_covariates(
                groups.labels, groups.proba, exact, left_out
            ),
        }
        if groups.k > 1
        else None,
        "fits": None
        if fits is None
        else tables.describe_fits(fits, disclosure, sizes_known=sizes_known),
    }
    notes = [
        messages.Message(
            "[outcome_not_shown] outcome {outcome!r} is not shown: {reason}",
            outcome=name,
            reason=reason,
        )
        for name, reason in reasons.items()
        if reason is not None
    ]
    return entries, notes


@dataclass(frozen=True)
class _Permits:
    """What may be shown of single outcomes, by their counts."""

    outcomes: Mapping[str, Any]
    counts: Mapping[str, list[dict[str, Any]]]
    groups: Groups

    def accuracy(self, name: str) -> bool:
        values = self.outcomes.get(name)
        exact = self.groups.disclosure.permits_accuracy
        return values is None or exact(self.counts.get(name, []), values.tolist())

    def covariate(self, name: str) -> bool:
        counted = self.counts.get(name, [])
        if not counted or counted[0]["numbers"] is None:
            return self.accuracy(name)
        return min(counted[0]["missing"]) >= 0 and not any(counted[0]["numbers"]["hidden"])

    def rough_auc(self, name: str) -> float | None:
        binary = [outcome for outcome in self.counts.get(name, []) if outcome["binary"]]
        rough = self.groups.disclosure.rough_auc
        return rough(binary[0], self.groups.estimates) if binary else None


def _quality(quality: Mapping[str, Any], permits: _Permits) -> dict[str, Any]:
    """Return the measures of quality passed to `summarize_records`, ready for JSON.

    If the accuracy for an outcome is not known or may not be exact, its rough AUC, which follows
    from what is published, is among the ``other`` ones.
    """
    groups, recurrence = permits.groups, quality.get("recurrence")
    if recurrence is not None:
        recurrence = np.asarray(recurrence, dtype=np.float64)
        check_shape("quality['recurrence']", recurrence, (groups.k,))
        recurrence = text.finite_numbers(recurrence)
    exact: list[dict[str, Any]] = []
    other = [
        [text.clean_text(name), text.clean_text(value)]
        for name, value in quality.items()
        if name not in ("stability", "predictive_power", "recurrence", "fits")
    ]
    for name, power in quality.get("predictive_power", {}).items():
        values = power if isinstance(power, Mapping) else vars(power)
        if values and permits.accuracy(name):
            exact.append({"name": text.clean_text(name), **_power(values, groups.disclosure)})
        elif (auc := permits.rough_auc(name)) is not None:
            measure = text.clean_text(f"{name}: predicted from the group alone")
            other.append(
                [
                    measure,
                    text.for_readers(
                        messages.Message(
                            "[rough_auc] AUC about {auc:.1f} (0.5 = chance, 1 = perfect)", auc=auc
                        )
                    ),
                ]
            )
    return {
        "stability": _stability(quality.get("stability", ())),
        "predictive_power": exact,
        "recurrence": recurrence,
        "recurrence_words": recurrence and [_recurrence_words(value) for value in recurrence],
        "other": other,
    }


def _stability(given: Any) -> dict[str, Any] | None:
    scores = np.asarray(given, dtype=np.float64).ravel()
    if not scores.size:
        return None
    measures = {"mean": scores.mean(), "low": scores.min(), "high": scores.max()}
    return {**{key: round(float(v), 4) for key, v in measures.items()}, "n": len(scores)}


def largest_residuals(
    X: Any, proba: Floats, names: Sequence[str], disclosure: Disclosure, columns: Ints
) -> dict[str, Any] | None:
    """Return the pairs of items with the largest residual dependence, ready for JSON.

    The largest residual by chance has at most the limit of Bonferroni for all pairs. Of the items
    in `columns`, no count may be suppressed: it could follow from a residual, and from whether one
    is shown. The root of the residual is rounded if counts are suppressed, because two digits could
    disclose how many records have both items.
    """
    values = metrics.bivariate_residuals(X, proba, columns=columns, min_cell=disclosure.min_cell)
    first, second = np.triu_indices(len(values), 1)
    residuals = np.nan_to_num(values[first, second], nan=-1.0)
    pairs = []
    for at in largest_first(residuals)[:_MAX_PAIRS].tolist():
        value = residuals[at]
        if value >= 0:
            shown = round(value**0.5) ** 2 if disclosure.hides else f"{value:.2g}"
            items = [names[first[at]], names[second[at]]]
            pairs.append({"items": items, "residual": float(shown)})
    limit = round(float(chi2.isf(_BY_CHANCE / max(len(residuals), 1), 1)))
    return {"pairs": pairs, "limit": limit} if pairs else None


def _recurrence_words(similarity: float | None) -> str:
    if similarity is None:
        return text.NO_VALUE
    return "no" if similarity < _IN_PART else "in part" if similarity < _YES else "yes"


def _power(values: Mapping[str, Any], disclosure: Disclosure) -> dict[str, Any]:
    digits = disclosure.decimals(float(values.get("n") or np.inf))
    rates = ("accuracy", "std", "baseline", "auc")
    return {key: text.finite_number(values.get(key), digits) for key in rates} | {
        "n": text.finite_number(values.get("n"))
    }

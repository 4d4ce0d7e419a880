"""Prepare the numbers by which the page and the command assign a record."""

from __future__ import annotations

from typing import Any

from momentree.assignment.incomplete import IncompleteAssigner
from momentree.report.records._table import PublishedTable

_DIGITS = 4


def summarize_scoring(table: PublishedTable) -> dict[str, Any]:
    """Return the assigner of incomplete records as JSON, from the published counts alone.

    A suppressed count is replaced by its estimate, so no small count can be derived from the
    probabilities. If nothing is suppressed, they are those of ``predict_incomplete_proba``.
    """
    counts = table.expected.clip(max=table.observed)
    rounded = counts.round(_DIGITS)
    observed = table.observed.round(_DIGITS)
    return IncompleteAssigner(rounded, observed, table.size_estimates).to_dict()

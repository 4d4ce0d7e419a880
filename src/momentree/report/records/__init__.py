"""Summarize groups of coded records: the complete content of their page."""

from momentree.report.records.notes import notes_shown
from momentree.report.records.outcomes import count_outcomes, why_no_classes
from momentree.report.records.summary import summarize_records

__all__ = ["count_outcomes", "notes_shown", "summarize_records", "why_no_classes"]

"""Summarize groups of coded records: the complete content of their page."""

from momentree.report.outcomes import count_outcomes, notes_shown, why_no_classes
from momentree.report.records.summary import summarize_records
from momentree.report.table_one import table_one
from momentree.report.tables import fits_table

__all__ = [
    "count_outcomes",
    "fits_table",
    "notes_shown",
    "summarize_records",
    "table_one",
    "why_no_classes",
]

"""Summarize groups of coded records: the complete content of their page."""

from momentree.report.records.fits import fits_table
from momentree.report.records.notes import notes_shown
from momentree.report.records.outcomes import count_outcomes, why_no_classes
from momentree.report.records.summary import summarize_records
from momentree.report.records.table_one import table_one

__all__ = [
    "count_outcomes",
    "fits_table",
    "notes_shown",
    "summarize_records",
    "table_one",
    "why_no_classes",
]

"""Describe groups of records with measurements: numbers, yes or no, categories and counts."""

from momentree.report.measurements.summary import summarize_measurements

__all__ = ["summarize_measurements"]

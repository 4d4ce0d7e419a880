"""Summarize fitted models, write HTML reports, and draw figures."""

from momentree.report.figures.groups import (
    group_colors,
    plot_group_sizes,
    plot_outcome_rates,
    plot_stability,
)
from momentree.report.figures.records import (
    plot_code_frequencies,
    plot_record_heatmap,
    plot_relative_risk,
)
from momentree.report.figures.topics import (
    plot_documents,
    plot_n_components,
    plot_topic_proportions,
    plot_topic_words,
)
from momentree.report.figures.trees import plot_tree
from momentree.report.html import render_html, write_html
from momentree.report.measurements import summarize_measurements
from momentree.report.records import summarize_records
from momentree.report.sequences import summarize_sequences
from momentree.report.tables import fits_table, table_one, write_table
from momentree.report.topics import summarize

__all__ = [
    "fits_table",
    "group_colors",
    "plot_code_frequencies",
    "plot_documents",
    "plot_group_sizes",
    "plot_n_components",
    "plot_outcome_rates",
    "plot_record_heatmap",
    "plot_relative_risk",
    "plot_stability",
    "plot_topic_proportions",
    "plot_topic_words",
    "plot_tree",
    "render_html",
    "summarize",
    "summarize_measurements",
    "summarize_records",
    "summarize_sequences",
    "table_one",
    "write_html",
    "write_table",
]

"""Fitted model to summary dictionary to one offline HTML page, and figures for papers."""

from momentree.report.figures import plot_icicle, plot_tree
from momentree.report.figures_components import plot_n_components
from momentree.report.figures_flat import plot_topic_shares, plot_topic_words
from momentree.report.figures_records import plot_code_frequencies, plot_relative_risk
from momentree.report.figures_records_canvas import group_colors
from momentree.report.figures_records_groups import (
    plot_group_sizes,
    plot_outcome_rates,
    plot_stability,
)
from momentree.report.figures_records_heat import plot_record_heatmap
from momentree.report.html import render_html, write_html
from momentree.report.records import summarize_records
from momentree.report.summary import summarize

__all__ = [
    "group_colors",
    "plot_code_frequencies",
    "plot_group_sizes",
    "plot_icicle",
    "plot_n_components",
    "plot_outcome_rates",
    "plot_record_heatmap",
    "plot_relative_risk",
    "plot_stability",
    "plot_topic_shares",
    "plot_topic_words",
    "plot_tree",
    "render_html",
    "summarize",
    "summarize_records",
    "write_html",
]

"""From a fitted model to a summary dictionary, to one offline HTML page; figures for papers."""

from momentree.report.figures import (
    group_colors,
    plot_code_frequencies,
    plot_group_sizes,
    plot_icicle,
    plot_n_components,
    plot_outcome_rates,
    plot_record_heatmap,
    plot_relative_risk,
    plot_stability,
    plot_topic_proportions,
    plot_topic_words,
    plot_tree,
)
from momentree.report.html import render_html, write_html
from momentree.report.records import summarize_records
from momentree.report.topics import summarize

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
    "plot_topic_proportions",
    "plot_topic_words",
    "plot_tree",
    "render_html",
    "summarize",
    "summarize_records",
    "write_html",
]

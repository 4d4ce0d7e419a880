"""Fitted model to summary dictionary to one offline HTML page, and figures for papers."""

from momentree.report.figures import plot_icicle, plot_tree
from momentree.report.figures_components import plot_n_components
from momentree.report.figures_flat import plot_topic_shares, plot_topic_words
from momentree.report.html import render_html, write_html
from momentree.report.summary import summarize

__all__ = [
    "plot_icicle",
    "plot_n_components",
    "plot_topic_shares",
    "plot_topic_words",
    "plot_tree",
    "render_html",
    "summarize",
    "write_html",
]

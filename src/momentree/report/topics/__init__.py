"""Summarize topics of documents, in a tree or flat: the complete content of their page."""

from momentree.report.estimators import topic_names
from momentree.report.topics.chart import sort_documents
from momentree.report.topics.summary import default_title, summarize
from momentree.report.topics.word_notes import notes_on_common_words, notes_on_function_words

__all__ = [
    "default_title",
    "notes_on_common_words",
    "notes_on_function_words",
    "sort_documents",
    "summarize",
    "topic_names",
]

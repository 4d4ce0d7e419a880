"""Summarize topics of documents, in a tree or flat: the complete content of their page."""

from momentree.report._estimators import topic_names
from momentree.report.topics._common_words import notes_on_common_words
from momentree.report.topics._function_words import notes_on_function_words
from momentree.report.topics.document_order import sort_documents
from momentree.report.topics.summary import default_title, summarize

__all__ = [
    "default_title",
    "notes_on_common_words",
    "notes_on_function_words",
    "sort_documents",
    "summarize",
    "topic_names",
]

"""Texts, and how they become counts of words."""

from momentree.readers.text.align import align_columns
from momentree.readers.text.documents import read_documents
from momentree.readers.text.selection import default_min_df, filter_vocabulary
from momentree.readers.text.vectorize import TextVectorizer, vectorize
from momentree.readers.text.words import LANGUAGES, TOKEN_PATTERN, stop_words

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "TextVectorizer",
    "align_columns",
    "default_min_df",
    "filter_vocabulary",
    "read_documents",
    "stop_words",
    "vectorize",
]

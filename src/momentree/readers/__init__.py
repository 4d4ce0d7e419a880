"""Readers: files in; texts, counts of words or coded records out."""

from momentree.readers.corpus import read_corpus
from momentree.readers.counts import (
    align_columns,
    filter_vocabulary,
    holds_counts,
    read_counts,
)
from momentree.readers.records import RecordCoder, Records, read_records, roll_up
from momentree.readers.text import (
    LANGUAGES,
    TOKEN_PATTERN,
    Corpus,
    Documents,
    TextVectorizer,
    default_min_df,
    read_documents,
    stop_words,
    vectorize,
)

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "Corpus",
    "Documents",
    "RecordCoder",
    "Records",
    "TextVectorizer",
    "align_columns",
    "default_min_df",
    "filter_vocabulary",
    "holds_counts",
    "read_corpus",
    "read_counts",
    "read_documents",
    "read_records",
    "roll_up",
    "stop_words",
    "vectorize",
]

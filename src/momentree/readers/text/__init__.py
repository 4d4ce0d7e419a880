"""Texts: files of documents, and how documents become counts of words."""

from momentree.readers.text.documents import read_documents
from momentree.readers.text.objects import Corpus, Documents
from momentree.readers.text.selection import default_min_df
from momentree.readers.text.vectorize import vectorize
from momentree.readers.text.vectorizer import TextVectorizer
from momentree.readers.text.words import LANGUAGES, TOKEN_PATTERN, stop_words

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "Corpus",
    "Documents",
    "TextVectorizer",
    "default_min_df",
    "read_documents",
    "stop_words",
    "vectorize",
]

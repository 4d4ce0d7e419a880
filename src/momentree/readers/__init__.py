"""Readers: turn files into texts, word counts, coded records or sequences."""

from momentree.readers.corpus import read_corpus
from momentree.readers.counts.files import (
    align_columns,
    filter_vocabulary,
    holds_counts,
    read_counts,
)
from momentree.readers.distributed import DistributedCorpus, is_pattern
from momentree.readers.embeddings import Embeddings, read_embeddings
from momentree.readers.measurements.measurements import holds_measurements, read_measurements
from momentree.readers.measurements.objects import MeasurementCoder, Measurements
from momentree.readers.records.icd import code_titles, roll_up
from momentree.readers.records.objects import RecordCoder, Records
from momentree.readers.records.records import read_records
from momentree.readers.sequences.objects import SequenceCoder, Sequences
from momentree.readers.sequences.sequences import read_sequences
from momentree.readers.stored.corpus import StoredCorpus
from momentree.readers.stored.counts import StoredCounts, store_counts
from momentree.readers.stored.work import WorkFolder
from momentree.readers.text.documents import read_documents, stream_documents
from momentree.readers.text.objects import Corpus, Documents, DocumentStream, Passages
from momentree.readers.text.selection import DocumentFrequencies, default_min_df
from momentree.readers.text.vectorize import read_like, vectorize
from momentree.readers.text.vectorizer import TextVectorizer
from momentree.readers.text.words import LANGUAGES, TOKEN_PATTERN, stop_words

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "Corpus",
    "DistributedCorpus",
    "DocumentFrequencies",
    "DocumentStream",
    "Documents",
    "Embeddings",
    "MeasurementCoder",
    "Measurements",
    "Passages",
    "RecordCoder",
    "Records",
    "SequenceCoder",
    "Sequences",
    "StoredCorpus",
    "StoredCounts",
    "TextVectorizer",
    "WorkFolder",
    "align_columns",
    "code_titles",
    "default_min_df",
    "filter_vocabulary",
    "holds_counts",
    "holds_measurements",
    "is_pattern",
    "read_corpus",
    "read_counts",
    "read_documents",
    "read_embeddings",
    "read_like",
    "read_measurements",
    "read_records",
    "read_sequences",
    "roll_up",
    "stop_words",
    "store_counts",
    "stream_documents",
    "vectorize",
]

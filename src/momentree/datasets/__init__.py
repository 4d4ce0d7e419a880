"""Datasets: readers of text, counts and records; samplers that return their true parameters."""

from momentree.datasets.docstrings import load_docstrings
from momentree.datasets.mixtures import make_bernoulli_mixture, make_poisson_mixture
from momentree.datasets.patients import make_patient_records
from momentree.datasets.samples import LDASample, MixtureSample, PatientSample, TopicSample
from momentree.datasets.topics import make_hierarchical_topics, make_lda, make_single_topic
from momentree.readers.corpus import read_corpus
from momentree.readers.counts.counts import holds_counts, read_counts
from momentree.readers.objects import Corpus, Documents, Records
from momentree.readers.records.coder import RecordCoder
from momentree.readers.records.codes import roll_up
from momentree.readers.records.records import read_records
from momentree.readers.text.align import align_columns
from momentree.readers.text.documents import read_documents
from momentree.readers.text.selection import default_min_df, filter_vocabulary
from momentree.readers.text.vectorize import TextVectorizer, vectorize
from momentree.readers.text.words import LANGUAGES, TOKEN_PATTERN, stop_words

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "Corpus",
    "Documents",
    "LDASample",
    "MixtureSample",
    "PatientSample",
    "RecordCoder",
    "Records",
    "TextVectorizer",
    "TopicSample",
    "align_columns",
    "default_min_df",
    "filter_vocabulary",
    "holds_counts",
    "load_docstrings",
    "make_bernoulli_mixture",
    "make_hierarchical_topics",
    "make_lda",
    "make_patient_records",
    "make_poisson_mixture",
    "make_single_topic",
    "read_corpus",
    "read_counts",
    "read_documents",
    "read_records",
    "roll_up",
    "stop_words",
    "vectorize",
]

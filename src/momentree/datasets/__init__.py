"""Data: readers of files, samplers that return the true parameters, and a built-in corpus."""

from momentree.datasets.docstrings import load_docstrings
from momentree.datasets.samplers import TopicSample, make_hierarchical_topics, make_single_topic
from momentree.datasets.samplers_binary import (
    BernoulliSample,
    PatientSample,
    make_bernoulli_mixture,
    make_patient_records,
)
from momentree.datasets.samplers_mixed import (
    LDASample,
    PoissonSample,
    make_lda,
    make_poisson_mixture,
)
from momentree.readers import (
    LANGUAGES,
    TOKEN_PATTERN,
    Corpus,
    Documents,
    RecordCoder,
    Records,
    TextVectorizer,
    align_columns,
    default_min_df,
    filter_vocabulary,
    holds_counts,
    read_corpus,
    read_counts,
    read_documents,
    read_records,
    roll_up,
    stop_words,
    vectorize,
)

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "BernoulliSample",
    "Corpus",
    "Documents",
    "LDASample",
    "PatientSample",
    "PoissonSample",
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

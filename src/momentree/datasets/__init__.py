"""Datasets: file readers, samplers that return their true parameters, and a built-in corpus."""

from momentree.datasets.docstrings import load_docstrings
from momentree.datasets.gaussians import make_spherical_gaussians
from momentree.datasets.hidden_markov import HMMSample, make_hmm
from momentree.datasets.mixtures import make_bernoulli_mixture, make_poisson_mixture
from momentree.datasets.patients import make_patient_records
from momentree.datasets.samples import (
    GaussianSample,
    LDASample,
    MixtureSample,
    PatientSample,
    TopicSample,
)
from momentree.datasets.topics import make_hierarchical_topics, make_lda, make_single_topic
from momentree.datasets.visits import VisitSample, make_hospital_visits
from momentree.readers import (
    LANGUAGES,
    TOKEN_PATTERN,
    Corpus,
    Documents,
    Embeddings,
    Passages,
    RecordCoder,
    Records,
    TextVectorizer,
    align_columns,
    code_titles,
    default_min_df,
    filter_vocabulary,
    holds_counts,
    read_corpus,
    read_counts,
    read_documents,
    read_embeddings,
    read_like,
    read_records,
    roll_up,
    stop_words,
    vectorize,
)

__all__ = [
    "LANGUAGES",
    "TOKEN_PATTERN",
    "Corpus",
    "Documents",
    "Embeddings",
    "GaussianSample",
    "HMMSample",
    "LDASample",
    "MixtureSample",
    "Passages",
    "PatientSample",
    "RecordCoder",
    "Records",
    "TextVectorizer",
    "TopicSample",
    "VisitSample",
    "align_columns",
    "code_titles",
    "default_min_df",
    "filter_vocabulary",
    "holds_counts",
    "load_docstrings",
    "make_bernoulli_mixture",
    "make_hierarchical_topics",
    "make_hmm",
    "make_hospital_visits",
    "make_lda",
    "make_patient_records",
    "make_poisson_mixture",
    "make_single_topic",
    "make_spherical_gaussians",
    "read_corpus",
    "read_counts",
    "read_documents",
    "read_embeddings",
    "read_like",
    "read_records",
    "roll_up",
    "stop_words",
    "vectorize",
]

"""Datasets: file readers, samplers that return their true parameters, and a built-in corpus."""

from momentree import readers
from momentree.datasets.built_in import VisitSample, load_docstrings, make_hospital_visits
from momentree.datasets.mixtures import (
    GaussianSample,
    MixtureSample,
    PatientSample,
    make_bernoulli_mixture,
    make_patient_records,
    make_poisson_mixture,
    make_spherical_gaussians,
)
from momentree.datasets.sequential import (
    HMMSample,
    LDASample,
    TopicSample,
    make_hierarchical_topics,
    make_hmm,
    make_lda,
    make_single_topic,
)
from momentree.readers import *  # noqa: F403  all readers are here too

__all__ = [
    "GaussianSample",
    "HMMSample",
    "LDASample",
    "MixtureSample",
    "PatientSample",
    "TopicSample",
    "VisitSample",
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
]
__all__ += readers.__all__

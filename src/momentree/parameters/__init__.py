"""Parameters: turn decompositions into valid model parameters."""

from momentree.parameters.hmm import hmm_parameters
from momentree.parameters.lda import lda_parameters
from momentree.parameters.simplex import project_to_simplex, topic_parameters
from momentree.parameters.spherical_gaussian import spherical_gaussian_parameters

__all__ = [
    "hmm_parameters",
    "lda_parameters",
    "project_to_simplex",
    "spherical_gaussian_parameters",
    "topic_parameters",
]

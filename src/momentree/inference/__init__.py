"""Inference: parameters and data in, posteriors and log-likelihoods out."""

from momentree.inference.multinomial import log_joint, log_posterior, one_topic_log_likelihood
from momentree.inference.variational import (
    variational_bound,
    variational_gammas,
    variational_proportions,
)

__all__ = [
    "log_joint",
    "log_posterior",
    "one_topic_log_likelihood",
    "variational_bound",
    "variational_gammas",
    "variational_proportions",
]

"""Inference: posteriors, topic proportions and log-likelihoods from parameters and data."""

from momentree.inference.lda import (
    gibbs_proportions,
    variational_bound,
    variational_gammas,
    variational_proportions,
)
from momentree.inference.posteriors import (
    completion_log_likelihood,
    log_joint,
    log_multinomial,
    log_posterior,
    split_words,
)

__all__ = [
    "completion_log_likelihood",
    "gibbs_proportions",
    "log_joint",
    "log_multinomial",
    "log_posterior",
    "split_words",
    "variational_bound",
    "variational_gammas",
    "variational_proportions",
]

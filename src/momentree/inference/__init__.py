"""Inference: posteriors, topic proportions and log-likelihoods from parameters and data."""

from momentree.inference.completion import completion_log_likelihood, split_words
from momentree.inference.gibbs import gibbs_proportions
from momentree.inference.posteriors import (
    log_joint,
    log_multinomial,
    log_posterior,
)
from momentree.inference.variational import (
    variational_bound,
    variational_gammas,
    variational_proportions,
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

"""Inference: parameters and data in, posteriors and log-likelihoods out."""

from momentree.inference.multinomial import log_joint, log_posterior, one_topic_log_likelihood

__all__ = ["log_joint", "log_posterior", "one_topic_log_likelihood"]

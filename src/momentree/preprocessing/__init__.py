"""Preprocessing: burstiness, log scaling, tf-idf, observation rates, and feature maps."""

from momentree.preprocessing.burstiness import repetition
from momentree.preprocessing.feature_map import FeatureMap
from momentree.preprocessing.log_scaling import (
    log_scale,
)
from momentree.preprocessing.observation_rates import observation_rates
from momentree.preprocessing.tfidf import tfidf

__all__ = [
    "FeatureMap",
    "log_scale",
    "observation_rates",
    "repetition",
    "tfidf",
]

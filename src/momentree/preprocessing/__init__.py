"""Preprocessing: log scaling, tf-idf, observation rates, and the feature map of cluster trees."""

from momentree.preprocessing.feature_map import FeatureMap
from momentree.preprocessing.kinds import Kind
from momentree.preprocessing.log_scaling import (
    LogScaled,
    log_scale,
    typical_count_per_token,
)
from momentree.preprocessing.observation_rates import observation_rates
from momentree.preprocessing.tfidf import tfidf

__all__ = [
    "FeatureMap",
    "Kind",
    "LogScaled",
    "log_scale",
    "observation_rates",
    "tfidf",
    "typical_count_per_token",
]

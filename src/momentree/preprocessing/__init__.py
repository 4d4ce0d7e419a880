"""Preprocessing: burstiness, log scaling, tf-idf, observation rates, and feature maps."""

from momentree.preprocessing.burstiness import repetition
from momentree.preprocessing.column_kinds import guess_kind
from momentree.preprocessing.feature_map import FeatureMap
from momentree.preprocessing.log_scaling import (
    log_scale,
)
from momentree.preprocessing.matrix_columns import MatrixColumns
from momentree.preprocessing.mixed_columns import MixedColumns
from momentree.preprocessing.observation_rates import observation_rates
from momentree.preprocessing.tfidf import tfidf

__all__ = [
    "FeatureMap",
    "MatrixColumns",
    "MixedColumns",
    "guess_kind",
    "log_scale",
    "observation_rates",
    "repetition",
    "tfidf",
]

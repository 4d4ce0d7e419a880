"""Preprocessing: burstiness, log scaling, tf-idf, observation rates, and feature maps."""

from momentree.preprocessing.burstiness import repetition
from momentree.preprocessing.column_kinds import guess_kind
from momentree.preprocessing.feature_map import FeatureMap, observation_rates
from momentree.preprocessing.log_scaling import log_scale, tfidf
from momentree.preprocessing.matrix_columns import MatrixColumns
from momentree.preprocessing.mixed_columns import MixedColumns

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

"""Preprocessing: counts on a log scale, and the feature maps in which samples are compared."""

from momentree.preprocessing.log_scaling import (
    LogScaled,
    LogScaling,
    log_scale,
    typical_count_per_token,
)
from momentree.preprocessing.tfidf import tfidf

__all__ = ["LogScaled", "LogScaling", "log_scale", "tfidf", "typical_count_per_token"]

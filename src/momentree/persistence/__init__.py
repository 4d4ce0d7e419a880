"""Persistence: one file format for every fitted estimator, without pickle."""

from momentree.persistence.estimators import SavedEstimator, load
from momentree.persistence._values import storable

__all__ = ["SavedEstimator", "load", "storable"]

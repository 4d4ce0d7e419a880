"""Persistence: one file format for every fitted estimator, without pickle."""

from momentree.persistence._values import storable
from momentree.persistence.estimators import SavedEstimator, load

__all__ = ["SavedEstimator", "load", "storable"]

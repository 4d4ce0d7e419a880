"""Save and load fitted estimators in one file format, without pickle."""

from momentree.persistence._values import storable
from momentree.persistence.estimators import SavedEstimator, load

__all__ = ["SavedEstimator", "load", "storable"]

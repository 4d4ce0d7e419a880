"""Save fitted estimators to files and load them."""

from momentree.persistence.files import load
from momentree.persistence.values import storable

__all__ = ["load", "storable"]

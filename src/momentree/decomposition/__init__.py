"""Decomposition: moments in, centers and weights out; one algorithm a file."""

from momentree.decomposition.sidiwo import sidiwo
from momentree.decomposition.svd_method import svd_method
from momentree.decomposition.svtd import svtd

__all__ = ["sidiwo", "svd_method", "svtd"]

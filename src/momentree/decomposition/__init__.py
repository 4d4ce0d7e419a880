"""Decomposition: moments in, centers and weights out; one algorithm a file."""

from momentree.decomposition.perturbation import PerturbationBound, svtd_perturbation_bound
from momentree.decomposition.sidiwo import sidiwo
from momentree.decomposition.svd_method import svd_method
from momentree.decomposition.svtd import svtd

__all__ = ["PerturbationBound", "sidiwo", "svd_method", "svtd", "svtd_perturbation_bound"]

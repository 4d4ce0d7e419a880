"""Decomposition: moments in, centers and weights out; one algorithm a file."""

from momentree.decomposition.als import als
from momentree.decomposition.concentration import Concentration, estimate_alpha0
from momentree.decomposition.eigendecomposition import eigendecomposition
from momentree.decomposition.jennrich import jennrich
from momentree.decomposition.perturbation import PerturbationBound, svtd_perturbation_bound
from momentree.decomposition.random_projections import random_projections
from momentree.decomposition.sidiwo import sidiwo
from momentree.decomposition.svd_method import svd_method
from momentree.decomposition.svtd import svtd
from momentree.decomposition.tensor_power_method import tensor_power_method
from momentree.decomposition.three_views import three_view_mom, three_view_tpm

__all__ = [
    "Concentration",
    "PerturbationBound",
    "als",
    "eigendecomposition",
    "estimate_alpha0",
    "jennrich",
    "random_projections",
    "sidiwo",
    "svd_method",
    "svtd",
    "svtd_perturbation_bound",
    "tensor_power_method",
    "three_view_mom",
    "three_view_tpm",
]

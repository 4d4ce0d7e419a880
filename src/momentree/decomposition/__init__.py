"""Decomposition: compute centers and weights from moments.

Every algorithm has the signature ``f(moments, n_components, *, random_state=None, whitening=None,
...)`` and returns a :class:`momentree.objects.Decomposition`, with components by descending weight.
If M2 supports fewer components than requested, fewer are returned. The ``diagnostics`` are

- "eigenvalues" of M2, "rank", the relative "gap" after the last eigenvalue used, and
  "whitening_residual" (see :class:`momentree.objects.Whitening`);
- "residual_m2" and "residual_m3": relative norms of the part of the whitened moments that the
  components do not explain;
- "negative_mass": for each center, the absolute sum of negative entries relative to that of all;
- "n_iter": number of iterations; 0 for algorithms without iterations;
- "reason": a message that explains why there are fewer components than requested, or None;
- "warnings": a list of messages.

Most algorithms add further diagnostics. Only :func:`asvtd` starts from data. :func:`jade` accepts
:class:`momentree.moments.ICAMoments` only and returns a rotation. :func:`identifiability` and
:func:`orthogonal_defect` check conditions of all of them.
"""

from momentree.decomposition.als import als
from momentree.decomposition.concentration import Concentration, estimate_alpha0
from momentree.decomposition.eigendecomposition import eigendecomposition
from momentree.decomposition.identifiability import Identifiability, identifiability
from momentree.decomposition.jade import jade
from momentree.decomposition.jennrich import jennrich
from momentree.decomposition.orthogonality import orthogonal_defect
from momentree.decomposition.perturbation import PerturbationBound, svtd_perturbation_bound
from momentree.decomposition.random_projections import random_projections
from momentree.decomposition.sidiwo import discriminators, sidiwo
from momentree.decomposition.svd_method import svd_method
from momentree.decomposition.svtd import asvtd, svtd
from momentree.decomposition.tensor_power_method import tensor_power_method
from momentree.decomposition.three_views import three_view_mom, three_view_tpm

__all__ = [
    "Concentration",
    "Identifiability",
    "PerturbationBound",
    "als",
    "asvtd",
    "discriminators",
    "eigendecomposition",
    "estimate_alpha0",
    "identifiability",
    "jade",
    "jennrich",
    "orthogonal_defect",
    "random_projections",
    "sidiwo",
    "svd_method",
    "svtd",
    "svtd_perturbation_bound",
    "tensor_power_method",
    "three_view_mom",
    "three_view_tpm",
]

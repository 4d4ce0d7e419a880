"""Hsu and Kakade 2013: means and variances of spherical Gaussians from decomposed moments."""

from __future__ import annotations

import numpy as np

from momentree.moments import PopulationSphericalGaussianMoments, SphericalGaussianMoments
from momentree.objects import Decomposition, GaussianParameters

LEAST = 1e-3
"""Smallest variance of a component, relative to the average variance; noise may make it zero."""
TINY = 1e-300


def spherical_gaussian_parameters(
    moments: SphericalGaussianMoments | PopulationSphericalGaussianMoments, found: Decomposition
) -> GaussianParameters:
    """Return the parameters of a mixture of spherical Gaussians from its decomposed moments.

    With M = [mu_1 ... mu_k] and g = sum_i w_i s_i mu_i, the variances are s_i = (M^+ g)_i / w_i,
    or all equal s, if the moments assume one variance.

    Parameters
    ----------
    moments : SphericalGaussianMoments or PopulationSphericalGaussianMoments
        The moments that were decomposed.
    found : Decomposition
        Their decomposition into at least one component.

    Returns
    -------
    GaussianParameters
        Weights with sum 1, means in the space of the features, and variances, limited to what is
        possible: w_i s_i is at most the average variance, and s_i at least a thousandth of it.

    Notes
    -----
    Theorem 1 of [1]. Of centered moments, the last coordinate of each center is the constant; a
    center is scaled to make it so. Time O(d k^2).

    References
    ----------
    .. [1] D. Hsu, S. Kakade. Learning mixtures of spherical Gaussians: moment methods and spectral
       decompositions. ITCS 2013. doi:10.1145/2422436.2422439

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import SphericalGaussianMoments
    >>> from momentree.parameters import spherical_gaussian_parameters
    >>> moments = SphericalGaussianMoments.from_parameters([0.6, 0.4], np.eye(2, 3), [1.0, 2.0])
    >>> spherical_gaussian_parameters(moments, sidiwo(moments, 2)).variances.round(6)
    array([1., 2.])
    """
    M, w = found.centers, np.maximum(found.weights, 0.0)
    w = w / w.sum() if w.sum() > 0 else np.full(len(w), 1.0 / len(w))
    if moments.constant is not None:
        scale = M[-1] / moments.constant
        # A center whose constant is far from c is mostly noise: scaling would blow it up.
        M = M / np.where(scale > 0.5, scale, 1.0)
    s = moments.variance
    variances = np.full(len(w), s)
    if moments.variances == "own":
        weighted = np.linalg.pinv(M) @ moments.weighted_variances
        most = np.maximum(s / np.maximum(w, TINY), s)
        variances = np.clip(weighted / np.maximum(w, TINY), LEAST * s, most)
    d = len(moments.shift)
    return GaussianParameters(w, M[:d] + moments.shift[:, None], np.maximum(variances, TINY))

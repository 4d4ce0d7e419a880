"""Parameters: turn decompositions into valid model parameters."""

import numpy as np

from momentree._types import Bools, Floats
from momentree.moments import (
    HMMMoments,
    PopulationSphericalGaussianMoments,
    SphericalGaussianMoments,
)
from momentree.objects import Decomposition, GaussianParameters, LDAParameters, TopicParameters
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters

__all__ = [
    "hmm_parameters",
    "lda_parameters",
    "project_to_simplex",
    "spherical_gaussian_parameters",
    "topic_parameters",
]


ROUNDING = 1e-13
"""Entries below this, relative to the largest of the column, are zero."""


def project_to_simplex(V: Floats) -> Floats:
    """Return the Euclidean projection of each column onto the probability simplex.

    The solution of min ||p - v||_2 over p >= 0, sum p = 1 is p = max(v - t, 0), where t satisfies
    sum p = 1.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Any finite columns.

    Returns
    -------
    ndarray of shape (d, k)
        Columns >= 0 with sum 1.

    Notes
    -----
    J. Duchi et al. Efficient projections onto the l1-ball, ICML 2008, Figure 1. Time O(k d log d).
    """
    rows = np.ascontiguousarray(V.T)  # NumPy is several times as fast along the last axis
    k, d = rows.shape
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, d + 1)
    last = d - 1 - np.argmax((descending > excess)[:, ::-1], axis=1)
    P = np.maximum(rows - excess[np.arange(k), last, None], 0.0)
    P[ROUNDING * np.abs(rows).max(axis=1, keepdims=True, initial=0.0) > P] = 0.0
    return np.ascontiguousarray((P / P.sum(axis=1, keepdims=True)).T)


def topic_parameters(found: Decomposition, occurs: Bools | None = None) -> TopicParameters:
    """Project a decomposition onto the parameters of a single-topic model.

    Parameters
    ----------
    found : Decomposition
        Decomposition with at least one component.
    occurs : ndarray of bool of shape (d,), default=None
        Words that may have positive probabilities, at least one; None allows all.

    Returns
    -------
    TopicParameters
        Centers projected onto the simplex, weights scaled to sum 1.
    """
    if occurs is None or occurs.all():
        centers = project_to_simplex(found.centers)
    else:
        centers = np.zeros(found.centers.shape)
        centers[occurs] = project_to_simplex(found.centers[occurs])
    return TopicParameters(found.weights / found.weights.sum(), centers)


MIN_ALPHA = 1e-3
"""Smallest concentration, at which a topic is almost absent."""


def lda_parameters(found: Decomposition, alpha0: float) -> LDAParameters:
    """Project a decomposition of LDA moments onto valid model parameters.

    Parameters
    ----------
    found : Decomposition
        Decomposition of :class:`momentree.moments.LDAMoments`, with weights alpha_i / alpha_0, at
        least one of them positive.
    alpha0 : float > 0
        Total concentration of these moments.

    Returns
    -------
    LDAParameters
        alpha_i = alpha_0 w_i / sum w, at least 0.001; centers projected onto the simplex.
    """
    alpha = alpha0 * found.weights / found.weights.sum()
    return LDAParameters(np.maximum(alpha, MIN_ALPHA), project_to_simplex(found.centers))


def hmm_parameters(found: Decomposition, moments: HMMMoments) -> HMMParameters:
    """Solve for the start and the transitions of a hidden Markov model with symbols.

    With O the centers of a decomposition, P = E[x_t x_(t+1)^T] and f = E[x_1],

        diag(v) A = O^+ P (O^+)^T,   pi = O^+ f.

    Parameters
    ----------
    found : Decomposition
        Decomposition of `moments` with at least one component.
    moments : HMMMoments
        Moments of triples of symbols.

    Returns
    -------
    HMMParameters
        Emissions, transitions and start, projected onto the simplex; states in the order of the
        decomposition.
    """
    k = found.n_components
    back = np.linalg.pinv(found.centers)
    joint = back @ (moments.pairs @ back.T)
    rows = joint.sum(axis=1, keepdims=True)
    transmat = np.divide(joint, rows, out=np.full((k, k), 1.0 / k), where=rows > 0)
    return HMMParameters(
        project_to_simplex((back @ moments.first)[:, None])[:, 0],
        project_to_simplex(transmat.T).T,
        CategoricalEmissions(project_to_simplex(found.centers).T.copy()),
    )


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

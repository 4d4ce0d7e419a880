"""S Theorem 3, inverted: from decomposed moments to parameters of latent Dirichlet allocation."""

from __future__ import annotations

import numpy as np

from momentree.objects import Decomposition, LDAParameters
from momentree.parameters.simplex import project_to_simplex

LEAST_ALPHA = 1e-3
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
    return LDAParameters(np.maximum(alpha, LEAST_ALPHA), project_to_simplex(found.centers))

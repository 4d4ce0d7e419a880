"""The SVD method: singular vectors of one random combination of slices."""

import numpy as np

from momentree._validation import generator
from momentree.decomposition import _result as results
from momentree.objects import Decomposition, Moments, Whitening


def svd_method(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Find components by the SVD method: one random combination of slices.

    For a random eta, let O be the left singular vectors of

        H_eta = sum_r eta_r W M3[r] W^T = O diag(eta^T mu_1, ..., eta^T mu_k) O^T,

    and solve M Omega^(1/2) = E O and M omega = M1 for (M, omega).

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of eta; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.

    Returns
    -------
    Decomposition
        Components, with the diagnostics common to all decompositions.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    The method of [1], as presented in section 1.2.1 of [2]. With eta = W^T g for a random g in R^k,
    as in [1], H_eta = sum_a g_a T_a requires only the tensor T = M3(W, W, W). The result depends on
    a single draw: if singular values of H_eta are close to each other, it is sensitive to noise.
    Time: one whitening, one pass over the data, O(k^3).

    References
    ----------
    .. [1] A. Anandkumar, D. Foster, D. Hsu, S. Kakade, Y.-K. Liu. A spectral algorithm for latent
       Dirichlet allocation. NIPS 2012.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 1.2.1.

    Examples
    --------
    >>> from momentree.decomposition import svd_method
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> svd_method(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    white = results.whitening_for(moments, n_components, whitening)
    T = results.whitened_tensor(moments, white)
    g = generator(random_state).standard_normal(white.rank)
    rotation = np.linalg.svd(np.tensordot(g, T, 1))[0]
    return results.from_directions(moments, white, white.E @ rotation, T, {})

"""Three-view estimators: 3V-MoM (eigenvalues of random contractions) and 3V-TPM."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from momentree._validation import generator
from momentree.decomposition._result import (
    _advice,
    _negative_mass,
    from_slices,
    prepared,
    whitened_tensor,
)
from momentree.decomposition.tensor_power_method import tensor_power_method
from momentree.exceptions import InvalidParameterError
from momentree.moments import MultiviewMoments
from momentree.objects import Decomposition, Whitening

__all__ = ["three_view_mom", "three_view_tpm"]

Floats = NDArray[np.float64]

DRAWS = 20
"""Contractions that are tried until one has real eigenvalues, as all have without noise."""


def three_view_mom(
    moments: MultiviewMoments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Recover the means of three views from the eigenvalues of contracted cross moments.

    With U_1, U_2 the k leading singular vectors of E[x_1 x_2^T], U_3 those of E[x_1 x_3^T] on the
    right, and eta = U_3 theta,

        B(eta) = (U_1^T E[x_1 x_2^T <eta, x_3>] U_2) (U_1^T E[x_1 x_2^T] U_2)^(-1)
               = (U_1^T M_1) diag(M_3^T eta) (U_1^T M_1)^(-1).

    The eigenvectors R of B(eta) for a random unit vector theta diagonalise all of them, and the
    eigenvalues for the rows of an orthogonal Theta are Theta U_3^T M_3.

    Parameters
    ----------
    moments : MultiviewMoments
        Moments of three views, for `n_components` components or more.
    n_components : int >= 1
        Number of components k; each view needs k features or more.
    random_state : int, RandomState or None, default=None
        Draws theta; None is the same as 0.
    whitening : Whitening, default=None
        A whitening of these moments for k components or more, when there is one already. The
        rank and the diagnostics are taken from it.

    Returns
    -------
    Decomposition
        Centers of shape (d_1 + d_2 + d_3, k), view after view; weights descending, zero where
        the linear system has them negative. Fewer components come back, with the reason in
        ``diagnostics``, when the moments show fewer. Diagnostics, besides those of all
        decompositions: "draws" (of theta), "complex_eigenvalues" (how many there are in the
        contraction that was taken), "clipped_weights" (how many weights were negative),
        "singular_values" (of E[x_1 x_2^T]).

    Raises
    ------
    InvalidParameterError
        If `moments` are no `MultiviewMoments`, `n_components` is no whole number of 1 or more, or
        more than the moments or the whitening were made for, or `random_state` is none.

    See Also
    --------
    three_view_tpm : The same views by the tensor power method.

    Notes
    -----
    Algorithm B of [1] (3V-MoM in [2]). As the eigenvalues are linear in theta, Theta cancels from
    M_3 = U_3 Theta^T L, and what is computed is the diagonal of R^(-1) B(u) R for the columns u
    of U_3. Weights solve M_3 omega = E[x_3] by least squares; then M_1 and M_2 by one linear
    solve, from E[x_v x_3^T] = M_v diag(omega) M_3^T, where [1] would turn the roles of the views
    and match columns. A component of weight zero has the overall mean of the first two views.
    Deviation: where noise makes eigenvalues complex, so that [1] fails, theta is drawn again, up
    to 20 times; then the contraction with the fewest is taken, and real and imaginary parts stand
    in for eigenvectors.

    Very unstable, as [2] says and its section 6.4 shows: there are two inverses of noisy
    matrices, and one random contraction, whose eigenvalues may lie close together, decides.
    Another seed, another split into views, or another sample may give another answer. Refine by
    EM, or use :func:`sidiwo` on :class:`momentree.moments.BernoulliMoments`.

    Time: that of the moments, O(n k^3) for the contracted tensor, O(k^4); memory O(n k).

    References
    ----------
    .. [1] A. Anandkumar, D. Hsu, S. Kakade. A method of moments for mixture models and hidden
       Markov models. COLT 2012.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Sections 4.3.1, 4.5 and 6.4.

    Examples
    --------
    >>> from momentree.decomposition import three_view_mom
    >>> from momentree.moments import MultiviewMoments
    >>> mu = [[1.0, 0.2], [0.1, 0.8]], [[0.3, 0.9], [0.7, 0.1]], [[0.5, 0.1], [0.2, 0.6]]
    >>> found = three_view_mom(MultiviewMoments.from_parameters([0.6, 0.4], mu), 2)
    >>> found.weights.round(6)
    array([0.6, 0.4])
    >>> found.centers.T.round(6)
    array([[1. , 0.2, 0.3, 0.9, 0.5, 0.1],
           [0.1, 0.8, 0.7, 0.1, 0.2, 0.6]])
    """
    _check(moments, n_components)
    rng = generator(random_state)
    white = prepared(moments, n_components, whitening)
    # M2 has no more positive eigenvalues than either cross moment has rank, but for rounding.
    k = min(white.rank, len(moments.singular_values), moments.third_basis.shape[1])
    U3 = moments.third_basis[:, :k]
    # B[c] is the contraction with column c of U_3.
    core = moments.projected_tensor(U3)[:k, :k]
    B = (core / moments.singular_values[:k, None]).transpose(2, 0, 1)
    R, draws, not_real = _eigenvectors(B, rng)
    L = np.einsum("ja,cab,bj->cj", np.linalg.pinv(R), B, R, optimize=True)
    T = whitened_tensor(moments, white)
    extras = {
        "draws": draws,
        "complex_eigenvalues": not_real,
        "singular_values": moments.singular_values,
    }
    advice = [
        f"In each of {DRAWS} contractions {not_real} or more of {k} eigenvalues are not real: too "
        "few samples for views, or too many components. Take another decomposition, or another "
        "split into views."
    ]
    found = from_slices(moments, white, U3 @ L, T, extras, advice if not_real else [])
    return _of_all_views(moments, found)


def three_view_tpm(
    moments: MultiviewMoments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Recover the means of three views by the tensor power method on symmetrised moments.

    The first two views are mapped so that they have the means of the third (see
    :class:`momentree.moments.MultiviewMoments`); their symmetric M2 and M3 go through whitening
    and :func:`tensor_power_method`.

    Parameters
    ----------
    moments : MultiviewMoments
        Moments of three views, for `n_components` components or more.
    n_components : int >= 1
        Number of components k; each view needs k features or more.
    random_state : int, RandomState or None, default=None
        Draws the starts; None is the same as 0.
    whitening : Whitening, default=None
        A whitening of these moments for k components or more, when there is one already.

    Returns
    -------
    Decomposition
        Centers of shape (d_1 + d_2 + d_3, k), view after view; weights descending. Fewer
        components come back, with the reason in ``diagnostics``, when the moments show fewer.
        Diagnostics: those of :func:`tensor_power_method`, and "singular_values" (of
        E[x_1 x_2^T]).

    Raises
    ------
    InvalidParameterError
        If `moments` are no `MultiviewMoments`, `n_components` is no whole number of 1 or more, or
        more than the moments or the whitening were made for, or `random_state` is none.

    See Also
    --------
    three_view_mom : The same views by one random contraction.

    Notes
    -----
    Section 3.3 and Algorithm 1 of [1] (3V-TPM in [2]): w_j = lambda_j^(-2), M_3 = E V Lambda.
    M_1 and M_2 follow by one linear solve, from E[x_v x_3^T] = M_v diag(omega) M_3^T.

    Unstable, as [2] says: the inverse of a noisy cross moment comes before the whitening, which
    inverts again. It does not depend on one random contraction as :func:`three_view_mom` does,
    but on the split into views as much. Refine by EM.

    Time: that of the moments and of :func:`tensor_power_method`; memory O(n k).

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. Journal of Machine Learning Research 15, 2014.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, 2018. Sections 4.3.1, 4.5 and 6.4.

    Examples
    --------
    >>> from momentree.decomposition import three_view_tpm
    >>> from momentree.moments import MultiviewMoments
    >>> mu = [[1.0, 0.2], [0.1, 0.8]], [[0.3, 0.9], [0.7, 0.1]], [[0.5, 0.1], [0.2, 0.6]]
    >>> found = three_view_tpm(MultiviewMoments.from_parameters([0.6, 0.4], mu), 2)
    >>> found.weights.round(6)
    array([0.6, 0.4])
    >>> found.centers.T.round(6)
    array([[1. , 0.2, 0.3, 0.9, 0.5, 0.1],
           [0.1, 0.8, 0.7, 0.1, 0.2, 0.6]])
    """
    _check(moments, n_components)
    found = tensor_power_method(
        moments, n_components, random_state=random_state, whitening=whitening
    )
    numbers = {**found.diagnostics, "singular_values": moments.singular_values}
    return _of_all_views(moments, replace(found, diagnostics=numbers))


def _check(moments: object, n_components: object) -> None:
    if not isinstance(moments, MultiviewMoments):
        msg = (
            f"moments is a {type(moments).__name__}; expected MultiviewMoments, such as "
            "momentree.moments.MultiviewMoments.from_data((X1, X2, X3), n_components=8)"
        )
        raise InvalidParameterError(msg)
    if isinstance(n_components, int) and n_components > moments.n_components:
        msg = (
            f"n_components={n_components}, but the moments were made for {moments.n_components}; "
            "make them with as many components"
        )
        raise InvalidParameterError(msg)


def _eigenvectors(B: Floats, rng: np.random.RandomState) -> tuple[Floats, int, int]:
    """Return eigenvectors of a random contraction, the draws taken, and how many are not real."""
    best, fewest, draw = np.zeros(B.shape[1:]), len(B) + 1, 0
    while draw < DRAWS and fewest:
        draw += 1
        values, vectors = np.linalg.eig(np.tensordot(rng.standard_normal(len(B)), B, 1))
        pairs = int(np.count_nonzero(values.imag))
        if pairs < fewest:
            # Of a conjugate pair the real and the imaginary part span the same plane.
            best, fewest = np.where(values.imag < 0, vectors.imag, vectors.real), pairs
    return best, draw, fewest


def _of_all_views(moments: MultiviewMoments, found: Decomposition) -> Decomposition:
    """Put the centers of the first two views above those of the third."""
    weights = found.weights
    others = moments.other_views(np.asarray(np.linalg.pinv(found.centers).T))
    overall = np.repeat(moments.means[: len(others), None], len(weights), axis=1)
    centers = np.vstack([np.divide(others, weights, out=overall, where=weights > 0), found.centers])
    numbers: dict[str, Any] = dict(found.diagnostics)
    # What was said of the third view's centers is said of all.
    old = _advice(numbers)
    numbers["negative_mass"] = _negative_mass(centers)
    kept = [text for text in numbers["warnings"] if text not in old]
    numbers["warnings"] = [*kept, *_advice(numbers)]
    return Decomposition(centers, weights, numbers)

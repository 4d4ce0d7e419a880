"""Three-view estimators 3V-MoM and 3V-TPM, from cross moments of three views (T section 4.3.1)."""

from dataclasses import replace
from typing import Any

import numpy as np

from momentree._types import Floats
from momentree._validation import check_integer, generator
from momentree.decomposition import _result as results
from momentree.decomposition.jennrich import real_eigenvectors
from momentree.decomposition.tensor_power_method import tensor_power_method
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.moments import MultiviewMoments
from momentree.objects import Decomposition, Whitening

DRAWS = 20
"""Maximum number of random contractions drawn to find one with real eigenvalues."""


def three_view_mom(
    moments: MultiviewMoments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Find the means of three views from the eigenvalues of contracted cross moments.

    With U_1, U_2 the k leading singular vectors of E[x_1 x_2^T], U_3 those of E[x_1 x_3^T] on the
    right, and eta = U_3 theta,

        B(eta) = (U_1^T E[x_1 x_2^T <eta, x_3>] U_2) (U_1^T E[x_1 x_2^T] U_2)^(-1)
               = (U_1^T M_1) diag(M_3^T eta) (U_1^T M_1)^(-1).

    The eigenvectors R of B(eta) for a random unit vector theta diagonalize it for every theta, and
    the eigenvalues for the rows of an orthogonal Theta are Theta U_3^T M_3.

    Parameters
    ----------
    moments : MultiviewMoments
        Moments of three views, computed for at least k components.
    n_components : int >= 1
        Number of components k, at most the number of features of each view.
    random_state : int, RandomState or None, default=None
        Seed of theta; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.

    Returns
    -------
    Decomposition
        Centers of shape (d_1 + d_2 + d_3, k): the views one after the other. Adds these
        diagnostics: "draws" (number of draws of theta), "complex_eigenvalues" (number in the
        contraction used), "clipped_weights" (number of negative weights, set to zero),
        "singular_values" (of E[x_1 x_2^T]).

    Raises
    ------
    InvalidParameterError
        If `moments` are not `MultiviewMoments`, `n_components` is not a whole number of at least 1
        or exceeds that of `moments` or `whitening`, or `random_state` is invalid.

    See Also
    --------
    three_view_tpm : The means by the tensor power method.

    Notes
    -----
    Algorithm B of [1] (3V-MoM in [2]). The eigenvalues are linear in theta, so Theta cancels from
    M_3 = U_3 Theta^T L, and the diagonals of R^(-1) B(u) R for the columns u of U_3 suffice. The
    weights solve M_3 omega = E[x_3] by least squares, and M_1 and M_2 a linear system, from
    E[x_v x_3^T] = M_v diag(omega) M_3^T, where [1] permutes the views and matches columns. In the
    first two views a component of weight zero gets the overall mean. Deviation: if noise makes
    eigenvalues complex, where [1] fails, theta is redrawn up to 20 times; then the contraction with
    the fewest such values is used, with real and imaginary parts instead of eigenvectors.

    The method is very unstable ([2], section 6.4): it inverts two noisy matrices, and the result
    depends on one random contraction and on the split into views. Refine it with EM, or use
    :func:`sidiwo` on :class:`momentree.moments.BernoulliMoments`.

    Time: that of the moments, O(n k^3) for the contracted tensor, O(k^4); memory O(n k).

    References
    ----------
    .. [1] A. Anandkumar, D. Hsu, S. Kakade. A method of moments for mixture models and hidden
       Markov models. COLT 2012.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Sections 4.3.1, 4.5 and 6.4.

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
    white = results.whitening_for(moments, n_components, whitening)
    # Up to rounding, the rank of each cross moment limits the positive eigenvalues of M2.
    k = min(white.rank, len(moments.singular_values), moments.third_basis.shape[1])
    U3 = moments.third_basis[:, :k]
    # B[c] is the contraction with column c of U_3.
    core = moments.projected_tensor(U3)[:k, :k]
    B = (core / moments.singular_values[:k, None]).transpose(2, 0, 1)
    R, draws, not_real = _eigenvectors(B, rng)
    L = np.einsum("ja,cab,bj->cj", np.linalg.pinv(R), B, R, optimize=True)
    T = results.whitened_tensor(moments, white)
    extras = {
        "draws": draws,
        "complex_eigenvalues": not_real,
        "singular_values": moments.singular_values,
    }
    warnings = []
    if not_real:
        warnings.append(
            Message(
                "[complex_eigenvalues] At least {found} of {k} eigenvalues were complex in each of "
                "{draws} contractions: there are too few samples for three views, or too many "
                "components. Use another decomposition, or split the features into other views.",
                found=not_real,
                k=k,
                draws=DRAWS,
            )
        )
    return _of_all_views(moments, results.from_centers(moments, white, U3 @ L, T, extras, warnings))


def three_view_tpm(
    moments: MultiviewMoments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
) -> Decomposition:
    """Find the means of three views by the tensor power method on symmetrized moments.

    The first two views are mapped so that they have the means of the third (see
    :class:`momentree.moments.MultiviewMoments`); then :func:`tensor_power_method` decomposes the
    symmetric moments.

    Parameters
    ----------
    moments : MultiviewMoments
        Moments of three views, computed for at least k components.
    n_components : int >= 1
        Number of components k, at most the number of features of each view.
    random_state : int, RandomState or None, default=None
        Seed of the starts; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.

    Returns
    -------
    Decomposition
        Centers of shape (d_1 + d_2 + d_3, k): the views one after the other. Adds to the
        diagnostics of :func:`tensor_power_method`: "singular_values" (of E[x_1 x_2^T]).

    Raises
    ------
    InvalidParameterError
        If `moments` are not `MultiviewMoments`, `n_components` is not a whole number of at least 1
        or exceeds that of `moments` or `whitening`, or `random_state` is invalid.

    See Also
    --------
    three_view_mom : The means by one random contraction.

    Notes
    -----
    Section 3.3 and Algorithm 1 of [1] (3V-TPM in [2]): w_j = lambda_j^(-2), M_3 = E V Lambda.
    M_1 and M_2 follow by one linear solve, from E[x_v x_3^T] = M_v diag(omega) M_3^T.

    The method is unstable ([2]): it inverts a noisy cross moment, whitening inverts another, and
    the result depends on the split into views. Refine it with EM.

    Time: that of the moments and of :func:`tensor_power_method`; memory O(n k).

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. Journal of Machine Learning Research 15, 2014.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Sections 4.3.1, 4.5 and 6.4.

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


def _check(moments: object, n_components: int) -> None:
    if not isinstance(moments, MultiviewMoments):
        raise InvalidParameterError(
            "[not_multiview_moments] moments is of type {type}; expected MultiviewMoments, such as "
            "MultiviewMoments.from_data((X1, X2, X3), n_components=8)",
            type=type(moments).__name__,
        )
    check_integer("n_components", n_components, at_least=1)
    if n_components > moments.n_components:
        raise InvalidParameterError(
            "[multiview_moments_too_small] {parameters.n_components:{requested}}, but the moments "
            "were computed for {found:~component}; compute them for {requested}",
            requested=int(n_components),
            found=moments.n_components,
        )


def _eigenvectors(B: Floats, rng: np.random.RandomState) -> tuple[Floats, int, int]:
    """Return eigenvectors of a random contraction, and the numbers of draws and complex values."""
    best, fewest, draw = np.zeros(B.shape[1:]), len(B) + 1, 0
    while draw < DRAWS and fewest:
        draw += 1
        vectors, pairs = real_eigenvectors(np.tensordot(rng.standard_normal(len(B)), B, 1))
        if 2 * pairs < fewest:
            best, fewest = vectors, 2 * pairs
    return best, draw, fewest


def _of_all_views(moments: MultiviewMoments, found: Decomposition) -> Decomposition:
    """Stack the centers of all views."""
    weights = found.weights
    others = moments.other_views(np.asarray(np.linalg.pinv(found.centers).T))
    overall = np.repeat(moments.means[: len(others), None], len(weights), axis=1)
    centers = np.vstack([np.divide(others, weights, out=overall, where=weights > 0), found.centers])
    numbers: dict[str, Any] = dict(found.diagnostics)
    numbers["negative_mass"] = mass = results.negative_mass(centers)
    kept = [warning for warning in numbers["warnings"] if warning.code != "negative_components"]
    numbers["warnings"] = [*kept, *results.negative_mass_warnings(mass)]
    return Decomposition(centers, weights, numbers)

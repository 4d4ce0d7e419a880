"""Decompositions of the third moment as a tensor: ALS and the tensor power method (TPM)."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from momentree._types import Floats
from momentree._validation import check_choice, check_integer, check_number, generator
from momentree.core.ties import fixed_vectors, largest
from momentree.decomposition import _result as results
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.objects import Decomposition, Moments, Whitening

Of = Literal["whitened", "m3"]

MAX_FEATURES = 200
"""With this many features M3 takes 64 MB, and every iteration reads it three times."""
EXACT = 1e-7
"""Smaller relative residuals are zero, because they come from a difference of squares."""


def als(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
    of: Of = "whitened",
    n_restarts: int = 5,
    max_iter: int = 250,
    tol: float = 1e-8,
) -> Decomposition:
    """Find components by alternating least squares on the third moment.

    For T = M3 or M3(W, W, W), minimize over three factors with k columns each

        | T - sum_i a_i (x) b_i (x) c_i |,

    one factor at a time. The components have the mean directions of a_i, b_i and c_i; M1 and M2
    determine their scale.

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``), and ``m3_dense`` for
        ``of="m3"``.
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of the random starts; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.
    of : {"whitened", "m3"}, default="whitened"
        The tensor to decompose: M3(W, W, W) of shape (k, k, k), or M3 itself if d <= 200.
    n_restarts : int >= 0, default=5
        Number of random starts, in addition to one from two contractions of the tensor and one from
        its singular vectors. The result with the smallest residual is kept; an exact decomposition
        ends the search.
    max_iter : int >= 1, default=250
        Maximum number of iterations for each start.
    tol : float >= 0, default=1e-8
        Stop when the residual changes by less than this, relative to the tensor.

    Returns
    -------
    Decomposition
        Adds these diagnostics: "residual" (of the best start, relative to the tensor) and "n_iter"
        (total over all starts).

    Raises
    ------
    InvalidParameterError
        If `n_components` is not a whole number of at least 1 or exceeds that of `whitening`;
        another option is invalid; or, for ``of="m3"``, the moments have more than 200 features or
        no ``m3_dense``.
    InvalidDataError
        If components became collinear from every start.

    Notes
    -----
    The CP decomposition of [1] by ``tensorly.decomposition.parafac`` [2]. It ignores the symmetry
    of moments and may end in a local minimum; the papers use only random starts. M2 determines the
    number of components and their scale, because M3 alone does not distinguish weights from
    lengths. Time O(k^4) per iteration for the whitened tensor, O(d^3 k) for M3.

    References
    ----------
    .. [1] T. Kolda, B. Bader. Tensor decompositions and applications. SIAM Review 51, 2009.
       doi:10.1137/07070111X
    .. [2] J. Kossaifi, Y. Panagakis, A. Anandkumar, M. Pantic. TensorLy: tensor learning in
       Python. Journal of Machine Learning Research 20, 2019.

    Examples
    --------
    >>> from momentree.decomposition import als
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> als(moments, 2, of="m3").centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    check_choice("of", of, get_args(Of))
    check_integer("n_restarts", n_restarts, at_least=0)
    check_integer("max_iter", max_iter, at_least=1)
    check_number("tol", tol, at_least=0)
    rng = generator(random_state)
    white = results.whitening_for(moments, n_components, whitening)
    T = results.whitened_tensor(moments, white)
    target = T if of == "whitened" else _dense(moments)
    if not white.rank:
        return results.from_directions(moments, white, white.E, T, {"residual": 0.0})
    U = _singular_vectors(target, white.rank)
    starts = [np.stack([A, A, A]) for A in (_pencil(target, U, rng), U)]
    shape = (3, target.shape[0], white.rank)
    starts += [rng.standard_normal(shape) for _ in range(n_restarts)]
    V, numbers = _best(target, starts, max_iter, tol)
    return results.from_directions(
        moments, white, white.E @ V if of == "whitened" else V, T, numbers
    )


def _dense(moments: Moments) -> Floats:
    d = moments.m1.shape[0]
    if d > MAX_FEATURES:
        raise InvalidParameterError(
            "[m3_too_large] {parameters.of:'m3'} accepts at most {most} features, but the moments "
            "have {found}; use {parameters.of:'whitened'}",
            found=d,
            most=MAX_FEATURES,
        )
    dense = getattr(moments, "m3_dense", None)
    if dense is None:
        raise InvalidParameterError(
            "[no_dense_m3] {parameters.of:'m3'} requires moments with a method m3_dense, which "
            "{type} does not have; use {parameters.of:'whitened'}",
            type=type(moments).__name__,
        )
    return np.asarray(dense())


def _singular_vectors(T: Floats, k: int) -> Floats:
    """Return the top left singular vectors of the unfolded tensor, shape (d, k).

    T is symmetric, so the vectors are the same for all three factors. If T has an orthogonal
    decomposition with distinct eigenvalues, they are its components.
    """
    unfolded = T.reshape(T.shape[0], -1)
    values, U = np.linalg.eigh(unfolded @ unfolded.T)
    return fixed_vectors(values[::-1], U[:, ::-1])[:, :k]


def _pencil(T: Floats, U: Floats, rng: np.random.RandomState) -> Floats:
    """Return the eigenvectors of the quotient of two random contractions in the span of U.

    They are the components of any tensor of rank k, even with equal eigenvalues. This is the usual
    start of ALS, less prone to local minima than random starts.
    """
    A, B = (U.T @ (T @ eta) @ U for eta in rng.standard_normal((2, T.shape[0])))
    return np.asarray(np.real(U @ np.linalg.eig(A @ np.linalg.pinv(B))[1]))


def _best(
    T: Floats, starts: list[Floats], max_iter: int, tol: float
) -> tuple[Floats, dict[str, Any]]:
    """Return the directions with the smallest residual over all starts."""
    import tensorly
    from tensorly.cp_tensor import CPTensor
    from tensorly.decomposition import parafac

    V, residual, n_iter = starts[0][0], np.inf, 0
    with tensorly.backend_context("numpy", local_threadsafe=True):
        for start in starts:
            init = CPTensor((np.ones(start.shape[2]), [factor.copy() for factor in start]))
            try:
                (_, factors), errors = parafac(
                    T, start.shape[2], n_iter_max=max_iter, init=init, tol=tol, return_errors=True
                )
            except np.linalg.LinAlgError:  # two components became collinear
                continue
            n_iter += len(errors)
            if float(errors[-1]) < residual:
                V, residual = _common(factors), float(errors[-1])
            if residual < EXACT:
                break
    if np.isinf(residual):
        raise InvalidDataError(
            "[als_failed] alternating least squares failed from every start, because some of the "
            "{n_components:~component} became collinear; request fewer components, or use another "
            "decomposition",
            n_components=V.shape[1],
        )
    return V, {"residual": residual, "n_iter": n_iter}


def _common(factors: list[Floats]) -> Floats:
    """Return the mean direction of each triple of columns, with signs as in the first factor."""
    unit = [A / np.maximum(np.linalg.norm(A, axis=0), results.TINY) for A in factors]
    signs = [np.where((A * unit[0]).sum(axis=0) < 0, -1.0, 1.0) for A in unit]
    return np.asarray(sum(A * sign for A, sign in zip(unit, signs, strict=True)))


CONVERGED = 1e-10
"""Power iterations converge quadratically: after a smaller change, only rounding error is left."""


def tensor_power_method(
    moments: Moments,
    n_components: int,
    *,
    random_state: int | np.random.RandomState | None = None,
    whitening: Whitening | None = None,
    n_restarts: int = 25,
    max_iter: int = 100,
) -> Decomposition:
    """Find components by the tensor power method with restarts and deflation.

    The whitened tensor T = M3(W, W, W) = sum_i w_i^(-1/2) v_i (x) v_i (x) v_i has orthonormal v_i.
    The iteration

        v <- T(I, v, v) / |T(I, v, v)|,     lambda = T(v, v, v),

    converges to one of them; mu_i = lambda_i E v_i and w_i = lambda_i^(-2).

    Parameters
    ----------
    moments : Moments
        Moments of any model (``m1``, ``m2``, ``whitened_tensor``).
    n_components : int >= 1
        Number of components k.
    random_state : int, RandomState or None, default=None
        Seed of the starts; None is seed 0.
    whitening : Whitening, default=None
        A whitening of these moments for at least k components; None computes one.
    n_restarts : int >= 1, default=25
        Number of random starts for each component; the one with the largest lambda is kept.
    max_iter : int >= 1, default=100
        Maximum number of iterations for the starts, and again for the one that is kept.

    Returns
    -------
    Decomposition
        Adds these diagnostics: "eigenvalues_of_tensor" (lambda_i, in the order of the components),
        "n_iter" (power iterations; those of all starts of a component count once). "residual_m3" is
        the relative norm of the tensor after the last deflation.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range, or `n_components` exceeds that of `whitening`.

    Notes
    -----
    Algorithm 1 of [1] (robust tensor power method); parameters as in its section 4.3. All starts of
    a component are iterated together in one matrix product. Time: one whitening, one pass over the
    data, O(k^4 n_restarts) for one iteration of each component; memory O(k^3 + k^2 n_restarts).

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. Journal of Machine Learning Research 15, 2014.

    Examples
    --------
    >>> from momentree.decomposition import tensor_power_method
    >>> from momentree.moments import SingleTopicMoments
    >>> moments = SingleTopicMoments.from_parameters([0.6, 0.4], [[0.7, 0.3], [0.1, 0.9]])
    >>> tensor_power_method(moments, 2).centers.T.round(6)
    array([[0.7, 0.3],
           [0.1, 0.9]])
    """
    check_integer("n_restarts", n_restarts, at_least=1)
    check_integer("max_iter", max_iter, at_least=1)
    rng = generator(random_state)
    white = results.whitening_for(moments, n_components, whitening)
    k = white.rank
    T = results.whitened_tensor(moments, white)
    deflated = T.copy()
    V, eigenvalues, n_iter = np.zeros((k, k)), np.zeros(k), 0
    for i in range(k):
        starts, first = _iterate(deflated, rng.standard_normal((k, n_restarts)), max_iter)
        best = int(largest(_values(deflated, starts)))
        v, second = _iterate(deflated, starts[:, [best]], max_iter)
        V[:, i], eigenvalues[i] = v[:, 0], _values(deflated, v)[0]
        deflated = deflated - eigenvalues[i] * np.einsum("a,b,c->abc", *[V[:, i]] * 3)
        n_iter += first + second
    keep = eigenvalues > results.NO_WEIGHT * max(float(eigenvalues.max(initial=0.0)), results.TINY)
    # Components are sorted by descending weight 1 / lambda^2.
    eigenvalues, V = eigenvalues[keep], V[:, keep]
    numbers: dict[str, Any] = {"eigenvalues_of_tensor": np.sort(eigenvalues), "n_iter": n_iter}
    if not keep.all():
        found = len(eigenvalues)
        numbers["reason"] = Message(
            "[tensor_has_fewer_components] the whitened third moment contains only {found} of the "
            "{requested} components requested",
            found=found,
            requested=k,
        )
    return results.with_diagnostics(
        white, white.E @ (V * eigenvalues), eigenvalues**-2.0, T, numbers
    )


def _iterate(T: Floats, V: Floats, max_iter: int) -> tuple[Floats, int]:
    """Return the limits of power iterations, or the last iterates, and the number of iterations."""
    V = _unit(V)
    n_iter, change = 0, np.inf
    while n_iter < max_iter and change > CONVERGED:
        before, V = V, _unit(_contract(T, V))
        change, n_iter = float(np.abs(V - before).max()), n_iter + 1
    return V, n_iter


def _contract(T: Floats, V: Floats) -> Floats:
    """Return T(I, v, v) for each column v."""
    k = T.shape[0]
    TV = (T.reshape(k * k, k) @ V).reshape(k, k, -1)
    return np.asarray(np.einsum("abl,bl->al", TV, V))


def _values(T: Floats, V: Floats) -> Floats:
    """Return T(v, v, v) for each column v."""
    return np.asarray((V * _contract(T, V)).sum(axis=0))


def _unit(V: Floats) -> Floats:
    return np.asarray(V / np.maximum(np.linalg.norm(V, axis=0), results.TINY))

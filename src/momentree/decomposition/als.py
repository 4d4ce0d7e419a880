"""Alternating least squares (ALS) on the third moment."""

from typing import Any, Literal, get_args

import numpy as np

from momentree._types import Floats
from momentree._validation import check_choice, check_integer, check_number, generator
from momentree.core.ties import fixed_vectors
from momentree.decomposition import _result as results
from momentree.exceptions import InvalidDataError, InvalidParameterError
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

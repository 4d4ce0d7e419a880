"""The tensor power method (TPM) with deflation."""

from typing import Any

import numpy as np

from momentree._types import Floats
from momentree._validation import check_integer, generator
from momentree.core.ties import largest
from momentree.decomposition import _result as results
from momentree.messages import Message
from momentree.objects import Decomposition, Moments, Whitening

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

"""Refine the rotation to independent sources by maximum likelihood with estimated densities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from momentree._types import Floats

STEEP = 4.0
"""Slope of the second saturating function: with 1, it follows densities from Laplace to uniform."""
MAX_STEP = 0.5
"""Largest angle of a step, in radians."""
FREE_STEPS = 20
"""Steps with densities that are estimated anew. Later, they are fixed: with few samples, the
estimates and the rotation could go back and forth."""
HALVINGS = 12
"""Smallest step tried: 2^-11 of a scoring step."""
NO_INFORMATION = 1e-3
"""Smallest information of a pair of sources that divides a step; both are then nearly Gaussian."""


@dataclass(frozen=True)
class RefinedSources:
    """Rotation to sources, and the information about it.

    Attributes
    ----------
    rotation : ndarray of shape (k, k)
        Sources in rows.
    information : ndarray of shape (k,)
        Fisher information of the location of each source, minus that of a Gaussian of the same
        variance: 0 for a Gaussian source. The variance of the angle between the sources i and j is
        1 / (n (J_i + J_j)).
    n_iter : int
        Number of steps.
    converged : bool
        Whether the last step was below the tolerance.
    """

    rotation: Floats
    information: Floats
    n_iter: int
    converged: bool


def refine_sources(
    Z: Floats, weight: Floats, rotation: Floats, *, max_iter: int = 200, tol: float = 1e-6
) -> RefinedSources:
    r"""Maximize the likelihood of a rotation of white data to independent sources.

    The score of each source, :math:`\psi_i = -p_i' / p_i`, is the projection of the true one on
    :math:`s, s^3, \tanh s` and :math:`\tanh 4 s`, which needs only moments: :math:`\psi_i = c^T h`
    with :math:`E[h h^T] c = E[h']`. A scoring step rotates the plane of sources i and j by

    .. math:: (E[\psi_j s_i] - E[\psi_i s_j]) / (J_i + J_j), \quad J_i = E[\psi_i^2] - 1 \ge 0.

    Parameters
    ----------
    Z : ndarray of shape (n, k)
        White data: weighted mean zero and identity covariance.
    weight : ndarray of shape (n,)
        Weights >= 0.
    rotation : ndarray of shape (k, k)
        Start, with sources in rows.
    max_iter : int >= 0, default=200
        Maximum number of steps.
    tol : float >= 0, default=1e-6
        Stop when no angle of a step exceeds this.

    Returns
    -------
    RefinedSources
        The rotation.

    Notes
    -----
    Scores by projection, and the scoring step, are those of [1]_; here the sources stay
    uncorrelated. After 20 steps the densities stay fixed, and no step decreases the likelihood.
    Time O(n k^2) per step.

    References
    ----------
    .. [1] D. T. Pham, P. Garat. Blind separation of mixture of independent sources through a
       quasi-maximum likelihood approach. IEEE Transactions on Signal Processing 45, 1997.
       doi:10.1109/78.599941
    """
    v = weight / weight.sum()
    R = rotation
    n_iter, size = 0, np.inf
    H = _Basis(R @ Z.T, v)
    c = H.scores()
    while n_iter < max_iter and size > tol:
        psi = H.combined(c)
        C = (psi * v) @ H.S.T
        curvature = np.einsum("ih,ih->i", c, H.means) - np.diag(C)
        step = (C.T - C) / np.maximum(curvature[:, None] + curvature, NO_INFORMATION)
        size = float(np.abs(step).max(initial=0.0))
        step *= min(1.0, MAX_STEP / max(size, 1e-300))
        free = n_iter < FREE_STEPS
        found = _turned(H, c, step, v, 1 if free else HALVINGS)
        if found is None:
            size = 0.0  # no step is better: this is the optimum to rounding error
            break
        turn, H = found
        R = turn @ R
        n_iter += 1
        if free:
            c = H.scores()
    J = np.einsum("ih,ih->i", H.scores(), H.means) - 1.0
    return RefinedSources(R, np.maximum(J, 0.0), n_iter, size <= tol)


def _turned(
    H: _Basis, c: Floats, step: Floats, v: Floats, tries: int
) -> tuple[Floats, _Basis] | None:
    """Return a rotation by a step, or the first half of it that does not decrease the likelihood.

    The only try is not checked.
    """
    value = H.minus_log_likelihood(c) if tries > 1 else np.inf
    for halvings in range(tries):
        # The nearest rotation to I + step; to first order they are the same.
        U, _, Vt = np.linalg.svd(np.eye(len(step)) + step * 0.5**halvings)
        turned = _Basis((U @ Vt) @ H.S, v)
        # Near the optimum, the decrease is below the rounding error of the value.
        if tries == 1 or turned.minus_log_likelihood(c) <= value + 1e-14 * abs(value):
            return U @ Vt, turned
    return None


class _Basis:
    """The functions h = (s, s^3, tanh s, tanh 4 s) of sources S (k, n), and their moments."""

    def __init__(self, S: Floats, v: Floats) -> None:
        self.S, self._v = S, v
        self._soft, self._steep = np.tanh(S), np.tanh(STEEP * S)
        self.means = np.stack(
            [
                np.ones(len(S)),
                3.0 * (S**2 @ v),
                (1.0 - self._soft**2) @ v,
                STEEP * ((1.0 - self._steep**2) @ v),
            ],
            axis=1,
        )
        """E[h'] of each source, shape (k, 4)."""

    def scores(self) -> Floats:
        """Return coefficients (k, 4) of the scores: E[h h^T] c = E[h']."""
        c = np.empty_like(self.means)
        for i in range(len(c)):
            H = np.stack([self.S[i], self.S[i] ** 3, self._soft[i], self._steep[i]])
            G = (H * self._v) @ H.T
            unit = np.sqrt(np.diag(G))
            G /= np.outer(unit, unit)
            c[i] = np.linalg.lstsq(G, self.means[i] / unit, rcond=1e-10)[0] / unit
        return c

    def combined(self, c: Floats) -> Floats:
        """Return the scores (k, n) for coefficients c."""
        c = c[:, :, None]
        return np.asarray(
            c[:, 0] * self.S + c[:, 1] * self.S**3 + c[:, 2] * self._soft + c[:, 3] * self._steep
        )

    def minus_log_likelihood(self, c: Floats) -> float:
        """Return -sum_i E[log p_i], up to constants, for the densities with these scores."""
        S = np.abs(self.S)
        # log cosh without overflow.
        soft = S + np.log1p(np.exp(-2.0 * S))
        steep = S + np.log1p(np.exp(-2.0 * STEEP * S)) / STEEP
        parts = np.stack([0.5 * S**2, 0.25 * S**4, soft, steep]) @ self._v
        return float(np.sum(c.T * parts))

"""Bound the error of SVTD on perturbed moments, with all constants (T Theorem 2.2.1)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from momentree._types import Floats
from momentree._validation import as_floats, check_integer, check_number, check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import wording

ROUNDING = 1e-14
"""Values that differ by less than this, relative to the largest, are equal."""


@dataclass(frozen=True)
class PerturbationBound:
    """The bound of T Theorem 2.2.1 for one model and one size of perturbation.

    Attributes
    ----------
    bound : float
        Upper bound of max_i ||m~_i - m_i||_2, with m_i the rows of M (one for each feature);
        infinite for epsilon >= gamma, which the theorem does not cover.
    gamma : float
        Supremum of the perturbations that the theorem covers (T Remark 2.2.1); 0 if SVTD cannot
        distinguish the components of the model.
    alpha_r : float
        Smallest difference between two entries of row r of M.
    alpha_m2 : float
        Smallest difference between the squares of successive singular values of M2, the last
        being that between the k-th and zero.
    feature : int
        r, the feature whose slice of M3 determines the rotation.
    """

    bound: float
    gamma: float
    alpha_r: float
    alpha_m2: float
    feature: int


def svtd_perturbation_bound(
    weights: ArrayLike, components: ArrayLike, epsilon: float, *, feature: int | None = None
) -> PerturbationBound:
    """Bound the error of SVTD when its moments are perturbed.

    If ||M~2 - M2||_F < epsilon, ||M~3 - M3||_F < epsilon and epsilon < gamma, then for every row
    m_i of M, in Frobenius norms, with the slices M3,i = M Omega^(1/2) diag(m_i) Omega^(1/2) M^T,

        ||m~_i - m_i||_2 <= T(||O||, g, ||m_i||_2, h_i),   g = 2 sqrt(2) h_r / alpha_r,
        h_i = T(||E^+||, f tau, ||M3,i||, epsilon),
        T(a, p, b, e) = 2 a p b + a^2 e + 2 a p e + p^2 (b + e),

    where T bounds (A + P)(B + D)(A + P)^T - A B A^T for norms a, p, b, e of A, P, B, D, and

        f = u ||S^(1/2)|| + (||U|| + u) epsilon / (sqrt(s_k) + sqrt(s_k - epsilon)),
        u = sqrt(8 k) (2 ||M2|| epsilon + epsilon^2) / alpha_M2,
        tau = ||S_^(-1/2)|| ||E^+|| + ||S_^(-1)|| ||I - E E^+||,   S_ = S - epsilon I,

    with M2 = U S U^T, its k singular values s_1 > ... > s_k in S, E = U S^(1/2), ||U|| = ||O|| =
    sqrt(k) and ||I - E E^+|| = sqrt(d - k). gamma is the epsilon below s_k at which

        h_r = alpha_r^2 / (sqrt(2) (2 c + sqrt(alpha_r^2 + 4 c^2))),
        c = ||m_r|| (1 + sqrt(1 - 1 / k)).

    Parameters
    ----------
    weights : array-like of shape (k,)
        omega > 0.
    components : array-like of shape (k, d)
        mu_i in rows, finite. They need not sum to 1.
    epsilon : float, > 0
        Size of the perturbations of M2 and M3.
    feature : int in [0, d) or None, default=None
        The feature r of SVTD; None selects the one with the largest alpha_r (T Remark 2.1.2).

    Returns
    -------
    PerturbationBound
        The bound, gamma, alpha_r and alpha_M2.

    Raises
    ------
    InvalidDataError
        If weights or components are not finite numbers, weights are not positive, or their shapes
        differ in k.
    InvalidParameterError
        If `epsilon` or `feature` is out of range.

    Notes
    -----
    Theorem 2.2.1 of [1] with the polynomials P1 to P4 of its proof written out. Two steps of the
    proof are valid only to first order in epsilon and are corrected here: the error of S^(1/2),
    where [1] has 2 sqrt(s_k) instead of sqrt(s_k) + sqrt(s~_k), and tau, where [1] has E instead of
    the perturbed E in two places. At epsilon = 0 the forms above equal those of [1]. The right side
    of (2.6) follows from Theorem 2.2.3 of [1]: eps_B = sqrt(2) h / alpha is at most
    1 / (2 g_B + sqrt(1 + 4 g_B^2)) with g_B = c / alpha.

    If components have negative entries, alpha_r is the smallest difference of absolute values,
    because SVTD sorts by singular values.

    The bound shows how errors scale with the gaps. It is very loose: by a factor of about a million
    for random perturbations of three components with five features, where gamma is about 1e-9. Time
    O(d k^2).

    References
    ----------
    .. [1] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 2.2.
    .. [2] G. W. Stewart, J. Sun. Matrix perturbation theory. Academic Press, 1990.

    Examples
    --------
    Below gamma the bound is proportional to epsilon:

    >>> from momentree.decomposition import svtd_perturbation_bound
    >>> model = [0.6, 0.4], [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]
    >>> found = svtd_perturbation_bound(*model, 1e-6)
    >>> found.feature, round(found.alpha_r, 6), found.gamma > 1e-6
    (2, 0.7, True)
    >>> round(found.bound / svtd_perturbation_bound(*model, 1e-7).bound, 1)
    10.0
    >>> svtd_perturbation_bound(*model, 0.1).bound
    inf
    """
    check_number("epsilon", epsilon, above=0)
    w, M = _check_model(weights, components)
    check_integer("feature", feature, at_least=0, at_most=len(M) - 1, optional=True)
    gaps = _gaps(np.sort(np.abs(M), axis=1))
    r = int(np.argmax(gaps)) if feature is None else int(feature)
    steps = ProofSteps(w, M, r, float(gaps[r]))
    gamma = steps.gamma()
    bound = steps.rows(epsilon) if epsilon < gamma else math.inf
    return PerturbationBound(bound, gamma, steps.alpha_r, steps.alpha_m2, r)


class ProofSteps:
    """The steps of the proof of T Theorem 2.2.1 for one model, each a function of epsilon."""

    def __init__(self, w: Floats, M: Floats, r: int, alpha_r: float) -> None:
        self.d, self.k = M.shape
        root = M * np.sqrt(w)
        s = np.linalg.svd(root, compute_uv=False) ** 2
        s = np.pad(s, (0, self.k - len(s)))
        self.alpha_r = alpha_r
        self.alpha_m2 = float(_gaps(np.append(s, 0.0)[::-1] ** 2))
        self.s = s
        # ||A diag(m) A^T||_F^2 = m^T (A^T A)^2 m, entry by entry.
        squares = np.einsum("ij,jl,il->i", M, (root.T @ root) ** 2, M)
        self.slice_norms = np.sqrt(np.maximum(squares, 0.0))
        self.row_norms = np.linalg.norm(M, axis=1)
        self.r = r

    def whitening(self, epsilon: float) -> float:
        """Bound ||E~ - E|| by f."""
        s, k = self.s, self.k
        size = float(np.linalg.norm(s))
        u = math.sqrt(8 * k) * (2 * size + epsilon) * epsilon / self.alpha_m2
        roots = epsilon / (math.sqrt(s[-1]) + math.sqrt(s[-1] - epsilon))
        return u * math.sqrt(s.sum()) + (math.sqrt(k) + u) * roots

    def inverse(self, epsilon: float) -> float:
        """Bound ||E~^+ - E^+|| by f tau."""
        low = 1.0 / (self.s - epsilon)
        tau = math.sqrt(low.sum()) * self._inverse_norm
        tau += float(np.linalg.norm(low)) * math.sqrt(self.d - self.k)
        return self.whitening(epsilon) * tau

    def slices(self, epsilon: float) -> Floats:
        """Bound the error of each whitened slice by h_i, shape (d,)."""
        return _product(self._inverse_norm, self.inverse(epsilon), self.slice_norms, epsilon)

    def rotation(self, epsilon: float) -> float:
        """Bound ||O~ - O|| by g, for epsilon < gamma."""
        return 2 * math.sqrt(2) * float(self.slices(epsilon)[self.r]) / self.alpha_r

    def rows(self, epsilon: float) -> float:
        """Bound the error of all rows of M, for epsilon < gamma."""
        h, g = self.slices(epsilon), self.rotation(epsilon)
        return float(_product(math.sqrt(self.k), g, self.row_norms, h).max())

    def gamma(self) -> float:
        """Return the largest epsilon satisfying (2.6); h_r grows from 0 to infinity below s_k."""
        if min(self.alpha_r, self.alpha_m2) == 0.0:
            return 0.0
        c = float(self.row_norms[self.r]) * (1 + math.sqrt(1 - 1 / self.k))
        a = self.alpha_r
        most = a**2 / (math.sqrt(2) * (2 * c + math.sqrt(a**2 + 4 * c**2)))

        def excess(epsilon: float) -> float:
            return float(self.slices(epsilon)[self.r]) - most

        end = float(self.s[-1]) * (1 - 1e-12)
        found = brentq(excess, 0.0, end, xtol=np.finfo(float).tiny, rtol=1e-12, maxiter=1000)
        return float(found)

    @property
    def _inverse_norm(self) -> float:
        return math.sqrt(float((1.0 / self.s).sum()))


def _product(a: float, p: float, b: Floats, e: float | Floats) -> Floats:
    """Bound ||(A + P)(B + D)(A + P)^T - A B A^T|| by norms a, p, b, e of A, P, B, D."""
    return np.asarray(2 * a * p * b + a**2 * e + 2 * a * p * e + p**2 * (b + e))


def _gaps(ascending: Floats) -> Floats:
    """Return the smallest difference of neighbors on the last axis; 0 if only rounding error."""
    if ascending.shape[-1] == 1:  # there is only one component
        return np.asarray(np.abs(ascending[..., 0]))
    least = np.diff(ascending).min(axis=-1)
    return np.asarray(np.where(least > ROUNDING * ascending[..., -1], least, 0.0))


def _check_model(weights: ArrayLike, components: ArrayLike) -> tuple[Floats, Floats]:
    """Return omega (k,) and M (d, k)."""
    w, mu = as_floats("weights", weights), as_floats("components", components)
    check_shape("components", mu, ("k", "d"))
    check_shape("weights", w, (mu.shape[0],))
    if not mu.size or not np.isfinite(mu).all():
        raise InvalidDataError(wording.NOT_FINITE, parameter="components")
    if not ((w > 0) & np.isfinite(w)).all():
        raise InvalidDataError(wording.NOT_POSITIVE, parameter="weights")
    return w, mu.T

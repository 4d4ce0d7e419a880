"""What moments guarantee: identifiability (S Remark 5), and bounds of errors (T Theorem 2.2.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from momentree._types import Floats
from momentree._validation import as_floats, check_integer, check_number, check_shape
from momentree.exceptions import InvalidDataError
from momentree.messages import Message, wording

_KRUSKAL_HOLDS = (
    "[kruskal_holds] Kruskal's criterion holds: any {rank} of the {k} components are linearly "
    "independent, and 3 x {rank} is at least 2 x {k} + 2"
)
_KRUSKAL_FAILS = (
    "[kruskal_fails] Kruskal's criterion does not decide: only any {rank} of the {k} components "
    "are linearly independent, and 3 x {rank} is below 2 x {k} + 2"
)
_TOO_MANY_SUBSETS = (
    "[too_many_subsets] undecided: any {rank} of the {k} components are linearly independent, and "
    "larger sets are too many to examine"
)

MAX_SUBSETS = 20_000
"""Subsets of components whose rank is computed; about a second."""


@dataclass(frozen=True)
class Identifiability:
    """Whether moments determine their components, and why.

    Attributes
    ----------
    unique : bool or None
        True if no other k components have the same M1, M2 and M3; False if others have; None if
        neither is known.
    kruskal_rank : int
        Largest r such that any r components are linearly independent; a lower limit if `unique` is
        None and there are too many subsets.
    smallest_singular_value : float
        Of the components, each scaled to norm 1; 0 for dependent ones. A small value means that
        moments must be accurate: the error grows with its inverse.
    reason : Message
        The criterion that decides.
    """

    unique: bool | None
    kruskal_rank: int
    smallest_singular_value: float
    reason: Message


def identifiability(
    centers: ArrayLike, weights: ArrayLike | None = None, *, tol: float = 1e-10
) -> Identifiability:
    r"""Check whether M1, M2 and M3 determine components uniquely, up to their order.

    The moments are :math:`M_m = \sum_i \omega_i \mu_i^{\otimes m}`. Uniqueness of the decomposition
    of M3 implies that of the whole system (S Remark 5), and by Kruskal's criterion it follows from

    .. math:: 3\, r \ge 2 k + 2,

    where the Kruskal rank r is the largest number such that any r components are linearly
    independent. Linearly independent components (r = k) are unique for k >= 2, and a single one
    always is. Two parallel components, a component of zeros and a weight of zero are not
    identifiable.

    Parameters
    ----------
    centers : array-like of shape (d, k)
        Components mu in columns, such as ``Decomposition.centers``.
    weights : array-like of shape (k,), default=None
        Weights; None assumes that all are positive.
    tol : float >= 0, default=1e-10
        Components, scaled to norm 1, are linearly dependent if their smallest singular value is at
        most this.

    Returns
    -------
    Identifiability
        The answer, with the reason.

    Raises
    ------
    InvalidDataError
        If `centers` is not a finite matrix with at least one column, or shapes do not match.

    Notes
    -----
    Kruskal's criterion is sufficient, not necessary: unique is None for more components than it
    covers, k > (3 d - 2) / 2 in general position, where M3 may still be unique. The methods in
    ``momentree.decomposition`` need more: k <= d linearly independent components. Time O(d k^2) for
    independent components; otherwise all subsets of r components are examined, up to 20,000.

    References
    ----------
    .. [1] J. B. Kruskal. Three-way arrays: rank and uniqueness of trilinear decompositions, with
       application to arithmetic complexity and statistics. Linear Algebra and its Applications 18,
       95-138, 1977. doi:10.1016/0024-3795(77)90069-6

    Examples
    --------
    >>> from momentree.decomposition import identifiability
    >>> found = identifiability([[1, 0, 1], [0, 1, 1]])  # three components of two features
    >>> found.unique, found.kruskal_rank
    (None, 2)
    >>> identifiability([[1, 0, 1], [0, 1, 1], [0, 0, 1]]).unique
    True
    >>> print(identifiability([[1, 2], [1, 2]]).reason)
    components 0 and 1 are parallel, so that moments determine only their sum
    """
    M = as_floats("centers", centers)
    check_shape("centers", M, ("d", "k"))
    k = M.shape[1]
    if not k or not np.isfinite(M).all():
        raise InvalidDataError(
            wording.NOT_FINITE
            if k
            else "[no_components] {parameter} has no columns; give at least one component",
            parameter="centers",
        )
    check_number("tol", tol, at_least=0)
    w = np.ones(k) if weights is None else as_floats("weights", weights)
    check_shape("weights", w, (k,))
    norms = np.linalg.norm(M, axis=0)
    empty = (norms == 0) | (w == 0)
    if empty.any():
        at = int(np.argmax(empty))
        code = (
            "[component_without_moments] component {component} has a weight of zero or only zeros, "
            "so moments do not depend on it"
        )
        return Identifiability(False, 0, 0.0, Message(code, component=at))
    U = M / norms
    smallest = _smallest(U)
    if smallest > tol:
        return Identifiability(
            True,
            k,
            smallest,
            Message("[components_independent] the {k:~component} are linearly independent", k=k),
        )
    pair = _parallel(U, tol)
    if pair is not None:
        reason = Message(
            "[components_parallel] components {first} and {second} are parallel, so that moments "
            "determine only their sum",
            first=pair[0],
            second=pair[1],
        )
        return Identifiability(False, 1, 0.0, reason)
    rank, complete = _kruskal_rank(U, tol)
    holds = 3 * rank >= 2 * k + 2
    code = _KRUSKAL_HOLDS if holds else _KRUSKAL_FAILS if complete else _TOO_MANY_SUBSETS
    return Identifiability(holds or None, rank, 0.0, Message(code, k=k, rank=rank))


def _smallest(U: Floats) -> float:
    """Return the smallest of as many singular values as there are columns."""
    d, k = U.shape
    return 0.0 if k > d else float(np.linalg.svd(U, compute_uv=False)[-1])


def _parallel(U: Floats, tol: float) -> tuple[int, int] | None:
    """Return the first two parallel columns, of norm 1."""
    k = U.shape[1]
    for i in range(k):
        # The smallest singular value of two unit vectors is root (1 - |cos|), without cancellation.
        others = U[:, i + 1 :]
        signs = np.where(others.T @ U[:, i] < 0, -1.0, 1.0)
        apart = np.linalg.norm(U[:, [i]] - others * signs, axis=0) / np.sqrt(2.0)
        if (apart <= tol).any():
            return i, i + 1 + int(np.argmax(apart <= tol))
    return None


def _kruskal_rank(U: Floats, tol: float) -> tuple[int, bool]:
    """Return the Kruskal rank, at least 2, and whether all subsets were examined."""
    k = U.shape[1]
    seen = 0
    for r in range(3, min(U.shape) + 1):
        seen += comb(k, r)
        if seen > MAX_SUBSETS:
            return r - 1, False
        if any(_smallest(U[:, list(at)]) <= tol for at in combinations(range(k), r)):
            return r - 1, True
    return min(U.shape), True


def orthogonal_defect(T: ArrayLike) -> float:
    r"""Return how far a symmetric tensor is from an orthogonal decomposition.

    A symmetric tensor is orthogonally decomposable, :math:`T = \sum_i \lambda_i o_i^{\otimes 3}`
    with orthonormal vectors, if and only if its slices commute [1]_. The defect is

    .. math:: \frac{1}{\|T\|^2} \Big( \sum_{a, b} \| T_a T_b - T_b T_a \|^2 \Big)^{1/2}.

    Exact moments of k components, whitened with k directions, give such a tensor. With fewer
    directions they do not (H appendix A), except for special parameters: then no rotation makes all
    slices diagonal, and the answers are pseudo-centers.

    Parameters
    ----------
    T : array-like of shape (k, k, k)
        Symmetric tensor, such as ``moments.whitened_tensor(W)``.

    Returns
    -------
    float
        0 if and only if T is orthogonally decomposable, up to rounding error of about 1e-15;
        at most sqrt(2). For k = 2, its only equation is that of H Lemma A.1.

    Raises
    ------
    InvalidDataError
        If T is not a finite, symmetric tensor.

    Notes
    -----
    Sampling error makes the defect of estimated moments positive. Time O(k^5), memory O(k^3).

    References
    ----------
    .. [1] A. Boralevi, J. Draisma, E. Horobet, E. Robeva. Orthogonal and unitary tensor
       decomposition from an algebraic perspective. Israel Journal of Mathematics 222, 223-260,
       2017. doi:10.1007/s11856-017-1588-6

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import orthogonal_defect
    >>> T = np.zeros((2, 2, 2))
    >>> T[0, 0, 0], T[1, 1, 1] = 3.0, 2.0
    >>> orthogonal_defect(T)
    0.0
    >>> T[0, 1, 1] = T[1, 0, 1] = T[1, 1, 0] = 1.0
    >>> round(orthogonal_defect(T), 2)
    0.25
    """
    tensor = as_floats("T", T)
    k = len(tensor) if tensor.ndim else 0
    check_shape("T", tensor, (k, k, k))
    if not np.isfinite(tensor).all():
        raise InvalidDataError(wording.NOT_FINITE, parameter="T")
    size = float(np.abs(tensor).max(initial=0.0))
    for order in ((1, 0, 2), (0, 2, 1)):
        if np.abs(tensor - tensor.transpose(order)).max(initial=0.0) > 1e-8 * size:
            raise InvalidDataError(
                "[not_symmetric] {parameters.T} is not symmetric; average it over the orders of "
                "its axes"
            )
    if size == 0.0:
        return 0.0
    slices: Floats = tensor / np.linalg.norm(tensor)
    total = 0.0
    for a in range(k):
        product = slices[a] @ slices[a + 1 :]
        # Slices are symmetric, so that T_b T_a is the transpose of T_a T_b.
        total += 2.0 * float(np.square(product - product.transpose(0, 2, 1)).sum())
    return float(np.sqrt(total))


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

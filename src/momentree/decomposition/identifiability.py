"""Identifiability: when moments determine their components (S Remark 5)."""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from momentree._types import Floats
from momentree._validation import as_floats, check_number, check_shape
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

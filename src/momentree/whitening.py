"""H Algorithm 1, steps 1 and 2: the top eigenpairs of M2, and W with W M2 W^T = I."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from momentree._types import Floats
from momentree._validation import check_integer
from momentree.core.eigenpairs import (
    DENSE_FEATURES,
    RANK_TOLERANCE,
    ROUNDING,
    orthonormal,
    padded,
    top_eigenpairs,
    top_eigenpairs_of_groups,
    unit,
)
from momentree.exceptions import InvalidParameterError
from momentree.messages import Message
from momentree.objects import Moments, Whitening

__all__ = ["DENSE_FEATURES", "group_starts", "whiten", "whiten_groups"]

SAME = 1e-9
"""Relative difference of features with the same M1, which is rounding error."""


class Groups(Protocol):
    """Moments of several groups, any of which can be asked for products."""

    @property
    def m1(self) -> Floats:
        """M1 of each group, shape (g, d)."""

    def times(self, V: Floats, which: Sequence[int]) -> Floats:
        """Return the products of M2 of some groups with their own V."""


def whiten(
    moments: Moments, n_components: int, *, tol: float = 1e-9, max_iter: int | None = None
) -> Whitening:
    """Compute the whitening of M2 for k components.

    With M2 ~ U S U^T truncated to the k largest eigenvalues, E = U S^(1/2) and W = S^(-1/2) U^T.

    Parameters
    ----------
    moments : Moments
        Any object with ``m1`` and ``m2``.
    n_components : int >= 1
        Number of components k.
    tol : float >= 0, default=1e-9
        The Lanczos iteration, used for d > 64, stops when the residual of each eigenpair,
        divided by its eigenvalue, is below this.
    max_iter : int >= 1 or None, default=None
        Maximum number of products with M2; at least 2 k + 4 are always allowed. None allows d. If
        the limit is reached, the best pairs so far are returned, and ``converged`` is False.

    Returns
    -------
    Whitening
        If one of the first k eigenvalues is not positive, the data contain fewer components: the
        rank is then less than `n_components`, and ``reason`` explains it. ``residual`` and
        ``converged`` show the accuracy. ``next_eigenvalue``, eigenvalue k + 1, is approximate: it
        has not necessarily converged.

    Notes
    -----
    The Lanczos iteration starts from a fixed vector, so that the result is the same on every run.
    It requires about 10 products with M2 if the spectrum has a gap, up to d if it is flat; each
    product adds memory O(d). The largest entry of each eigenvector is made positive.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import SingleTopicMoments
    >>> from momentree.whitening import whiten
    >>> moments = SingleTopicMoments.from_parameters([0.5, 0.5], np.eye(3)[:2])
    >>> found = whiten(moments, 2)
    >>> (found.W @ (moments.m2 @ found.W.T)).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    >>> whiten(moments, 3).rank
    2
    """
    check_integer("n_components", n_components, at_least=1)
    check_integer("max_iter", max_iter, at_least=1, optional=True)
    if not hasattr(moments, "whitened_slices"):
        raise InvalidParameterError(
            "moments is of type {type}; expected moments, such as "
            "momentree.moments.SingleTopicMoments.from_data(X)",
            type=type(moments).__name__,
        )
    # This start permutes with the columns; the root limits the weight of frequent words.
    start = np.sqrt(np.abs(moments.m1))
    d = len(start)
    k = min(n_components, d)
    limit = d if max_iter is None else min(d, max(max_iter, 2 * k + 4))
    spectrum, U, residual = top_eigenpairs(moments.m2, start, k, tol, limit)
    return _whitening(spectrum, U, n_components, residual, tol)


def whiten_groups(
    moments: Groups,
    n_components: int,
    which: Sequence[int],
    starts: Floats | None = None,
    *,
    tol: float = 1e-9,
    max_iter: int | None = None,
) -> tuple[list[Whitening], list[Floats]]:
    """Compute the whitenings of groups as :func:`whiten` does, in the same passes over the data.

    Parameters
    ----------
    moments : object with ``m1`` of shape (g, d) and ``times``
        ``times(V, groups)`` maps V of shape (h, d, m) to the products of M2 of h groups with V.
    n_components : int >= 1
        Number of components k of each group.
    which : sequence of int
        The groups.
    starts : ndarray of shape (h, d, m), default=None
        Directions from which each of these groups starts, as by :func:`group_starts`, with m > k:
        a product with m columns takes little more time than one with a single column, so that a
        block saves passes over the data. None is one direction, as in :func:`whiten`.
    tol : float, default=1e-9
        As in :func:`whiten`.
    max_iter : int, default=None
        Maximum number of products; of single columns, at least 2 k + 4 are always allowed.

    Returns
    -------
    whitenings : list of Whitening
        One for each of the groups, equal to that of the group alone up to `tol`.
    directions : list of ndarray of shape (d, m - 1)
        The eigenvectors after the first, from which parts of a group may start.
    """
    d = moments.m1.shape[1]
    k = min(n_components, d)
    if starts is None:
        starts = unit(np.sqrt(np.abs(moments.m1[list(which)]))[:, :, None])
        limit = d if max_iter is None else min(d, max(max_iter, 2 * k + 4))
    else:
        limit = max_iter or d
    width = starts.shape[2]
    pairs = top_eigenpairs_of_groups(
        lambda V, at: moments.times(V, [which[j] for j in at]),
        starts,
        k,
        tol,
        limit,
        max(k, width),
    )
    whitenings = [
        _whitening(spectrum, U[:, :k], n_components, residual, tol)
        for spectrum, U, residual in pairs
    ]
    return whitenings, [U[:, 1:width] for _, U, _ in pairs]


def group_starts(m1: Floats, known: Sequence[Floats] | None, width: int) -> Floats:
    """Return orthonormal directions from which the whitening of groups may start.

    Parameters
    ----------
    m1 : ndarray of shape (g, d)
        M1 of each group, or about that, up to a factor.
    known : sequence of ndarray of shape (d, width - 1) or None
        Eigenvectors that may be near those of each group. If None, the directions are the root of
        M1 times numbers that depend on the rank of a feature by M1 alone, so that they are the same
        on every run and permute with the features.
    width : int
        Number of directions of each group.

    Returns
    -------
    ndarray of shape (g, d, width)
        The directions. The first is the root of M1, which limits the weight of frequent words.
    """
    start = np.empty((*m1.shape, width))
    for j, row in enumerate(m1):
        start[j, :, 0] = root = np.sqrt(np.abs(row))
        if known is not None:
            start[j, :, 1:] = known[j]
            continue
        # Features with the same M1, up to rounding, get the same numbers.
        order = np.argsort(-root, kind="stable")
        steps = -np.diff(root[order]) > SAME * root[order[1:]]
        rank = np.empty(len(root), dtype=np.intp)
        rank[order] = np.concatenate([[0], np.cumsum(steps)])
        # RandomState draws the same numbers with every version of NumPy.
        numbers = np.random.RandomState(0).standard_normal((len(root), width - 1))
        start[j, :, 1:] = root[:, None] * numbers[rank]
    return np.stack([padded(orthonormal(one), width) for one in unit(start)])


def _whitening(
    spectrum: Floats, U: Floats, n_components: int, residual: float, tol: float
) -> Whitening:
    """Return the whitening with these eigenpairs."""
    d, k = U.shape
    values = spectrum[:k]
    positive = values > RANK_TOLERANCE * max(values[0], 0.0)
    rank = int(np.argmin(positive)) if not positive.all() else k
    reason = None
    if rank < k:
        reason = Message(
            "[rank_too_low] M2 supports {rank:~component}, not {needed}: its eigenvalue {position} "
            "is {eigenvalue:.3g}",
            rank=rank,
            needed=int(n_components),
            position=rank + 1,
            eigenvalue=float(values[rank]),
        )
    elif rank < n_components:
        reason = Message(
            "[more_components_than_features] {n_features:~feature} cannot distinguish "
            "{needed:~component}",
            n_features=d,
            needed=int(n_components),
        )
    root = np.sqrt(values[:rank])
    U = U[:, :rank]
    next_eigenvalue = float(spectrum[k]) if len(spectrum) > k else float("nan")
    return Whitening(
        (U / root).T,
        U * root,
        values,
        reason,
        next_eigenvalue,
        residual=residual,
        converged=residual <= max(tol, ROUNDING),
    )

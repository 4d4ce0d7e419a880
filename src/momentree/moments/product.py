"""Moments of columns that are independent given the component, from entries off the diagonal."""

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator

import momentree._validation as valid
from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.moments._base import BaseMoments, symmetric
from momentree.moments._completion import Groups, complete_matrix, complete_tensor
from momentree.moments.multiview import DENSE_FEATURES, View, cube
from momentree.preprocessing import observation_rates as rates_of


class ProductMoments(BaseMoments):
    """Estimate M1, M2, M3 of groups of columns that are independent given the component.

    For columns a, b, c in three different groups, and conditional means mu_j,

        E[x_a x_b] = sum_j w_j mu_ja mu_jb,   E[x_a x_b x_c] = sum_j w_j mu_ja mu_jb mu_jc

    whatever the distributions of the columns. Entries with two columns of one group say nothing
    about the means. They are completed: M2 = Q S Q^T is the matrix of rank k, and M3 = C(Q, Q, Q)
    the tensor in its column space, that fit all other entries best. So means of any columns, and
    by squares of columns also variances, come from moments without a correction for bias. Use
    :meth:`from_data` for the estimators and :meth:`from_parameters` for exact moments.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Samples, with zeros for missing values.
    groups : ndarray of int of shape (d,)
        Group of each column; columns of a negative group are constant, and all their moments are
        used.
    sample_weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_components : int >= 1
        Rank k of M2.
    column_scale : ndarray of shape (d,), default=None
        Factor of each column; divide by the observation rate if values are missing.
    exact : bool, default=False
        Whether the moments have no sampling error, and should be completed to rounding error.

    Attributes
    ----------
    n_iter : int
        Number of steps of the completion of M2.

    See Also
    --------
    MultiviewMoments : Three groups, without a completion.
    CorrectedMoments : Binary columns, with the diagonal predicted from parameters.

    Notes
    -----
    The estimator of [1] from entries off the diagonal, and the completion of [2]: least squares for
    M2, by L-BFGS, then for M3 in its column space, by conjugate gradients. [2] alternates between
    two factors of M2; here that follows only for exact moments, since the two factors differ
    otherwise. The papers have one column per group. A completion requires that M2 without any one
    group still has rank k, and means that no single group dominates.

    Missing values do not bias moments if values are missing independently of each other.

    Time O(nnz k) per step, O(nnz k^2 + n k^3) for M3, and O(n k^3) for each group that has
    several nonzero values in a row; memory O(n k + d k^2).

    References
    ----------
    .. [1] Y. Zhang, J. Kileel. Moment estimation for nonparametric mixture models through implicit
       tensor decomposition. SIAM Journal on Mathematics of Data Science 5, 2023.
    .. [2] P. Jain, S. Oh. Learning mixtures of discrete product distributions using spectral
       decompositions. COLT 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.decomposition import sidiwo
    >>> from momentree.moments import ProductMoments
    >>> means = [[1.0, 0.2, 3.0, 0.5, 0.9], [0.1, 0.8, -1.0, 0.1, 0.4]]
    >>> moments = ProductMoments.from_parameters([0.6, 0.4], means)
    >>> found = sidiwo(moments, 2)
    >>> found.weights.round(6)
    array([0.6, 0.4])
    >>> found.centers.T.round(6)
    array([[ 1. ,  0.2,  3. ,  0.5,  0.9],
           [ 0.1,  0.8, -1. ,  0.1,  0.4]])
    """

    def __init__(
        self,
        rows: RowBlocks,
        groups: Ints,
        sample_weight: Floats,
        n_components: int,
        *,
        column_scale: Floats | None = None,
        exact: bool = False,
    ) -> None:
        scale = np.ones(rows.shape[1]) if column_scale is None else column_scale
        self._v = sample_weight / sample_weight.sum()
        self._rows, self._scale = rows, scale
        self._view = View(rows, 1.0 / scale)
        self._groups, self._exact = Groups(groups), exact
        X = rows.matrix.tocsc()
        self._alone = np.ones(rows.shape[1], dtype=bool)  # only one of its group in any row
        self._parts: list[tuple[Ints, View]] = []
        for columns in self._groups.of_several:
            part = csr_array(X[:, columns])
            if np.diff(part.indptr).max(initial=0) > 1:
                self._alone[columns] = False
                self._parts.append((columns, View(RowBlocks(part), 1.0 / scale[columns])))
        self._alone &= groups >= 0
        off_diagonal = self._off_m2
        if rows.shape[1] <= DENSE_FEATURES:  # faster than passes over the samples
            known = self._off_m2(np.eye(rows.shape[1]))

            def off_diagonal(V: Floats) -> Floats:
                return np.asarray(known @ V)

        self._Q, self._S, self.n_iter = complete_matrix(
            off_diagonal, self._groups, min(n_components, rows.shape[1]), exact=exact
        )

    @classmethod
    def from_data(
        cls,
        X: Any,
        *,
        n_components: int,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        X : {ndarray, sparse matrix or array, data frame} of shape (n_samples, n_features)
            Any numbers; NaN marks a missing value.
        n_components : int >= 1
            Number of components k, the rank of M2.
        groups : array-like of int of shape (n_features,), default=None
            Group of each column. Columns of one group may depend on each other within a component,
            like the levels of a category, or a number and its square. None is a group each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        ProductMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If X is not a table of finite numbers, a feature is never observed, no sample has a
            positive weight, or there are fewer than three groups.
        InvalidParameterError
            If `n_components` is not a whole number of at least 1.
        """
        valid.check_integer("n_components", n_components, at_least=1)
        X, missing = valid.check_missing(X)
        v = valid.check_sample_weight(sample_weight, X.shape[0])
        rates = rates_of(missing, v)
        scale = None if rates is None else 1.0 / rates
        return cls(RowBlocks(X), _checked(groups, X.shape[1]), v, n_components, column_scale=scale)

    @classmethod
    def from_parameters(
        cls, weights: ArrayLike, means: ArrayLike, *, groups: ArrayLike | None = None
    ) -> Self:
        """Return the moments of a mixture, from its exact moments between groups.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        means : array-like of shape (k, d)
            Conditional means in rows.
        groups : array-like of int of shape (d,), default=None
            Group of each column, as in :meth:`from_data`.

        Returns
        -------
        ProductMoments
            The moments; exact if the completion is unique.

        Raises
        ------
        InvalidDataError
            If weights are not a distribution, means are not finite, shapes do not match, or there
            are fewer than three groups.
        """
        w, mu = valid.as_floats("weights", weights), valid.as_floats("means", means)
        valid.check_shape("means", mu, ("k", "d"))
        valid.check_shape("weights", w, (len(mu),))
        valid.check_distribution("weights", w)
        if not np.isfinite(mu).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="means")
        # Only moments between groups are used; with the means as samples, they are the same.
        rows, found = RowBlocks(csr_array(mu)), _checked(groups, mu.shape[1])
        return cls(rows, found, w, len(w), exact=True)

    @cached_property
    def m1(self) -> Floats:
        """M1, shape (d,)."""
        return np.asarray(self._view.tdot(self._v[:, None])[:, 0])

    @property
    def m2(self) -> LinearOperator:
        """The completed M2 = Q S Q^T as an operator of shape (d, d)."""
        Q, S = self._Q, self._S
        return symmetric(len(Q), lambda V: np.asarray(Q @ (S @ (Q.T @ V))))

    @property
    def _d(self) -> int:
        return self._rows.shape[1]

    def _slices(self, W: Floats) -> Floats:
        WQ = W @ self._Q
        return np.asarray(
            np.einsum("ri,ijl,aj,bl->rab", self._Q, self._core, WQ, WQ, optimize=True)
        )

    def _tensor(self, W: Floats) -> Floats:
        WQ = W @ self._Q
        return np.asarray(np.einsum("ijl,ai,bj,cl->abc", self._core, WQ, WQ, WQ, optimize=True))

    @cached_property
    def _within(self) -> tuple[Floats, list[tuple[Ints, Floats]]]:
        """E[x_a^2] of columns that are alone in rows, and E[x_g x_g^T] of other small groups."""
        squares = self._sums(2) * self._alone
        v = self._v[:, None]
        blocks = [
            (columns, part.tdot(v * part.dot(np.eye(part.d))))
            for columns, part in self._parts
            if part.d <= DENSE_FEATURES
        ]
        return squares, blocks

    def _sums(self, power: int) -> Floats:
        """Return E[x^power] of every column."""

        def kernel(B: Block) -> Floats:
            return B.with_data(B.csr[0] ** power).tdot(self._v[B.at])

        return np.asarray(self._rows.sum(kernel) * self._scale**power)

    def _off_m2(self, V: Floats) -> Floats:
        """Return the product of V with M2, whose entries within groups are replaced by zeros."""
        squares, blocks = self._within
        out = self._view.tdot(self._v[:, None] * self._view.dot(V)) - squares[:, None] * V
        for columns, block in blocks:
            out[columns] -= block @ V[columns]
        for columns, part in self._parts:
            if part.d > DENSE_FEATURES:
                out[columns] -= part.tdot(self._v[:, None] * part.dot(V[columns]))
        return out

    @cached_property
    def _core(self) -> Floats:
        """C, shape (k, k, k)."""
        return complete_tensor(self._off_m3(self._Q), self._Q, self._groups, exact=self._exact)

    def _off_m3(self, Q: Floats) -> Floats:
        """Return M3(Q, Q, Q) without entries of two columns of a group, by inclusion-exclusion.

        With z = Q^T x and z^g the part of group g, the sum over triples of different groups is

            E[z z z] - sum_g (E[z^g z^g z] in all three orders) + 2 sum_g E[z^g z^g z^g].
        """
        k, v, z = Q.shape[1], self._v, self._view.dot(Q)
        alone = Q * self._alone[:, None]
        pairs = (alone[:, :, None] * alone[:, None, :]).reshape(len(Q), k * k)
        pairs *= self._scale[:, None] ** 2

        def kernel(B: Block) -> Floats:
            at = B.at
            squares = B.with_data(B.csr[0] ** 2).dot(pairs)
            return np.asarray(squares.T @ (v[at, None] * z[at]))

        two = self._rows.sum(kernel).reshape(k, k, k)
        three = np.einsum("r,ra,rb,rc->abc", self._sums(3), alone, alone, alone, optimize=True)
        for columns, part in self._parts:
            own = part.dot(Q[columns])
            two += cube(v, own, own, z)
            three += cube(v, own, own, own)
        two = two + two.transpose(0, 2, 1) + two.transpose(2, 0, 1)
        return np.asarray(cube(v, z, z, z) - two + 2.0 * three)


def _checked(groups: ArrayLike | None, d: int) -> Ints:
    """Return the group of each column, from 0."""
    if groups is None:
        found = np.arange(d, dtype=np.intp)
    else:
        given = valid.as_floats("groups", groups)
        valid.check_shape("groups", given, (d,))
        found = np.unique(given, return_inverse=True)[1].astype(np.intp)
    n_groups = int(found.max(initial=-1)) + 1
    if n_groups < 3:
        raise InvalidDataError(
            "[too_few_groups] the moments require at least three groups of columns; received "
            "{found}; give each column a group of its own, or add columns",
            found=n_groups,
        )
    return found

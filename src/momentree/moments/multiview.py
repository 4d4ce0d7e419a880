"""T section 4.3.1: moments of three views that are independent given the component."""

from collections.abc import Sequence
from functools import cached_property
from itertools import permutations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, svds

import momentree._validation as valid
from momentree._types import Floats, Ints
from momentree.backends import Block, RowBlocks
from momentree.core.ties import fixed_vectors
from momentree.exceptions import InvalidDataError
from momentree.messages import wording
from momentree.moments._base import BaseMoments, chunks, pairs_of, symmetric
from momentree.preprocessing import observation_rates as rates_of

_NOT_THREE_VIEWS = (
    "[not_three_views] expected three views, such as those of split_views; received {found}"
)


class MultiviewMoments(BaseMoments):
    """Estimate M1, M2, M3 of the third of three views from cross moments.

    With x_1, x_2, x_3 independent given component j, means mu_vj and E_12 = E[x_1 x_2^T] truncated
    to rank k,

        x~_1 = E[x_3 x_2^T] E_12^+ x_1,     x~_2 = E[x_3 x_1^T] (E_12^+)^T x_2

    have the conditional means mu_3j, so that

        M1 = E[x_3],   M2 = E[x~_1 x~_2^T],   M3 = E[x~_1 (x) x~_2 (x) x_3]

    are sum_j w_j mu_3j, sum_j w_j mu_3j mu_3j^T and sum_j w_j mu_3j^(x)3. The diagonal is
    unbiased for any distribution of a view. Use :meth:`from_data` for the estimators,
    :meth:`from_parameters` for exact moments, and
    :func:`momentree.decomposition.three_view_tpm` for the means of all views.

    Parameters
    ----------
    rows : sequence of three RowBlocks of shapes (n, d_1), (n, d_2), (n, d_3)
        The views, with zeros for missing values.
    sample_weight : ndarray of shape (n,)
        Weights >= 0, not all zero.
    n_components : int >= 1
        Rank k to which cross moments are truncated. All three d_v should be k or more.
    observation_rates : sequence of three of (ndarray of shape (d_v,) or None), default=None
        Results of :func:`momentree.preprocessing.observation_rates`; None if no value is missing.

    Attributes
    ----------
    view_sizes : tuple of int
        (d_1, d_2, d_3).
    singular_values : ndarray of shape (rank,)
        The largest singular values of the cross moment of the first two views, descending. Noise
        is amplified by the inverse of the last one.

    See Also
    --------
    split_views : Split the features of one matrix into three views.

    Notes
    -----
    Section 3.3 of [1], Theorem 3.6, with the views in a different order. Estimates of M2 and M3 are
    averaged over all orders of their modes, which makes them symmetric. Missing values count as
    zero and means are divided by the observation rate, which leaves cross moments unbiased if
    values are missing independently.

    These moments are unstable: the inverse of E_12 divides its errors by its smallest singular
    value. Different splits into views give different results (T section 4.3.1).

    Time O(nnz k) and O(nnz d_v) or about 10 k products for the singular vectors, then O(nnz k^2)
    for the slices and O(nnz k + n k^3) for the tensor; memory O(n k + d k^2). If the views have
    more than 256 features each, no d x d matrix is formed.

    References
    ----------
    .. [1] A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky. Tensor decompositions for
       learning latent variable models. Journal of Machine Learning Research 15, 2014.
    .. [2] M. Ruffini. Learning latent variable models: efficient algorithms and applications.
       PhD thesis, Universitat Politècnica de Catalunya, 2019. Section 4.3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from momentree.moments import MultiviewMoments
    >>> mu = [[1.0, 0.2], [0.1, 0.8]], [[0.3, 0.9], [0.7, 0.1]], [[0.5, 0.1], [0.2, 0.6]]
    >>> moments = MultiviewMoments.from_parameters([0.5, 0.5], mu)
    >>> moments.m1
    array([0.35, 0.35])
    >>> (moments.m2 @ np.eye(2)).round(6)
    array([[0.145, 0.085],
           [0.085, 0.185]])
    """

    def __init__(
        self,
        rows: Sequence[RowBlocks],
        sample_weight: Floats,
        n_components: int,
        observation_rates: Sequence[Floats | None] | None = None,
    ) -> None:
        rates = observation_rates or (None, None, None)
        self._views = [View(X, p) for X, p in zip(rows, rates, strict=True)]
        self._v = sample_weight / sample_weight.sum()
        self._k = n_components
        one, two, three = self._views
        U1, S, U2 = leading_pair(one, two, self._v, n_components)
        self.view_sizes = (one.d, two.d, three.d)
        self.singular_values = S
        self._u1, self._u2 = one.dot(U1), two.dot(U2)
        # x~_1 = B1 u1 and x~_2 = B2 u2.
        self._B1 = three.tdot(self._v[:, None] * self._u2) / S
        self._B2 = three.tdot(self._v[:, None] * self._u1) / S

    @classmethod
    def from_data(
        cls, views: Sequence[Any], *, n_components: int, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Estimate the moments from data.

        Parameters
        ----------
        views : sequence of three {ndarray, sparse matrix or array, data frame}
            Of shapes (n_samples, d_1), (n_samples, d_2), (n_samples, d_3): the same samples in
            the same order. Any numbers; NaN marks a missing value.
        n_components : int >= 1
            Number of components k, the rank to which cross moments are truncated.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the samples; a weight of 2 is equivalent to two copies.

        Returns
        -------
        MultiviewMoments
            The moments.

        Raises
        ------
        InvalidDataError
            If there are not three views with the same number of rows, values are infinite or not
            numbers, a feature is never observed, or no sample has a positive weight.
        InvalidParameterError
            If `n_components` is not a whole number of at least 1.
        """
        valid.check_integer("n_components", n_components, at_least=1)
        checked = checked_views(views)
        v = valid.check_sample_weight(sample_weight, checked[0][0].shape[0])
        rates = [rates_of(missing, v) for _, missing in checked]
        return cls([RowBlocks(X) for X, _ in checked], v, n_components, rates)

    @classmethod
    def from_parameters(cls, weights: ArrayLike, means: Sequence[ArrayLike]) -> Self:
        """Return the exact moments of a mixture of k components.

        Parameters
        ----------
        weights : array-like of shape (k,)
            omega >= 0, sum 1.
        means : sequence of three array-likes of shapes (k, d_1), (k, d_2), (k, d_3)
            Means of the views, one row per component.

        Returns
        -------
        MultiviewMoments
            The moments; exact if the means of each view are linearly independent.

        Raises
        ------
        InvalidDataError
            If weights are not a distribution, means are not finite, or shapes do not match.
        """
        w, mu = checked_means(weights, means)
        # Only cross moments are used; with the means as samples, they equal those of the model.
        return cls([RowBlocks(csr_array(part)) for part in mu], w, len(w))

    @property
    def n_components(self) -> int:
        """Requested rank to which cross moments are truncated."""
        return self._k

    @cached_property
    def means(self) -> Floats:
        """Means of all features, view after view, shape (d_1 + d_2 + d_3,)."""
        return np.concatenate([view.tdot(self._v[:, None])[:, 0] for view in self._views])

    @property
    def m1(self) -> Floats:
        """M1 of the third view, shape (d_3,)."""
        return np.asarray(self.means[-self.view_sizes[2] :])

    @property
    def m2(self) -> LinearOperator:
        """M2 of the third view as an operator of shape (d_3, d_3)."""
        left, right = self._B1 * self.singular_values, self._B2

        def matmat(V: Floats) -> Floats:
            return np.asarray(0.5 * (left @ (right.T @ V) + right @ (left.T @ V)))

        return symmetric(self.view_sizes[2], matmat)

    @cached_property
    def third_basis(self) -> Floats:
        """Leading right singular vectors of E[x_1 x_3^T], shape (d_3, rank)."""
        return leading_pair(self._views[0], self._views[2], self._v, self._k)[2]

    def projected_tensor(self, U: Floats) -> Floats:
        """Return E[U1^T x_1 (x) U2^T x_2 (x) U^T x_3].

        Parameters
        ----------
        U : ndarray of shape (d_3, l)
            Directions in the third view. U1 and U2 are the singular vectors of
            `singular_values`.

        Returns
        -------
        ndarray of shape (rank, rank, l)
            Not symmetric.
        """
        return cube(self._v, self._u1, self._u2, self._views[2].dot(U))

    def other_views(self, A: Floats) -> Floats:
        """Return the cross moments of the first two views with directions of the third.

        Parameters
        ----------
        A : ndarray of shape (d_3, l)
            Directions in the third view.

        Returns
        -------
        ndarray of shape (d_1 + d_2, l)
            E[x_1 x_3^T] A above E[x_2 x_3^T] A.
        """
        right = self._v[:, None] * self._views[2].dot(A)
        return np.concatenate([view.tdot(right) for view in self._views[:2]])

    @property
    def _d(self) -> int:
        return self.view_sizes[2]

    def _slices(self, W: Floats) -> Floats:
        z1, z2, z3 = self._whiten(W)
        third = self._views[2]
        d, m, r = third.d, W.shape[0], len(self.singular_values)
        H = np.empty((d, m, m))
        for a, b in pairs_of(m):

            def kernel(B: Block, a: Ints = a, b: Ints = b) -> Floats:
                rows = B.at
                p1, p2, p3 = z1[rows], z2[rows], z3[rows]
                v = self._v[rows, None]
                first = self._u1[rows].T @ (v * _pairs(p2, p3, a, b))
                second = self._u2[rows].T @ (v * _pairs(p1, p3, a, b))
                return np.concatenate([B.tdot(v * _pairs(p1, p2, a, b)), first, second])

            parts = third.rows.sum(kernel)
            pairs = third.scaled(parts[:d])
            pairs += self._B1 @ parts[d : d + r] + self._B2 @ parts[d + r :]
            H[:, a, b] = H[:, b, a] = pairs / 6.0
        return H

    def _tensor(self, W: Floats) -> Floats:
        C = cube(self._v, *self._whiten(W))
        return np.asarray(sum(C.transpose(order) for order in permutations(range(3))) / 6.0)

    def _whiten(self, W: Floats) -> tuple[Floats, Floats, Floats]:
        """Return W x~_1, W x~_2 and W x_3 of every row, shape (n, k) each."""
        z1, z2 = self._u1 @ (W @ self._B1).T, self._u2 @ (W @ self._B2).T
        return z1, z2, self._views[2].dot(W.T)


def cube(v: Floats, x: Floats, y: Floats, z: Floats) -> Floats:
    """Return sum v x (x) y (x) z over rows."""
    out = np.empty((x.shape[1], y.shape[1], z.shape[1]))
    for a in range(len(out)):
        out[a] = y.T @ ((v * x[:, a])[:, None] * z)
    return out


def _pairs(x: Floats, y: Floats, a: Ints, b: Ints) -> Floats:
    """Return x_a y_b + x_b y_a of every row."""
    return x[:, a] * y[:, b] + x[:, b] * y[:, a]


DENSE_FEATURES = 256
"""Up to this many features of one view, a full SVD costs no more than a truncated one."""
RANK_TOLERANCE = 1e-10
"""Singular values below this fraction of the largest are rounding error."""


class View:
    """Rows x / p, with x = 0 where a value is missing and p the observation rates.

    Missing values then do not bias means.
    """

    def __init__(self, rows: RowBlocks, observation_rates: Floats | None) -> None:
        self.rows, self.d = rows, rows.shape[1]
        p = np.ones(self.d) if observation_rates is None else observation_rates
        self._scale = 1.0 / np.where(p > 0, p, 1.0)[:, None]

    def dot(self, A: Floats) -> Floats:
        """Return X A, shape (n, m), for A of shape (d, m)."""
        right = np.ascontiguousarray(self._scale * A)
        return self.rows.map(lambda B: B.dot(right))

    def tdot(self, Z: Floats) -> Floats:
        """Return X^T Z, shape (d, m), for Z of shape (n, m)."""

        def some(at: slice) -> Floats:
            return self.rows.sum(lambda B: B.tdot(Z[B.at, at]))

        parts = [some(at) for at in chunks(Z.shape[1])]
        return self.scaled(np.hstack([np.zeros((self.d, 0)), *parts]))

    def scaled(self, sums: Floats) -> Floats:
        """Convert sums over the stored rows x, shape (d, m), to sums over x / p."""
        return np.asarray(self._scale * sums)


def leading_pair(a: View, b: View, v: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    """Return the k leading singular triples U, S, V of the cross moment E[x_a x_b^T].

    Uses a dense SVD if one view has few features, else Lanczos iteration (ARPACK) from a fixed
    start, so that the result is reproducible. Fewer triples are returned if the rank is lower.
    """
    least = min(a.d, b.d)
    if least <= max(DENSE_FEATURES, k):
        U, S, V = _dense(a, b, v)
    else:
        U, S, V = _lanczos(a, b, v, k)
    fixed = fixed_vectors(S, U)
    U, V = fixed, V @ (U.T @ fixed)
    keep = S[:k] > RANK_TOLERANCE * max(float(S.max(initial=0.0)), 0.0)
    r = int(keep.sum())
    return U[:, :r], S[:r], V[:, :r]


def _dense(a: View, b: View, v: Floats) -> tuple[Floats, Floats, Floats]:
    if b.d > a.d:
        V, S, U = _dense(b, a, v)
        return U, S, V
    eye = np.eye(b.d)
    P = np.hstack([a.tdot(v[:, None] * b.dot(eye[:, at])) for at in chunks(b.d)])
    U, S, Vt = np.linalg.svd(P, full_matrices=False)
    return U, S, Vt.T


def _lanczos(a: View, b: View, v: Floats, k: int) -> tuple[Floats, Floats, Floats]:
    def times(left: View, right: View, x: Floats) -> Floats:
        product = left.tdot(v[:, None] * right.dot(x.reshape(right.d, -1)))
        return product.reshape(left.d, *x.shape[1:])

    P = LinearOperator(
        shape=(a.d, b.d),
        dtype=np.float64,
        matvec=lambda x: times(a, b, x),
        rmatvec=lambda x: times(b, a, x),
        matmat=lambda x: times(a, b, x),
        rmatmat=lambda x: times(b, a, x),
    )
    start = np.random.RandomState(0).standard_normal(min(a.d, b.d))
    U, S, Vt = svds(P, k=k, v0=start, solver="arpack")
    order = np.argsort(-S, kind="stable")
    return U[:, order], np.asarray(S[order], dtype=np.float64), Vt[order].T


def checked_views(views: Sequence[Any]) -> list[tuple[Any, Any | None]]:
    """Return three views of the same samples, each with its missing cells."""
    if len(views) != 3:
        raise InvalidDataError(_NOT_THREE_VIEWS, found=len(views))
    checked = [valid.check_missing(X) for X in views]
    sizes = [int(X.shape[0]) for X, _ in checked]
    if len(set(sizes)) > 1:
        raise InvalidDataError(wording.VIEWS_OF_DIFFERENT_SAMPLES, n_rows=sizes)
    return checked


def checked_means(weights: ArrayLike, means: Sequence[ArrayLike]) -> tuple[Floats, list[Floats]]:
    """Return weights (k,) that sum to 1 and three finite matrices with k rows."""
    w = valid.as_floats("weights", weights)
    valid.check_shape("weights", w, ("k",))
    valid.check_distribution("weights", w)
    mu = [valid.as_floats("means", part) for part in means]
    if len(mu) != 3:
        raise InvalidDataError(_NOT_THREE_VIEWS, found=len(mu))
    for part in mu:
        valid.check_shape("means", part, (len(w), "d"))
        if not np.isfinite(part).all():
            raise InvalidDataError(wording.NOT_FINITE, parameter="means")
    return w, mu


def split_views(
    n_features: int, random_state: int | np.random.RandomState | None = None
) -> tuple[Ints, Ints, Ints]:
    """Split features at random into three views whose sizes differ by at most one.

    Parameters
    ----------
    n_features : int >= 3
        Number of features d.
    random_state : int, RandomState or None, default=None
        Seed of the split; None is the same as 0.

    Returns
    -------
    tuple of three ndarrays of int
        Columns of each view, ascending; each column is in exactly one view.

    Raises
    ------
    InvalidParameterError
        If `n_features` is not a whole number of at least 3, or `random_state` is not a random
        state.

    Notes
    -----
    The results of multiview methods depend on the split (T section 4.5, experiment 2).

    Examples
    --------
    >>> from momentree.moments import split_views
    >>> [part.tolist() for part in split_views(7)]
    [[1, 2, 6], [0, 3], [4, 5]]
    """
    valid.check_integer("n_features", n_features, at_least=3)
    order = valid.generator(random_state).permutation(int(n_features))
    one, two, three = (np.sort(part).astype(np.intp) for part in np.array_split(order, 3))
    return one, two, three

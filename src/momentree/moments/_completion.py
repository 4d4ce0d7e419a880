"""Complete moments whose entries within groups of columns are unknown (Jain & Oh 2014)."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from momentree._types import Floats, Ints

RCOND = 1e-12
"""Directions of smaller singular values, relative to the largest, are rounding errors."""
POWERS = 20
"""Products of the start with the known entries."""
ALTERNATIONS, SAME = 3000, 1e-14
"""Most steps of alternating minimization, and the change of a subspace that is rounding error."""
DESCENTS = {False: 200, True: 3000}
"""Most steps of the descent, for estimated and exact moments."""
TOLERANCES = {False: (1e-9, 1e-7), True: (1e-15, 1e-12)}
"""Relative decrease and gradient at which the descent stops, of estimated and exact moments."""
RESIDUALS = {False: 1e-6, True: 1e-14}
"""Relative residual at which conjugate gradients stop, of estimated and exact moments."""
CG_ITER = 400
"""Most steps of conjugate gradients."""
GROUPS_AT_ONCE = 64
"""Groups whose k x k x k terms are computed together."""


class Groups:
    """Groups of columns; entries of moments with two columns of one group are unknown.

    Parameters
    ----------
    of : ndarray of int of shape (d,)
        Group of each column; all entries of columns of negative groups are known.
    """

    def __init__(self, of: Ints) -> None:
        self.d = len(of)
        self._columns = np.flatnonzero(of >= 0)
        self._columns = self._columns[np.argsort(of[self._columns], kind="stable")]
        ends = np.flatnonzero(np.diff(of[self._columns])) + 1
        self._starts = np.concatenate([[0], ends]).astype(np.intp)
        self._sizes = np.diff(np.append(self._starts, len(self._columns)))

    @property
    def of_several(self) -> list[Ints]:
        """The columns of each group that has several."""
        parts = np.split(self._columns, self._starts[1:])
        return [part for part in parts if len(part) > 1]

    def grams(self, V: Floats) -> Floats:
        """Return V_g^T V_g of every group, shape (n_groups, k, k)."""
        rows = V[self._columns]
        if len(self._starts) == len(self._columns):
            return np.asarray(rows[:, :, None] * rows[:, None, :])
        parts = np.split(rows, self._starts[1:])
        return np.stack([part.T @ part for part in parts])

    def within(self, V: Floats, grams: Floats) -> Floats:
        """Return V_i V_g^T V_g, g the group of row i; zeros for columns without a group."""
        out = np.zeros_like(V)
        of = np.repeat(np.arange(len(self._sizes)), self._sizes)
        out[self._columns] = np.einsum("ia,iab->ib", V[self._columns], grams[of])
        return out

    def solved(self, right: Floats, V: Floats) -> Floats:
        """Return the rows U_i that solve U_i (V^T V - V_g^T V_g) = right_i, g the group of i."""
        whole = V.T @ V
        out = right @ np.linalg.pinv(whole, rcond=RCOND, hermitian=True)
        inverse = np.linalg.pinv(whole - self.grams(V), rcond=RCOND, hermitian=True)
        of = np.repeat(np.arange(len(self._sizes)), self._sizes)
        out[self._columns] = np.einsum("ia,iab->ib", right[self._columns], inverse[of])
        return np.asarray(out)


def complete_matrix(
    off_diagonal: Callable[[Floats], Floats], groups: Groups, k: int, *, exact: bool
) -> tuple[Floats, Floats, int]:
    """Return Q, S and the number of steps: Q S Q^T of rank k fits the known entries of a matrix.

    Parameters
    ----------
    off_diagonal : callable
        Maps V to the product of the matrix, zero where it is unknown, with V.
    groups : Groups
        The unknown entries.
    k : int
        Rank.
    exact : bool
        Whether a matrix of rank k has the known entries. Alternating minimization, which converges
        to rounding error then, follows the descent; of other matrices it has another limit.
    """
    V, n_iter = _descended(off_diagonal, groups, _start(off_diagonal, groups.d, k), exact=exact)
    for _ in range(ALTERNATIONS if exact else 0):
        U = np.linalg.qr(groups.solved(off_diagonal(V), V))[0]
        moved = float(np.linalg.norm(U - V @ (V.T @ U)))
        V, n_iter = U, n_iter + 1
        if moved <= SAME:
            break
    grams = groups.grams(V)
    pairs = np.einsum("gab,gcd->acbd", grams, grams).reshape(k * k, k * k)
    known = (V.T @ off_diagonal(V)).reshape(-1)
    S = np.linalg.lstsq(np.eye(k * k) - pairs, known, rcond=RCOND)[0].reshape(k, k)
    return V, 0.5 * (S + S.T), n_iter


def _start(off_diagonal: Callable[[Floats], Floats], d: int, k: int) -> Floats:
    """Return U; U U^T approximates the positive part of the matrix, zero where unknown."""
    # RandomState draws the same numbers with every version of NumPy.
    V = np.linalg.qr(np.random.RandomState(0).standard_normal((d, k)))[0]
    shift = 0.0
    for _ in range(POWERS):
        V, R = np.linalg.qr(off_diagonal(V) + shift * V)
        shift = max(shift, float(np.linalg.norm(R, 2)) - shift)
    values, R = np.linalg.eigh(V.T @ off_diagonal(V))
    return np.asarray(V @ (R * np.sqrt(np.maximum(values, 1e-3 * np.abs(values).max(initial=0.0)))))


def _descended(
    off_diagonal: Callable[[Floats], Floats], groups: Groups, U: Floats, *, exact: bool
) -> tuple[Floats, int]:
    """Return an orthonormal basis of the U whose U U^T fits the known entries, by L-BFGS."""
    size = max(float(np.linalg.norm(U) ** 2), 1e-300)

    def squares(x: Floats) -> tuple[float, Floats]:
        """Return half the sum of squared errors, up to a constant, and its gradient."""
        V = x.reshape(U.shape)
        target, G = off_diagonal(V) / size, V.T @ V
        grams = groups.grams(V)
        inner = V @ G - groups.within(V, grams)
        value = 0.25 * float((G**2).sum() - (grams**2).sum()) - 0.5 * float((V * target).sum())
        return value, (inner - target).ravel()

    most, (ftol, gtol) = DESCENTS[exact], TOLERANCES[exact]
    found = minimize(
        squares,
        (U / np.sqrt(size)).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": most, "maxfun": 2 * most, "ftol": ftol, "gtol": gtol},
    )
    return np.linalg.qr(found.x.reshape(U.shape))[0], int(found.nit)


def complete_tensor(known: Floats, Q: Floats, groups: Groups, *, exact: bool) -> Floats:
    """Return C such that C(Q, Q, Q) fits the known entries of a symmetric tensor.

    Parameters
    ----------
    known : ndarray of shape (k, k, k)
        The tensor, zero where it is unknown, contracted with Q on all sides.
    Q : ndarray of shape (d, k)
        Orthonormal columns.
    groups : Groups
        Entries with two columns of a group are unknown.
    exact : bool
        Whether the known entries have no error.

    Notes
    -----
    The normal equations of least squares, solved by conjugate gradients.
    """
    k = Q.shape[1]
    grams = groups.grams(Q)
    pairs = np.einsum("gab,gcd->acbd", grams, grams).reshape(k * k, k * k)

    def normal(C: Floats) -> Floats:
        """Return the known entries of C(Q, Q, Q), contracted with Q on all sides."""
        two = (pairs @ C.reshape(k * k, k)).reshape(k, k, k)
        two = two + two.transpose(0, 2, 1) + two.transpose(2, 0, 1)
        three = np.zeros_like(C)
        for start in range(0, len(grams), GROUPS_AT_ONCE):
            G = grams[start : start + GROUPS_AT_ONCE]
            part = (G @ C.reshape(k, k * k)).reshape(-1, k * k, k) @ G
            part = part.reshape(-1, k, k, k).transpose(0, 1, 3, 2).reshape(-1, k * k, k) @ G
            three += part.reshape(-1, k, k, k).transpose(0, 1, 3, 2).sum(axis=0)
        return np.asarray(C - two + 2.0 * three)

    C = np.zeros_like(known)
    rest = known.copy()
    step, size = rest.copy(), float((rest**2).sum())
    enough = RESIDUALS[exact] ** 2 * size
    for _ in range(CG_ITER):
        if size <= enough:
            break
        image = normal(step)
        curvature = float((step * image).sum())
        if curvature <= 0.0:
            break
        C += size / curvature * step
        rest -= size / curvature * image
        before, size = size, float((rest**2).sum())
        step = rest + size / before * step
    return C

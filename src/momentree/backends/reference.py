"""Products with rows in CSR form by SciPy's compiled functions: the reference.

Each function adds its result to `out` and returns it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from momentree._types import Floats, Ints
from momentree.backends.csr import Csr
from momentree.backends.members import Members


def add_dot(rows: Csr, V: Floats, out: Floats) -> Floats:
    """Add B V."""
    n, d = rows.shape
    if rows.row_factor is None:
        return _add_product("csr", n, d, rows, V, out)
    out += times(rows.row_factor, _add_product("csr", n, d, rows, V, np.zeros(out.shape)))
    return out


def add_tdot(rows: Csr, Z: Floats, out: Floats) -> Floats:
    """Add B^T Z."""
    n, d = rows.shape
    if rows.row_factor is not None:
        Z = times(rows.row_factor, Z)
    # The rows of B are the columns of its transpose, so the same arrays serve as CSC.
    return _add_product("csc", d, n, rows, Z, out)


def add_gram(rows: Csr, V: Floats, r: Floats, out: Floats) -> Floats:
    """Add B^T (r * (B V))."""
    Y = add_dot(rows, V, np.zeros((rows.shape[0], *V.shape[1:])))
    return add_tdot(rows, times(r, Y), out)


def add_own_dot(rows: Csr, V: Floats, members: Members, out: Floats) -> Floats:
    """Add the product of each row and the matrix of its group."""
    part, at = _side_by_side(rows, members, len(V))
    out[at] += _scores(part, V)
    return out


def add_own_tdot(rows: Csr, Z: Floats, members: Members, out: Floats) -> Floats:
    """Add the product of each group of rows, transposed, with its rows of Z."""
    part, at = _side_by_side(rows, members, len(out))
    return _add_to_groups(part, Z[at], out)


def add_own_gram(rows: Csr, V: Floats, members: Members, r: Floats, out: Floats) -> Floats:
    """Add B_j^T (r_j * (B_j V_j)) for each group j."""
    part, at = _side_by_side(rows, members, len(V))
    return _add_to_groups(part, r[at][:, None] * _scores(part, V), out)


def add_own_sums(
    rows: Csr, V: Floats, members: Members, r: Floats, Z: Floats, out: Floats
) -> Floats:
    """Add B_j^T [Z_j, r_j * (B_j V_j)] for each group j."""
    part, at = _side_by_side(rows, members, len(V))
    factors = np.concatenate([Z[at], r[at][:, None] * _scores(part, V)], axis=1)
    return _add_to_groups(part, factors, out)


def add_own_slices(
    rows: Csr, V: Floats, members: Members, r: Floats, u: Floats, k: int, out: Floats
) -> Floats:
    """Add the sums over rows in the slices of third moments; see `Block.own_slices`."""
    part, at = _side_by_side(rows, members, len(V))
    return _add_to_groups(part, slice_factors(_scores(part, V), r[at], u[at], k), out)


def slice_factors(scores: Floats, r: Floats, u: Floats, k: int) -> Floats:
    """Return the factors of rows in `Block.own_slices` for the columns [Z, P] of the scores."""
    left, right = (indices[:-1] for indices in np.triu_indices(k))
    Z = scores[:, :k]
    out = scores * u[:, None]
    pairs = Z[:, left] * Z[:, right]
    pairs[:, left == right] -= Z[:, -1:] ** 2
    out[:, k:] = pairs - out[:, k:]
    return np.asarray(r[:, None] * out)


def add_expected(
    rows: Csr, theta: Floats, offsets: Floats, v: Floats, out: Floats, labels: Ints | None
) -> None:
    """Add what `Block.expected` returns, and write the largest component of each row to labels."""
    n, m = rows.shape[0], theta.shape[1]
    weighted = weigh(add_dot(rows, theta, np.zeros((n, m))), offsets, v, out, labels)
    out[:-2, :m] += add_tdot(rows, weighted, np.zeros(theta.shape))


def weigh(scores: Floats, offsets: Floats, v: Floats, out: Floats, labels: Ints | None) -> Floats:
    """Return v times the probabilities of the components with scores, shape (n, m).

    Add the sizes of all components and the log-likelihood to the last two rows of `out`.
    """
    m = scores.shape[1]
    joint = np.zeros((len(offsets), len(v)))  # NumPy reduces the first axis fastest
    joint[:m] = scores.T
    joint += offsets[:, None]
    if labels is not None:
        labels[:] = joint.argmax(axis=0)
    top = joint.max(axis=0)
    joint -= top
    R = np.exp(joint, out=joint)
    mass = R.sum(axis=0)
    R *= v / mass
    out[-2] += R.sum(axis=1)
    out[-1, 0] += v @ (top + np.log(mass))
    return np.ascontiguousarray(R[:m].T)


def times(r: Floats, Y: Floats) -> Floats:
    """Return the rows of Y multiplied by their factors r."""
    return np.asarray(r * Y if Y.ndim == 1 else r[:, None] * Y)


def _side_by_side(rows: Csr, members: Members, g: int) -> tuple[Csr, Any]:
    """Return the rows that have a group, with separate columns for each group, and their numbers.

    Column w of group j is column j d + w, so one product serves all groups and no row is moved.
    """
    at: Any = slice(None)
    if not members.complete:
        at = np.flatnonzero(members.own >= 0)
        rows = rows.take(at)
    n, d = rows.shape
    columns = rows.indices
    if g > 1:
        kind = columns.dtype if g * d <= np.iinfo(columns.dtype).max else np.int64
        first = (members.own[at] * d).astype(kind)
        columns = np.repeat(first, np.diff(rows.pointers))
        columns += rows.indices
    return Csr(rows.data, columns, rows.indptr, (n, g * d), None, rows.row_factor), at


def _scores(part: Csr, V: Floats) -> Floats:
    """Return the product of each row and the matrix of its group."""
    m = V.shape[2]
    return add_dot(part, V.reshape(part.shape[1], m), np.zeros((part.shape[0], m)))


def _add_to_groups(part: Csr, Z: Floats, out: Floats) -> Floats:
    """Add B^T Z to the matrices of all groups; these may be slices of wider arrays."""
    m = Z.shape[1]
    if out.flags.c_contiguous:
        add_tdot(part, Z, out.reshape(part.shape[1], m))
    else:
        out += add_tdot(part, Z, np.zeros((part.shape[1], m))).reshape(out.shape)
    return out


def _add_product(layout: str, n: int, d: int, rows: Csr, V: Floats, out: Floats) -> Floats:
    # A SciPy array for each block would take a third of the time and copy the views.
    arrays = rows.indptr, rows.indices, rows.data
    if V.ndim == 1 or V.shape[1] == 1:
        getattr(_sparsetools, f"{layout}_matvec")(n, d, *arrays, V.ravel(), out.reshape(-1))
    else:
        product = getattr(_sparsetools, f"{layout}_matvecs")
        product(n, d, V.shape[1], *arrays, V.ravel(), out.reshape(-1))
    return out

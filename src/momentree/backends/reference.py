"""Products with rows in CSR form by SciPy's compiled functions: the reference.

Each function adds its result to `out` and returns it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools

from momentree._types import Floats, Ints
from momentree.backends.csr import Csr
from momentree.backends.members import Members


def add_dot(rows: Csr, V: Floats, out: Floats) -> Floats:
    """Add B V."""
    n, d = rows.shape
    return _add_product("csr", n, d, (rows.indptr, rows.indices, rows.data), V, out)


def add_tdot(rows: Csr, Z: Floats, out: Floats) -> Floats:
    """Add B^T Z."""
    n, d = rows.shape
    # The rows of B are the columns of its transpose, so the same arrays serve as CSC.
    return _add_product("csc", d, n, (rows.indptr, rows.indices, rows.data), Z, out)


def add_gram(rows: Csr, V: Floats, r: Floats, out: Floats) -> Floats:
    """Add B^T (r * (B V))."""
    Y = add_dot(rows, V, np.zeros((rows.shape[0], *V.shape[1:])))
    Y *= r if V.ndim == 1 else r[:, None]
    return add_tdot(rows, Y, out)


def add_own_dot(rows: Csr, V: Floats, members: Members, out: Floats) -> Floats:
    """Add the product of each row with the matrix of its own group."""
    for j, at, part in _parts(rows, members):
        out[at] += add_dot(part, V[j], np.zeros((len(at), V.shape[2])))
    return out


def add_own_tdot(rows: Csr, Z: Floats, members: Members, out: Floats) -> Floats:
    """Add the product of each group of rows, transposed, with its rows of Z."""
    for j, at, part in _parts(rows, members):
        _add_to_group(part, Z[at], out[j])
    return out


def add_own_gram(rows: Csr, V: Floats, members: Members, r: Floats, out: Floats) -> Floats:
    """Add B_j^T (r_j * (B_j V_j)) for each group j."""
    return _add_own_product(rows, V, members, lambda scores, at: r[at][:, None] * scores, out)


def add_own_sums(
    rows: Csr, V: Floats, members: Members, r: Floats, Z: Floats, out: Floats
) -> Floats:
    """Add B_j^T [Z_j, r_j * (B_j V_j)] for each group j."""

    def factors(scores: Floats, at: Any) -> Floats:
        return np.concatenate([Z[at], r[at][:, None] * scores], axis=1)

    return _add_own_product(rows, V, members, factors, out)


def add_own_slices(
    rows: Csr, V: Floats, members: Members, r: Floats, u: Floats, k: int, out: Floats
) -> Floats:
    """Add the sums over rows in the slices of third moments; see `Block.own_slices`."""
    return _add_own_product(
        rows, V, members, lambda scores, at: slice_factors(scores, r[at], u[at], k), out
    )


def _add_own_product(
    rows: Csr, V: Floats, members: Members, factors: Callable[[Floats, Any], Floats], out: Floats
) -> Floats:
    """Add B_j^T Z_j for each group j, with rows of Z that depend on those of B_j V_j."""
    for j, at, part in _parts(rows, members):
        scores = add_dot(part, V[j], np.zeros((len(at), V.shape[2])))
        _add_to_group(part, factors(scores, at), out[j])
    return out


def _add_to_group(part: Csr, Z: Floats, out: Floats) -> None:
    """Add B^T Z to the matrix of a group, which may be columns of a wider one."""
    if out.flags.c_contiguous:
        add_tdot(part, Z, out)
    else:
        out += add_tdot(part, Z, np.zeros(out.shape))


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


def _parts(rows: Csr, members: Members) -> Iterator[tuple[int, Ints, Csr]]:
    """Yield the groups that have rows, with the numbers of their rows and a copy of them."""
    d = rows.shape[1]
    data, indices, indptr = rows.data, rows.indices, rows.indptr
    if members.moved:
        data, indices, indptr = rows_of(data, indices, indptr, members.order)
    start = 0
    for j, at in members.by_group():
        end = start + len(at)
        stored = slice(indptr[start], indptr[end])
        pointers = indptr[start : end + 1]
        yield j, at, Csr(data[stored], indices[stored], pointers, (len(at), d), None, None)
        start = end


def rows_of(data: Any, indices: Any, indptr: Any, rows: Ints) -> tuple[Any, Any, Any]:
    """Return a copy of some rows: data, indices, indptr."""
    ends = np.zeros(len(rows) + 1, dtype=indptr.dtype)
    np.cumsum(np.diff(indptr)[rows], out=ends[1:])
    values, columns = np.empty(ends[-1], data.dtype), np.empty(ends[-1], indices.dtype)
    _sparsetools.csr_row_index(
        len(rows), rows.astype(indptr.dtype), indptr, indices, data, columns, values
    )
    return values, columns, ends


def _add_product(
    layout: str, n: int, d: int, arrays: tuple[Any, Any, Any], V: Floats, out: Floats
) -> Floats:
    # A SciPy array for each block would take a third of the time and copy the views.
    if V.ndim == 1 or V.shape[1] == 1:
        getattr(_sparsetools, f"{layout}_matvec")(n, d, *arrays, V.ravel(), out.reshape(-1))
    else:
        product = getattr(_sparsetools, f"{layout}_matvecs")
        product(n, d, V.shape[1], *arrays, V.ravel(), out.reshape(-1))
    return out

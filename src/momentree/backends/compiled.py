"""Products with rows in CSR form, compiled by Numba: the same as `reference`, up to rounding.

Values are read in the type in which they are stored, and columns are computed eight, four or two at
once. Rows of the same group follow each other, so that the matrix of a group stays in the cache.

Each function adds its result to `out` and returns it.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from momentree._types import Floats, Ints
from momentree.backends.csr import Csr
from momentree.backends.vectors import add, add_product, add_to, load, scale, zeros

U = np.uintp  # positions: Numba tests whether signed ones are negative


def add_dot(rows: Csr, V: Floats, out: Floats) -> Floats:
    """Add B V."""
    n, d = rows.shape
    _run(_dot, rows, *_together(n), _flat(V), _factor(rows), d, _width(V), _flat(out))
    return out


def add_tdot(rows: Csr, Z: Floats, out: Floats) -> Floats:
    """Add B^T Z."""
    n, d = rows.shape
    _run(_tdot, rows, *_together(n), _flat(Z), _factor(rows), d, _width(Z), _flat(out))
    return out


def add_gram(rows: Csr, V: Floats, r: Floats, out: Floats) -> Floats:
    """Add B^T (r * (B V))."""
    n, d = rows.shape
    _run(_gram, rows, *_together(n), _flat(V), _weights(rows, r), d, _width(V), _flat(out))
    return out


def add_own_dot(rows: Csr, V: Floats, own: Ints, out: Floats) -> Floats:
    """Add the product of each row with the matrix of its own group."""
    order, d = _by_group(own, len(V)), rows.shape[1]
    _run(_dot, rows, order, own, _flat(V), _factor(rows), d, V.shape[2], _flat(out))
    return out


def add_own_tdot(rows: Csr, Z: Floats, own: Ints, out: Floats) -> Floats:
    """Add the product of each group of rows, transposed, with its rows of Z."""
    order, d = _by_group(own, len(out)), rows.shape[1]
    _run(_tdot, rows, order, own, _flat(Z), _factor(rows), d, Z.shape[1], _flat(out))
    return out


def add_own_gram(rows: Csr, V: Floats, own: Ints, r: Floats, out: Floats) -> Floats:
    """Add B_j^T (r_j * (B_j V_j)) for each group j."""
    order, d = _by_group(own, len(V)), rows.shape[1]
    _run(_gram, rows, order, own, _flat(V), _weights(rows, r), d, V.shape[2], _flat(out))
    return out


# --- arguments, of few types so that little is compiled -----------------------------------------


def _flat(V: Floats) -> Floats:
    return V.reshape(-1)


def _width(V: Floats) -> int:
    return 1 if V.ndim == 1 else V.shape[1]


def _factor(rows: Csr) -> Floats:
    return np.ones(rows.shape[0]) if rows.row_factor is None else rows.row_factor


def _weights(rows: Csr, r: Floats) -> Floats:
    return r if rows.row_factor is None else r * rows.row_factor**2


_counted = np.arange(0)
_zeros = np.zeros(0, dtype=np.intp)


def _together(n: int) -> tuple[Ints, Ints]:
    """Return the order and the groups of n rows of one group."""
    global _counted, _zeros
    counted, zero = _counted, _zeros
    if len(counted) < n or len(zero) < n:
        counted, zero = np.arange(2 * n), np.zeros(2 * n, dtype=np.intp)
        _counted, _zeros = counted, zero
    return counted[:n], zero[:n]


def _by_group(own: Ints, g: int) -> Ints:
    """Return the rows of all groups, those of group 0 first."""
    # NumPy sorts short numbers in linear time.
    order = np.argsort(own.astype(np.int16) if g < 1 << 15 else own, kind="stable")
    return order[np.count_nonzero(own < 0) :]


def _run(function: Callable[..., None], rows: Csr, *arguments: Any) -> None:
    pointers = rows.pointers.astype(np.int64, copy=False)
    _compiled(function)(rows.stored, rows.indices, pointers, rows.values, *arguments)


# --- one row: x V, and the addition of x^T y to V -------------------------------------------------

_inside = njit(nogil=True, error_model="numpy", forceinline=True)


@_inside
def _value(table, x):
    return np.float64(x) if table is None else table[U(np.intp(x))]


def _functions(width: int) -> tuple[Any, Any, Any]:
    zero = zeros(width)

    @_inside
    def gather(stored, indices, table, a, b, V, first, m):
        even, odd = zero(), zero()  # two sums at once: an addition waits for the last
        e = a
        while e + 2 <= b:
            at = U(e)
            even = add_product(even, _value(table, stored[at]), V, first + U(indices[at]) * m)
            at += U(1)
            odd = add_product(odd, _value(table, stored[at]), V, first + U(indices[at]) * m)
            e += 2
        if e < b:
            at = U(e)
            even = add_product(even, _value(table, stored[at]), V, first + U(indices[at]) * m)
        return add(even, odd)

    @_inside
    def spread(stored, indices, table, a, b, y, V, first, m):
        for e in range(a, b):
            at = U(e)
            add_to(V, first + U(indices[at]) * m, _value(table, stored[at]), y)

    return gather, spread, load(width)


_gather8, _spread8, _load8 = _functions(8)
_gather4, _spread4, _load4 = _functions(4)
_gather2, _spread2, _load2 = _functions(2)
_gather1, _spread1, _load1 = _functions(1)


# --- all rows -------------------------------------------------------------------------------------


def _dot(stored, indices, pointers, table, order, own, V, r, d, m, out):
    m = U(m)
    for i in order:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        first, to, c = U(own[i]) * U(d) * m, U(i) * m, U(0)
        while c + U(8) <= m:
            add_to(out, to + c, r[i], _gather8(stored, indices, table, a, b, V, first + c, m))
            c += U(8)
        if c + U(4) <= m:
            add_to(out, to + c, r[i], _gather4(stored, indices, table, a, b, V, first + c, m))
            c += U(4)
        if c + U(2) <= m:
            add_to(out, to + c, r[i], _gather2(stored, indices, table, a, b, V, first + c, m))
            c += U(2)
        if c < m:
            add_to(out, to + c, r[i], _gather1(stored, indices, table, a, b, V, first + c, m))


def _tdot(stored, indices, pointers, table, order, own, Z, r, d, m, out):
    m = U(m)
    for i in order:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        first, to, c = U(own[i]) * U(d) * m, U(i) * m, U(0)
        while c + U(8) <= m:
            y = scale(_load8(Z, to + c), r[i])
            _spread8(stored, indices, table, a, b, y, out, first + c, m)
            c += U(8)
        if c + U(4) <= m:
            y = scale(_load4(Z, to + c), r[i])
            _spread4(stored, indices, table, a, b, y, out, first + c, m)
            c += U(4)
        if c + U(2) <= m:
            y = scale(_load2(Z, to + c), r[i])
            _spread2(stored, indices, table, a, b, y, out, first + c, m)
            c += U(2)
        if c < m:
            y = scale(_load1(Z, to + c), r[i])
            _spread1(stored, indices, table, a, b, y, out, first + c, m)


def _gram(stored, indices, pointers, table, order, own, V, r, d, m, out):
    m = U(m)
    for i in order:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        first, c = U(own[i]) * U(d) * m, U(0)
        while c + U(8) <= m:
            y = scale(_gather8(stored, indices, table, a, b, V, first + c, m), r[i])
            _spread8(stored, indices, table, a, b, y, out, first + c, m)
            c += U(8)
        if c + U(4) <= m:
            y = scale(_gather4(stored, indices, table, a, b, V, first + c, m), r[i])
            _spread4(stored, indices, table, a, b, y, out, first + c, m)
            c += U(4)
        if c + U(2) <= m:
            y = scale(_gather2(stored, indices, table, a, b, V, first + c, m), r[i])
            _spread2(stored, indices, table, a, b, y, out, first + c, m)
            c += U(2)
        if c < m:
            y = scale(_gather1(stored, indices, table, a, b, V, first + c, m), r[i])
            _spread1(stored, indices, table, a, b, y, out, first + c, m)


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function; what is compiled for a type is kept on disk if possible."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    plain: Any = njit(**options)(function)
    try:
        kept: Any = njit(**options, cache=True)(function)
    except RuntimeError:  # no folder can be written
        return plain  # type: ignore[no-any-return]

    def call(*arguments: Any) -> Any:
        nonlocal kept
        try:
            return kept(*arguments)
        except OSError:  # a full disk
            kept = plain
            return plain(*arguments)

    return call

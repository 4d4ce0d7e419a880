"""Products with rows in CSR form, compiled by Numba: the same as those of `Block`, up to rounding.

Up to eight columns are computed at once.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any
from zlib import crc32

import numpy as np
from numba import njit

from momentree._types import Floats, Ints
from momentree._validation import check_shape
from momentree.backends.block import Block, Members, factor, target
from momentree.backends.vectors import add, add_product, add_to, exponentials, load, scale, zeros

BATCH = 64
"""Rows whose probabilities are computed at once."""
FEW = 2
NEGLIGIBLE = 2.0**-60
"""Components of this probability, relative to the likeliest one, do not change sums of counts by
more than rounding. If at most two or a quarter remain, each is added alone."""

U = np.uintp  # positions: Numba tests whether signed ones are negative


class CompiledBlock(Block):
    """A block of rows whose products are compiled, and read values as they are stored."""

    def dot(self, V: Floats) -> Floats:
        """Return the product B V; see :meth:`Block.dot`."""
        V = factor(V, self.shape[1])
        return self._run(_dot, V, self._ones_or_factor, np.zeros((self.shape[0], *V.shape[1:])))

    def tdot(self, Z: Floats, out: Floats | None = None) -> Floats:
        """Return the product B^T Z; see :meth:`Block.tdot`."""
        Z = factor(Z, self.shape[0])
        out = target(out, (self.shape[1], *Z.shape[1:]))
        return self._run(_tdot, Z, self._ones_or_factor, out)

    def gram(self, V: Floats, r: Floats, out: Floats | None = None) -> Floats:
        """Return the product B^T (r * (B V)); see :meth:`Block.gram`."""
        V = factor(V, self.shape[1])
        return self._run(_gram, V, r * self._ones_or_factor**2, target(out, V.shape))

    def own_dot(self, V: Floats, own: Ints) -> Floats:
        """Return the product of each row and the matrix of its group; see :meth:`Block.own_dot`."""
        out = np.zeros((self.shape[0], V.shape[-1]))
        return self._run(_dot, self._stack(V), self._ones_or_factor, out, own)

    def own_tdot(self, Z: Floats, own: Ints, g: int, out: Floats | None = None) -> Floats:
        """Return the product of each group, transposed, with rows of Z; see :class:`Block`."""
        Z = np.ascontiguousarray(Z, dtype=np.float64)
        check_shape("the right factor", Z, (self.shape[0], "m"))
        out = target(out, (g, self.shape[1], Z.shape[1]))
        return self._run(_tdot, Z, self._ones_or_factor, out, own)

    def own_gram(self, V: Floats, own: Ints, r: Floats, out: Floats | None = None) -> Floats:
        """Return ``gram`` of each group with its own matrix; see :meth:`Block.own_gram`."""
        V = self._stack(V)
        return self._run(_gram, V, r * self._ones_or_factor**2, target(out, V.shape), own)

    def own_sums(
        self, V: Floats, own: Ints, r: Floats, Z: Floats, out: Floats | None = None
    ) -> Floats:
        """Return ``own_tdot`` of Z beside ``own_gram`` of V; see :meth:`Block.own_sums`."""
        V, Z = self._stack(V), np.ascontiguousarray(Z, dtype=np.float64)
        check_shape("the right factor", Z, (self.shape[0], "e"))
        out = target(out, (len(V), self.shape[1], Z.shape[1] + V.shape[2]))
        weights = self._ones_or_factor
        return self._run(_sums, V, r * weights**2, out, own, Z, weights)

    def own_slices(
        self, V: Floats, own: Ints, r: Floats, u: Floats, k: int, out: Floats | None = None
    ) -> Floats:
        """Return the sums in the slices of third moments; see :meth:`Block.own_slices`."""
        V, u, weights = self._stack(V), np.ascontiguousarray(u, np.float64), self._ones_or_factor
        check_shape("the row weights", u, (self.shape[0],))
        return self._run(_slices, V, r * weights, target(out, V.shape), own, u, weights, k)

    def expected(
        self,
        theta: Floats,
        offsets: Floats,
        v: Floats,
        out: Floats | None = None,
        labels: Ints | None = None,
    ) -> Floats:
        """Return the expected sums of the components of a mixture; see :meth:`Block.expected`."""
        if not theta.size:
            return super().expected(theta, offsets, v, out, labels)
        n, d = self.shape
        check_shape("the row weights", v, (n,))
        theta, out = factor(theta, d), target(out, (d + 2, len(offsets)))
        _compile(_expected)(
            self._stored,
            self._indices,
            self._pointers.astype(np.int64, copy=False),
            self._values,
            theta.ravel(),
            theta.shape[1],
            np.ascontiguousarray(offsets, dtype=np.float64),
            np.ascontiguousarray(v, dtype=np.float64),
            self._ones_or_factor,
            out.ravel(),
            np.empty(0, dtype=np.intp) if labels is None else labels,
        )
        return out

    # Arguments are of few types, so that little is compiled.

    @property
    def _ones_or_factor(self) -> Floats:
        return np.ones(self.shape[0]) if self._factor is None else self._factor

    def _stack(self, V: Floats) -> Floats:
        """Return one matrix per group, copied if they are not next to each other."""
        check_shape("the right factor", V, ("g", self.shape[1], "m"))
        return np.ascontiguousarray(V, dtype=np.float64)

    def _run(
        self,
        function: Callable[..., None],
        V: Floats,
        r: Floats,
        out: Floats,
        own: Ints | None = None,
        *more: Any,
    ) -> Floats:
        """Run a function on all rows; `own` is None if there is one group."""
        n = self.shape[0]
        check_shape("the row weights", r, (n,))
        order, groups = np.arange(n), np.zeros(n, dtype=np.intp)
        if own is not None:
            members = Members(own, n, len(V) if V.ndim == 3 else len(out))
            order, groups = members.order, members.own
        if V.size and out.size and len(self._stored):
            _compile(function)(
                self._stored,
                self._indices,
                self._pointers.astype(np.int64, copy=False),
                self._values,
                order,
                groups,
                *_flat(V),
                r,
                1 if V.ndim == 1 else V.shape[-1],
                *_flat(out),
                *more,
            )
        return out


def _flat(V: Floats) -> tuple[Floats, int, int]:
    """Return all numbers of matrices of groups, and their distances from group to group and row."""
    steps = [step // V.itemsize for step in V.strides]
    return V.reshape(-1), steps[0] if V.ndim == 3 else 0, steps[0] if V.ndim == 1 else steps[-2]


# --- one row: x V, and the addition of x^T y to V -------------------------------------------------

_inside = njit(nogil=True, error_model="numpy", forceinline=True)


@_inside
def _value(table, x):
    return np.float64(x) if table is None else table[U(np.intp(x))]


def _functions(width: int) -> tuple[Any, Any, Any]:
    zero = zeros(width)

    @_inside
    def gather(stored, indices, table, a, b, V, first, stride):
        even, odd = zero(), zero()  # two sums at once: an addition waits for the last
        e = a
        while e + 2 <= b:
            at = U(e)
            even = add_product(even, _value(table, stored[at]), V, first + U(indices[at]) * stride)
            at += U(1)
            odd = add_product(odd, _value(table, stored[at]), V, first + U(indices[at]) * stride)
            e += 2
        if e < b:
            at = U(e)
            even = add_product(even, _value(table, stored[at]), V, first + U(indices[at]) * stride)
        return add(even, odd)

    @_inside
    def spread(stored, indices, table, a, b, y, V, first, stride):
        for e in range(a, b):
            at = U(e)
            add_to(V, first + U(indices[at]) * stride, _value(table, stored[at]), y)

    return gather, spread, load(width)


_gather8, _spread8, _load8 = _functions(8)
_gather6, _spread6, _load6 = _functions(6)
_gather4, _spread4, _load4 = _functions(4)
_gather2, _spread2, _load2 = _functions(2)
_gather1, _spread1, _load1 = _functions(1)


@_inside
def _scores(stored, indices, table, a, b, V, first, step, m, r, out, to):
    """Add r x V to m entries of `out`."""
    c = U(0)
    while c + U(8) <= m:
        y = _gather8(stored, indices, table, a, b, V, first + c, step)
        add_to(out, to + c, r, y)
        c += U(8)
    if c + U(6) <= m:
        y = _gather6(stored, indices, table, a, b, V, first + c, step)
        add_to(out, to + c, r, y)
        c += U(6)
    if c + U(4) <= m:
        y = _gather4(stored, indices, table, a, b, V, first + c, step)
        add_to(out, to + c, r, y)
        c += U(4)
    if c + U(2) <= m:
        y = _gather2(stored, indices, table, a, b, V, first + c, step)
        add_to(out, to + c, r, y)
        c += U(2)
    if c < m:
        y = _gather1(stored, indices, table, a, b, V, first + c, step)
        add_to(out, to + c, r, y)


@_inside
def _addition(stored, indices, table, a, b, Z, at, r, m, out, first, step):
    """Add r x^T z to `out`, with m entries of Z."""
    c = U(0)
    while c + U(8) <= m:
        y = scale(_load8(Z, at + c), r)
        _spread8(stored, indices, table, a, b, y, out, first + c, step)
        c += U(8)
    if c + U(6) <= m:
        y = scale(_load6(Z, at + c), r)
        _spread6(stored, indices, table, a, b, y, out, first + c, step)
        c += U(6)
    if c + U(4) <= m:
        y = scale(_load4(Z, at + c), r)
        _spread4(stored, indices, table, a, b, y, out, first + c, step)
        c += U(4)
    if c + U(2) <= m:
        y = scale(_load2(Z, at + c), r)
        _spread2(stored, indices, table, a, b, y, out, first + c, step)
        c += U(2)
    if c < m:
        y = scale(_load1(Z, at + c), r)
        _spread1(stored, indices, table, a, b, y, out, first + c, step)


# --- all rows -------------------------------------------------------------------------------------
# Entry w of the matrix of group j begins at j * group + w * step; f has the factor of each row.


def _dot(stored, indices, pointers, table, rows, own, V, group, step, r, m, out, _, to_step):
    group, step, to_step, m = U(group), U(step), U(to_step), U(m)
    for i in rows:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        first, to = U(own[i]) * group, U(i) * to_step
        _scores(stored, indices, table, a, b, V, first, step, m, r[i], out, to)


def _tdot(stored, indices, pointers, table, rows, own, Z, _, z_step, r, m, out, group, step):
    group, step, z_step, m = U(group), U(step), U(z_step), U(m)
    for i in rows:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        first, at = U(own[i]) * group, U(i) * z_step
        _addition(stored, indices, table, a, b, Z, at, r[i], m, out, first, step)


def _gram(stored, indices, pointers, table, rows, own, V, v_group, v_step, r, m, out, group, step):
    v_group, v_step, group, step, m = U(v_group), U(v_step), U(group), U(step), U(m)
    for i in rows:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        v_first, first, c = U(own[i]) * v_group, U(own[i]) * group, U(0)
        while c + U(8) <= m:
            y = scale(_gather8(stored, indices, table, a, b, V, v_first + c, v_step), r[i])
            _spread8(stored, indices, table, a, b, y, out, first + c, step)
            c += U(8)
        if c + U(4) <= m:
            y = scale(_gather4(stored, indices, table, a, b, V, v_first + c, v_step), r[i])
            _spread4(stored, indices, table, a, b, y, out, first + c, step)
            c += U(4)
        if c + U(2) <= m:
            y = scale(_gather2(stored, indices, table, a, b, V, v_first + c, v_step), r[i])
            _spread2(stored, indices, table, a, b, y, out, first + c, step)
            c += U(2)
        if c < m:
            y = scale(_gather1(stored, indices, table, a, b, V, v_first + c, v_step), r[i])
            _spread1(stored, indices, table, a, b, y, out, first + c, step)


def _sums(
    stored, indices, pointers, table, rows, own, V, v_group, v_step, r, m, out, group, step, Z, f
):
    v_group, v_step, group, step, m = U(v_group), U(v_step), U(group), U(step), U(m)
    e = U(Z.shape[1])
    z = np.empty(e + m)
    for i in rows:
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        v_first, first = U(own[i]) * v_group, U(own[i]) * group
        z[:] = 0.0
        for c in range(e):
            z[c] = f[i] * Z[i, c]
        _scores(stored, indices, table, a, b, V, v_first, v_step, m, r[i], z, e)
        _addition(stored, indices, table, a, b, z, U(0), 1.0, e + m, out, first, step)


def _slices(
    stored, indices, pointers, table, rows, own, V, v_group, v_step, r, m, out, group, step, u, f, k
):
    v_group, v_step, group, step, m = U(v_group), U(v_step), U(group), U(step), U(m)
    z, y = np.empty(m), np.empty(m)
    for i in rows:
        if r[i] == 0.0:
            continue
        a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
        v_first, first = U(own[i]) * v_group, U(own[i]) * group
        z[:] = 0.0
        _scores(stored, indices, table, a, b, V, v_first, v_step, m, f[i], z, U(0))
        c, last = k, z[k - 1] * z[k - 1]
        for p in range(k):
            y[p] = u[i] * z[p]
            for q in range(p, k if p + 1 < k else p):
                y[c] = z[p] * z[q] - u[i] * z[c] - (last if q == p else 0.0)
                c += 1
        _addition(stored, indices, table, a, b, y, U(0), r[i], m, out, first, step)


# --- mixtures -------------------------------------------------------------------------------------


def _expected(stored, indices, pointers, table, theta, m, offsets, v, r, out, labels):
    # The rows of a batch take turns: products with all of them, then probabilities, then sums.
    k, n, m = len(offsets), len(v), U(m)
    step, some = U(k), max(FEW, k // 4)
    joint, power, at = np.empty(BATCH * k), np.empty(BATCH * k), np.empty(k, np.intp)
    sizes, likelihood = np.zeros(k), 0.0
    for begin in range(0, n, BATCH):
        end = min(begin + BATCH, n)
        for i in range(begin, end):
            a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
            to = U(i - begin) * step
            joint[to : to + step] = offsets
            _scores(stored, indices, table, a, b, theta, U(0), m, m, r[i], joint, to)
            largest, top = U(0), joint[to]
            for j in range(1, k):
                if joint[to + U(j)] > top:
                    largest, top = U(j), joint[to + U(j)]
            if len(labels):
                labels[i] = largest
            for j in range(k):
                joint[to + U(j)] -= top
            likelihood += v[i] * top
        size = (end - begin) * k
        exponentials(joint[:size], power[:size])
        for i in range(begin, end):
            a, b = pointers[i] - pointers[0], pointers[i + 1] - pointers[0]
            to, mass, active = U(i - begin) * step, 0.0, 0
            for j in range(k):
                mass += joint[to + U(j)]
                if U(j) < m and joint[to + U(j)] > NEGLIGIBLE:
                    at[active] = j
                    active += 1
            likelihood += v[i] * np.log(mass)
            weight = v[i] / mass
            for j in range(k):
                joint[to + U(j)] *= weight
                sizes[j] += joint[to + U(j)]
            if active > some:
                _addition(stored, indices, table, a, b, joint, to, r[i], m, out, U(0), step)
                continue
            for e in range(active):
                only = U(at[e])
                y = scale(_load1(joint, to + only), r[i])
                _spread1(stored, indices, table, a, b, y, out, only, step)
    last = len(out) - k
    out[last] += likelihood
    for j in range(k):
        out[last - k + j] += sizes[j]


@cache
def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a compiled function; what is compiled for a type is kept on disk if possible."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    plain: Any = njit(**options)(function)
    kept: dict[str, Any] = {}

    def call(*arguments: Any) -> Any:
        types = "".join(map(_type, arguments))
        if types not in kept:
            try:
                kept[types] = njit(**options, cache=True)(_name_by(function, types))
            except RuntimeError:  # no folder can be written
                kept[types] = plain
        try:
            return kept[types](*arguments)
        except OSError:  # a full disk
            kept[types] = plain
            return plain(*arguments)

    return call


def _type(argument: Any) -> str:
    """Return a short name of the type of an argument, ten times as fast as `numba.typeof`."""
    if isinstance(argument, np.ndarray):
        return f"{argument.dtype.char}{int(argument.flags.c_contiguous)}"
    return "n" if argument is None else "i"


def _name_by(function: Any, types: str) -> Any:
    """Return the function with the types in its name, so that each version has files of its own.

    Two processes that compile versions of one function at once may otherwise exchange them.
    """
    code, scope, closure = function.__code__, function.__globals__, function.__closure__
    own = FunctionType(code, scope, function.__name__, function.__defaults__, closure)
    own.__qualname__ = f"{function.__qualname__}_{crc32(types.encode()):08x}"
    return own

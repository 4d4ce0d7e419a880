"""Vectors of a few columns, and exponentials of many numbers, in functions that Numba compiles.

Numba's own vectorizer looks for long loops, and a row of a matrix with eight columns is a short
one: written as these vectors, products take half the time. Loops with exponentials call the
function of the C library for one number after another. This one has no branches, so that the
compiler computes several numbers at once, in a tenth of the time.
"""

# mypy: disable-error-code="misc, no-any-return, no-untyped-call, no-untyped-def, untyped-decorator"

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WIDTHS = (8, 6, 4, 2, 1)
"""Columns of a vector. The compiler divides a vector into registers of the processor."""


class Vector(types.Type):
    """The type of a vector of `width` numbers in double precision."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(f"momentree_vector{width}")


@register_model(Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.DoubleType(), fe_type.width))


VECTORS = {width: Vector(width) for width in WIDTHS}


def zeros(width: int) -> Callable[[], Any]:
    """Return a compiled function ``f()`` that returns a vector of zeros."""

    @intrinsic
    def f(_typing: Any) -> Any:
        def code(context: Any, _builder: Any, signature: Any, _args: Any) -> Any:
            return context.get_constant_null(signature.return_type)

        return VECTORS[width](), code

    return f


def load(width: int) -> Callable[..., Any]:
    """Return a compiled function ``f(A, at)``: entries `at`, `at` + 1, ... of A, an array."""

    @intrinsic
    def f(_typing: Any, A: Any, at: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _load(builder, _pointer(context, builder, signature, args, width))

        return VECTORS[width](A, at), code

    return f


@intrinsic
def add(_typing: Any, left: Any, right: Any) -> Any:
    """Return the sum of two vectors."""

    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fadd(*args)

    return left(left, right), code


@intrinsic
def scale(_typing: Any, vector: Any, x: Any) -> Any:
    """Return a vector times a number."""

    def code(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        vector, x = args
        return builder.fmul(vector, _repeat(builder, x, vector.type))

    return vector(vector, x), code


@intrinsic
def add_product(_typing: Any, vector: Any, x: Any, A: Any, at: Any) -> Any:
    """Return the vector plus x times the entries of A from `at` on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args, vector.width, first=2)
        x = _repeat(builder, args[1], args[0].type)
        return _fuse(builder, x, _load(builder, pointer), args[0])

    return vector(vector, x, A, at), code


@intrinsic
def add_to(_typing: Any, A: Any, at: Any, x: Any, vector: Any) -> Any:
    """Add x times the vector to the entries of A from `at` on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args, vector.width)
        x = _repeat(builder, args[2], args[3].type)
        out = builder.store(_fuse(builder, x, args[3], _load(builder, pointer)), pointer)
        out.align = 8
        return context.get_dummy_value()

    return types.void(A, at, x, vector), code


# --- code ---------------------------------------------------------------------------------------


def _pointer(
    context: Any, builder: Any, signature: Any, args: Any, width: int, first: int = 0
) -> Any:
    """Return a pointer to the vector at a position of an array, arguments `first` and the next."""
    kind = signature.args[first]
    array = context.make_array(kind)(context, builder, value=args[first])
    start = builder.gep(array.data, [args[first + 1]])
    return builder.bitcast(start, ir.VectorType(ir.DoubleType(), width).as_pointer())


def _load(builder: Any, pointer: Any) -> Any:
    loaded = builder.load(pointer)
    loaded.align = 8  # that of one number
    return loaded


def _repeat(builder: Any, x: Any, kind: Any) -> Any:
    vector = ir.Constant(kind, ir.Undefined)
    for i in range(kind.count):
        vector = builder.insert_element(vector, x, cgutils.int32_t(i))
    return vector


def _fuse(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x y + z, with one rounding where the processor can."""
    return builder.fadd(builder.fmul(x, y, flags=["contract"]), z, flags=["contract"])


# --- exponentials -------------------------------------------------------------------------------

LOWEST = -708.0
"""Smaller arguments count as this one: exp(-708) is 3e-308."""
_PER_LOG2 = 1.0 / math.log(2.0)
_LOG2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")  # few digits: products with n are exact
_LOG2_LOW = float.fromhex("0x1.ef35793c76730p-45")
_ROUND = 1.5 * 2.0**52  # x + _ROUND has the nearest whole number to x in its last bits
_TERMS = tuple(1.0 / math.factorial(i) for i in range(14))
(_, _, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13) = _TERMS


@njit(nogil=True, error_model="numpy", fastmath={"contract"}, inline="never")
def exponentials(x, power):
    """Replace the numbers x <= 0 by exp(x), with a relative error of at most 4e-16.

    With the whole number n nearest to x / log 2, exp(x) = 2^n exp(x - n log 2), and the Taylor
    series of the second factor converges fast. `power` is memory of the length of x.
    """
    bits = power.view(np.int64)
    for i in range(len(x)):
        x[i] = LOWEST if x[i] < LOWEST else x[i]
        power[i] = x[i] * _PER_LOG2 + _ROUND
    for i in range(len(x)):
        n = power[i] - _ROUND
        r = x[i] - n * _LOG2_HIGH - n * _LOG2_LOW
        s = _C12 + r * _C13
        s = _C11 + r * s
        s = _C10 + r * s
        s = _C9 + r * s
        s = _C8 + r * s
        s = _C7 + r * s
        s = _C6 + r * s
        s = _C5 + r * s
        s = _C4 + r * s
        s = _C3 + r * s
        s = _C2 + r * s
        s = 1.0 + r * s
        x[i] = 1.0 + r * s
    for i in range(len(x)):
        bits[i] = (bits[i] + 1023) << 52
    for i in range(len(x)):
        x[i] *= power[i]

"""Vectors of a few columns as values in functions that Numba compiles.

Numba's own vectorizer looks for long loops, and a row of a matrix with eight columns is a short
one: written as these vectors, products take half the time.
"""

# mypy: disable-error-code="misc, no-any-return, untyped-decorator"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
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
        return _fused(builder, x, _load(builder, pointer), args[0])

    return vector(vector, x, A, at), code


@intrinsic
def add_to(_typing: Any, A: Any, at: Any, x: Any, vector: Any) -> Any:
    """Add x times the vector to the entries of A from `at` on."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args, vector.width)
        x = _repeat(builder, args[2], args[3].type)
        out = builder.store(_fused(builder, x, args[3], _load(builder, pointer)), pointer)
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


def _fused(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Return x y + z, with one rounding where the processor can."""
    return builder.fadd(builder.fmul(x, y, flags=["contract"]), z, flags=["contract"])

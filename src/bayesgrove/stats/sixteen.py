"""Arithmetic on rows of sixteen numbers that is sure to become vector instructions.

The compiler makes vectors of a loop over neighbouring numbers only if it sees that what is written is not read again.
For two rows of one matrix at places that are known at run time it does not; these functions tell it.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

SIXTEEN = 16
VECTOR = ir.VectorType(ir.DoubleType(), SIXTEEN)
CONTRACT = ("contract",)


def pointer_to_row(context, builder, kind, matrix, row):
    """Pointer to a row of a contiguous matrix of sixteen columns."""
    data = context.make_array(kind)(context, builder, matrix).data
    start = builder.gep(data, [builder.mul(row, ir.Constant(ir.IntType(64), SIXTEEN))])
    return builder.bitcast(start, VECTOR.as_pointer())


def load_row(context, builder, kind, matrix, row):
    """A row as a vector."""
    return builder.load(pointer_to_row(context, builder, kind, matrix, row), align=8)


@intrinsic
def _subtract_product(typing_context, matrix, target, left, right):
    def generate(context, builder, signature, args):
        at, a, b = (pointer_to_row(context, builder, signature.args[0], args[0], row) for row in args[1:])
        product = builder.fmul(builder.load(a, align=8), builder.load(b, align=8), flags=CONTRACT)
        builder.store(builder.fsub(builder.load(at, align=8), product, flags=CONTRACT), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.int64, types.int64), generate


@intrinsic
def _add_product(typing_context, matrix, target, start, row, number, left, right):
    def generate(context, builder, signature, args):
        kind, other = signature.args[0], signature.args[2]
        at, a, b = (pointer_to_row(context, builder, kind, args[0], place) for place in (args[1], args[5], args[6]))
        everywhere = ir.Constant(VECTOR, ir.Undefined)
        for lane in range(SIXTEEN):
            everywhere = builder.insert_element(everywhere, args[4], ir.Constant(ir.IntType(32), lane))
        first = load_row(context, builder, other, args[2], args[3])
        first = builder.fadd(first, everywhere, flags=CONTRACT)
        product = builder.fmul(builder.load(a, align=8), builder.load(b, align=8), flags=CONTRACT)
        builder.store(builder.fadd(first, product, flags=CONTRACT), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, start, types.int64, types.float64, types.int64, types.int64), generate


def subtract_product(matrix, target, left, right):
    """matrix[target] -= matrix[left] * matrix[right]."""
    matrix[target] -= matrix[left] * matrix[right]


@overload(subtract_product, inline="always")
def _(matrix, target, left, right):
    return lambda matrix, target, left, right: _subtract_product(matrix, target, left, right)


def add_product(matrix, target, start, row, number, left, right):
    """matrix[target] = start[row] + number + matrix[left] * matrix[right]."""
    matrix[target] = (start[row] + number) + matrix[left] * matrix[right]


@overload(add_product, inline="always")
def _(matrix, target, start, row, number, left, right):
    return lambda matrix, target, start, row, number, left, right: _add_product(
        matrix, target, start, row, number, left, right
    )

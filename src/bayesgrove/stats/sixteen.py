"""Arithmetic on rows of sixteen numbers that is sure to become vector instructions.

The compiler makes vectors of a loop over neighbouring numbers only if it sees that what is written is not read again.
For two rows of one matrix at places that are known at run time it does not; these functions tell it.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
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


def everywhere(builder, number):
    """A vector of one number."""
    vector = ir.Constant(VECTOR, ir.Undefined)
    for lane in range(SIXTEEN):
        vector = builder.insert_element(vector, number, ir.Constant(ir.IntType(32), lane))
    return vector


@intrinsic
def _subtract_products(typing_context, matrix, target, left, count, factor):
    def generate(context, builder, signature, args):
        kind, whole = signature.args[0], args[0]
        held = load_row(context, builder, kind, whole, args[4])
        with cgutils.for_range(builder, args[3]) as step:
            at = pointer_to_row(context, builder, kind, whole, builder.add(args[1], step.index))
            row = load_row(context, builder, kind, whole, builder.add(args[2], step.index))
            product = builder.fmul(row, held, flags=CONTRACT)
            builder.store(builder.fsub(builder.load(at, align=8), product, flags=CONTRACT), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def _multiply(typing_context, matrix, target, left, right):
    def generate(context, builder, signature, args):
        a, b = (load_row(context, builder, signature.args[0], args[0], row) for row in args[2:])
        at = pointer_to_row(context, builder, signature.args[0], args[0], args[1])
        builder.store(builder.fmul(a, b), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.int64, types.int64), generate


@intrinsic
def _subtract_from(typing_context, matrix, target, number, start, row):
    def generate(context, builder, signature, args):
        at = pointer_to_row(context, builder, signature.args[0], args[0], args[1])
        right = load_row(context, builder, signature.args[3], args[3], args[4])
        builder.store(builder.fsub(everywhere(builder, args[2]), right), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.float64, start, types.int64), generate


@intrinsic
def _scale(typing_context, matrix, target, row, factor, offset):
    def generate(context, builder, signature, args):
        at, a = (pointer_to_row(context, builder, signature.args[0], args[0], place) for place in args[1:3])
        product = builder.fmul(builder.load(a, align=8), everywhere(builder, args[3]), flags=CONTRACT)
        builder.store(builder.fadd(product, everywhere(builder, args[4]), flags=CONTRACT), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.int64, types.float64, types.float64), generate


@intrinsic
def _solve_row(typing_context, matrix, first, i, factor):
    def generate(context, builder, signature, args):
        kind, whole, (first, i) = signature.args[0], args[0], args[1:3]
        numbers = context.make_array(signature.args[3])(context, builder, args[3])
        size = cgutils.unpack_tuple(builder, numbers.shape)[1]
        start = builder.gep(numbers.data, [builder.mul(i, size)])
        at = pointer_to_row(context, builder, kind, whole, builder.add(first, i))
        own = everywhere(builder, builder.load(builder.gep(start, [i])))
        held = cgutils.alloca_once_value(builder, builder.fmul(own, builder.load(at, align=8)))
        with cgutils.for_range(builder, i) as step:
            known = load_row(context, builder, kind, whole, builder.add(first, step.index))
            number = everywhere(builder, builder.load(builder.gep(start, [step.index])))
            product = builder.fmul(number, known, flags=CONTRACT)
            builder.store(builder.fsub(builder.load(held), product, flags=CONTRACT), held)
        builder.store(builder.load(held), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.int64, factor), generate


@intrinsic
def _larger(typing_context, matrix, target, left, right):
    def generate(context, builder, signature, args):
        a, b = (load_row(context, builder, signature.args[0], args[0], row) for row in args[2:])
        at = pointer_to_row(context, builder, signature.args[0], args[0], args[1])
        builder.store(builder.select(builder.fcmp_ordered(">", a, b), a, b), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, types.int64, types.int64), generate


@intrinsic
def _add_product(typing_context, matrix, target, start, row, number, left, right):
    def generate(context, builder, signature, args):
        kind, other = signature.args[0], signature.args[2]
        at, a, b = (pointer_to_row(context, builder, kind, args[0], place) for place in (args[1], args[5], args[6]))
        first = load_row(context, builder, other, args[2], args[3])
        first = builder.fadd(first, everywhere(builder, args[4]), flags=CONTRACT)
        product = builder.fmul(builder.load(a, align=8), builder.load(b, align=8), flags=CONTRACT)
        builder.store(builder.fadd(first, product, flags=CONTRACT), at, align=8)
        return context.get_dummy_value()

    return types.none(matrix, types.int64, start, types.int64, types.float64, types.int64, types.int64), generate


def subtract_products(matrix, target, left, count, factor):
    """matrix[target + k] -= matrix[left + k] * matrix[factor] for k below count."""
    matrix[target : target + count] -= matrix[left : left + count] * matrix[factor]


@overload(subtract_products, inline="always")
def _(matrix, target, left, count, factor):
    return lambda matrix, target, left, count, factor: _subtract_products(matrix, target, left, count, factor)


def multiply(matrix, target, left, right):
    """matrix[target] = matrix[left] * matrix[right]."""
    matrix[target] = matrix[left] * matrix[right]


@overload(multiply, inline="always")
def _(matrix, target, left, right):
    return lambda matrix, target, left, right: _multiply(matrix, target, left, right)


def subtract_from(matrix, target, number, start, row):
    """matrix[target] = number - start[row]."""
    matrix[target] = number - start[row]


@overload(subtract_from, inline="always")
def _(matrix, target, number, start, row):
    return lambda matrix, target, number, start, row: _subtract_from(matrix, target, number, start, row)


def scale(matrix, target, row, factor, offset):
    """matrix[target] = factor * matrix[row] + offset."""
    matrix[target] = factor * matrix[row] + offset


@overload(scale, inline="always")
def _(matrix, target, row, factor, offset):
    return lambda matrix, target, row, factor, offset: _scale(matrix, target, row, factor, offset)


def solve_row(matrix, first, i, factor):
    """matrix[first + i] = factor[i, i] matrix[first + i] - the sum over k < i of factor[i, k] matrix[first + k]."""
    matrix[first + i] *= factor[i, i]
    for k in range(i):
        matrix[first + i] -= factor[i, k] * matrix[first + k]


@overload(solve_row, inline="always")
def _(matrix, first, i, factor):
    return lambda matrix, first, i, factor: _solve_row(matrix, first, i, factor)


def larger(matrix, target, left, right):
    """matrix[target] = matrix[left] where it is larger, else matrix[right]."""
    matrix[target] = np.maximum(matrix[left], matrix[right])


@overload(larger, inline="always")
def _(matrix, target, left, right):
    return lambda matrix, target, left, right: _larger(matrix, target, left, right)


def add_product(matrix, target, start, row, number, left, right):
    """matrix[target] = start[row] + number + matrix[left] * matrix[right]."""
    matrix[target] = (start[row] + number) + matrix[left] * matrix[right]


@overload(add_product, inline="always")
def _(matrix, target, start, row, number, left, right):
    return lambda matrix, target, start, row, number, left, right: _add_product(
        matrix, target, start, row, number, left, right
    )

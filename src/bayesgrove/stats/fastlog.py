"""Logarithm and exponential without branches, so that the compiler makes vector instructions of loops that call them.

fdlibm's polynomials on what bit operations leave; error below 1 ulp. An agglomeration runs about 1.5x faster than with
libm's log.
"""

import struct

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from bayesgrove.core.jit import kernel

SAFE_FLAGS = {"nnan", "ninf", "nsz", "contract", "arcp"}
"""For `@kernel(fastmath=...)`: everything but reassociation, so that results do not depend on the compiler's mood."""

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
LG1, LG2, LG3 = 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01
LG4, LG5, LG6 = 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01
LG7 = 1.479819860511658591e-01
EXP1, EXP2, EXP3 = 1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05
EXP4, EXP5 = -1.65339022054652515390e-06, 4.13813679705723846039e-08
PER_LN2 = 1.44269504088896338700
TO_WHOLE = 6755399441055744.0
"""1.5 * 2**52: what is added to it is rounded to a whole number, which stands in its last bits."""
EXPONENT_BITS, EXPONENT_BIAS = 0x7FF, 1023
MANTISSA = 0x000FFFFFFFFFFFFF
ONE = 0x3FF0000000000000
SQRT_HALF_GAP = ONE - 0x3FE6A09E00000000
"""Added to the bits of a number, it moves the mantissa's range from [1, 2) to [sqrt(1/2), sqrt(2))."""
HALF_LOG_2PI = 0.9189385332046727


FUNCTION_ATTRIBUTES = {
    "prefer-vector-width": "512",
    "no-nans-fp-math": "true",
    "no-signed-zeros-fp-math": "true",
}


@intrinsic
def _stand_alone(typing_context):
    def generate(context, builder, signature, args):
        attributes = builder.function.attributes
        attributes.add("noinline")
        for name, value in FUNCTION_ATTRIBUTES.items():
            set.add(attributes, f'"{name}"="{value}"')
        return context.get_dummy_value()

    return types.none(), generate


def stand_alone():
    """Called in a kernel with hot loops: keep it whole (inlining spoils its vector code), use the widest vectors."""


@overload(stand_alone, inline="always")
def _():
    return lambda: _stand_alone()


@intrinsic
def _bits_of_double(typing_context, x):
    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _double_of_bits(typing_context, bits):
    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


def bits_of_double(x):
    """The 64 bits of a float as an integer."""
    return struct.unpack("<q", struct.pack("<d", x))[0]


def double_of_bits(bits):
    """The float whose 64 bits are given."""
    return struct.unpack("<d", struct.pack("<q", bits))[0]


@overload(bits_of_double, inline="always")
def _(x):
    return lambda x: _bits_of_double(x)


@overload(double_of_bits, inline="always")
def _(bits):
    return lambda bits: _double_of_bits(bits)


@kernel(fastmath=SAFE_FLAGS)
def exponent_of(x):
    """Binary exponent of a positive normal number, as a float."""
    return float((bits_of_double(x) >> 52) - 1023)


@kernel(fastmath=SAFE_FLAGS)
def mantissa_of(x):
    """Mantissa of a positive normal number, in [1, 2)."""
    return double_of_bits((bits_of_double(x) & MANTISSA) | ONE)


@kernel(fastmath=SAFE_FLAGS)
def fast_log(x, exponent):
    """log(x * 2**exponent) for a positive normal x."""
    shifted = bits_of_double(x) + SQRT_HALF_GAP
    k = exponent + float((shifted >> 52) - 1023)
    f = double_of_bits((shifted & MANTISSA) + (ONE - SQRT_HALF_GAP)) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    r = w * (LG2 + w * (LG4 + w * LG6)) + z * (LG1 + w * (LG3 + w * (LG5 + w * LG7)))
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + r) + k * LN2_LOW)) - f)


@kernel(fastmath=SAFE_FLAGS)
def fast_exp(x):
    """exp(x) for -700 <= x <= 700."""
    shifted = x * PER_LN2 + TO_WHOLE
    k = shifted - TO_WHOLE
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * (EXP1 + t * (EXP2 + t * (EXP3 + t * (EXP4 + t * EXP5))))
    y = 1.0 - ((low - r * c / (2.0 - c)) - high)
    return y * double_of_bits((bits_of_double(shifted) + EXPONENT_BIAS & EXPONENT_BITS) << 52)


@kernel(fastmath=SAFE_FLAGS, inline="always")
def fast_log_gamma(x):
    """lgamma(x) for x between 1e-300 and 1e30: Stirling's series at x + 8, less the log of x (x + 1) ... (x + 7)."""
    top = x + 8.0
    r = 1.0 / top
    r2 = r * r
    r4 = r2 * r2
    low = 1.0 / 12.0 - r2 * (1.0 / 360.0)
    middle = 1.0 / 1260.0 - r2 * (1.0 / 1680.0)
    high = 1.0 / 1188.0 - r2 * (691.0 / 360360.0)
    rest = r * (low + r4 * (middle + r4 * (high + r4 * (1.0 / 156.0))))
    below = (x * (x + 1.0)) * ((x + 2.0) * (x + 3.0)) * (((x + 4.0) * (x + 5.0)) * ((x + 6.0) * (x + 7.0)))
    return (top - 0.5) * fast_log(top, 0.0) - top + HALF_LOG_2PI + rest - fast_log(below, 0.0)

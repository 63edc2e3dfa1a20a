"""A stand-in for numpy's Generator that splits the world wherever a kernel looks at a random number.

Only where kernels run as plain Python (NUMBA_DISABLE_JIT): a draw is an object that remembers the interval it is known
to lie in. Comparing it with a number is a choice with two probabilities, after which the interval is narrower; sums
and products with numbers are remembered. With `enumerate_moves.outcomes` the law of a kernel is had to the last digit.
"""

import math

from reference.enumerate_moves import Choose


class Draw:
    """offset + scale * X, where X has a known distribution function and lies between two bounds."""

    __array_ufunc__ = None  # numpy's numbers leave comparisons and sums to this class

    def __init__(self, source, offset=0.0, scale=1.0):
        self.source, self.offset, self.scale = source, offset, scale

    def __add__(self, number):
        return Draw(self.source, self.offset + number, self.scale)

    def __mul__(self, number):
        return Draw(self.source, self.offset * number, self.scale * number)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, number):
        return self + -number

    def __neg__(self):
        return self * -1.0

    def __lt__(self, number):
        if number is self:  # numpy's searchsorted asks
            return False
        if self.scale == 0.0 or math.isinf(number):
            return self.offset < number
        below = self.source.is_below((float(number) - self.offset) / self.scale)
        return below if self.scale > 0.0 else not below

    def __gt__(self, number):
        return not self < number

    __le__, __ge__ = __lt__, __gt__


class Source:
    """One continuous variate, of which a move learns more with each comparison."""

    def __init__(self, choose, distribution, low, high):
        self.choose, self.distribution, self.low, self.high = choose, distribution, low, high

    def is_below(self, bound):
        """Whether the variate is less than a number, drawn where both are possible."""
        if bound >= self.high or bound <= self.low:
            return bound >= self.high
        start, stop = self.distribution(self.low), self.distribution(self.high)
        chance = (self.distribution(bound) - start) / (stop - start)
        if not 0.0 < chance < 1.0:
            return chance >= 1.0
        is_below = self.choose([chance, 1.0 - chance]) == 0
        if is_below:
            self.high = bound
        else:
            self.low = bound
        return is_below


class EnumeratingRng:
    """Has the methods of a Generator that moves of partitions use."""

    def __init__(self, choose: Choose):
        self.choose = choose

    def random(self):
        """A uniform draw."""
        return Draw(Source(self.choose, lambda x: x, 0.0, 1.0))

    def standard_exponential(self):
        """An exponential draw."""
        return Draw(Source(self.choose, lambda x: -math.expm1(-x), 0.0, math.inf))

    def integers(self, low, high):
        """A whole number from low to high - 1."""
        return int(low) + self.choose([1.0 / (high - low)] * int(high - low))

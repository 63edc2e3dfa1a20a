"""Log-space helpers and special functions that compile inside kernels."""

import math

import numpy as np

from bayesgrove.core.jit import borrower, kernel

LOG_2PI = math.log(2.0 * math.pi)
LOG_PI = math.log(math.pi)


@kernel
def log_add(a, b):
    """log(exp(a) + exp(b)) without overflow; -inf is the neutral element."""
    if a < b:
        a, b = b, a
    if b == -np.inf:
        return a
    return a + math.log1p(math.exp(b - a))


@kernel
def softplus(x):
    """log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@borrower
def log_sum(values):
    """log(sum(exp(values))) of a vector; -inf when it is empty or all impossible."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += math.exp(value - top)
    return top + math.log(total)


@kernel
def digamma(x):
    """Derivative of lgamma for x > 0: recurrence up to 10, then the asymptotic series (error < 1e-14)."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12))))))
    return shift + math.log(x) - 0.5 / x - series


@kernel
def log_beta(a, b):
    """Log of the beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


@kernel
def stirling_rest(x):
    """What Stirling's formula leaves out of lgamma(x), for x >= 50 (error < 1e-15)."""
    r = 1.0 / (x * x)
    return (1 / 12 - r * (1 / 360 - r / 1260)) / x


@kernel
def log_rising(x, count):
    """lgamma(x + count) - lgamma(x), also where both are huge and their difference is small."""
    if count == 0.0:
        return 0.0
    if x < 50.0:
        return math.lgamma(x + count) - math.lgamma(x)
    top = x + count
    rest = stirling_rest(top) - stirling_rest(x)
    return (x - 0.5) * math.log1p(count / x) + count * (math.log(top) - 1.0) + rest


@kernel
def log_gamma_table(start, size):
    """lgamma(start + i) for i = 0 .. size - 1; inf at 0, where plain Python would raise."""
    table = np.empty(size)
    for i in range(size):
        table[i] = math.lgamma(start + i) if start + i > 0.0 else np.inf
    return table


@kernel
def log_multivariate_gamma_ratio(x, n, dimension):
    """Log of Gamma_d(x + n / 2) / Gamma_d(x), d the dimension, n not negative.

    Arguments of the factors are half a unit apart, so that for whole n < d all but n of them cancel.
    """
    n_factors = int(n) if n < dimension and n == math.floor(n) else dimension
    total = 0.0
    for j in range(n_factors):
        total += math.lgamma(x + 0.5 * (n - j)) - math.lgamma(x + 0.5 * (n_factors - dimension - j))
    return total

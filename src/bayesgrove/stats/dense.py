"""Small dense matrices inside kernels, without a call of BLAS."""

import math

import numpy as np

from bayesgrove.core.jit import borrower, kernel

SMALLEST_FACTOR, LARGEST_FACTOR = 1e-100, 1e100
"""Pivots between these are multiplied before a logarithm is taken."""


@borrower
def cholesky(matrix):
    """Overwrite a positive definite matrix by its lower factor; gives the log determinant."""
    log_determinant = 0.0
    for j in range(matrix.shape[0]):
        floor = 1e-16 * matrix[j, j]  # rows far beyond the prior's scale leave nothing but rounding
        for i in range(j, matrix.shape[0]):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[j, j] = math.sqrt(max(total, floor))
            else:
                matrix[i, j] = total / matrix[j, j]
        for i in range(j):
            matrix[i, j] = 0.0
        log_determinant += 2.0 * math.log(matrix[j, j])
    return log_determinant


@borrower
def log_determinant(matrix):
    """Log determinant of a positive definite matrix, of which the upper triangle is read; all of it is overwritten.

    Rows are eliminated by rows, so that the inner loop becomes vector instructions, and logarithms taken of products.
    """
    size, total, product = matrix.shape[0], 0.0, 1.0
    for k in range(1, size):
        matrix[k, 0] = 1e-16 * matrix[k, k]  # the floor of `cholesky`
    for k in range(size):
        pivot = matrix[k, k] if k == 0 else max(matrix[k, k], matrix[k, 0])
        for j in range(k + 1, size):
            factor = matrix[k, j] / pivot
            for i in range(j, size):
                matrix[j, i] -= factor * matrix[k, i]
        if SMALLEST_FACTOR < pivot < LARGEST_FACTOR:
            product *= pivot
            pivot = 1.0
        if pivot != 1.0 or not SMALLEST_FACTOR < product < LARGEST_FACTOR:
            total += math.log(product) + math.log(pivot)
            product = 1.0
    return total + math.log(product)


@borrower
def solve_lower(factor, vector):
    """Overwrite `vector` by the solution of factor @ solution = vector; gives its squared length."""
    length = 0.0
    for i in range(vector.size):
        for k in range(i):
            vector[i] -= factor[i, k] * vector[k]
        vector[i] /= factor[i, i]
        length += vector[i] * vector[i]
    return length


@kernel
def difference(a, start, b):
    """a[start:] - b as far as b goes."""
    out = np.empty(b.size)
    for i in range(b.size):
        out[i] = a[start + i] - b[i]
    return out


@borrower
def dot(a, b):
    """Inner product."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total

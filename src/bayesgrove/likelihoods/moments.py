"""Count, mean and spread (sum of squared deviations) of the observed cells of a column, kept centred.

Sums of squares lose everything at offset 1e8; centred updates keep full precision.
"""

import math

from bayesgrove.core.jit import borrower, kernel

COUNT, MEAN, SPREAD = 0, 1, 2
WIDTH = 3


@kernel
def added(n, mean, spread, x):
    """Welford's update; a NaN is not counted."""
    if math.isnan(x):
        return n, mean, spread
    delta = x - mean
    mean += delta / (n + 1.0)
    return n + 1.0, mean, spread + delta * (x - mean)


@kernel
def removed(n, mean, spread, x):
    """Welford's update backwards; exact zeros when the last cell leaves."""
    if math.isnan(x):
        return n, mean, spread
    if n <= 1.0:
        return 0.0, 0.0, 0.0
    delta = x - mean
    mean -= delta / (n - 1.0)
    if n == 2.0:  # one cell has no spread: forget the rounding of all that came and went
        return 1.0, mean, 0.0
    return n - 1.0, mean, max(0.0, spread - delta * (x - mean))


@kernel
def merged(n_a, mean_a, spread_a, n_b, mean_b, spread_b):
    """Chan, Golub and LeVeque's merge."""
    n = n_a + n_b
    if n == 0.0:
        return 0.0, 0.0, 0.0
    delta = mean_b - mean_a
    return n, (n_a * mean_a + n_b * mean_b) / n, spread_a + spread_b + delta * delta * (n_a * n_b / n)


# Loops stand inside: a call with arrays for each column would count references again and again.


@kernel
def add_grained_cells(row, x, grain):
    """Put a row of cells in; each observed one brings the variance of its rounding, `grain[j]`, into the spread."""
    for j in range(x.size):
        at = WIDTH * j
        row[at], row[at + 1], row[at + 2] = added(row[at], row[at + 1], row[at + 2], x[j])
        if not math.isnan(x[j]):
            row[at + 2] += grain[j]


@kernel
def remove_grained_cells(row, x, grain):
    """Take a row of cells out; each observed one takes the variance of its rounding out of the spread."""
    for j in range(x.size):
        at = WIDTH * j
        row[at], row[at + 1], row[at + 2] = without_grain(row[at], row[at + 1], row[at + 2], x[j], grain[j])


@kernel
def without_grain(n, mean, spread, x, grain):
    """Moments after a cell and its rounding have left; what stays is never less than the other cells' rounding."""
    if math.isnan(x):
        return n, mean, spread
    left, mean, spread = removed(n, mean, spread - n * grain, x)
    return left, mean, spread + left * grain


@borrower
def add_cell(row, at, x, fixed):
    """Put one cell into a column; nothing is fixed."""
    row[at], row[at + 1], row[at + 2] = added(row[at], row[at + 1], row[at + 2], x)


@borrower
def remove_cell(row, at, x, fixed):
    """Take one cell out of a column."""
    row[at], row[at + 1], row[at + 2] = removed(row[at], row[at + 1], row[at + 2], x)


@borrower
def add_grain(row, at, x, grain):
    """Bring the variance of a cell's rounding into the spread."""
    if not math.isnan(x):
        row[at + SPREAD] += grain


@borrower
def remove_grained_cell(row, at, x, grain):
    """Take a cell and its rounding out of a column."""
    row[at], row[at + 1], row[at + 2] = without_grain(row[at], row[at + 1], row[at + 2], x, grain)


@borrower
def merge_columns(out, a, b, start, stop):
    """Merge the columns whose statistics stand from `start` to `stop`; `out` may be `a` or `b`."""
    for at in range(start, stop, WIDTH):
        out[at], out[at + 1], out[at + 2] = merged(a[at], a[at + 1], a[at + 2], b[at], b[at + 1], b[at + 2])

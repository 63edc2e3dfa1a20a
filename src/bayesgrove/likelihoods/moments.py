"""Count, mean and spread (sum of squared deviations) of the observed cells of a column, kept centred.

Sums of squares lose everything at offset 1e8; centred updates keep full precision.
"""

import math

from bayesgrove.core.jit import kernel

COUNT, MEAN, SPREAD = 0, 1, 2
WIDTH = 3


@kernel
def add_cell(row, at, x):
    """Welford's update; a NaN is not counted."""
    if math.isnan(x):
        return
    row[at + COUNT] += 1.0
    delta = x - row[at + MEAN]
    row[at + MEAN] += delta / row[at + COUNT]
    row[at + SPREAD] += delta * (x - row[at + MEAN])


@kernel
def remove_cell(row, at, x):
    """Welford's update backwards; exact zeros when the last cell leaves."""
    if math.isnan(x):
        return
    row[at + COUNT] -= 1.0
    if row[at + COUNT] <= 0.0:
        row[at + COUNT] = row[at + MEAN] = row[at + SPREAD] = 0.0
        return
    delta = x - row[at + MEAN]
    row[at + MEAN] -= delta / row[at + COUNT]
    if row[at + COUNT] == 1.0:  # one cell has no spread: forget the rounding of all that came and went
        row[at + SPREAD] = 0.0
        return
    row[at + SPREAD] = max(0.0, row[at + SPREAD] - delta * (x - row[at + MEAN]))


@kernel
def merge_cells(out, a, b, at):
    """Chan, Golub and LeVeque's merge; `out` may be `a` or `b`."""
    n_a, n_b = a[at + COUNT], b[at + COUNT]
    n = n_a + n_b
    if n == 0.0:
        out[at + COUNT] = out[at + MEAN] = out[at + SPREAD] = 0.0
        return
    delta = b[at + MEAN] - a[at + MEAN]
    mean = (n_a * a[at + MEAN] + n_b * b[at + MEAN]) / n
    spread = a[at + SPREAD] + b[at + SPREAD] + delta * delta * (n_a * n_b / n)
    out[at + COUNT], out[at + MEAN], out[at + SPREAD] = n, mean, spread

"""First views of CrossCat chains: columns that depend on each other, pair by pair, stand together.

Columns of one view share its clusters and depend on each other; columns of different views do not. For every pair the
G statistic of the table of their levels, less df log n, is twice an approximate log Bayes factor of dependence; average
linkage joins columns while the mean of these is above -1, and down to ten views: chains part views more easily than
they join them, but each view costs time. Views at random need twice as long. Chains start apart because each looks at
rows of its own choice, four in five.
"""

import math

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from bayesgrove.core.jit import kernel
from bayesgrove.models.cross.mcmc_starts import random_views, rows_of_views
from bayesgrove.models.cross.mcmc_target import Target

LEVELS = 8
"""Categories beyond the most frequent ones are one level."""
PARTS = 4
"""Numbers are cut at their quartiles."""
MOST_COLUMNS, MOST_ROWS, FEWEST_ROWS = 2_000, 1_000, 20
STRONGEST, WEAKEST = 10.0, -1.0
"""Log Bayes factors are cut off at both ends, so that no single pair decides; the least mean of a view."""
MOST_VIEWS, ROW_SHARE = 10, 0.8


def levels_of(cells: np.ndarray, n_codes: int) -> np.ndarray:
    """Few levels of a column's cells, -1 where missing."""
    levels, seen = np.full(cells.size, -1, np.int64), ~np.isnan(cells)
    if not seen.any():
        return levels
    if n_codes == 0:
        borders = np.unique(np.quantile(cells[seen], np.arange(1, PARTS) / PARTS))
        levels[seen] = np.searchsorted(borders, cells[seen])
    else:
        codes = cells[seen].astype(np.int64)
        rank = np.argsort(np.argsort(-np.bincount(codes, minlength=n_codes), kind="stable"), kind="stable")
        levels[seen] = np.minimum(rank[codes], LEVELS - 1)
    return levels


@kernel(inline="always")
def log_dependence(first, second):
    """Log Bayes factor that two columns of levels depend on each other, about."""
    table = np.zeros((LEVELS, LEVELS))
    n = 0
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            table[first[i], second[i]] += 1.0
            n += 1
    rows, columns, total = np.zeros(LEVELS), np.zeros(LEVELS), 0.0
    for a in range(LEVELS):
        for b in range(LEVELS):
            count = table[a, b]
            if count > 0.0:
                rows[a] += count
                columns[b] += count
                total += count * math.log(count)
    n_rows = n_columns = 0
    for a in range(LEVELS):
        if rows[a] > 0.0:
            total -= rows[a] * math.log(rows[a])
            n_rows += 1
        if columns[a] > 0.0:
            total -= columns[a] * math.log(columns[a])
            n_columns += 1
    if n == 0:
        return 0.0
    log_n = math.log(n)
    return total + n * log_n - 0.5 * (n_rows - 1) * (n_columns - 1) * log_n


@kernel
def all_dependences(levels, out):
    """`log_dependence` of every pair, in the order of a condensed distance matrix."""
    place = 0
    for a in range(levels.shape[0]):
        for b in range(a + 1, levels.shape[0]):
            out[place] = log_dependence(levels[a], levels[b])
            place += 1


def dependent_views(
    rng: np.random.Generator, target: Target, params: np.ndarray, concentrations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Columns by their dependence in a random share of the rows; at random where rows are few or columns very many."""
    n_columns, n_rows = target.by_column.shape
    if n_columns > MOST_COLUMNS or n_rows < FEWEST_ROWS:
        return random_views(rng, target, params, concentrations)
    of_column = np.zeros(n_columns, np.int64)
    if n_columns > 1:
        rows = rng.permutation(n_rows)[: min(MOST_ROWS, int(ROW_SHARE * n_rows))]
        some = np.ascontiguousarray(target.by_column[:, rows])
        levels = np.array([levels_of(cells, int(k)) for cells, k in zip(some, target.n_codes, strict=True)])
        odds = np.empty(n_columns * (n_columns - 1) // 2)
        all_dependences(levels, odds)
        merges = linkage(STRONGEST - np.clip(odds, -STRONGEST, STRONGEST), "average")
        found = fcluster(merges, STRONGEST - WEAKEST, "distance")
        found = fcluster(merges, MOST_VIEWS, "maxclust") if found.max() > MOST_VIEWS else found
        of_column = np.unique(found, return_inverse=True)[1].astype(np.int64)
    return of_column, rows_of_views(rng, target, params, concentrations, of_column)

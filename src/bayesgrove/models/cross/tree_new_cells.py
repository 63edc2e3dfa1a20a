"""Missing cells of new rows given their observed ones: the tree's mixtures, weighted anew by what is observed."""

import math
from collections.abc import Sequence

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.models.cross.cell_mixtures import CellMixtures, normalised, widest
from bayesgrove.models.cross.tree_rows import ViewMixture, all_scores, density_tables, pass_up, posterior_weights
from bayesgrove.models.cross.tree_views import Skeleton

ROWS_AT_ONCE = 256
LIGHTEST_TERM = math.log(1e-10)

View = tuple[int, ViewMixture, np.ndarray]
"""Node of the tree of columns, its mixture, its columns."""


def new_cell_mixtures(
    prior: ColumnsPrior, skeleton: Skeleton, views: Sequence[View], values: np.ndarray, columns: np.ndarray
) -> CellMixtures:
    """Predictives of the missing cells of some columns of new rows, row by row."""
    parts = [
        block_mixtures(prior, skeleton, views, values[low : low + ROWS_AT_ONCE], columns)
        for low in range(0, len(values), ROWS_AT_ONCE)
    ]
    sizes = np.concatenate([[0], *(np.diff(part.start) for part in parts)]).astype(np.int64)
    return CellMixtures(
        np.concatenate([np.empty(0, np.int64), *(part.column for part in parts)]),
        np.cumsum(sizes),
        np.concatenate([np.empty(0), *(part.log_weight for part in parts)]),
        np.concatenate([np.empty((0, widest(prior))), *(part.stats for part in parts)]),
    )


def block_mixtures(
    prior: ColumnsPrior, skeleton: Skeleton, views: Sequence[View], values: np.ndarray, columns: np.ndarray
) -> CellMixtures:
    """The same for a few rows: count the terms of each cell, then write them."""
    is_missing = np.isnan(values[:, columns])
    number = np.full(values.shape, -1)
    number[:, columns] = np.where(is_missing, np.cumsum(is_missing).reshape(is_missing.shape) - 1, -1)
    scores = posterior_scores(skeleton, views, values)
    counts = np.zeros(int(is_missing.sum()), np.int64)
    for own, (_, _, members) in zip(scores, views, strict=True):
        count_heavy(own, np.ascontiguousarray(number[:, members]), counts)
    start = np.concatenate([[0], np.cumsum(counts)])
    filled, log_weight, stats = start[:-1].copy(), np.empty(start[-1]), np.zeros((start[-1], widest(prior)))
    for own, (_, mixture, members) in zip(scores, views, strict=True):
        places = np.ascontiguousarray(number[:, members])
        fill_heavy(own, places, mixture.rows, mixture.prior.start, filled, log_weight, stats)
    column = np.broadcast_to(columns, is_missing.shape)[is_missing]
    return CellMixtures(column, start, normalised(log_weight, start), stats)


def posterior_scores(skeleton: Skeleton, views: Sequence[View], values: np.ndarray) -> list[np.ndarray]:
    """Log probability of every component of every view given each row, (n_rows, n_components) for each."""
    log_p, scores = np.full((skeleton.parent.size, len(values)), -np.inf), []
    for node, mixture, members in views:
        own = all_scores(density_tables(mixture, np.ascontiguousarray(values[:, members])), mixture.log_weight)
        log_p[node] = np.logaddexp.reduce(own, axis=1)
        scores.append(own - log_p[node][:, np.newaxis])
    _, log_weight = posterior_weights(skeleton, pass_up(skeleton, log_p))
    return [own + log_weight[node][:, np.newaxis] for own, (node, _, _) in zip(scores, views, strict=True)]


@kernel
def count_heavy(scores, number, counts):
    """Add the components of weight to the number of terms of each cell; `number` is -1 where none is wanted."""
    for i in range(scores.shape[0]):
        n_heavy = 0
        for k in range(scores.shape[1]):
            n_heavy += scores[i, k] >= LIGHTEST_TERM
        for j in range(number.shape[1]):
            if number[i, j] >= 0:
                counts[number[i, j]] += n_heavy


@kernel
def fill_heavy(scores, number, rows, first, filled, log_weight, stats):
    """Write the terms of the cells of one view behind those filled already."""
    for i in range(scores.shape[0]):
        for k in range(scores.shape[1]):
            if scores[i, k] < LIGHTEST_TERM:
                continue
            for j in range(number.shape[1]):
                if number[i, j] >= 0:
                    at = filled[number[i, j]]
                    filled[number[i, j]] += 1
                    log_weight[at] = scores[i, k]
                    for s in range(first[j + 1] - first[j]):
                        stats[at, s] = rows[k, first[j] + s]

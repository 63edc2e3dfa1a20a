"""New rows under draws of cross-clusterings.

Draw t: p_t(x) = prod_v [sum_c n_c m(x_v | c) + alpha_r m_0(x_v)] / (I + alpha_r); averages over draws are of densities.
"""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import logsumexp

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import (
    ColumnsPrior,
    column_draw_cell,
    column_draw_params,
)
from bayesgrove.likelihoods.gaussian_diagonal import posterior_rate
from bayesgrove.models.cross.cell_mixtures import OF_THE_COLUMN, CellMixtures, normalised, widest
from bayesgrove.models.cross.draw_tables import Draws
from bayesgrove.models.cross.mcmc_lanes import (
    CENTRE,
    CONSTANT,
    LANES,
    POWER,
    SCALE,
    add_gaussian,
    add_others,
    fill_discrete_lane,
    layout_of,
    score_discrete,
)
from bayesgrove.models.cross.mcmc_target import Target, make_target

NEGLIGIBLE = -30.0
"""Terms of a mixture whose log weight is lower than the largest by more than this are left out."""


@kernel
def fill_student_lane(fields, at, lane, n, mean, spread, p):
    """`fill_gaussian_lane` without tables, as much of it as scores need."""
    strength, shape = p[1] + n, p[2] + 0.5 * n
    scale = strength / (2.0 * posterior_rate(n, mean, spread, p[0], p[1], p[3]) * (strength + 1.0))
    fields[at + CENTRE, lane] = (p[1] * p[0] + n * mean) / strength
    fields[at + SCALE, lane] = scale
    fields[at + POWER, lane] = shape + 0.5
    fields[at + CONSTANT, lane] = math.lgamma(shape + 0.5) - math.lgamma(shape) + 0.5 * math.log(scale / math.pi)


@kernel
def score_view(target, params, of_column, view, width, stats, n_clusters):
    """Log density of each row's cells of a view under its clusters and, last, under the prior, (row, cluster)."""
    layout = layout_of(target, params, of_column, view, width)
    members, at, _, _, n_discrete, n_regular, _ = layout
    n_lanes = (n_clusters + LANES) // LANES * LANES
    fields, scores = np.zeros((layout.weights.size, n_lanes)), np.empty(n_lanes)
    rows = np.zeros((n_clusters + 1, stats.shape[1]))
    for k in range(n_clusters):
        for s in range(stats.shape[1]):
            rows[k, s] = stats[k, s]
    for k in range(n_clusters + 1):
        fill_discrete_lane(target.start, layout, rows, k, fields, k)
        for m in range(n_discrete, n_regular):
            s = target.start[members[m]]
            fill_student_lane(fields, at[m], k, rows[k, s], rows[k, s + 1], rows[k, s + 2], params[members[m]])
    out = np.empty((target.by_row.shape[0], n_clusters + 1))
    for i in range(out.shape[0]):
        score_discrete(target.codes_by_row, i, members, at, n_discrete, fields, n_lanes, scores)
        add_gaussian(target.by_row, target.codes_by_row, i, members, at, n_discrete, n_regular, fields, n_lanes, scores)
        add_others(target, params, members, n_regular, rows, i, n_clusters + 1, scores)
        for k in range(n_clusters + 1):
            out[i, k] = scores[k]
    return out


def weighted_scores(draws: Draws, target: Target, draw: int, view: int) -> np.ndarray:
    """Log joint densities of new rows with each cluster of a view of a draw and, last, a new one."""
    every = int(draws.first_view[draw]) + view
    of_column = draws.views[draw]
    width, n_clusters = int(np.count_nonzero(of_column == view)), int(draws.n_clusters[every])
    scores = score_view(target, draws.params[draw], of_column, view, width, draws.own_stats(draw), n_clusters)
    return scores + draws.cluster_log_weights(draw, every)


def log_totals(scores: np.ndarray) -> np.ndarray:
    """Log of the sum of exponentials of each row."""
    return logsumexp(scores, axis=1)


def draw_log_densities(prior: ColumnsPrior, draws: Draws, values: np.ndarray) -> np.ndarray:
    """Log density of each new row under each draw, missing cells left out, (draw, row)."""
    target, out = make_target(prior, values), np.zeros((draws.n_draws, len(values)))
    for t in range(draws.n_draws):
        for view in range(draws.n_views(t)):
            out[t] += log_totals(weighted_scores(draws, target, t, view))
    return out


def mean_log_density(draws: Draws, log_densities: np.ndarray) -> np.ndarray:
    """Log of the mean density over draws, from (draw, row)."""
    return logsumexp(log_densities + draws.log_weight[:, None], axis=0)


# Draws of new rows


@kernel
def draw_cells_of(rng, family, start, params, stats, columns, clusters, out):
    """Cells of some columns for each sample, given the cluster it is in (past the last: none), to `out`."""
    numbers, empty = np.empty(stats.shape[1]), np.zeros(stats.shape[1])
    for s in range(clusters.size):
        row = stats[clusters[s]] if clusters[s] < stats.shape[0] else empty
        for c in range(columns.size):
            j = columns[c]
            column_draw_params(rng, family[j], row, start[j], start[j + 1], params[j], numbers)
            out[s, c] = column_draw_cell(rng, family[j], numbers, start[j], start[j + 1], params[j])


def simulate_rows(
    rng: np.random.Generator,
    prior: ColumnsPrior,
    draws: Draws,
    given: np.ndarray,
    n_samples: int,
    columns: np.ndarray,
) -> np.ndarray:
    """Samples of some columns of a new row given its observed cells: a draw by its p_t(x_G), clusters, then cells."""
    target, out = make_target(prior, given[np.newaxis]), np.empty((n_samples, columns.size))
    log_weight = draw_log_densities(prior, draws, given[np.newaxis])[:, 0] + draws.log_weight
    chosen = rng.choice(draws.n_draws, n_samples, p=np.exp(log_weight - logsumexp(log_weight)))
    for t in np.unique(chosen):
        own = np.flatnonzero(chosen == t)
        for view in np.unique(draws.views[t, columns]):
            places = np.flatnonzero(draws.views[t, columns] == view)
            scores = weighted_scores(draws, target, t, int(view))[0]
            clusters = rng.choice(scores.size, own.size, p=np.exp(scores - logsumexp(scores)))
            clusters = np.where(clusters == scores.size - 1, len(draws.own_stats(t)), clusters)
            cells = np.empty((own.size, places.size))
            draw_cells_of(
                rng, prior.family, prior.start, draws.params[t], draws.own_stats(t), columns[places], clusters, cells
            )
            out[np.ix_(own, places)] = cells
    return out


# Missing cells of new rows


def new_row_mixtures(
    prior: ColumnsPrior, draws: Draws, values: np.ndarray, columns: np.ndarray, *, learned: bool
) -> CellMixtures:
    """Predictives of the missing cells of new rows given their observed ones.

    The weight of cluster c in draw t is p_t(x) p_t(c | x), x the observed cells of the whole row. Row by row, columns
    in the order given.
    """
    target = make_target(prior, values)
    log_draws = draw_log_densities(prior, draws, values) + draws.log_weight[:, None]
    log_draws -= logsumexp(log_draws, axis=0)
    cell_rows, places = np.nonzero(np.isnan(values[:, columns]))
    cell_columns = columns[places].astype(np.int64)
    parts = list(_terms(prior, draws, target, log_draws, cell_rows, cell_columns, learned=learned))
    cells, log_weight, stats, numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.argsort(cells, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=cell_rows.size))])
    numbers = numbers[order] if learned else OF_THE_COLUMN
    return CellMixtures(cell_columns, start, normalised(log_weight[order], start), stats[order], numbers)


def _terms(
    prior: ColumnsPrior,
    draws: Draws,
    target: Target,
    log_draws: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    *,
    learned: bool,
) -> Iterator[tuple[np.ndarray, ...]]:
    """For each draw and view the terms of the cells it holds: cell, log weight, statistics, numbers."""
    width, n_numbers = widest(prior), draws.params.shape[2]
    yield np.empty(0, np.int64), np.empty(0), np.empty((0, width)), np.empty((0, n_numbers))
    for t in range(draws.n_draws):
        for view in range(draws.n_views(t)):
            cells = np.flatnonzero(draws.views[t, columns] == view)
            if not cells.size:
                continue
            scores = weighted_scores(draws, target, t, view)
            log_weight = (scores - log_totals(scores)[:, None] + log_draws[t][:, None])[rows[cells]]
            which, cluster = np.nonzero(log_weight >= np.max(log_draws, axis=0)[rows[cells], None] + NEGLIGIBLE)
            stats = np.zeros((which.size, width))
            column = columns[cells[which]]
            take_stats(prior.start, draws.own_stats(t), column, cluster, scores.shape[1] - 1, stats)
            numbers = draws.params[t, column] if learned else np.empty((0, n_numbers))
            yield cells[which], log_weight[which, cluster], stats, numbers


@kernel
def take_stats(start, stats, columns, clusters, n_clusters, out):
    """Statistics of one column each in a cluster; those of the last, new one stay 0."""
    for term in range(columns.size):
        j = columns[term]
        if clusters[term] < n_clusters:
            for s in range(start[j], start[j + 1]):
                out[term, s - start[j]] = stats[clusters[term], s]


# Clusters of the point estimate


def estimate_probabilities(
    prior: ColumnsPrior, draws: Draws, columns: np.ndarray, labels: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Probability that new rows join each cluster of a view of the point estimate and, last, a new one.

    In each draw the view with most of the columns stands for it, and a cluster there for those clusters of the estimate
    that have its members.
    """
    n_clusters, target = int(labels.max()) + 1, make_target(prior, values)
    log_draws = draw_log_densities(prior, draws, values) + draws.log_weight[:, None]
    weights = np.exp(log_draws - logsumexp(log_draws, axis=0))
    found = np.zeros((len(values), n_clusters + 1))
    for t in range(draws.n_draws):
        view = int(np.argmax(np.bincount(draws.views[t, columns])))
        every = int(draws.first_view[t]) + view
        sizes, own = draws.own_sizes(every), draws.labels[every].astype(np.int64)
        both = np.bincount(own * n_clusters + labels, minlength=sizes.size * n_clusters)
        share = both.reshape(sizes.size, n_clusters) / sizes[:, None]
        scores = weighted_scores(draws, target, t, view)
        chances = np.exp(scores - log_totals(scores)[:, None]) * weights[t][:, None]
        found[:, :-1] += chances[:, :-1] @ share
        found[:, -1] += chances[:, -1]
    return found / found.sum(axis=1, keepdims=True)

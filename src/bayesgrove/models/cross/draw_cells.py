"""Single cells under draws of cross-clusterings: the cell is left out of its own cluster."""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_predictive, column_remove
from bayesgrove.models.cross.cell_mixtures import OF_THE_COLUMN, CellMixtures, widest
from bayesgrove.models.cross.draw_tables import Draws
from bayesgrove.stats.special import log_sum


@kernel
def cluster_without(family, start, stop, stats, x, n_trials, out):
    """Statistics of a column in a cluster, from `out[0]` on, once a cell of it has left."""
    for s in range(start, stop):
        out[s - start] = stats[s]
    if not np.isnan(x):
        column_remove(family, out, 0, x, n_trials)


@kernel
def own_clusters(family, start, draws, values, rows, columns, stats):
    """Statistics (cell x draw, width) of each cell's column in its row's cluster, the cell left out."""
    views, first_view, labels, first_stats, all_stats, params = (
        draws.views, draws.first_view, draws.labels, draws.first_stats, draws.stats, draws.params
    )  # fmt: skip
    n_draws = views.shape[0]
    for cell in range(rows.size):
        i, j = rows[cell], columns[cell]
        for t in range(n_draws):
            k = labels[first_view[t] + views[t, j], i]
            row, out = all_stats[first_stats[t] + k], stats[cell * n_draws + t]
            cluster_without(family[j], start[j], start[j + 1], row, values[i, j], params[t, j, 0], out)


@kernel
def own_log_density(family, start, draws, values, rows, columns, cells, width):
    """Log density of a value for each cell, averaged over draws; 0 for NaN."""
    views, first_view, labels, first_stats, all_stats, params = (
        draws.views, draws.first_view, draws.labels, draws.first_stats, draws.stats, draws.params
    )  # fmt: skip
    n_draws, out = views.shape[0], np.zeros(rows.size)
    row, terms = np.empty(width), np.empty(n_draws)
    for cell in range(rows.size):
        i, j, x = rows[cell], columns[cell], cells[cell]
        if np.isnan(x):
            continue
        for t in range(n_draws):
            k = labels[first_view[t] + views[t, j], i]
            cluster_without(
                family[j], start[j], start[j + 1], all_stats[first_stats[t] + k], values[i, j], params[t, j, 0], row
            )
            own = column_log_predictive(family[j], row, 0, start[j + 1] - start[j], x, params[t, j])
            terms[t] = draws.log_weight[t] + own
        out[cell] = log_sum(terms)
    return out


def training_mixtures(
    prior: ColumnsPrior, draws: Draws, values: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, learned: bool
) -> CellMixtures:
    """Predictives of cells of the training table: one term for each draw."""
    stats = np.zeros((rows.size * draws.n_draws, widest(prior)))
    own_clusters(prior.family, prior.start, draws, values, rows, columns, stats)
    numbers = draws.params[:, columns].transpose(1, 0, 2).reshape(-1, draws.params.shape[2])
    return CellMixtures(
        columns.astype(np.int64),
        np.arange(rows.size + 1) * draws.n_draws,
        np.tile(draws.log_weight, rows.size),
        stats,
        np.ascontiguousarray(numbers) if learned else OF_THE_COLUMN,
    )

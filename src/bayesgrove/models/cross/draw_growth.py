"""Further rows in draws of cross-clusterings: each joins a cluster by its probability given all rows before it."""

import numpy as np

from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.models.cross.mcmc_allocation import allocate_rows
from bayesgrove.models.cross.mcmc_lanes import layout_of
from bayesgrove.models.cross.mcmc_state import ROWS
from bayesgrove.models.cross.mcmc_target import fill_all_tables, make_target


def grown_rows(
    rng: np.random.Generator, prior: ColumnsPrior, values: np.ndarray, posterior: CrossPosterior, n_given: int
) -> np.ndarray:
    """Labels of all rows of `values` in all views of all draws; those of the first `n_given` stay."""
    target, n_rows = make_target(prior, values), len(values)
    n_draws = posterior.n_chains * posterior.n_draws
    views = posterior.labels.reshape(n_draws, -1).astype(np.int64)
    alphas = posterior.extra["concentrations"].reshape(n_draws, 2)[:, ROWS]
    numbers = posterior.extra.get("column_numbers")
    params, tables = prior.params, np.empty((target.table_at[-1], n_rows + 2))
    fill_all_tables(target, params, tables)
    out = np.empty((len(posterior.rows), n_rows), np.int64)
    out[:, :n_given] = posterior.rows
    order, sizes = np.arange(n_rows), np.zeros(n_rows + 1, np.int64)
    for t in range(n_draws):
        if numbers is not None:
            params = np.ascontiguousarray(numbers.reshape(n_draws, *prior.params.shape)[t])
            fill_all_tables(target, params, tables)
        first = int(posterior.first_views[t])
        for view, width in enumerate(np.bincount(views[t])):
            layout, own = layout_of(target, params, views[t], view, int(width)), out[first + view]
            alpha = float(alphas[t])
            allocate_rows(rng, target, params, tables, alpha, 1.0, layout, order, n_given, own, sizes, -np.inf)
    return out.astype(np.min_scalar_type(int(out.max())))

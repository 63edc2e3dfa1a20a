"""New columns, and pairs of columns, under draws of cross-clusterings.

Draw t: p_t(y) = [alpha_c p_0(y) + sum_v N_v p(y | z_v)] / (J + alpha_c), p_0 the evidence of a view of its own.
"""

import math

import numpy as np
from scipy.special import logsumexp

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_add, column_log_marginal
from bayesgrove.models.cross.draw_tables import Draws
from bayesgrove.models.cross.mcmc_state import COLUMNS, ROWS
from bayesgrove.models.cross.tree_columns import (
    FORMS,
    N_SEQUENTIAL,
    NEW_VIEWS,
    NewColumn,
    log_p_alone,
    sequential_log_evidences,
)
from bayesgrove.models.cross.tree_queries import view_information
from bayesgrove.models.cross.tree_rows import ViewMixture


@kernel
def log_p_in_views(cells, family, params, width, labels, n_clusters):
    """Log density of a new column given the clusters of each of some views."""
    out, n_rows = np.zeros(labels.shape[0]), labels.shape[1]
    for v in range(labels.shape[0]):
        rows = np.zeros((n_clusters[v], width))
        for i in range(n_rows):
            column_add(family, rows[labels[v, i]], 0, cells[i], params[0])
        for k in range(n_clusters[v]):
            out[v] += column_log_marginal(family, rows[k], 0, width, params)
    return out


def log_p_new_views(
    draws: Draws, column: NewColumn, new_view: str, rng: np.random.Generator | None
) -> np.ndarray | float:
    """Log evidence of the column in a view of its own, for each draw where they differ in concentration.

    Then the unbiased estimate takes its sequences at the draws' own concentrations, the others are at their mean.
    """
    alphas = draws.concentrations[:, ROWS]
    if new_view != "sequential" or (alphas == alphas[0]).all() or rng is None:
        return log_p_alone(column, math.log(float(alphas.mean())), new_view, rng)
    times = -(-N_SEQUENTIAL // draws.n_draws)
    found = [sequential_log_evidences(rng, *column, float(alpha), times) for alpha in alphas]
    return logsumexp(np.array(found), axis=1) - math.log(times)


def new_column_log_density(
    draws: Draws, column: NewColumn, form: str, new_view: str, rng: np.random.Generator | None
) -> float:
    """Log density of a new column, averaged over draws."""
    for name, value, choices in (("form", form, FORMS), ("new_view", new_view, NEW_VIEWS)):
        if value not in choices:
            raise InvalidSettingError(f"{name} is one of {', '.join(choices)}, got {value!r}.")
    n_columns, first = draws.views.shape[1], draws.first_view[:-1]
    log_p = log_p_in_views(*column, draws.labels, draws.n_clusters)
    if form == "paper":
        return float(logsumexp(np.logaddexp.reduceat(log_p, first) + draws.log_weight))
    widths = np.concatenate([np.bincount(views) for views in draws.views])
    log_total = np.logaddexp.reduceat(log_p + np.log(widths), first)
    if new_view == "none":
        return float(logsumexp(log_total + draws.log_weight)) - math.log(n_columns)
    alpha = draws.concentrations[:, COLUMNS]
    log_total = np.logaddexp(log_total, np.log(alpha) + log_p_new_views(draws, column, new_view, rng))
    return float(logsumexp(log_total - np.log(n_columns + alpha) + draws.log_weight))


def pair_mixture(prior: ColumnsPrior, draws: Draws, draw: int, a: int, b: int) -> ViewMixture:
    """Two columns of one view of a draw as a new row sees them: clusters, last a new one."""
    every = int(draws.first_view[draw] + draws.views[draw, a])
    n_clusters, widths = int(draws.n_clusters[every]), np.diff(prior.start)[[a, b]]
    rows = np.zeros((n_clusters + 1, widths.sum()))
    places = np.concatenate([np.arange(prior.start[j], prior.start[j + 1]) for j in (a, b)])
    rows[:-1] = draws.own_stats(draw)[:n_clusters][:, places]
    pair = ColumnsPrior(prior.family[[a, b]], draws.params[draw, [a, b]], np.concatenate([[0], np.cumsum(widths)]))
    log_weight = draws.cluster_log_weights(draw, every)
    return ViewMixture(pair, rows, log_weight, log_weight)


def pair_information(
    prior: ColumnsPrior, draws: Draws, a: int, b: int, rng: np.random.Generator, n_samples: int
) -> tuple[float, float]:
    """Mean over draws of the mutual information of two columns, 0 where they are in different views.

    Where it is estimated from samples they are shared out among the draws; the standard error is theirs, the spread
    over draws is not in it.
    """
    same = np.flatnonzero(draws.views[:, a] == draws.views[:, b])
    weight, total, variance = np.exp(draws.log_weight), 0.0, 0.0
    for t in same:
        own, error = view_information(pair_mixture(prior, draws, int(t), a, b), rng, max(2, -(-n_samples // same.size)))
        total += float(weight[t]) * own
        variance += float(weight[t] * error) ** 2
    return total, math.sqrt(variance)

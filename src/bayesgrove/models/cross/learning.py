"""Hyperparameters of the columns' priors and concentrations by the flat bound of the views found (empirical Bayes).

With the views v and their row trees fixed, the flat bound is a sum of one bound per view, and
d q_root / d g_k = omega_k, the probability that node k is exactly one cluster. Hence, for a factor theta on a
hyperparameter of some columns,

d bound / d log theta = sum_v sum_k omega_k sum_j d log marginal_kj / d log theta,
d bound / d log alpha_r = sum_v [sum_k omega_k - sum_{i<I} alpha_r / (alpha_r + i)],
d bound / d log alpha_c = V - sum_{j<J} alpha_c / (alpha_c + j).
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.learn import FixedTree, climb_freely, concentration_limits, fixed_tree
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import ColumnsPrior, column_log_gradient, column_log_marginal
from bayesgrove.likelihoods.contract import hyper
from bayesgrove.likelihoods.coordinates import coordinates, with_coordinates
from bayesgrove.likelihoods.families import N_HYPER
from bayesgrove.likelihoods.parts import part_of_prior
from bayesgrove.models.cross.evidence import log_crp_constant
from bayesgrove.models.cross.polish import Partition
from bayesgrove.stats.processes import expected_crp_clusters
from bayesgrove.stats.special import log_add
from bayesgrove.trees import Tree

SMALLEST_RISE = 1e-3
MOST_ROUNDS = 4
PER_COLUMN = ("gaussian.rate",)
"""Hyperparameters learned for each column; columns of a family share one factor on any other.

With a strength or pseudo-counts of its own, a column of noise fits every view. For three Gaussian views and four
columns of noise (200 x 22, seeds 0-5), the adjusted Rand index of the views fell from .89 to .65; it fell for yes/no
columns, too. Rates of their own leave these views as they are and raise the bound by 60 to 95 nats."""


class Numbers(NamedTuple):
    """What is learned: the prior and the log concentrations of rows and columns."""

    prior: ColumnsPrior
    log_rows: float
    log_columns: float


class Wanted(NamedTuple):
    """What is to be learned: names as in `hyper`, and which concentrations."""

    names: tuple[str, ...]
    rows: bool
    columns: bool

    @property
    def anything(self) -> bool:
        """Whether there is anything to learn."""
        return bool(self.names) or self.rows or self.columns


class FixedViews(NamedTuple):
    """Views with the statistics of all nodes of their row trees."""

    columns: tuple[np.ndarray, ...]
    trees: tuple[FixedTree, ...]


def fixed_views(
    prior: ColumnsPrior, values: np.ndarray, views: Sequence[np.ndarray], row_children: Sequence[np.ndarray]
) -> FixedViews:
    """Views and their row trees, as the bound sees them."""
    trees = []
    for view, children in zip(views, row_children, strict=True):
        tree = Tree.from_merges(np.asarray(children, np.int64), log_merge_odds=np.zeros(len(children)))
        trees.append(fixed_tree(part_of_prior(prior, view), np.ascontiguousarray(values[:, view]), tree))
    return FixedViews(tuple(views), tuple(trees))


@kernel
def view_bound_and_gradient(prior, tree, log_concentration, at, gradient):
    """Log q of the root of one view's row tree.

    Adds its derivatives by the coordinates of the columns, which start at places `at` of `gradient`, and last by the
    log concentration.
    """
    n_nodes, family, params, start = tree.parent.size, prior.family, prior.params, prior.start
    log_q, apart, log_odds = np.empty(n_nodes), np.zeros(n_nodes), np.full(n_nodes, np.inf)
    for k in range(n_nodes):
        log_q[k] = log_concentration + math.lgamma(tree.sizes[k])
        for j in range(family.size):
            log_q[k] += column_log_marginal(family[j], tree.rows[k], start[j], start[j + 1], params[j])
        if not tree.is_leaf[k]:
            log_odds[k] = log_q[k] - apart[k]
            log_q[k] = log_add(log_q[k], apart[k])
        if tree.parent[k] != NULL:
            apart[tree.parent[k]] += log_q[k]
    log_open = np.zeros(n_nodes)  # log probability that all strict ancestors are split
    for k in range(n_nodes - 1, -1, -1):
        if tree.parent[k] != NULL:
            log_open[k] = log_open[tree.parent[k]] - log_add(0.0, log_odds[tree.parent[k]])
        weight = math.exp(log_open[k] - log_add(0.0, -log_odds[k]))
        if weight > 1e-16:
            for j in range(family.size):
                parts = column_log_gradient(family[j], tree.rows[k], start[j], start[j + 1], params[j])
                for p in range(N_HYPER[family[j]]):
                    gradient[at[j] + p] += weight * parts[p]
            gradient[gradient.size - 1] += weight
    return log_q[n_nodes - 1]


def flat_bound_and_gradient(numbers: Numbers, views: FixedViews) -> tuple[float, np.ndarray]:
    """The flat bound, and its derivatives by the coordinates of the prior, log_rows and log_columns."""
    prior, n_views, n_columns = numbers.prior, len(views.columns), numbers.prior.family.size
    n_rows = int(views.trees[0].sizes[-1])
    at = np.concatenate([[0], np.cumsum(N_HYPER[prior.family])])
    gradient = np.zeros(int(at[-1]) + 2)
    bound = n_views * log_crp_constant(n_rows, numbers.log_rows) + log_crp_constant(n_columns, numbers.log_columns)
    for columns, tree in zip(views.columns, views.trees, strict=True):
        own, log_rows = part_of_prior(prior, columns), numbers.log_rows
        bound += view_bound_and_gradient(own, tree, log_rows, at[columns], gradient[:-1])
        bound += numbers.log_columns + math.lgamma(columns.size)
    gradient[-2] -= n_views * expected_crp_clusters(n_rows, math.exp(numbers.log_rows))
    gradient[-1] = n_views - expected_crp_clusters(n_columns, math.exp(numbers.log_columns))
    return bound, gradient


class Space(NamedTuple):
    """What is learned: log factors on the coordinates of a base prior and on both concentrations."""

    base: Numbers
    variable: np.ndarray
    """Number of the variable that moves each coordinate, log_rows and log_columns; NULL where it is fixed."""
    limits: tuple[tuple[float, float], ...]
    """Of each variable."""

    @property
    def origin(self) -> np.ndarray:
        """Where the base itself stands."""
        return np.zeros(len(self.limits))

    def at(self, where: np.ndarray) -> Numbers:
        """The hyperparameters at a point."""
        factors = np.where(self.variable == NULL, 0.0, np.append(where, 0.0)[self.variable])
        prior = with_coordinates(self.base.prior, np.exp(factors[:-2]))
        return Numbers(prior, self.base.log_rows + float(factors[-2]), self.base.log_columns + float(factors[-1]))


def new_space(base: Numbers, wanted: Wanted, row_search: str = "best") -> Space:
    """All that is wanted, with a variable for each column or one for all columns of a family.

    With the row search "greedy" all is shared by the columns of a family, within the limits of `hyper`.
    """
    limits: dict[tuple[str, int], tuple[float, float]] = {}
    keys: list[tuple[str, int]] = []
    wide = {name: (math.log(low), math.log(high)) for name, low, high in hyper(base.prior)}
    for name, column, low, high in coordinates(base.prior):
        keys.append((name, column if name in PER_COLUMN and row_search == "best" else NULL))
        if name in wanted.names:
            own = (low, high) if row_search == "best" else wide[name]
            known = limits.get(keys[-1], own)
            limits[keys[-1]] = max(own[0], known[0]), min(own[1], known[1])
    for name, is_wanted, start in (("rows", wanted.rows, base.log_rows), ("columns", wanted.columns, base.log_columns)):
        keys.append((name, NULL))
        if is_wanted:
            limits[name, NULL] = concentration_limits(start)
    places = {key: place for place, key in enumerate(limits)}
    return Space(base, np.array([places.get(key, NULL) for key in keys]), tuple(limits.values()))


def climb(space: Space, start: np.ndarray, views: FixedViews) -> np.ndarray:
    """The point to which the flat bound of fixed views climbs."""
    is_free = space.variable != NULL

    def bound_of(where: np.ndarray) -> tuple[float, np.ndarray]:
        bound, gradient = flat_bound_and_gradient(space.at(where), views)
        return bound, np.bincount(space.variable[is_free], gradient[is_free], minlength=where.size)

    return climb_freely(bound_of, start, np.arange(start.size), space.limits)


def learn(
    space: Space, values: np.ndarray, here: Partition, again: Callable[[Numbers, Partition], Partition]
) -> tuple[Numbers, Partition]:
    """Climb from some views, search again from there, and so on while the flat bound rises.

    `again(numbers, views)` gives better views under new hyperparameters, starting from those given.
    """
    numbers, where = space.base, space.origin
    for _ in range(MOST_ROUNDS):
        moved = climb(space, where, fixed_views(space.base.prior, values, here.views, here.row_children))
        candidate = space.at(moved)
        found = again(candidate, here)
        risen = found.flat_bound - here.flat_bound
        if risen <= 0.0:
            break
        numbers, here, where = candidate, found, moved
        if risen < SMALLEST_RISE:
            break
    return numbers, here

"""Numbers of the columns' priors and concentrations by the flat bound of the views found (empirical Bayes).

With the views v and their row trees fixed, the flat bound is a sum of one bound per view, and
d q_root / d g_k = omega_k, the probability that node k is exactly one cluster. Hence, for a factor theta on a number of
some columns,

d bound / d log theta = sum_v sum_k omega_k sum_j d log marginal_kj / d log theta,
d bound / d log alpha_r = sum_v [sum_k omega_k - sum_{i<I} alpha_r / (alpha_r + i)],
d bound / d log alpha_c = V - sum_{j<J} alpha_c / (alpha_c + j).

Factors are shared by the columns of a family, as `Columns` says: a column alone would learn from a handful of clusters.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.agglomeration.learn import FixedTree, climb_freely, factor_limits, fixed_tree
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.columns import N_HYPER, ColumnsPrior, column_log_gradient, column_log_marginal, hyper_start
from bayesgrove.likelihoods.contract import hyper, with_hyper
from bayesgrove.models.cross.evidence import log_crp_constant
from bayesgrove.models.cross.polish import Partition
from bayesgrove.models.cross.tree_views import part_of_prior
from bayesgrove.stats.processes import expected_crp_clusters
from bayesgrove.stats.special import log_add
from bayesgrove.trees import Tree

SMALLEST_RISE = 1e-3
MOST_ROUNDS = 4


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

    Adds its derivatives by the factors of the families, which start at places `at` of `gradient`, and last by the log
    concentration.
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
                    gradient[at[family[j]] + p] += weight * parts[p]
            gradient[gradient.size - 1] += weight
    return log_q[n_nodes - 1]


def flat_bound_and_gradient(numbers: Numbers, views: FixedViews) -> tuple[float, np.ndarray]:
    """The flat bound, and its derivatives by the factors of `hyper`, log_rows and log_columns."""
    prior, n_views, n_columns = numbers.prior, len(views.columns), numbers.prior.family.size
    n_rows = int(views.trees[0].sizes[-1])
    gradient = np.zeros(len(hyper(prior)) + 2)
    at = hyper_start(prior.family)
    bound = n_views * log_crp_constant(n_rows, numbers.log_rows) + log_crp_constant(n_columns, numbers.log_columns)
    for columns, tree in zip(views.columns, views.trees, strict=True):
        bound += view_bound_and_gradient(part_of_prior(prior, columns), tree, numbers.log_rows, at, gradient[:-1])
        bound += numbers.log_columns + math.lgamma(columns.size)
    gradient[-2] -= n_views * expected_crp_clusters(n_rows, math.exp(numbers.log_rows))
    gradient[-1] = n_views - expected_crp_clusters(n_columns, math.exp(numbers.log_columns))
    return bound, gradient


def moved_numbers(base: Numbers, factors: np.ndarray) -> Numbers:
    """Numbers after log factors on all of `hyper`, then on both concentrations."""
    prior = with_hyper(base.prior, np.exp(factors[:-2]))
    return Numbers(prior, base.log_rows + float(factors[-2]), base.log_columns + float(factors[-1]))


def climb(base: Numbers, start: np.ndarray, views: FixedViews, wanted: Wanted) -> np.ndarray:
    """Log factors on `base` that raise the flat bound of fixed views."""
    names = [name for name, _, _ in hyper(base.prior)]
    free = [names.index(name) for name in wanted.names]
    free += [len(names)] * wanted.rows + [len(names) + 1] * wanted.columns

    def bound_of(factors: np.ndarray) -> tuple[float, np.ndarray]:
        return flat_bound_and_gradient(moved_numbers(base, factors), views)

    return climb_freely(bound_of, start, free, factor_limits(base.prior, base.log_rows, base.log_columns))


def learn(
    base: Numbers, values: np.ndarray, wanted: Wanted, here: Partition, again: Callable[[Numbers, Partition], Partition]
) -> tuple[Numbers, Partition]:
    """Climb from some views, search again from there, and so on while the flat bound rises.

    `again(numbers, views)` gives better views under new numbers, starting from those given.
    """
    n_factors = len(hyper(base.prior)) + 2
    factors, numbers = np.zeros(n_factors), base
    for _ in range(MOST_ROUNDS):
        views = fixed_views(base.prior, values, here.views, here.row_children)
        moved = climb(base, factors, views, wanted)
        candidate = moved_numbers(base, moved)
        found = again(candidate, here)
        risen = found.flat_bound - here.flat_bound
        if risen <= 0.0:
            break
        numbers, here, factors = candidate, found, moved
        if risen < SMALLEST_RISE:
            break
    return numbers, here

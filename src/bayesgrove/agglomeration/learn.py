"""Hyper-parameters of a tree by its evidence bound (empirical Bayes).

With the tree fixed, d q_root / d g_k = omega_k, the probability that node k is exactly one cluster. Hence

d LB / d theta = sum_k omega_k d log_marginal_k / d theta,
d LB / d log concentration = sum_k omega_k - sum_{i<n} concentration / (concentration + i).

Build a tree, climb with the tree fixed, build again; keep the best.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.agglomeration.statistics import node_statistics
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import hyper, log_gradient, log_marginal, with_hyper
from bayesgrove.stats.special import log_add
from bayesgrove.trees import Tree

SMALLEST_RISE = 1e-3
MOST_ROUNDS = 12
MOST_HALVINGS = 2
CONCENTRATION_BOUNDS = (1e-3, 1e3)


class FixedTree(NamedTuple):
    """A tree as the evidence sees it."""

    parent: np.ndarray
    is_leaf: np.ndarray
    sizes: np.ndarray
    rows: np.ndarray


class Learned(NamedTuple):
    """A prior and concentration, and the bound of the tree they were found with."""

    prior: Any
    log_concentration: float
    bound: float


def fixed_tree(prior: Any, values: np.ndarray, tree: Tree) -> FixedTree:
    """All that the bound of a tree needs of the data."""
    rows = node_statistics(prior, values, tree, np.arange(tree.n_nodes))
    return FixedTree(tree.parent, tree.item != NULL, tree.size.astype(float), rows)


@kernel
def bound_and_gradient(prior, tree, log_concentration, gradient):
    """Log evidence bound of a fixed tree; its derivatives by the log factors of `hyper`, last the concentration."""
    n_nodes = tree.parent.size
    log_q, apart, log_odds = np.empty(n_nodes), np.zeros(n_nodes), np.full(n_nodes, np.inf)
    for k in range(n_nodes):
        log_q[k] = log_concentration + math.lgamma(tree.sizes[k]) + log_marginal(prior, tree.rows[k])
        if not tree.is_leaf[k]:
            log_odds[k] = log_q[k] - apart[k]
            log_q[k] = log_add(log_q[k], apart[k])
        if tree.parent[k] != NULL:
            apart[tree.parent[k]] += log_q[k]
    for p in range(gradient.size):
        gradient[p] = 0.0
    part = np.empty(gradient.size - 1)
    log_open = np.zeros(n_nodes)  # log probability that all strict ancestors are split
    for k in range(n_nodes - 1, -1, -1):
        if tree.parent[k] != NULL:
            log_open[k] = log_open[tree.parent[k]] - log_add(0.0, log_odds[tree.parent[k]])
        weight = math.exp(log_open[k] - log_add(0.0, -log_odds[k]))
        if weight > 1e-16:
            for p in range(part.size):
                part[p] = 0.0
            log_gradient(prior, tree.rows[k], part)
            for p in range(part.size):
                gradient[p] += weight * part[p]
            gradient[-1] += weight
    n, concentration = tree.sizes[n_nodes - 1], math.exp(log_concentration)
    for i in range(int(n)):
        gradient[-1] -= concentration / (concentration + i)
    return log_q[n_nodes - 1] + math.lgamma(concentration) - math.lgamma(n + concentration)


def climb(base: Any, start: np.ndarray, tree: FixedTree, log_concentration: float, free: np.ndarray) -> np.ndarray:
    """Log factors on `base` (and, last, on the concentration) that raise the bound of a fixed tree."""

    def bound_of(factors: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = np.empty(factors.size)
        prior = with_hyper(base, np.exp(factors[:-1]))
        return bound_and_gradient(prior, tree, log_concentration + factors[-1], gradient), gradient

    return climb_freely(bound_of, start, free, factor_limits(base, log_concentration))


def factor_limits(base: Any, *log_concentrations: float) -> list[tuple[float, float]]:
    """How far the log factors on all of `hyper`, then on concentrations, may go; always as far as where they start."""
    limits = [(math.log(low), math.log(high)) for _, low, high in hyper(base)]
    for own in log_concentrations:
        lowest, highest = (math.log(limit) - own for limit in CONCENTRATION_BOUNDS)
        limits.append((min(lowest, 0.0), max(highest, 0.0)))
    return limits


def climb_freely(
    bound_of: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    free: Sequence[int] | np.ndarray,
    limits: Sequence[tuple[float, float]],
) -> np.ndarray:
    """Factors that raise a bound given with its gradient; only those at the places `free` move."""

    def negative(moved: np.ndarray) -> tuple[float, np.ndarray]:
        factors = start.copy()
        factors[free] = moved
        bound, gradient = bound_of(factors)
        return (-bound, -gradient[free]) if math.isfinite(bound) else (math.inf, np.zeros(moved.size))

    found = minimize(
        negative, start[free], jac=True, method="L-BFGS-B", bounds=[limits[i] for i in free], options={"maxiter": 50}
    )
    factors = start.copy()
    factors[free] = found.x
    return factors


def learn(
    prior: Any, values: np.ndarray, log_concentration: float, free: tuple[str, ...], *, learn_concentration: bool
) -> Learned:
    """Raise the evidence bound over the numbers named in `free` (as in `hyper`) and, if asked, the concentration."""
    names = [name for name, _, _ in hyper(prior)]
    moving = [names.index(name) for name in free] + ([len(names)] if learn_concentration else [])
    here, best_factors = np.zeros(len(names) + 1), np.zeros(len(names) + 1)
    best, n_failed = Learned(prior, log_concentration, -math.inf), 0
    for _ in range(MOST_ROUNDS):
        candidate = with_hyper(prior, np.exp(here[:-1]))
        tree, bound = greedy_tree(candidate, values, log_concentration + here[-1])
        risen = bound - best.bound
        if risen > 0.0:
            best, best_factors = Learned(candidate, log_concentration + here[-1], bound), here
        if risen >= SMALLEST_RISE:
            here = climb(prior, here, fixed_tree(prior, values, tree), log_concentration, np.array(moving))
        elif risen > 0.0 or n_failed == MOST_HALVINGS:
            break
        else:  # the new greedy tree is worse than the old one: go half the way
            n_failed += 1
            here = 0.5 * (here + best_factors)
    return best


def greedy_tree(prior: Any, values: np.ndarray, log_concentration: float) -> tuple[Tree, float]:
    """The exact greedy tree of some rows and its evidence bound."""
    complete = not np.isnan(values).any()
    atoms = atoms_of_rows(prior, values, log_concentration)
    merges = agglomerate(prior, atoms, log_concentration, complete=complete)
    return Tree.from_merges(merges.children, log_merge_odds=merges.log_odds), evidence_bound(
        merges.log_q[-1], len(values), log_concentration
    )


def evidence_bound(log_q_root: float, n: int, log_concentration: float) -> float:
    """Lower bound on the Dirichlet process mixture's evidence, for any binary tree."""
    concentration = math.exp(log_concentration)
    return float(log_q_root + math.lgamma(concentration) - math.lgamma(n + concentration))

"""Posteriors over hierarchies of fixed depth whose nodes are mixtures (BHMC), by enumeration of all trees.

Symbols: beta_z the weights of node z, n_k customers of component k. Weights are integrated out from the leaves up.
Given the parent's weights b, E prod_k beta_k^n_k = Gamma(gamma) / Gamma(gamma + n.) prod_k (gamma b_k)^(n_k
rising), and a rising factorial is a polynomial whose coefficients are Stirling numbers of the first kind; so every
subtree is a polynomial in the weights of the node above it. At the root E prod_k beta_k^t_k summed over the places
of K components in the stick is gamma0^K Gamma(gamma0) / Gamma(gamma0 + t.) prod_k Gamma(t_k).
"""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from posteriors.codes import Labels, all_hierarchies, all_partitions, blocks
from posteriors.marginals import table_marginal
from posteriors.processes import log_dirichlet
from posteriors.quantities import State, describe, rounded

Polynomial = dict[tuple[int, ...], float]
Levels = tuple[Labels, ...]


class TreeLaw(NamedTuple):
    """All trees: log p(tree), log p(data | tree), and the law of the number of components given the tree and data."""

    trees: tuple[Levels, ...]
    log_prior: np.ndarray
    log_likelihood: np.ndarray
    n_components: np.ndarray
    """(n_trees, n_rows): probability of 1, 2, ... components."""
    worst_total: float
    """Largest deviation from 1 of the sum of the component partitions' probabilities given a tree."""


@cache
def stirling(n: int, t: int) -> int:
    """Unsigned Stirling numbers of the first kind."""
    if n == t:
        return 1
    if t < 1 or t > n:
        return 0
    return (n - 1) * stirling(n - 1, t) + stirling(n - 1, t - 1)


@cache
def raised(counts: tuple[int, ...], gamma: float) -> tuple[tuple[tuple[int, ...], float], ...]:
    """E prod_k beta_k^n_k as a polynomial in the parent's weights."""
    scale = math.exp(math.lgamma(gamma) - math.lgamma(gamma + sum(counts)))
    powers = [range(min(n, 1), n + 1) for n in counts]
    return tuple(
        (t, scale * math.prod(stirling(n, k) * gamma**k for n, k in zip(counts, t, strict=True)))
        for t in itertools.product(*powers)
    )


def product(first: Polynomial, second: Polynomial) -> Polynomial:
    """Of two polynomials."""
    found: Counter[tuple[int, ...]] = Counter()
    for (s, a), (t, b) in itertools.product(first.items(), second.items()):
        found[tuple(x + y for x, y in zip(s, t, strict=True))] += a * b
    return dict(found)


def expectation(inner: Polynomial, gamma: float) -> Polynomial:
    """A polynomial in a node's weights, as one in its parent's."""
    found: Counter[tuple[int, ...]] = Counter()
    for counts, coefficient in inner.items():
        for t, factor in raised(counts, gamma):
            found[t] += coefficient * factor
    return dict(found)


def component_probability(levels: Levels, components: Labels, gamma: float, gamma0: float) -> float:
    """P(data are divided into these components | tree)."""
    n_components = max(components) + 1
    inner: dict[int, Polynomial] = {}
    for leaf in set(levels[-1]):
        own = [components[i] for i, node in enumerate(levels[-1]) if node == leaf]
        inner[leaf] = {tuple(own.count(k) for k in range(n_components)): 1.0}
    for level in range(len(levels) - 1, -1, -1):
        above = levels[level - 1] if level else (0,) * len(components)
        outer: dict[int, Polynomial] = {}
        for node, polynomial in inner.items():
            parent = above[levels[level].index(node)]
            raised_up = expectation(polynomial, gamma)
            outer[parent] = product(outer[parent], raised_up) if parent in outer else raised_up
        inner = outer
    return math.fsum(
        coefficient * math.exp(log_dirichlet(list(powers), gamma0)) for powers, coefficient in inner[0].items()
    )


def log_tree_prior(levels: Levels, alpha: float) -> float:
    """Nested Chinese restaurant process: one restaurant for every inner node."""
    total, above = 0.0, (0,) * len(levels[0])
    for labels in levels:
        for node in blocks(above):
            total += log_dirichlet(list(Counter(labels[i] for i in node).values()), alpha)
        above = labels
    return total


def tree_law(rows: Sequence[Sequence[float]], depth: int, parameters: Mapping[str, float]) -> TreeLaw:
    """Prior and likelihood of every tree."""
    columns = [
        {
            "family": "GaussianKnownVariance",
            "variance": parameters["component_variance"],
            "prior_mean": 0.0,
            "prior_variance": parameters["base_variance"],
        }
    ] * len(rows[0])
    log_block, n = table_marginal(rows, columns), len(rows)
    partitions = all_partitions(n)
    densities = [math.exp(math.fsum(log_block(block) for block in blocks(c))) for c in partitions]
    trees = all_hierarchies(n, depth)
    likelihoods, numbers, worst = [], np.zeros((len(trees), n)), 0.0
    for place, levels in enumerate(trees):
        chances = [component_probability(levels, c, parameters["gamma"], parameters["gamma0"]) for c in partitions]
        worst = max(worst, abs(math.fsum(chances) - 1.0))
        for c, chance, density in zip(partitions, chances, densities, strict=True):
            numbers[place, max(c)] += chance * density
        likelihoods.append(numbers[place].sum())
    log_prior = np.array([log_tree_prior(levels, parameters["alpha"]) for levels in trees])
    likelihood = np.array(likelihoods)
    return TreeLaw(trees, log_prior, np.log(likelihood), numbers / likelihood[:, None], worst)


def tree_states(law: TreeLaw, log_factors: np.ndarray | float = 0.0) -> tuple[list[State], float]:
    """All trees with their probabilities, multiplied by factors where there are any, and the log of the total."""
    logs = law.log_prior + law.log_likelihood + log_factors
    total = float(np.logaddexp.reduce(logs))
    named = [{f"level_{k + 1}": labels for k, labels in enumerate(levels)} for levels in law.trees]
    return [State(names, p) for names, p in zip(named, np.exp(logs - total).tolist(), strict=True)], total


def nested_quantities(law: TreeLaw, log_factors: np.ndarray | float = 0.0) -> dict[str, Any]:
    """Exact quantities of trees."""
    states, total = tree_states(law, log_factors)
    names = list(states[0].partitions)
    found = describe(states, [tuple(names)])
    chances = np.array([state.probability for state in states]) @ law.n_components
    found["counts"]["components"] = {
        "values": list(range(1, len(chances) + 1)),
        "probabilities": [rounded(p) for p in chances],
    }
    mean = float(chances @ np.arange(1, len(chances) + 1))
    found["expectations"]["n_components"] = {"value": rounded(mean)}
    found["log_evidence"] = {"value": rounded(total)}
    return found

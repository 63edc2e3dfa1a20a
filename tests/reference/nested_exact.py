"""Exact laws of nested hierarchies of a few data, by enumeration of trees and table partitions (acceptance 1, 7, 8)."""

import itertools
import math
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np

from reference.crosscat import blocks, log_crp, partitions, relabel
from reference.nested import Model, Node, State, log_block_normal, log_p_tree, tree_from_levels, tree_key
from reference.nested_margins import log_chance, log_chance_max

Levels = tuple[tuple[int, ...], ...]
Partition = frozenset[frozenset[int]]


@cache
def all_trees(n_rows: int, depth: int) -> tuple[Levels, ...]:
    """Every tree: partitions that get finer with the level, in the golden file's order."""
    found: list[Levels] = [()]
    for _ in range(depth):
        found = [(*levels, finer) for levels in found for finer in partitions(n_rows) if is_finer(finer, levels)]
    return tuple(sorted(found, key=tree_key))


def is_finer(finer, levels) -> bool:
    """Whether a partition divides the last level's blocks."""
    return not levels or all(len({levels[-1][n] for n in block}) == 1 for block in blocks(finer))


@cache
def log_prior(levels: Levels, alpha: float) -> float:
    """log p(V)."""
    return log_p_tree(tree_from_levels(levels)[0], len(levels), alpha)


def coarsened(law: dict[Partition, float], concentration: float) -> dict[Partition, float]:
    """Law of the blocks of a CRP whose customers are the blocks of a random partition."""
    found: Counter[Partition] = Counter()
    for partition, probability in law.items():
        tables = sorted(partition, key=min)
        for labels in partitions(len(tables)):
            merged = frozenset(frozenset().union(*(tables[i] for i in block)) for block in blocks(labels))
            found[merged] += probability * math.exp(log_crp(labels, concentration))
    return dict(found)


def together(laws: list[dict[Partition, float]]) -> dict[Partition, float]:
    """Law of the union of independent partitions of different data."""
    found: Counter[Partition] = Counter()
    for parts in itertools.product(*(law.items() for law in laws)):
        found[frozenset().union(*(part for part, _ in parts))] += math.prod(chance for _, chance in parts)
    return dict(found)


@cache
def component_law(levels: Levels, gamma: float, gamma0: float) -> dict[Partition, float]:
    """P(partition of the data into components | V): franchises of franchises, gamma below the root, gamma0 in it."""
    rows = range(len(levels[0]))
    current = {label: together([single(n) for n in rows if levels[-1][n] == label]) for label in set(levels[-1])}
    for level in range(len(levels) - 1, -1, -1):
        seated = {label: coarsened(law, gamma) for label, law in current.items()}
        above = levels[level - 1] if level else (0,) * len(levels[0])
        parent_of = {levels[level][n]: above[n] for n in rows}
        current = {
            parent: together([law for label, law in seated.items() if parent_of[label] == parent])
            for parent in set(above)
        }
    return coarsened(current[0], gamma0)


def single(n: int) -> dict[Partition, float]:
    """A datum that is its own block."""
    return {frozenset([frozenset([n])]): 1.0}


class Law(NamedTuple):
    """The law of (tree, component partition), and what follows from it."""

    trees: tuple[Levels, ...]
    joint: dict[tuple[str, tuple[int, ...]], float]
    """Probability of (tree, components by first appearance)."""
    log_likelihood: np.ndarray
    """log p(X | V)."""
    log_evidence: float
    probabilities: np.ndarray
    """Of the trees."""

    @property
    def names(self) -> list[str]:
        """Names of the trees."""
        return [tree_key(levels) for levels in self.trees]

    def level_1(self) -> np.ndarray:
        """P(number of level-1 nodes = 1, 2, ...)."""
        return self._distribution(lambda levels: max(levels[0]) + 1)

    def leaves(self) -> np.ndarray:
        """P(number of leaves = 1, 2, ...)."""
        return self._distribution(lambda levels: max(levels[-1]) + 1)

    def _distribution(self, number) -> np.ndarray:
        found = np.zeros(len(self.trees[0][0]))
        for levels, probability in zip(self.trees, self.probabilities, strict=True):
            found[number(levels) - 1] += probability
        return found

    def components(self) -> np.ndarray:
        """P(K = 1, 2, ...)."""
        found = np.zeros(len(self.trees[0][0]))
        for (_, labels), probability in self.joint.items():
            found[max(labels)] += probability
        return found


def exact_law(model: Model, factors=None, *, alpha=1.0, gamma=1.0, gamma0=1.0, s2=1.0, h2=1.0) -> Law:
    """Exact law of tree and component partition; `factors` are E_eta[R] of the trees (1 where none are given)."""
    log_block = model.log_marginal or (lambda rows: log_block_normal(rows, s2, h2))
    log_of_block = cache(lambda block: log_block(model.data[sorted(block)]))
    trees = all_trees(len(model.data), model.depth)
    factors = np.ones(len(trees)) if factors is None else np.asarray(factors)
    weights, evidences = {}, []
    for levels, factor in zip(trees, factors, strict=True):
        prior, evidence = math.exp(log_prior(levels, alpha)) * factor, 0.0
        for partition, probability in component_law(levels, gamma, gamma0).items():
            mass = probability * math.exp(math.fsum(log_of_block(block) for block in partition))
            evidence += mass
            weights[tree_key(levels), labels_of(partition)] = prior * mass
        evidences.append(evidence)
    priors = np.exp([log_prior(levels, alpha) for levels in trees]) * factors
    total = float(priors @ evidences)
    joint = {key: weight / total for key, weight in weights.items()}
    return Law(trees, joint, np.log(evidences), math.log(total), priors * evidences / total)


def labels_of(partition: Partition) -> tuple[int, ...]:
    """Labels by first appearance."""
    owner = {n: k for k, block in enumerate(partition) for n in block}
    return relabel(owner[n] for n in range(len(owner)))


# E_eta[R] by Monte Carlo


def penalty_factors(model: Model, trees: tuple[Levels, ...], n_draws: int, seed: int, *, nu2=1.0) -> np.ndarray:
    """R of every tree under common draws of the discriminants, shape (n_trees, n_draws)."""
    rng, rows = np.random.default_rng(seed), model.margin_rows
    eta = math.sqrt(nu2) * rng.normal(size=(model.depth, len(rows), n_draws, rows.shape[1]))
    scores = eta @ rows.T  # of node j of a level, for draw m and datum n
    return np.array([np.exp(-_energies(model, levels, scores, nu2)) for levels in trees])


def _energies(model: Model, levels: Levels, scores: np.ndarray, nu2: float) -> np.ndarray:
    rows, twice = model.margin_rows, 2.0 * model.strength
    total = np.zeros(scores.shape[2])
    for n in range(len(rows)):
        hinges, length = [], math.sqrt(nu2 * float(rows[n] @ rows[n]))
        for level, labels in enumerate(levels):
            above = levels[level - 1] if level else (0,) * len(rows)
            others = {labels[m] for m in range(len(rows)) if above[m] == above[n]} - {labels[n]}
            if not others:
                continue
            own = scores[level, labels[n], :, n]
            found = np.array([np.maximum(0.0, model.margin - own + scores[level, z, :, n]) for z in sorted(others)])
            hinges.append(found.sum(axis=0) if model.penalty in ("sum", "chance") else found.max(axis=0))
            if model.penalty == "chance":
                total += len(others) * log_chance(model.strength, model.margin, math.sqrt(2.0) * length)
            elif model.penalty == "chance-max":
                total += log_chance_max(model.strength, model.margin, length, len(others))
        if hinges:
            total += twice * (np.max(hinges, axis=0) if model.penalty == "max" else np.sum(hinges, axis=0))
    return total


def expected_factors(model: Model, n_draws: int, seed: int, *, nu2: float = 1.0, n_parts: int = 10) -> np.ndarray:
    """E_eta[R] of every tree and standard errors, shape (2, n_trees)."""
    trees = all_trees(len(model.data), model.depth)
    parts = np.array(
        [
            penalty_factors(model, trees, n_draws // n_parts, seed + part, nu2=nu2).mean(axis=1)
            for part in range(n_parts)
        ]
    )
    return np.array([parts.mean(axis=0), parts.std(axis=0, ddof=1) / math.sqrt(n_parts)])


def state_at(levels: Levels, components, log_weights: dict[str, np.ndarray], theta, eta, **numbers) -> State:
    """A state of named nodes, "level:label"; the root is "0:0"."""
    root, leaves = tree_from_levels(levels)
    state = State(root, leaves, list(components), [np.array(mean, float) for mean in theta], **numbers)
    for name, node in named_nodes(state).items():
        node.log_weights = np.array(log_weights[name], float)
        node.eta = np.array(eta[name], float) if name in eta else np.zeros(0)
    return state


def named_nodes(state: State) -> dict[str, Node]:
    """Nodes by level and first appearance over the data."""
    found: dict[str, Node] = {"0:0": state.root}
    for level in range(1, state.leaf[0].level + 1):
        path_nodes = dict.fromkeys(leaf.path()[level] for leaf in state.leaf)
        found.update({f"{level}:{k}": node for k, node in enumerate(path_nodes)})
    return found

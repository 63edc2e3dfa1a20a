"""Randomized search for views: split the columns by the tree of a sample, level by level (Algorithm 2 completed).

A set of columns is divided in two by the children of the root of the exact tree of a random sample; every other column
goes to the side that predicts it better. Small sets are searched exactly; at the last level a set is taken for one
view (a truncated leaf, q = g). The bound is valid for any such tree.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.models.cross.column_trees import Node, shifted, union_node, whole_nodes
from bayesgrove.models.cross.evidence import Problem, column_gains, grow_views
from bayesgrove.models.cross.fixed_trees import column_scores
from bayesgrove.models.cross.search_exact import search_exact

RULES = ("mass", "paper")


class RandomizedSettings(NamedTuple):
    """How to split."""

    sample_size: int = 20
    leaf_size: int = 6
    """Sets of fewer columns are searched exactly."""
    levels: int = 6
    filter_rule: str = "mass"
    """"mass" weighs each node of a side by the number of its columns; "paper" is the rule in print."""


class ColumnSet(NamedTuple):
    """A set of columns in the order in which sets were made; `sides` are numbers of later sets."""

    columns: np.ndarray
    path: tuple[int, ...]
    sides: tuple[int, ...]


def check_settings(settings: RandomizedSettings) -> None:
    """Refuse what cannot split."""
    if settings.filter_rule not in RULES:
        raise InvalidSettingError(f'filter_rule is "mass" or "paper", got {settings.filter_rule!r}.')
    for name, smallest in (("sample_size", 2), ("leaf_size", 3), ("levels", 0)):
        if getattr(settings, name) < smallest:
            raise InvalidSettingError(f"{name} must be at least {smallest}, got {getattr(settings, name)}.")


def below(nodes: list[Node], root: int) -> list[int]:
    """Numbers of all nodes of a subtree, the root first."""
    found = [root]
    for node in found:
        found.extend(nodes[node].children)
    return found


def side_log_weights(problem: Problem, nodes: list[Node], inside: list[int], rule: str) -> np.ndarray:
    """Log weight of each node of a side (its root first) in the prediction of a further column.

    omega_k N_k, with omega the probability inside the side that k is exactly one view.

    **Erratum** The printed rule weighs a side by pi, the prior of merging inside it, and leaves out N_k
    (tests/exact/test_bhcc_searches.py, test_golden_filter).
    """
    log_open = {inside[0]: 0.0}
    weights = []
    for k in inside:
        odds = nodes[k].log_odds
        weights.append(log_open[k] - float(np.logaddexp(0.0, -odds)))
        for child in nodes[k].children:
            log_open[child] = log_open[k] - float(np.logaddexp(0.0, odds))
    if rule == "mass":
        return np.array(weights) + np.log([nodes[k].columns.size for k in inside])
    side = nodes[inside[0]]
    return np.array(weights) + problem.log_columns + math.lgamma(side.columns.size) - side.log_d


def side_scores(problem: Problem, nodes: list[Node], columns: np.ndarray, rule: str) -> np.ndarray:
    """Log score of each column for the two sides of a tree, (columns, 2)."""
    scores = np.empty((columns.size, 2))
    for s, side in enumerate(nodes[-1].children):
        inside = below(nodes, side)
        views, trees = [nodes[k].columns for k in inside], [nodes[k].row_children for k in inside]
        terms = column_scores(problem, views, trees, columns) + side_log_weights(problem, nodes, inside, rule)
        scores[:, s] = np.logaddexp.reduce(terms, axis=1)
    return scores


def divide(
    problem: Problem, columns: np.ndarray, sample: np.ndarray, gains: np.ndarray, rule: str
) -> tuple[tuple[np.ndarray, np.ndarray], int]:
    """The two sides of a set of columns by the tree of a sample; ties go to the second."""
    nodes, n_trees = search_exact(problem, sample, gains)
    others = np.setdiff1d(columns, sample)
    goes_first = np.zeros(others.size, np.bool_)
    if others.size:
        scores = side_scores(problem, nodes, others, rule)
        goes_first = scores[:, 0] > scores[:, 1]
    a, b = (nodes[child].columns for child in nodes[-1].children)
    return (
        np.sort(np.concatenate([a, others[goes_first]])),
        np.sort(np.concatenate([b, others[~goes_first]])),
    ), n_trees


def split_sets(
    problem: Problem, root: ColumnSet, gains: np.ndarray, settings: RandomizedSettings, seed: int
) -> tuple[list[ColumnSet], int]:
    """All sets of the recursion, parents before their sides."""
    sets, n_trees = [root], 0
    for number, here in enumerate(sets):
        if here.columns.size < settings.leaf_size or len(here.path) - len(root.path) >= settings.levels:
            continue
        size = max(2, min(settings.sample_size, here.columns.size))
        sample = np.sort(generator(seed, *here.path).choice(here.columns, size, replace=False))
        sides, grown = divide(problem, here.columns, sample, gains, settings.filter_rule)
        n_trees += grown
        sets[number] = here._replace(sides=(len(sets), len(sets) + 1))
        sets.extend(ColumnSet(side, (*here.path, s), ()) for s, side in enumerate(sides))
    return sets, n_trees


def search_randomized(
    problem: Problem,
    columns: np.ndarray | None = None,
    gains: np.ndarray | None = None,
    settings: RandomizedSettings | None = None,
    *,
    seed: int = 0,
    path: tuple[int, ...] = (),
) -> tuple[list[Node], int]:
    """The randomized tree of some columns (all of them unless given), and the number of row trees grown.

    Samples depend on the seed, on `path` and on the place of a set in the recursion.
    """
    settings = settings or RandomizedSettings()
    check_settings(settings)
    chosen = np.arange(problem.table.n_columns) if columns is None else np.sort(np.asarray(columns, np.int64))
    gains = column_gains(problem) if gains is None else gains
    sets, n_trees = split_sets(problem, ColumnSet(chosen, path, ()), gains, settings, seed)
    is_small = [not here.sides and here.columns.size < settings.leaf_size for here in sets]
    whole = [number for number in range(len(sets)) if not is_small[number]]
    found: dict[int, list[Node]] = {}
    if whole:
        views = [sets[number].columns for number in whole]
        grown = grow_views(problem, views, gains)
        n_trees += grown.n_trees
        found = {number: [node] for number, node in zip(whole, whole_nodes(problem, views, grown), strict=True)}
    for number in reversed(range(len(sets))):
        here = sets[number]
        if is_small[number]:
            found[number], grown_here = search_exact(problem, here.columns, gains)
            n_trees += grown_here
        elif here.sides:
            found[number] = joined(problem, found.pop(here.sides[0]), found.pop(here.sides[1]), found[number][0])
    return found[0], n_trees


def joined(problem: Problem, first: list[Node], second: list[Node], whole: Node) -> list[Node]:
    """Two trees under the node of their union, whose evidence is known."""
    nodes = [*first, *shifted(second, len(first))]
    children = (len(first) - 1, len(nodes) - 1)
    return [*nodes, union_node(problem, nodes, children, whole.evidence, whole.row_children)]

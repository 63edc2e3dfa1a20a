"""From several deterministic starts to the variational approximation of the highest bound.

Starts have 1, 2, 4, ... components, groups of Ward's clustering of a random sample of the rows; of many rows, as many
as a search on a sample found, twice as many, and so on. From each, coordinate ascent alternates with merges of
components, and with moves of components to other leaves; either must raise the bound.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import cut_tree, ward
from scipy.special import gammaln, xlogy

from bayesgrove.core.rng import fixed_sample
from bayesgrove.models.nested.target import ALPHA, BASE_VARIANCE, COMPONENT_VARIANCE, GAMMA
from bayesgrove.models.nested.variational import (
    Approximation,
    Means,
    Rows,
    ascend,
    bound_of,
    log_gains,
    log_tree,
    means_of,
    rows_of,
)

MOST_SAMPLED = 1_000
"""Rows from whose clustering ascents start."""
MANY_ROWS = 5_000
"""Of more rows, a random sample of so many says how many components to start with."""
MOST_COMPONENTS = 128
ROUNDING = 1e-9
"""Relative differences of bounds up to this are no rise."""
PATIENCE = 2
"""The search ends when so many starts in a row, with more and more components, do not raise the best bound."""


class Found(NamedTuple):
    """An approximation, its bound, and the way to it."""

    approximation: Approximation
    log_evidence: float
    """The bound on the log evidence given the numbers."""
    trace: list[float]
    """The bound, and the log prior density of numbers that are learned, after each round; it never falls."""


def search(values: np.ndarray, depth: int, numbers: np.ndarray, hyperpriors: np.ndarray) -> Found:
    """The approximation of the highest bound of all starts; many rows start from what some of them need."""
    found = best_of(values[fixed_sample(len(values), MANY_ROWS)], depth, numbers, hyperpriors, 1, PATIENCE)
    if len(values) <= MANY_ROWS:
        return found
    few = found.approximation
    return best_of(values, depth, few.values, hyperpriors, few.anchor.size, 1)


def best_of(
    values: np.ndarray, depth: int, numbers: np.ndarray, hyperpriors: np.ndarray, n_groups: int, patience: int
) -> Found:
    """The best of the starts with this number of components, twice as many, and so on."""
    rows, labels = rows_of(values), first_labels(values, n_groups)
    best, n_worse = climb(rows, start(rows, next(labels), depth, numbers), hyperpriors), 0
    for more in labels:
        found = climb(rows, start(rows, more, depth, numbers), hyperpriors)
        n_worse = n_worse + 1 if found.trace[-1] <= best.trace[-1] else 0
        best = best if n_worse else found
        if n_worse == patience:
            break
    return best


def climb(rows: Rows, given: Approximation, hyperpriors: np.ndarray) -> Found:
    """Coordinate ascent, merges and moves of components, until neither raises the bound."""
    trace: list[float] = []
    given = ascend(rows, given, hyperpriors, trace)
    while True:
        changed = merge_two(rows, given)
        if changed is None:
            size = given.share.sum(axis=0)
            layout = better_layout(size, given.layout, given.values)
            changed = None if layout is given.layout else given._replace(layout=layout)
        if changed is None:
            return Found(given, bound_of(rows, given), trace)
        given = ascend(rows, changed, hyperpriors, trace)


# Starts


def first_labels(values: np.ndarray, n_groups: int) -> Iterator[np.ndarray]:
    """Labels of all rows in so many groups, twice as many, and so on: those of the nearest mean of Ward's groups."""
    sample = values[fixed_sample(len(values), MOST_SAMPLED)]
    links = ward(sample) if len(sample) > 1 else None
    while n_groups <= min(len(sample), MOST_COMPONENTS):
        groups = np.zeros(len(sample), int) if links is None else cut_tree(links, n_groups)[:, 0]
        centres = np.stack([sample[groups == group].mean(axis=0) for group in range(n_groups)])
        nearest = (values @ centres.T - 0.5 * (centres**2).sum(axis=1)).argmax(axis=1)
        yield np.unique(nearest, return_inverse=True)[1]
        n_groups *= 2


def start(rows: Rows, labels: np.ndarray, depth: int, numbers: np.ndarray) -> Approximation:
    """Components with these rows, in the layout of the highest bound of some."""
    share = np.eye(int(labels.max()) + 1)[labels]
    size = share.sum(axis=0)
    centres = share.T @ rows.values / size[:, None]
    far = ((rows.values - centres[labels]) ** 2).sum(axis=1)
    order = np.lexsort((far, labels))
    anchor = order[np.searchsorted(labels[order], np.arange(size.size))]
    layouts = [better_layout(size, layout, numbers) for layout in first_layouts(centres, depth)]
    layout = max(layouts, key=lambda each: log_tree(size, each, numbers))
    return Approximation(share, anchor, layout, numbers)


def first_layouts(centres: np.ndarray, depth: int) -> Iterator[np.ndarray]:
    """All components in one leaf, each in a branch of its own, and near ones in common branches."""
    n_components = len(centres)
    own = np.arange(n_components)
    yield np.zeros((n_components, depth), int)
    yield np.repeat(own[:, None], depth, axis=1)
    if n_components > 2 and depth > 1:
        n_groups = np.ceil(n_components ** (np.arange(1, depth) / depth)).astype(int)
        yield np.column_stack([cut_tree(ward(centres), n_groups), own])


# Moves of components in the tree


def better_layout(size: np.ndarray, layout: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The layout after moves of single components that raise T, each the best of its component; itself if none does."""
    best, is_moving = log_tree(size, layout, values), size.size > 1
    while is_moving:
        is_moving = False
        for component in range(size.size):
            gains = place_gains(size, layout, values, component)
            other, n_shared = np.unravel_index(int(gains.argmax()), gains.shape)
            changed = layout.copy()
            changed[component] = layout.max() + 1
            changed[component, :n_shared] = layout[other, :n_shared]
            after = log_tree(size, changed, values)
            if after > best + ROUNDING * abs(best):
                best, layout, is_moving = after, changed, True
    return layout


def place_gains(size: np.ndarray, layout: np.ndarray, values: np.ndarray, component: int) -> np.ndarray:
    """What T gains, up to a constant, if a component joins the path of each other one down to each level.

    Shape (K, depth + 1); below that level the component has new nodes. -inf for its own path.
    """
    alpha, gamma, own, depth = values[ALPHA], values[GAMMA], size[component], layout.shape[1]
    others = np.arange(size.size) != component
    is_shared = (layout[:, None] == layout[None]) & others[:, None]
    above = np.column_stack([np.full(size.size, size @ others), np.einsum("ijl,j->il", is_shared, size)])
    above[component] = own  # where nothing is shared; not read
    n_dishes = is_shared.sum(axis=1)
    parents = -log_rise(alpha + above[:, :-1], own)
    children = log_rise(above[:, 1:], own)
    tables = math.log(gamma) - np.log(gamma + n_dishes)
    tables[:, -1] = -log_rise(gamma + above[:, -1], own)
    joined = np.cumsum(np.column_stack([np.zeros(size.size), children + tables]), axis=1)
    branch = math.log(alpha) + gammaln(own)
    n_new = np.arange(depth, -1, -1)
    passed = np.cumsum(np.column_stack([parents, np.zeros(size.size)]), axis=1)
    gains = joined + passed + n_new * branch
    gains -= np.maximum(n_new - 1, 0) * log_rise(alpha, own)
    gains[:, :-1] -= log_rise(gamma, own)
    gains[component] = -np.inf
    return gains


def log_rise(start: Any, by: float) -> Any:
    """log Gamma(start + by) - log Gamma(start)."""
    return gammaln(start + by) - gammaln(start)


# Merges


def merge_two(rows: Rows, given: Approximation) -> Approximation | None:
    """The approximation with two components made one, if some such pair raises the bound.

    As many pairs are tried as there are components, those first whose data lose least.
    """
    means = means_of(rows, given)
    before, gains = log_tree(means.size, given.layout, given.values), pair_gains(means, given.values)
    for place in np.argsort(-gains, axis=None, kind="stable")[: means.size.size]:
        first, second = np.unravel_index(int(place), gains.shape)
        if first >= second:
            break
        size = np.delete(means.size, second)
        size[first] += means.size[second]
        gain = log_tree(size, np.delete(given.layout, second, axis=0), given.values) - before + gains[first, second]
        if gain <= 0.0:  # entropy is lost besides
            continue
        if gain > lost_entropy(given.share[:, first], given.share[:, second]) + ROUNDING * abs(before):
            return merged(given, int(first), int(second))
    return None


def pair_gains(means: Means, values: np.ndarray) -> np.ndarray:
    """What G gains if two components are one, above the diagonal, -inf elsewhere."""
    noise, spread = values[COMPONENT_VARIANCE], values[BASE_VARIANCE]
    products, width = means.sum @ means.sum.T, means.sum.shape[1]
    square = np.diag(products)
    alone = log_gains(means.size, square, width, noise, spread)
    both = log_gains(
        np.add.outer(means.size, means.size), np.add.outer(square, square) + 2.0 * products, width, noise, spread
    )
    return np.where(np.triu(np.ones(both.shape, bool), 1), both - np.add.outer(alone, alone), -np.inf)


def lost_entropy(first: np.ndarray, second: np.ndarray) -> float:
    """Entropy of the rows that is lost if two components are one."""
    both = first + second
    return float((xlogy(both, both) - xlogy(first, first) - xlogy(second, second)).sum())


def merged(given: Approximation, first: int, second: int) -> Approximation:
    """Two components as one, with the path and the anchor of the first."""
    share = np.delete(given.share, second, axis=1)
    share[:, first] += given.share[:, second]
    layout = np.delete(given.layout, second, axis=0)
    return Approximation(share, np.delete(given.anchor, second), layout, given.values)

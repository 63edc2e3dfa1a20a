"""The state of a nested hierarchy: a tree of paths, mixture weights at its nodes, components, discriminants, numbers.

Everything is a flat array. Nodes and component slots come from what is free and go back there; arrays that are full
are replaced by larger ones, in Python, between data.

A node in use is linked to its parent; node 0 is the root. Slot 0 of the components is the remainder: all components
without data together. Free nodes and slots may hold anything, except that weights of free slots are 0 at all nodes.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.nested.target import Target

ROOT, REMAINDER = 0, 0
N_FREE, TOP = 0, 1
"""Places in `Tree.numbers`."""


class Tree(NamedTuple):
    """Paths of the data through the nodes, as kernels see them."""

    parent: np.ndarray
    """(capacity,) int64, NULL for the root."""
    level: np.ndarray
    """(capacity,) int64, 0 for the root and L for leaves."""
    count: np.ndarray  # type: ignore[assignment]  # hides the tuple's method, which nobody needs
    """(capacity,) int64: data through the node."""
    first_child: np.ndarray
    """(capacity,) int64, NULL for leaves."""
    next_sibling: np.ndarray
    """(capacity,) int64."""
    previous_sibling: np.ndarray
    """(capacity,) int64."""
    free: np.ndarray
    """(capacity,) int64: a stack of free nodes, its first `numbers[N_FREE]` places filled."""
    numbers: np.ndarray
    """(2,) int64: how many nodes are free; one more than the largest node that was in use since the last refresh."""
    leaf: np.ndarray
    """(n,) int64: where each datum's path ends."""


class Mixture(NamedTuple):
    """Components, and their weights at the nodes."""

    component: np.ndarray
    """(n,) int64: slot of each datum, at least 1."""
    size: np.ndarray
    """(slots,) int64: data of each component."""
    in_use: np.ndarray
    """(slots,) bool: components with data (all of them in the finite variant)."""
    numbers: np.ndarray
    """(1,) int64: one more than the largest slot that was in use since the last refresh."""
    rows: np.ndarray
    """(slots, width): drawn means (d numbers), or statistics of the likelihood."""
    log_weight: np.ndarray
    """(capacity, slots) at each node, -inf in free slots."""
    weight: np.ndarray
    """(capacity, slots): exp of the same."""


class Margins(NamedTuple):
    """Discriminants; arrays of size 0 where the model has none."""

    eta: np.ndarray
    """(capacity, d') of each node; unused for the root."""
    log_chance: np.ndarray
    """(n, n_columns) what margins cost by chance: see `penalty.Penalty`."""


@dataclasses.dataclass(slots=True)
class State:
    """All of a chain's present: arrays are changed in place by moves, or replaced by larger ones."""

    tree: Tree
    mixture: Mixture
    margins: Margins
    values: np.ndarray
    """As `Target.values`."""
    stream: np.random.Generator
    """Of the discriminants' own, so that they change no other draw where the penalty is 0."""


def empty_tree(n_items: int, capacity: int) -> Tree:
    """A root and no data."""
    links = [np.full(capacity, NULL) for _ in range(4)]
    free = np.arange(capacity)[::-1].copy()  # the smallest on top; the root's place is beyond the end of the stack
    tree = Tree(
        parent=links[0],
        level=np.zeros(capacity, np.int64),
        count=np.zeros(capacity, np.int64),
        first_child=links[1],
        next_sibling=links[2],
        previous_sibling=links[3],
        free=free,
        numbers=np.array([capacity - 1, 1]),
        leaf=np.full(n_items, NULL),
    )
    return tree


def empty_mixture(n_items: int, capacity: int, n_slots: int, width: int) -> Mixture:
    """All weight in the remainder, no data."""
    log_weight = np.full((capacity, n_slots), -np.inf)
    log_weight[:, REMAINDER] = 0.0
    return Mixture(
        component=np.full(n_items, NULL),
        size=np.zeros(n_slots, np.int64),
        in_use=np.zeros(n_slots, np.bool_),
        numbers=np.array([1]),
        rows=np.zeros((n_slots, width)),
        log_weight=log_weight,
        weight=np.exp(log_weight),
    )


def empty_margins(target: Target, capacity: int) -> Margins:
    """No discriminants where the model has none."""
    n_items, width = target.margin_data.shape
    return Margins(np.zeros((capacity if width else 0, width)), np.empty((n_items, 0)))


def longer(array: np.ndarray, more: int, fill: float, axis: int = 0) -> np.ndarray:
    """The array with `more` further places along an axis."""
    shape = list(array.shape)
    shape[axis] = more
    return np.ascontiguousarray(np.concatenate([array, np.full(shape, fill, array.dtype)], axis=axis))


def grow_nodes(state: State) -> None:
    """Twice as many places for nodes; the new ones lie below the free ones of before, which are used first."""
    tree, mixture, margins = state.tree, state.mixture, state.margins
    capacity, n_free = tree.parent.size, int(tree.numbers[N_FREE])
    links = {
        name: longer(getattr(tree, name), capacity, NULL)
        for name in ("parent", "first_child", "next_sibling", "previous_sibling")
    }
    counts = {name: longer(getattr(tree, name), capacity, 0) for name in ("level", "count")}
    free = np.zeros(2 * capacity, np.int64)
    free[:capacity] = np.arange(2 * capacity - 1, capacity - 1, -1)
    free[capacity : capacity + n_free] = tree.free[:n_free]
    tree.numbers[N_FREE] += capacity
    state.tree = tree._replace(**links, **counts, free=free)
    state.mixture = mixture._replace(
        log_weight=longer(mixture.log_weight, capacity, -np.inf), weight=longer(mixture.weight, capacity, 0.0)
    )
    if margins.eta.size:
        state.margins = margins._replace(eta=longer(margins.eta, capacity, 0.0))


def grow_slots(state: State) -> None:
    """Twice as many places for components."""
    mixture = state.mixture
    more = mixture.size.size
    state.mixture = mixture._replace(
        size=longer(mixture.size, more, 0),
        in_use=longer(mixture.in_use, more, False),
        rows=longer(mixture.rows, more, 0.0),
        log_weight=longer(mixture.log_weight, more, -np.inf, axis=1),
        weight=longer(mixture.weight, more, 0.0, axis=1),
    )


def make_room(state: State, depth: int) -> None:
    """Larger arrays after a path move or a start has stopped for want of nodes or slots."""
    if state.tree.numbers[N_FREE] < depth:
        grow_nodes(state)
    else:
        grow_slots(state)


def nodes_in_use(tree: Tree) -> np.ndarray:
    """Nodes of the tree, parents before their children; plain."""
    found = [ROOT]
    for node in found:
        child = int(tree.first_child[node])
        while child != NULL:
            found.append(child)
            child = int(tree.next_sibling[child])
    return np.array(found)

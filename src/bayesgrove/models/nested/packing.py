"""States in normal form, to be stored, and back.

Nodes are numbered by first appearance within their level, components by first appearance; the remainder comes first.
"""

from collections.abc import Mapping

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.core.rng import generator, state_from_json, state_to_json
from bayesgrove.models.nested.component_models import fill_rows, row_width
from bayesgrove.models.nested.nodes import add_count, new_child
from bayesgrove.models.nested.penalty import chance_table
from bayesgrove.models.nested.state import (
    REMAINDER,
    ROOT,
    TOP,
    Mixture,
    State,
    empty_margins,
    empty_mixture,
    empty_tree,
)
from bayesgrove.models.nested.target import DISCRIMINANT_VARIANCE, SampledMeans, Target


@kernel
def number_paths(tree, depth, paths):
    """Node of each datum at each level by first appearance, to `paths`; gives the nodes, level by level."""
    n_items, top = tree.leaf.size, tree.numbers[TOP]
    number, found = np.full(top, -1), np.empty((depth, top), np.int64)
    n_found = np.zeros(depth, np.int64)
    for datum in range(n_items):
        node = tree.leaf[datum]
        for level in range(depth - 1, -1, -1):
            if number[node] < 0:
                number[node] = n_found[level]
                found[level, n_found[level]] = node
                n_found[level] += 1
            paths[datum, level] = number[node]
            node = tree.parent[node]
    order, n_nodes = np.empty(n_found.sum() + 1, np.int64), 1
    order[0] = ROOT
    for level in range(depth):
        for i in range(n_found[level]):
            order[n_nodes] = found[level, i]
            n_nodes += 1
    return order


@kernel
def number_components(component, in_use, top, components):
    """Component of each datum by first appearance, to `components`; gives the slots, those without data last."""
    number, slots, n_found = np.full(top, -1), np.empty(top, np.int64), 0
    for datum in range(component.size):
        slot = component[datum]
        if number[slot] < 0:
            number[slot] = n_found
            slots[n_found] = slot
            n_found += 1
        components[datum] = number[slot]
    for slot in range(1, top):
        if in_use[slot] and number[slot] < 0:
            slots[n_found] = slot
            n_found += 1
    return slots[:n_found]


@kernel
def taken(matrix, rows, columns):
    """matrix[rows][:, columns], a column 0 put first."""
    out = np.empty((rows.size, columns.size + 1))
    for i in range(rows.size):
        out[i, 0] = matrix[rows[i], 0]
        for j in range(columns.size):
            out[i, j + 1] = matrix[rows[i], columns[j]]
    return out


@kernel
def normal_form(tree, mixture, depth):
    """Paths, components, nodes in order, slots in order, log weights of the nodes."""
    n_items = tree.leaf.size
    paths, components = np.empty((n_items, depth), np.int32), np.empty(n_items, np.int32)
    nodes = number_paths(tree, depth, paths)
    slots = number_components(mixture.component, mixture.in_use, mixture.numbers[0], components)
    return paths, components, nodes, slots, taken(mixture.log_weight, nodes, slots)


def drawn(target: Target, state: State) -> dict[str, np.ndarray]:
    """What a draw keeps: all but what is computed from it and the data."""
    paths, components, nodes, slots, log_weights = normal_form(state.tree, state.mixture, target.depth)
    kept = {"paths": paths, "components": components, "log_weights": log_weights, "values": state.values.copy()}
    if isinstance(target.law, SampledMeans):
        kept["means"] = state.mixture.rows[slots]
    if target.penalty:
        kept["discriminants"] = state.margins.eta[nodes[1:]]
    return kept


def packed(target: Target, state: State) -> dict[str, np.ndarray]:
    """A draw, and the generator of the discriminants where the model has them."""
    return drawn(target, state) | ({"stream": stream_to_array(state.stream)} if target.penalty else {})


def stream_to_array(stream: np.random.Generator) -> np.ndarray:
    """The whole of a generator in whole numbers."""
    state = state_to_json(stream)
    inner, ends = state["state"], [state["buffer_pos"], state["has_uint32"], state["uinteger"]]
    return np.array([*inner["counter"], *inner["key"], *state["buffer"], *ends], np.uint64)


def stream_from_array(numbers: np.ndarray) -> np.random.Generator:
    """The generator that `stream_to_array` was given."""
    counter, key, buffer, ends = np.split(numbers, [4, 6, 10])
    names = ("buffer_pos", "has_uint32", "uinteger")
    return state_from_json(
        {
            "bit_generator": "Philox",
            "state": {"counter": counter, "key": key},
            "buffer": buffer,
            **dict(zip(names, ends.tolist(), strict=True)),
        }
    )


@kernel
def link_nodes(tree, paths, parents, n_nodes):
    """Fill a tree of a root with nodes in normal order; `parents` is room for one number per node."""
    n_items, depth = paths.shape
    starts = np.zeros(depth + 1, np.int64)
    starts[0] = 1
    for level in range(depth):
        n_here = 0
        for datum in range(n_items):
            n_here = max(n_here, paths[datum, level] + 1)
        starts[level + 1] = starts[level] + n_here
    for datum in range(n_items):
        above = ROOT
        for level in range(depth):
            node = starts[level] + paths[datum, level]
            parents[node] = above
            above = node
        tree.leaf[datum] = above
    for node in range(1, n_nodes):
        new_child(tree, parents[node])


@borrower
def order_children(tree, n_nodes):
    """Children of each node by their numbers, the smallest first: `new_child` put the last first."""
    for node in range(n_nodes):
        child, before = tree.first_child[node], -1
        while child != -1:
            after = tree.next_sibling[child]
            tree.next_sibling[child], tree.previous_sibling[child] = before, after
            before, child = child, after
        tree.first_child[node] = before


@kernel
def build_tree(tree, paths, n_nodes):
    """Fill an empty tree."""
    parents = np.empty(n_nodes, np.int64)
    link_nodes(tree, paths, parents, n_nodes)
    order_children(tree, n_nodes)
    for datum in range(paths.shape[0]):
        add_count(tree, tree.leaf[datum], 1)


@kernel
def build_rows(law, data, mixture):
    """What components keep that follows from the data."""
    fill_rows(law, data, mixture.component, mixture.numbers[0], mixture.rows)


def room_for(n_used: int, least: int) -> int:
    """Places for twice as many, a power of two."""
    return max(least, 1 << (2 * n_used - 1).bit_length())


def unpacked(target: Target, arrays: Mapping[str, np.ndarray], log_chance: np.ndarray | None = None) -> State:
    """The state that `packed` was given, in normal form; `log_chance` is given where it is known."""
    n_nodes, n_slots = arrays["log_weights"].shape
    n_items = target.data.shape[0]
    capacity = room_for(n_nodes + target.depth, 16)
    tree = empty_tree(n_items, capacity)
    build_tree(tree, arrays["paths"], n_nodes)
    mixture = empty_mixture(n_items, capacity, room_for(n_slots, 8), int(row_width(target.law, target.data)))
    fill_mixture(target, mixture, arrays)
    margins = empty_margins(target, capacity)
    if target.penalty:
        margins.eta[1:n_nodes] = arrays["discriminants"]
        variance = float(arrays["values"][DISCRIMINANT_VARIANCE])
        log_chance = chance_table(target, variance) if log_chance is None else log_chance
        margins = margins._replace(log_chance=log_chance)
    stream = stream_from_array(arrays["stream"]) if target.penalty else generator(0)
    return State(tree, mixture, margins, arrays["values"].copy(), stream)


def fill_mixture(target: Target, mixture: Mixture, arrays: Mapping[str, np.ndarray]) -> None:
    """Components and weights into an empty mixture."""
    n_nodes, n_slots = arrays["log_weights"].shape
    mixture.component[:] = arrays["components"]
    mixture.component[:] += 1
    mixture.size[:] = np.bincount(mixture.component, minlength=mixture.size.size)
    mixture.in_use[REMAINDER + 1 : n_slots] = True
    mixture.numbers[0] = n_slots
    mixture.log_weight[:n_nodes, :n_slots] = arrays["log_weights"]
    np.exp(mixture.log_weight[:n_nodes], out=mixture.weight[:n_nodes])
    if "means" in arrays:
        mixture.rows[1:n_slots] = arrays["means"]
    build_rows(target.law, target.data, mixture)

"""Customers and tables of the components at all nodes, drawn upwards with the weights integrated out.

See docs/theory/nested-hierarchies.md, Tables and weights.
"""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import list_nodes


class Tables(NamedTuple):
    """Counts of a pass over the weights, by node and component slot; floats, as they enter Dirichlet parameters."""

    customers: np.ndarray
    """(capacity, slots): data at leaves, tables of the children above them."""
    tables: np.ndarray
    """(capacity, slots): tables that the customers sit at."""
    n_customers: np.ndarray
    """(capacity,): sums of `customers` over the slots."""
    n_tables: np.ndarray
    """(capacity,)."""


@kernel
def new_tables(capacity, n_slots):
    """Nobody anywhere."""
    return Tables(np.zeros((capacity, n_slots)), np.zeros((capacity, n_slots)), np.zeros(capacity), np.zeros(capacity))


@borrower
def seat_data(leaf, component, tables):
    """Data are the customers of their leaves."""
    for datum in range(leaf.size):
        tables.customers[leaf[datum], component[datum]] += 1.0
        tables.n_customers[leaf[datum]] += 1.0


@borrower
def draw_n_tables(rng, n_customers, concentration):
    """Number of tables of n customers in a Chinese restaurant: 1 + sum_i Bernoulli(a / (a + i))."""
    total = 1.0
    for i in range(1, int(n_customers)):
        if rng.random() * (concentration + i) < concentration:
            total += 1.0
    return total


@borrower
def draw_node_tables(rng, gamma, weight, tables, node, parent, top):
    """Tables of a node given its parent's weights; they become customers of the parent."""
    for k in range(top):
        n_here = tables.customers[node, k]
        if n_here > 0.0:
            drawn = draw_n_tables(rng, n_here, gamma * weight[parent, k])
            tables.tables[node, k] = drawn
            tables.n_tables[node] += drawn
            tables.customers[parent, k] += drawn
            tables.n_customers[parent] += drawn


@borrower
def nodes_at(tree, level, out):
    """Nodes of a level to `out`; gives their number."""
    n_found = 0
    for i in range(list_nodes(tree, level, out)):
        if tree.level[out[i]] == level:
            out[n_found] = out[i]
            n_found += 1
    return n_found


@borrower
def clear_node(tables, node, top):
    """A new node has no customers."""
    for k in range(top):
        tables.customers[node, k] = 0.0
        tables.tables[node, k] = 0.0
    tables.n_customers[node] = 0.0
    tables.n_tables[node] = 0.0


@borrower
def add_tables(tables, node, parent, top, sign):
    """The tables of a node come to (1) or go from (-1) its parent."""
    for k in range(top):
        tables.customers[parent, k] += sign * tables.tables[node, k]
    tables.n_customers[parent] += sign * tables.n_tables[node]

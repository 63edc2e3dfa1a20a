"""Regraft: a node below level 1 gets a new parent, its subtree in tow: Gibbs, weights integrated out.

Weights at the levels of the node and of its parent are integrated out given the table counts; those of the level
above the parent are held. See docs/theory/nested-hierarchies.md, Regraft.
"""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.nodes import add_count, link, list_nodes, new_child, release, shuffle, unlink
from bayesgrove.models.nested.state import ROOT
from bayesgrove.models.nested.tables import add_tables, clear_node
from bayesgrove.models.nested.target import ALPHA, GAMMA
from bayesgrove.models.nested.weights import TINY
from bayesgrove.stats.sampling import draw_log_categorical
from bayesgrove.stats.special import log_rising

MOST_FACTORS = 12
"""Rising factorials of so many factors are multiplied out: one logarithm instead of two Gamma functions."""
KEPT, TRIED, MOVED = 0, 1, 2


@borrower
def log_rising_factorial(x, count):
    """lgamma(x + count) - lgamma(x) for a whole count."""
    if count > MOST_FACTORS:
        return log_rising(x, count)
    product = 1.0
    for i in range(int(count)):
        product *= x + i
    return math.log(product)


@borrower
def log_seats(gamma, weight, log_weight, above, tables, place, node, top):
    """Dirichlet-multinomial factor of giving the tables of `node` to a parent.

    `place` is the parent, or NULL for a new one without customers; `above` holds its weights' distribution.
    """
    total, n_there = 0.0, 0.0
    if place != NULL:
        n_there = tables.n_customers[place]
    for k in range(top):
        n_new = tables.tables[node, k]
        if n_new > 0.0:
            n_old = 0.0 if place == NULL else tables.customers[place, k]
            a = gamma * weight[above, k]
            if a < TINY and n_old == 0.0:
                total += math.log(gamma) + log_weight[above, k] + math.lgamma(n_new)
            else:
                total += log_rising_factorial(a + n_old, n_new)
    return total - log_rising_factorial(gamma + n_there, tables.n_tables[node])


@borrower
def log_block_step(log_gamma_n, log_gamma_alpha, n_here, n_block, is_root):
    """Log factor of n_block data walking into a node that has n_here, and on to one of its children."""
    step = log_gamma_alpha[n_here] - log_gamma_alpha[n_here + n_block]
    return step if is_root else step + log_gamma_n[n_here + n_block] - log_gamma_n[n_here]


@borrower
def regraft_log_weights(tree, mixture, values, tables, node, log_gamma_n, log_gamma_alpha, base, nodes, log_weights):
    """Candidates for an unlinked node, and their log weights without penalty; gives their number.

    A candidate at the level of a parent stands for itself, one level above for a new node below it.
    `log_gamma_n[m]` is lgamma(m), `log_gamma_alpha[m]` is lgamma(m + alpha).
    """
    parent, level, count, top = tree.parent, tree.level, tree.count, mixture.numbers[0]
    gamma, weight, log_weight = values[GAMMA], mixture.weight, mixture.log_weight
    parent_level, n_block = level[node] - 1, count[node]
    log_new_child = math.log(values[ALPHA]) + log_gamma_n[n_block]
    log_new_parent = log_new_child + log_gamma_alpha[0] - log_gamma_alpha[n_block]
    n_found = 0
    for i in range(list_nodes(tree, parent_level, nodes)):
        here = nodes[i]
        step = log_block_step(log_gamma_n, log_gamma_alpha, count[here], n_block, here == ROOT)
        base[here] = step if here == ROOT else base[parent[here]] + step
        if level[here] >= parent_level - 1:
            is_parent = level[here] == parent_level
            above, place = (parent[here], here) if is_parent else (here, NULL)
            log_prior = base[here] + log_new_child + (0.0 if is_parent else log_new_parent)
            nodes[n_found] = here
            log_weights[n_found] = log_prior + log_seats(gamma, weight, log_weight, above, tables, place, node, top)
            n_found += 1
    return n_found


@borrower
def is_fixed(tree, node):
    """Whether taking the node away would empty its grandparent too, other than the root."""
    above = tree.parent[tree.parent[node]]
    return above != ROOT and tree.count[above] == tree.count[node]


@borrower
def detach(tree, tables, node, top):
    """Unlink a node with its data and tables; gives its parent if that is empty now, unlinked, or NULL."""
    parent = tree.parent[node]
    unlink(tree, node)
    add_count(tree, parent, -tree.count[node])
    add_tables(tables, node, parent, top, -1.0)
    if tree.count[parent] > 0:
        return NULL
    unlink(tree, parent)
    return parent


@borrower
def attach(tree, tables, node, place, emptied, top):
    """Link a node below its new parent: `place` itself, or a new node below `place`, made from `emptied` if any."""
    if tree.level[place] == tree.level[node] - 1:
        release(tree, emptied)
    else:
        if emptied != NULL:
            link(tree, emptied, place)
            place = emptied
        else:
            place = new_child(tree, place)
        clear_node(tables, place, top)
    link(tree, node, place)
    add_count(tree, place, tree.count[node])
    add_tables(tables, node, place, top, 1.0)


@borrower
def regraft_node(rng, tree, mixture, values, tables, node, log_gamma_n, log_gamma_alpha, base, nodes, log_weights):
    """Draw a node's parent; gives MOVED if it is another, TRIED if not, KEPT if the node must stay, NULL on failure."""
    if is_fixed(tree, node):
        return KEPT
    top, parent = mixture.numbers[0], tree.parent[node]
    above = tree.parent[parent]
    emptied = detach(tree, tables, node, top)
    n_found = regraft_log_weights(
        tree, mixture, values, tables, node, log_gamma_n, log_gamma_alpha, base, nodes, log_weights
    )
    chosen = draw_log_categorical(rng, log_weights[:n_found])
    if chosen == NULL:
        return NULL
    place = nodes[chosen]
    attach(tree, tables, node, place, emptied, top)
    return TRIED if place == (parent if emptied == NULL else above) else MOVED


@kernel
def regraft_level(rng, tree, mixture, values, tables, nodes, n_nodes, log_gamma_n, log_gamma_alpha, tallies):
    """Regraft each of the nodes of a level, in a random order that `nodes` gets; False on failure.

    The regraft of one node leaves the distribution given the level's nodes as it is, so a scan does in any order that
    is independent of the tree above them, which the scan changes. The order of the tree is not: siblings would follow
    each other, and another distribution would come out. No regraft adds or removes a node of the level: an order drawn
    once holds for the whole scan.
    """
    shuffle(rng, nodes[:n_nodes])
    capacity = tree.parent.size
    base, places, log_weights = np.empty(capacity), np.empty(capacity, np.int64), np.empty(capacity)
    for i in range(n_nodes):
        result = regraft_node(
            rng, tree, mixture, values, tables, nodes[i], log_gamma_n, log_gamma_alpha, base, places, log_weights
        )
        if result == NULL:
            return False
        tallies[0] += result != KEPT
        tallies[1] += result == MOVED
    return True

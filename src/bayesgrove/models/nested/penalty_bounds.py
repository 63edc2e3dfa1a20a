"""Lower bounds of hinges from sums of rows: a sum of hinges is at least the hinge of the sum (Jensen).

They cost as much as one datum, so that a regraft evaluates few places however many data there are.
"""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.penalty import join
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, LEVEL_MAXIMUM, SUM


@borrower
def hinge_kind(kind):
    """The penalty with the same hinges that leaves out what margins cost by chance."""
    if kind == CHANCE:
        return SUM
    return LEVEL_MAXIMUM if kind == CHANCE_MAXIMUM else kind


@kernel
def sum_rows(data, tree):
    """Sums of the rows below each node, shape (capacity, n_coordinates)."""
    sums, parent, leaf = np.zeros((tree.parent.size, data.shape[1])), tree.parent, tree.leaf
    for n in range(leaf.size):
        node = leaf[n]
        while node != NULL:
            for i in range(data.shape[1]):
                sums[node, i] += data[n, i]
            node = parent[node]
    return sums


@borrower
def worst_and_total(first_child, next_sibling, eta, margin, rows, n_rows, above, own, vector):
    """Largest and sum of positive zetas, summed over rows, of a node against the children of `above`.

    The node is `own` with its discriminant, or one outside the tree with discriminant `vector` where `own` is NULL.
    """
    base, worst, total = n_rows * margin, 0.0, 0.0
    for i in range(rows.size):
        base -= rows[i] * (vector[i] if own == NULL else eta[own, i])
    sibling = first_child[above]
    while sibling != NULL:
        if sibling != own:
            zeta = base
            for i in range(rows.size):
                zeta += rows[i] * eta[sibling, i]
            if zeta > 0.0:
                worst = max(worst, zeta)
                total += zeta
        sibling = next_sibling[sibling]
    return worst, total


@borrower
def least_hinges_of_block(kind, strength, margin, tree, eta, rows, n_rows, above, vector):
    """At least so much pay data on the way down to `above` and in a node below it with discriminant `vector`."""
    parent, first_child, next_sibling = tree.parent, tree.first_child, tree.next_sibling
    own, here, energy = NULL, above, 0.0
    while here != NULL:
        worst, total = worst_and_total(first_child, next_sibling, eta, margin, rows, n_rows, here, own, vector)
        energy = join(kind, energy, 2.0 * strength * (total if kind == SUM else worst))
        own, here = here, parent[here]
    return energy


@borrower
def least_hinges_beside(kind, strength, margin, tree, eta, row_sums, above, vector):
    """At least so much pay the data below `above` more for a further child of it; 0 where only the worst counts."""
    energy, child, width = 0.0, tree.first_child[above], row_sums.shape[1]
    while kind == SUM and child != NULL:
        zeta = tree.count[child] * margin
        for i in range(width):
            zeta += row_sums[child, i] * (vector[i] - eta[child, i])
        energy += 2.0 * strength * max(0.0, zeta)
        child = tree.next_sibling[child]
    return energy

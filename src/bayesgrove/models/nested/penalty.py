"""Energies of the max-margin penalties: what datum n pays on its path against the siblings along it.

A datum n with row x_n pays, for every level of its path v_n, against the siblings z of its node there,
zeta = eps0 - (eta_v - eta_z)'x_n. With [.] = max(0, .) and j siblings at a level the energies are

| penalty | energy of a datum |
|---|---|
| "max" | 2C max over levels and siblings of [zeta] |
| "level-max" | sum over levels of 2C [max zeta] |
| "sum" | 2C sum of [zeta] |
| "chance" | sum of 2C [zeta] + log g_n |
| "chance-max" | sum over levels of 2C [max zeta] + log g_{n,j} |

and log R = -(sum of energies). Nothing is kept between moves: energies follow from tree and discriminants.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import borrower, kernel
from bayesgrove.models.nested.penalty_chance import log_chance_of_levels, log_chance_of_pairs
from bayesgrove.models.nested.state import ROOT, State, Tree
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, LEVEL_MAXIMUM, MAXIMUM, NO_PENALTY, SUM, Target

PENALTIES = {
    "max": MAXIMUM,
    "level-max": LEVEL_MAXIMUM,
    "sum": SUM,
    "chance": CHANCE,
    "chance-max": CHANCE_MAXIMUM,
}
FIRST_SIBLINGS = 16
"""Siblings the first table of "chance-max" has columns for."""


class Penalty(NamedTuple):
    """What kernels need to know of a penalty."""

    kind: int
    """One of PENALTIES."""
    strength: float
    """C."""
    margin: float
    """eps0."""
    data: np.ndarray
    """(n, n_coordinates): rows as the discriminants see them."""
    log_chance: np.ndarray
    """(n, n_columns): "chance": log g_n in one column. "chance-max": log g_{n,j} in column j. Others: no columns."""


class Links(NamedTuple):
    """The tree as the penalties read it; NULL ends a list of children, the root is node 0."""

    parent: np.ndarray
    first_child: np.ndarray
    next_sibling: np.ndarray


def links_of(tree: Tree) -> Links:
    """The links of a state's tree."""
    return Links(tree.parent, tree.first_child, tree.next_sibling)


def margin_rows(values: np.ndarray, *, scale: str | None = None, intercept: bool = False) -> np.ndarray:
    """Rows as discriminants see them: divided by their root mean squared norm (scale="rms"), 1 appended (intercept)."""
    if scale not in (None, "rms"):
        raise InvalidSettingError(f'margin_scale is None or "rms", got {scale!r}.')
    rows = np.array(values, float)
    if scale == "rms":
        norm = math.sqrt(float((rows**2).sum(axis=1).mean()))
        rows /= norm if norm > 0.0 else 1.0
    return np.ascontiguousarray(np.column_stack([rows, np.ones(len(rows))]) if intercept else rows)


def chance_table(target: Target, variance: float, most_siblings: int = FIRST_SIBLINGS) -> np.ndarray:
    """What margins cost by chance where discriminants have this prior variance, as `Penalty.log_chance`."""
    strength, margin, data = target.strength, target.margin, target.margin_data
    if target.penalty == CHANCE:
        return log_chance_of_pairs(data, strength, margin, math.sqrt(variance))[:, None]
    if target.penalty == CHANCE_MAXIMUM:
        return log_chance_of_levels(data, strength, margin, math.sqrt(variance), most_siblings)
    return np.empty((data.shape[0], 0))


def penalty_of(target: Target, state: State) -> Penalty:
    """The penalty of a target with the table that belongs to a state."""
    return Penalty(target.penalty, target.strength, target.margin, target.margin_data, state.margins.log_chance)


def log_penalty(target: Target, state: State) -> float:
    """log R, or that of the chance-normalised penalties; 0 where there is none."""
    if target.penalty == NO_PENALTY:
        return 0.0
    each = energies(penalty_of(target, state), links_of(state.tree), state.margins.eta, state.tree.leaf)
    return -float(each.sum())


@borrower
def score(eta, node, data, n):
    """eta_z'x_n."""
    total = 0.0
    for i in range(data.shape[1]):
        total += eta[node, i] * data[n, i]
    return total


@borrower
def join(kind, energy, of_level):
    """Energy with one level more: the worst level counts in "max", all of them in the others."""
    return max(energy, of_level) if kind == MAXIMUM else energy + of_level


@borrower
def level_energy(kind, strength, log_chance, n, worst, total, n_siblings):
    """Energy of one level from the largest zeta, the sum of positive zetas and the number of siblings."""
    if n_siblings == 0:
        return 0.0
    if kind in (MAXIMUM, LEVEL_MAXIMUM):
        return 2.0 * strength * max(0.0, worst)
    if kind == CHANCE_MAXIMUM:
        return 2.0 * strength * max(0.0, worst) + log_chance[n, n_siblings]
    energy = 2.0 * strength * total
    return energy + n_siblings * log_chance[n, 0] if kind == CHANCE else energy


@borrower
def zetas_at(links, eta, data, margin, n, node, above, own_score):
    """Largest zeta, sum of positive zetas and number of the children of `above` other than `node`.

    `own_score` is that of datum n at its own node, which may stand outside the tree.
    """
    worst, total, n_siblings = -np.inf, 0.0, 0
    next_sibling, sibling = links.next_sibling, links.first_child[above]
    while sibling != NULL:
        if sibling != node:
            zeta = margin - own_score + score(eta, sibling, data, n)
            worst = max(worst, zeta)
            total += max(0.0, zeta)
            n_siblings += 1
        sibling = next_sibling[sibling]
    return worst, total, n_siblings


@borrower
def energy_between(penalty, links, eta, n, node, above):
    """Energy of datum n on the path from below `above` down to `node`."""
    kind, strength, log_chance, data = penalty.kind, penalty.strength, penalty.log_chance, penalty.data
    parent, energy = links.parent, 0.0
    while node != above:
        own_score = score(eta, node, data, n)
        worst, total, n_siblings = zetas_at(links, eta, data, penalty.margin, n, node, parent[node], own_score)
        energy = join(kind, energy, level_energy(kind, strength, log_chance, n, worst, total, n_siblings))
        node = parent[node]
    return energy


@borrower
def path_energy(penalty, links, eta, n, node):
    """Energy of datum n on the path from the root down to `node`."""
    return energy_between(penalty, links, eta, n, node, ROOT)


@kernel
def energies(penalty, links, eta, leaf):
    """Energy of every datum, shape (n,); log R is minus their sum."""
    out = np.empty(len(leaf))
    for n in range(len(leaf)):
        out[n] = path_energy(penalty, links, eta, n, leaf[n])
    return out


@borrower
def child_towards(parent, leaf, above):
    """The child of `above` on the path to a leaf; NULL where the path does not go through it."""
    node = leaf
    while node != ROOT:
        if parent[node] == above:
            return node
        node = parent[node]
    return NULL


@borrower
def gain_of_sibling(penalty, links, eta, m, leaf, child, new_score):
    """What datum m under `child` pays more when its level there gets a further node with score `new_score`."""
    kind, strength, log_chance = penalty.kind, penalty.strength, penalty.log_chance
    own_score = score(eta, child, penalty.data, m)
    zeta = penalty.margin - own_score + new_score
    if kind == MAXIMUM:
        if zeta <= 0.0:
            return 0.0
        return max(0.0, 2.0 * strength * zeta - path_energy(penalty, links, eta, m, leaf))
    if kind in (SUM, CHANCE):
        return level_energy(kind, strength, log_chance, m, zeta, max(0.0, zeta), 1)
    worst, total, n_siblings = zetas_at(
        links, eta, penalty.data, penalty.margin, m, child, links.parent[child], own_score
    )
    before = level_energy(kind, strength, log_chance, m, worst, total, n_siblings)
    return level_energy(kind, strength, log_chance, m, max(worst, zeta), total, n_siblings + 1) - before


@borrower
def vector_score(vector, data, n):
    """vector'x_n."""
    total = 0.0
    for i in range(data.shape[1]):
        total += vector[i] * data[n, i]
    return total


@borrower
def gain_below(penalty, links, eta, leaf, above, vector):
    """What all data under `above` pay more for a further child of it with discriminant `vector`."""
    return gain_of_some(penalty, links, eta, leaf, above, vector, 0, leaf.size)


@borrower
def gain_of_some(penalty, links, eta, leaf, above, vector, start, end):
    """What the data `start` to `end` pay more, those that are under `above`.

    Data that are set aside have the leaf NULL.
    """
    gain, data, parent = 0.0, penalty.data, links.parent
    for m in range(start, end):
        child = NULL if leaf[m] == NULL else child_towards(parent, leaf[m], above)
        if child != NULL:
            gain += gain_of_sibling(penalty, links, eta, m, leaf[m], child, vector_score(vector, data, m))
    return gain


@borrower
def own_branch_energy(penalty, links, eta, n, above, energy_above, vector):
    """Energy of datum n on a new branch below `above` whose top has discriminant `vector`."""
    own_score = vector_score(vector, penalty.data, n)
    worst, total, n_siblings = zetas_at(links, eta, penalty.data, penalty.margin, n, NULL, above, own_score)
    of_level = level_energy(penalty.kind, penalty.strength, penalty.log_chance, n, worst, total, n_siblings)
    return join(penalty.kind, energy_above, of_level)

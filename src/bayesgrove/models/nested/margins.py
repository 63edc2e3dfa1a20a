"""Energies of the max-margin penalties: what datum n pays on its path against the siblings along it.

A datum n with row x_n pays, for every level of its path v_n, against the siblings z of its node there,
zeta = eps0 - (eta_v - eta_z)'x_n. With [.] = max(0, .) and j siblings at a level the energies are

| penalty | energy of a datum |
|---|---|
| "max" | 2C max over levels and siblings of [zeta] |
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
from bayesgrove.core.jit import kernel
from bayesgrove.models.nested.margins_chance import log_chance_of_levels, log_chance_of_pairs

PENALTIES = ("max", "sum", "chance", "chance-max")
MAX, SUM, CHANCE, CHANCE_MAX = range(4)
FIRST_SIBLINGS = 16
"""Columns for siblings in the first table of "chance-max"."""


class Margins(NamedTuple):
    """Settings of a penalty and what follows from data and settings alone.

    Attributes
    ----------
    kind : int
        Place in PENALTIES.
    strength : float
        C.
    margin : float
        eps0.
    data : float array of shape (n, n_coordinates)
        Rows as the margins see them: scaled, with a last 1 where there is an intercept.
    log_chance : float array of shape (n, n_columns)
        "chance": log g_n in one column. "chance-max": log g_{n,j} in column j. Others: one column of 0.
    """

    kind: int
    strength: float
    margin: float
    data: np.ndarray
    log_chance: np.ndarray


class Links(NamedTuple):
    """The tree as the penalties read it; NULL ends a list of children, the root is node 0."""

    parent: np.ndarray
    first_child: np.ndarray
    next_sibling: np.ndarray


def margin_rows(values: np.ndarray, *, scale: str | None = None, intercept: bool = False) -> np.ndarray:
    """Rows as the margins see them: divided by their root mean squared norm (scale="rms"), 1 appended (intercept)."""
    if scale not in (None, "rms"):
        raise InvalidSettingError(f'margin_scale is None or "rms", got {scale!r}.')
    rows = np.array(values, float)
    if scale == "rms":
        norm = math.sqrt(float((rows**2).sum(axis=1).mean()))
        rows /= norm if norm > 0.0 else 1.0
    return np.ascontiguousarray(np.column_stack([rows, np.ones(len(rows))]) if intercept else rows)


def make_margins(data: np.ndarray, penalty: str, strength: float, margin: float, scale: float) -> Margins:
    """Settings of a penalty with the table of what its margins cost by chance, for discriminants of prior `scale`."""
    if penalty not in PENALTIES:
        raise InvalidSettingError(f"penalty is one of {', '.join(PENALTIES)}, got {penalty!r}.")
    if not (0.0 <= strength < math.inf):
        raise InvalidSettingError(f"C must be finite and not negative, got {strength}. Begin with 0.01.")
    if not (0.0 <= margin < math.inf):
        raise InvalidSettingError(f"margin must be finite and not negative, got {margin}. Begin with 1.0.")
    empty = Margins(PENALTIES.index(penalty), float(strength), float(margin), data, np.zeros((len(data), 1)))
    return with_scale(empty, scale, FIRST_SIBLINGS)


def with_scale(margins: Margins, scale: float, most_siblings: int) -> Margins:
    """The same settings with the table for discriminants of prior standard deviation `scale`."""
    strength, margin, data = margins.strength, margins.margin, margins.data
    if margins.kind == CHANCE:
        return margins._replace(log_chance=log_chance_of_pairs(data, strength, margin, scale)[:, None])
    if margins.kind == CHANCE_MAX:
        return margins._replace(log_chance=log_chance_of_levels(data, strength, margin, scale, most_siblings))
    return margins


@kernel
def score(eta, node, data, n):
    """eta_z'x_n."""
    total = 0.0
    for i in range(data.shape[1]):
        total += eta[node, i] * data[n, i]
    return total


@kernel
def join(kind, energy, of_level):
    """Energy with one level more: the worst level counts in "max", all of them in the others."""
    return max(energy, of_level) if kind == MAX else energy + of_level


@kernel
def level_energy(margins, n, worst, total, n_siblings):
    """Energy of one level from the largest zeta, the sum of positive zetas and the number of siblings."""
    if n_siblings == 0:
        return 0.0
    kind = margins.kind
    energy = 2.0 * margins.strength * (max(0.0, worst) if kind == MAX or kind == CHANCE_MAX else total)
    if kind == CHANCE:
        energy += n_siblings * margins.log_chance[n, 0]
    elif kind == CHANCE_MAX:
        energy += margins.log_chance[n, n_siblings]
    return energy


@kernel
def zetas_at(margins, links, eta, n, node, own_score):
    """Largest zeta, sum of positive zetas and number of the siblings of `node`, which may stand outside the tree."""
    worst, total, n_siblings = -np.inf, 0.0, 0
    sibling = links.first_child[links.parent[node]]
    while sibling != NULL:
        if sibling != node:
            zeta = margins.margin - own_score + score(eta, sibling, margins.data, n)
            worst = max(worst, zeta)
            total += max(0.0, zeta)
            n_siblings += 1
        sibling = links.next_sibling[sibling]
    return worst, total, n_siblings


@kernel
def path_energy(margins, links, eta, n, node):
    """Energy of datum n on the path from the root down to `node`."""
    energy = 0.0
    while node != 0:
        worst, total, n_siblings = zetas_at(margins, links, eta, n, node, score(eta, node, margins.data, n))
        energy = join(margins.kind, energy, level_energy(margins, n, worst, total, n_siblings))
        node = links.parent[node]
    return energy


@kernel
def energies(margins, links, eta, leaf):
    """Energy of every datum, shape (n,); log R is minus their sum."""
    out = np.empty(len(leaf))
    for n in range(len(leaf)):
        out[n] = path_energy(margins, links, eta, n, leaf[n])
    return out


@kernel
def child_towards(links, leaf, above):
    """The child of `above` on the path to a leaf; NULL where the path does not go through it."""
    node = leaf
    while node != 0:
        if links.parent[node] == above:
            return node
        node = links.parent[node]
    return NULL


@kernel
def gain_of_sibling(margins, links, eta, m, leaf, child, new_score):
    """What datum m under `child` pays more when its level there gets a further node with score `new_score`."""
    kind = margins.kind
    own_score = score(eta, child, margins.data, m)
    zeta = margins.margin - own_score + new_score
    if kind == SUM or kind == CHANCE:
        return level_energy(margins, m, zeta, max(0.0, zeta), 1)
    if kind == MAX:
        if zeta <= 0.0:
            return 0.0
        return max(0.0, 2.0 * margins.strength * zeta - path_energy(margins, links, eta, m, leaf))
    worst, total, n_siblings = zetas_at(margins, links, eta, m, child, own_score)
    before = level_energy(margins, m, worst, total, n_siblings)
    return level_energy(margins, m, max(worst, zeta), total, n_siblings + 1) - before


@kernel
def gain_below(margins, links, eta, leaf, above, vector):
    """What all data under `above` pay more for a further child of it with discriminant `vector`.

    Data that are set aside have the leaf NULL.
    """
    gain = 0.0
    data = margins.data
    for m in range(len(leaf)):
        if leaf[m] == NULL:
            continue
        child = child_towards(links, leaf[m], above)
        if child != NULL:
            new_score = 0.0
            for i in range(data.shape[1]):
                new_score += vector[i] * data[m, i]
            gain += gain_of_sibling(margins, links, eta, m, leaf[m], child, new_score)
    return gain


@kernel
def own_branch_energy(margins, links, eta, n, above, energy_above, vector):
    """Energy of datum n on a new branch below `above` whose top has discriminant `vector`."""
    own_score = 0.0
    for i in range(margins.data.shape[1]):
        own_score += vector[i] * margins.data[n, i]
    worst, total, n_siblings = -np.inf, 0.0, 0
    sibling = links.first_child[above]
    while sibling != NULL:
        zeta = margins.margin - own_score + score(eta, sibling, margins.data, n)
        worst = max(worst, zeta)
        total += max(0.0, zeta)
        n_siblings += 1
        sibling = links.next_sibling[sibling]
    return join(margins.kind, energy_above, level_energy(margins, n, worst, total, n_siblings))

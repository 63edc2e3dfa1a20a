"""What new rows pay at the nodes of a draw under a penalty: a heuristic, as the regularised density has no new rows.

Only the new row's own margins count: at an existing leaf those along its path, at a new branch below u
those down to u and those of the branch's top against the children of u, averaged over discriminants drawn from their
prior. What a new branch would cost the rows that are there is left out.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.penalty import Links, Penalty, own_branch_energy, path_energy
from bayesgrove.models.nested.penalty_chance import log_chance_of_levels, log_chance_of_pairs
from bayesgrove.models.nested.predictive import KeptDraw
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, DISCRIMINANT_VARIANCE

N_BRANCH_DRAWS = 16
BRANCH_SEED = 20_250_301


class PenaltyLaw(NamedTuple):
    """Kind, strength C and margin eps0 of a penalty."""

    kind: int
    strength: float
    margin: float


def energies_of(law: PenaltyLaw, rows: np.ndarray) -> Callable[[KeptDraw], np.ndarray]:
    """A function of a draw that gives what rows, as discriminants see them, pay at its nodes: (n_rows, n_nodes)."""

    def energies(draw: KeptDraw) -> np.ndarray:
        links, scale = links_of_parents(draw.parent), math.sqrt(float(draw.values[DISCRIMINANT_VARIANCE]))
        widest = int(np.bincount(draw.parent[1:]).max())
        penalty = Penalty(*law, rows, chances(law, rows, scale, widest))
        vectors = scale * generator(BRANCH_SEED, 0).standard_normal((N_BRANCH_DRAWS, rows.shape[1]))
        out = np.empty((len(rows), draw.parent.size))
        fill_energies(penalty, links, draw.discriminants, vectors, out)
        return out

    return energies


def chances(law: PenaltyLaw, rows: np.ndarray, scale: float, widest: int) -> np.ndarray:
    """What margins cost by chance, as `Penalty.log_chance`; the widest family has one member more with the new row."""
    if law.kind == CHANCE:
        return log_chance_of_pairs(rows, law.strength, law.margin, scale)[:, None]
    if law.kind == CHANCE_MAXIMUM:
        return log_chance_of_levels(rows, law.strength, law.margin, scale, widest)
    return np.empty((len(rows), 0))


def links_of_parents(parent: np.ndarray) -> Links:
    """Links of a tree whose parents come first."""
    first_child, next_sibling = np.full(parent.size, NULL), np.full(parent.size, NULL)
    for node in range(parent.size - 1, 0, -1):
        next_sibling[node] = first_child[parent[node]]
        first_child[parent[node]] = node
    return Links(parent, first_child, next_sibling)


@kernel
def fill_energies(penalty, links, eta, vectors, out):
    """Energy of joining each leaf, and minus the log mean discount of a new branch below each inner node, to `out`."""
    for n in range(out.shape[0]):
        for node in range(out.shape[1]):
            energy = path_energy(penalty, links, eta, n, node)
            if links.first_child[node] == NULL:
                out[n, node] = energy
                continue
            least = np.inf
            for i in range(vectors.shape[0]):
                least = min(least, own_branch_energy(penalty, links, eta, n, node, energy, vectors[i]))
            total = 0.0
            for i in range(vectors.shape[0]):
                own = own_branch_energy(penalty, links, eta, n, node, energy, vectors[i])
                total += math.exp(least - own)
            out[n, node] = least - math.log(total / vectors.shape[0])

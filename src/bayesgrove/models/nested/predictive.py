"""New rows under draws of a nested hierarchy: where they would go, how dense the model is there, and rows like them.

Given a draw, a new row joins an existing leaf, or opens a branch below an inner node u
(docs/theory/nested-hierarchies.md, Prediction):

    p(x) = sum over leaves of  P(path) ell(leaf)  +  sum over u of  P(down to u) alpha / (N_u + alpha) ell(u),

ell(z) = sum_k beta_zk f_k(x) + beta*_z f_*(x). Every node of a draw is thus one possibility: a leaf to join it, an
inner node to branch off there. In terms of the estimated tree, a possibility counts for the estimate's nodes of the
same level by where the estimate has the node's members.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.drawing import draw_rows_of
from bayesgrove.models.nested.component_models import fill_scores
from bayesgrove.models.nested.packing import unpacked
from bayesgrove.models.nested.target import (
    ALPHA,
    BASE_VARIANCE,
    COMPONENT_VARIANCE,
    SampledMeans,
    Target,
)
from bayesgrove.stats.paths import PathNodes, path_nodes

MOST_DRAWS = 100
MOST_BYTES = 256 * 2**20
CHUNK_ROWS = 4_096


class Kept(NamedTuple):
    """What prediction needs of some draws; nodes and components of all draws one after the other."""

    node_start: np.ndarray
    component_start: np.ndarray
    """`node_start` and `component_start`, (n_draws + 1,): where the nodes and the components (the remainder first) of
    each draw begin."""
    parent: np.ndarray
    """(n_nodes_of_all_draws,): within the draw; -1 for roots."""
    size: np.ndarray
    """(n_nodes_of_all_draws,): data through each node."""
    weight: np.ndarray
    """(sum over draws of nodes x components,): row by row."""
    rows: np.ndarray
    """(n_components_of_all_draws, width): means, or statistics of the likelihood; zeros for the remainder."""
    values: np.ndarray
    """(n_draws, 6)."""
    discriminants: np.ndarray
    """(n_nodes_of_all_draws, n_coordinates): zeros for roots; no columns without penalty."""
    share: np.ndarray
    """(n_nodes_of_all_draws, n_nodes_of_the_estimate): of each node's members, where the estimate has them at the same
    level."""

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.values)


class KeptDraw(NamedTuple):
    """One draw of `Kept`."""

    parent: np.ndarray
    size: np.ndarray
    weight: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    discriminants: np.ndarray
    share: np.ndarray


def choose_draws(n_draws: int, size: float) -> np.ndarray:
    """Evenly spread draws, as many as are useful and fit when each takes so many bytes."""
    affordable = int(MOST_BYTES / max(size, 1.0))
    return np.unique(np.linspace(0, n_draws - 1, max(1, min(MOST_DRAWS, affordable, n_draws))).astype(np.int64))


def keep_draws(target: Target, draws: Sequence[Mapping[str, np.ndarray]], estimate: np.ndarray) -> Kept:
    """What prediction needs of draws as the sampler stores them; `estimate` are the paths (row, level) shown."""
    shown = path_nodes(estimate)
    parts = [keep_draw(target, draw, shown) for draw in draws]
    node_start = np.cumsum([0, *(part.parent.size for part in parts)])
    component_start = np.cumsum([0, *(len(part.rows) for part in parts)])
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("parent", "size", "rows", "discriminants", "share")
    }
    weight = np.concatenate([part.weight.ravel() for part in parts])
    values = np.stack([part.values for part in parts])
    return Kept(node_start, component_start, weight=weight, values=values, **joined)


def keep_draw(target: Target, draw: Mapping[str, np.ndarray], shown: PathNodes) -> KeptDraw:
    """One draw; its nodes are in the order of `path_nodes`, as the sampler numbers them by first appearance."""
    nodes = path_nodes(draw["paths"])
    weight = np.exp(draw["log_weights"])
    width = draw["discriminants"].shape[1] if "discriminants" in draw else 0
    discriminants = np.zeros((nodes.parent.size, width))
    if width:
        discriminants[1:] = draw["discriminants"]
    n_slots = weight.shape[1]
    if isinstance(target.law, SampledMeans):
        rows = np.vstack([np.zeros((1, target.data.shape[1])), draw["means"]])
    else:
        rows = unpacked(target._replace(penalty=0), draw).mixture.rows[:n_slots].copy()
        rows[0] = 0.0
    share = shared_members(nodes, shown)
    return KeptDraw(nodes.parent, nodes.size.astype(float), weight, rows, draw["values"], discriminants, share)


def shared_members(nodes: PathNodes, shown: PathNodes) -> np.ndarray:
    """Share of each node's members in each node of the same level of another tree."""
    n_shown = shown.parent.size
    counts = np.zeros((nodes.parent.size, n_shown))
    counts[0, 0] = len(nodes.node)
    for level in range(nodes.node.shape[1]):
        np.add.at(counts, (nodes.node[:, level], shown.node[:, level]), 1.0)
    return counts / nodes.size[:, None]


def draw_of(kept: Kept, number: int) -> KeptDraw:
    """One draw."""
    own = slice(kept.node_start[number], kept.node_start[number + 1])
    components = slice(kept.component_start[number], kept.component_start[number + 1])
    sizes = np.diff(kept.node_start[: number + 2]) * np.diff(kept.component_start[: number + 2])
    n_nodes, n_slots = own.stop - own.start, components.stop - components.start
    weight = kept.weight[sizes[:-1].sum() : sizes.sum()].reshape(n_nodes, n_slots)
    return KeptDraw(
        kept.parent[own],
        kept.size[own],
        weight,
        kept.rows[components],
        kept.values[number],
        kept.discriminants[own],
        kept.share[own],
    )


def possibilities(draw: KeptDraw) -> np.ndarray:
    """Prior probability that a new row joins each leaf, or branches off below each inner node; they sum to 1."""
    alpha = draw.values[ALPHA]
    is_leaf = np.ones(draw.parent.size, bool)
    is_leaf[draw.parent[1:]] = False
    found = np.ones(draw.parent.size)
    for node in range(1, found.size):  # parents come first
        above = draw.parent[node]
        found[node] = found[above] * draw.size[node] / (draw.size[above] + alpha)
    return np.where(is_leaf, found, found * alpha / (draw.size + alpha))


@kernel
def component_scores(law, data, values, rows, out):
    """Log density of each datum under each component, under a new one in column 0, to `out`."""
    in_use = np.ones(rows.shape[0], np.bool_)
    for datum in range(data.shape[0]):
        fill_scores(law, data, datum, values, rows, in_use, rows.shape[0], out[datum])


def joint_masses(kept: Kept, law: Any, data: np.ndarray, energies: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Joint density of rows with each node of the estimate, averaged over draws: log scales (n_rows,) and masses.

    Masses (n_rows, n_nodes of the estimate) multiply the exponential of the scale: joining the leaves, branching off
    below inner nodes. `energies` of a `KeptDraw` are what each row pays at each of its nodes, (n_rows, n_nodes).
    """
    n_rows = data.shape[0]
    log_scale, masses = np.full(n_rows, -np.inf), np.zeros((n_rows, kept.share.shape[1]))
    for number in range(kept.n_draws):
        draw = draw_of(kept, number)
        scores = np.empty((n_rows, len(draw.rows)))
        component_scores(law, data, draw.values, draw.rows, scores)
        own_scale = scores.max(axis=1)
        joint = (np.exp(scores - own_scale[:, None]) @ draw.weight.T) * possibilities(draw)
        if energies is not None:
            energy = energies(draw)
            least = energy.min(axis=1)
            joint *= np.exp(least[:, None] - energy)
            own_scale = own_scale - least
        new_scale = np.maximum(log_scale, own_scale)
        masses *= np.exp(log_scale - new_scale)[:, None]
        masses += np.exp(own_scale - new_scale)[:, None] * (joint @ draw.share)
        log_scale = new_scale
    return log_scale - math.log(kept.n_draws), masses


def node_probabilities(kept: Kept, law_of: Any, data: np.ndarray, energies_of: Any = None) -> np.ndarray:
    """Posterior probability of each row to join each leaf of the estimate or branch off below each inner node."""
    found = np.empty((data.shape[0], kept.share.shape[1]))
    for start in range(0, data.shape[0], CHUNK_ROWS):
        part = data[start : start + CHUNK_ROWS]
        _, masses = joint_masses(kept, law_of(part), part, None if energies_of is None else energies_of(part))
        found[start : start + CHUNK_ROWS] = masses / masses.sum(axis=1, keepdims=True)
    return found


def log_density(kept: Kept, law_of: Any, data: np.ndarray) -> np.ndarray:
    """Log predictive density of each row, averaged over draws."""
    found = np.empty(data.shape[0])
    for start in range(0, data.shape[0], CHUNK_ROWS):
        part = data[start : start + CHUNK_ROWS]
        log_scale, masses = joint_masses(kept, law_of(part), part)
        found[start : start + CHUNK_ROWS] = log_scale + np.log(masses.sum(axis=1))
    return found


def level_probabilities(masses: np.ndarray, shown: PathNodes, level: int) -> np.ndarray:
    """Probability of each node of a level of the estimate and, last, of a branch off above it.

    `masses` are `node_probabilities`; nodes of a level are in the order of their numbers.
    """
    own = np.flatnonzero(shown.level == level)
    found = np.zeros((len(masses), own.size + 1))
    place = np.full(shown.parent.size, own.size)
    place[own] = np.arange(own.size)
    for node in range(int(own[-1]) + 1, shown.parent.size):  # parents come first
        place[node] = place[shown.parent[node]]
    for node in range(shown.parent.size):
        found[:, place[node]] += masses[:, node]
    return found


def likely_paths(masses: np.ndarray, shown: PathNodes) -> np.ndarray:
    """The most probable path of each row in terms of the estimate, -1 from where it branches off: (row, level)."""
    n_levels = shown.node.shape[1]
    first = np.searchsorted(shown.level, np.arange(n_levels + 1))
    table = np.full((shown.parent.size, n_levels), -1)
    for node in range(1, shown.parent.size):
        level = int(shown.level[node])
        table[node] = table[shown.parent[node]]
        table[node, level - 1] = node - first[level]
    return table[masses.argmax(axis=1)]


def draw_rows(kept: Kept, prior: Any, rng: np.random.Generator, template: np.ndarray, n_samples: int) -> np.ndarray:
    """Draw new rows, encoded; `prior` is the likelihood's where parameters are integrated out.

    Without a prior components are spherical Gaussians around the means kept.
    """
    chosen = rng.integers(0, kept.n_draws, n_samples)
    out = np.tile(template, (n_samples, 1))
    for number in np.unique(chosen):
        draw = draw_of(kept, int(number))
        rows = np.flatnonzero(chosen == number)
        weights = possibilities(draw) @ draw.weight
        components = rng.choice(weights.size, rows.size, p=weights / weights.sum())
        for component in np.unique(components):
            own = rows[components == component]
            if prior is None:
                variance = draw.values[COMPONENT_VARIANCE] + (draw.values[BASE_VARIANCE] if component == 0 else 0.0)
                out[own] = rng.normal(draw.rows[component], math.sqrt(variance), (own.size, template.size))
            else:
                found = np.tile(template, (own.size, 1))
                draw_rows_of(prior, rng, draw.rows[component], found)
                out[own] = found
    return out

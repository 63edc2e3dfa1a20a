"""Passes over all trees and components: likelihoods, expected counts, posteriors of states."""

import numpy as np

from bayesgrove.models.tree_hmm.downward import go_downward
from bayesgrove.models.tree_hmm.links import Links, in_blocks
from bayesgrove.models.tree_hmm.printed import go_downward_as_printed
from bayesgrove.models.tree_hmm.switches import fill_switches
from bayesgrove.models.tree_hmm.tables import Counts, Tables, shape_of, zero_counts
from bayesgrove.models.tree_hmm.upward import go_upward

BLOCK_NODES = 100_000
"""Nodes that are passed over at a time: what is written on the way up and read on the way down fits into caches."""


class Scratch:
    """Room for one component's passes, used again for each."""

    def __init__(self, n_nodes: int, n_states: int) -> None:
        self.beta = np.empty((n_nodes, n_states))
        self.inner = np.empty((n_nodes, n_states))
        self.log_likelihood = np.empty(n_nodes)


def upward(links: Links, tables: Tables, component: int, mode: int, scratch: Scratch) -> np.ndarray:
    """Fill the scratch by one component's upward pass; log-likelihoods of all trees."""
    k, n_nodes = component, links.labels.size
    go_upward(
        links, tables.initial[k], tables.emission[k], tables.log_scale[k], tables.switching[k], tables.transition[k],
        mode, 0, n_nodes, scratch.beta, scratch.inner, scratch.log_likelihood,
    )  # fmt: skip
    return scratch.log_likelihood[links.roots]


def downward(
    links: Links, tables: Tables, component: int, mode: int, scratch: Scratch, weights: np.ndarray, counts: Counts,
    paper: bool = False,
) -> np.ndarray:  # fmt: skip
    """Add one component's expected counts after its upward pass; posteriors of states times weights, (n, C)."""
    k = component
    mass = np.bincount(links.roots, weights, links.labels.size)
    expected = mass[:, None] * scratch.beta
    go = go_downward_as_printed if paper else go_downward
    go(
        links, tables.switching[k], tables.transition[k], mode, scratch.beta, scratch.inner, expected,
        counts.initial[k], counts.emission[k], counts.switching[k], counts.transition[k], counts.present[k],
    )  # fmt: skip
    return expected


def make_scratch(links: Links, tables: Tables) -> Scratch:
    """Room for passes of these components over these trees."""
    return Scratch(links.labels.size, tables.n_states)


def log_likelihoods(links: Links, tables: Tables, mode: int) -> np.ndarray:
    """Of every tree under every component, (K, n_trees); with unnormalised tables the log of the total weight."""
    found = np.empty((len(tables.switching), links.roots.size))
    for trees, block in in_blocks(links, BLOCK_NODES):
        scratch = make_scratch(block, tables)
        for k in range(len(found)):
            found[k, trees] = upward(block, tables, k, mode, scratch)
    return found


def expected_counts(links: Links, tables: Tables, mode: int, weights: np.ndarray, paper: bool = False) -> Counts:
    """Expected uses of all cells, trees weighted by `weights` (K, n_trees); `paper` needs plain links."""
    return likelihoods_and_counts(links, tables, mode, weights, paper)[1]


def likelihoods_and_counts(
    links: Links, tables: Tables, mode: int, weights: np.ndarray, paper: bool = False
) -> tuple[np.ndarray, Counts]:
    """Log-likelihoods (K, n_trees) and expected counts, by one pass up and down for each component."""
    counts = zero_counts(len(tables.switching), shape_of(tables, mode))
    found = np.empty((len(tables.switching), links.roots.size))
    for trees, block in in_blocks(links, BLOCK_NODES):
        scratch = make_scratch(block, tables)
        for k in range(len(found)):
            found[k, trees] = upward(block, tables, k, mode, scratch)
            possible = np.where(np.isfinite(found[k, trees]), weights[k, trees], 0.0)
            downward(block, tables, k, mode, scratch, possible, counts, paper)
    return found, counts


def state_posteriors(links: Links, tables: Tables, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """Posterior of each node's state (n, C) and switch (n, L) under the one component given; links are plain."""
    scratch, counts = make_scratch(links, tables), zero_counts(1, shape_of(tables, mode))
    upward(links, tables, 0, mode, scratch)
    states = downward(links, tables, 0, mode, scratch, np.ones(links.roots.size), counts)
    switches = np.zeros((links.labels.size, tables.switching.shape[1]))
    fill_switches(links, tables.switching[0], tables.transition[0], mode, scratch.beta, scratch.inner, states, switches)
    return states, switches

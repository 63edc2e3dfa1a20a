"""The compiled engine of tree models behind the shapes of the slow twin, so that both can be compared."""

import numpy as np

from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm import engine
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.tables import MODES, make_tables
from reference import tree_hmm as twin
from reference.tree_sets import as_lists

KINDS = {"plain": plain_links, "unique": unique_links}
"""How nodes are gone over: each, or each different subtree once."""


def tree_data(trees, L, M):
    """Plain trees as the library takes them."""
    labels, parents, positions, internal = as_lists(trees)
    return TreeData.from_parents(labels, parents, positions, L, M, internal=internal)


def forest_of(trees, L, M):
    """Plain trees in flat arrays."""
    return tree_data(trees, L, M).forest


def links_of(trees, tables, kind):
    """Plain trees as the engine goes over them."""
    L, _, M = twin.sizes_of(tables)
    return KINDS[kind](forest_of(trees, L, M))


def node_numbers(forest, kind):
    """Number in the links of every node of the forest."""
    return forest.subtrees.node_ids if kind == "unique" else forest.n_nodes - 1 - np.arange(forest.n_nodes)


def as_twin(counts, component=0):
    """Tables or counts of one component in the twin's shapes."""
    initial, emission, switching, transition = (part[component] for part in counts[:4])
    return twin.Tables(initial, emission.T, switching, transition)


def counted(trees, tables, mode, kind, weights=None, *, paper=False):
    """Log-likelihoods of all trees, expected counts in the twin's shapes, and `present`."""
    weights = np.ones(len(trees)) if weights is None else weights
    links = links_of(trees, tables, kind)
    logs, counts = engine.likelihoods_and_counts(links, make_tables(*tables), MODES[mode], weights[None], paper)
    return logs[0], as_twin(counts), counts.present[0]

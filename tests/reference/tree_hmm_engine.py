"""The compiled engine of tree models behind the shapes of the slow twin, so that both can be compared."""

import numpy as np

from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm import engine, vb
from bayesgrove.models.tree_hmm.em import distinct_trees
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.states import draw_hard_counts
from bayesgrove.models.tree_hmm.tables import MODES, make_tables, shape_of, zero_counts
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


def hard_counts(rng, links, tables, mode, sizes):
    """Uses of all cells by states and switches drawn for every tree, sizes (K, n_trees) times under each component."""
    counts = zero_counts(len(tables.switching), shape_of(tables, mode))
    scratch = engine.make_scratch(links, tables)
    for k in np.flatnonzero(sizes.any(axis=1)):
        drawn = np.zeros(scratch.beta.shape, np.int64)
        engine.upward(links, tables, k, mode, scratch)
        roots = np.bincount(links.roots, sizes[k], links.labels.size).astype(np.int64)
        draw_hard_counts(
            rng, links, tables.switching[k], tables.transition[k], mode, scratch.beta, roots, drawn,
            counts.initial[k], counts.emission[k], counts.switching[k], counts.transition[k],
        )  # fmt: skip
    return counts


def vb_from_responsibilities(links, prior, tables, responsibilities, concentration, n_iter):
    """A variational fit from given tables and responsibilities (K, n_trees)."""
    trees = distinct_trees(links)
    weights = np.stack([np.bincount(trees.number, row, trees.multiplicity.size) for row in responsibilities])
    laws = vb._Laws(engine.expected_counts(trees.links, tables, prior.mode, weights), weights.sum(axis=1))
    fit = vb._iterate(trees, prior, concentration, laws, n_iter, vb._Watch(None, n_iter))
    return fit._replace(responsibilities=fit.responsibilities[:, trees.number])

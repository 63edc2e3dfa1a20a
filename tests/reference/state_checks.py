"""Whether what chains keep is what their labels and paths say: a ValueError tells where it is not."""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.cross import mcmc_state as cross
from bayesgrove.models.nested import state as nested
from bayesgrove.models.nrm import state as nrm


def check_nrm(state: nrm.State, values: np.ndarray) -> None:
    """Raise ValueError where what is kept differs from what the labels say."""
    labels, count, sizes, rows, _, log_marginals = state.clusters
    n_clusters = int(count[0])
    if not np.array_equal(np.unique(labels), np.arange(n_clusters)):
        raise ValueError(f"labels are not 0 .. {n_clusters - 1}: {np.unique(labels)}")
    if not np.array_equal(np.bincount(labels), sizes[:n_clusters]):
        raise ValueError(f"sizes {sizes[:n_clusters]} are not {np.bincount(labels)}")
    fresh = nrm.empty_clusters(state.scorer, labels.copy(), n_clusters)
    nrm.rebuild(state.scorer, values, fresh)
    for name, ours, theirs in (("rows", rows, fresh.rows), ("log marginals", log_marginals, fresh.log_marginal)):
        error = np.abs(ours[:n_clusters] - theirs[:n_clusters]).max()
        if not error <= 1e-6 * (1.0 + np.abs(theirs[:n_clusters]).max()):
            raise ValueError(f"{name} are off by {error}")


def check_cross(target: cross.Target, state: cross.State) -> None:
    """Raise ValueError where what is kept differs from what the labels say."""
    views = state.views
    n_views = state.n_views
    if not np.array_equal(np.unique(views.of_column), np.arange(n_views)):
        raise ValueError(f"views are not 0 .. {n_views - 1}: {np.unique(views.of_column)}")
    fresh = cross.make_state(target, views.of_column, state.row_labels(), state.params, state.concentrations)
    order = fresh.views.of_column[np.unique(views.of_column, return_index=True)[1]]
    for v in range(n_views):
        labels, k = views.labels[v], int(views.n_clusters[v])
        if not np.array_equal(np.unique(labels), np.arange(k)):
            raise ValueError(f"labels of view {v} are not 0 .. {k - 1}: {np.unique(labels)}")
        if not np.array_equal(np.bincount(labels), views.sizes[v, :k]):
            raise ValueError(f"sizes {views.sizes[v, :k]} of view {v} are not {np.bincount(labels)}")
        if views.widths[v] != fresh.views.widths[order[v]]:
            raise ValueError(f"view {v} has {fresh.views.widths[order[v]]} columns, not {views.widths[v]}")
    _check_stats(target, state, fresh, order)
    if not np.allclose(state.tables, fresh.tables, rtol=1e-9, atol=1e-9):
        raise ValueError("tables are not those of the numbers")


def _check_stats(target: cross.Target, state: cross.State, fresh: cross.State, order: np.ndarray) -> None:
    """Compare statistics cluster by cluster: the fresh state numbers clusters by first appearance."""
    for j, v in enumerate(state.views.of_column):
        labels = state.views.labels[v]
        place = np.unique(labels, return_index=True)[1]
        theirs = fresh.views.labels[order[v]][place]
        span = slice(target.start[j], target.start[j + 1])
        ours = state.views.stats[: place.size, span]
        error = np.abs(ours - fresh.views.stats[theirs, span]).max()
        if not error <= 1e-6 * (1.0 + np.abs(ours).max()):
            raise ValueError(f"statistics of column {j} are off by {error}")


def check_nested(state: nested.State, target: nested.Target) -> None:
    """Raise ValueError where what is kept differs from what paths and components say."""
    check_links(state.tree)
    check_paths(state.tree, target)
    check_components(state.mixture, target)
    check_weights(state)


def check_links(tree: nested.Tree) -> None:
    """Links agree, and every node is in use or free."""
    nodes = nested.nodes_in_use(tree)
    for node in nodes[1:].tolist():
        parent, before, after = (int(a[node]) for a in (tree.parent, tree.previous_sibling, tree.next_sibling))
        if tree.level[node] != tree.level[parent] + 1:
            raise ValueError(f"node {node} is at level {tree.level[node]}, its parent at {tree.level[parent]}")
        if (tree.first_child[parent] if before == NULL else tree.next_sibling[before]) != node:
            raise ValueError(f"node {node} is not what its elder sibling or parent points to")
        if after != NULL and tree.previous_sibling[after] != node:
            raise ValueError(f"node {after} does not point back to its elder sibling {node}")
    every = np.sort(np.concatenate([nodes, tree.free[: tree.numbers[nested.N_FREE]]]))
    if not np.array_equal(every, np.arange(tree.parent.size)):
        raise ValueError("nodes in use and free nodes are not all nodes, each once")
    if nodes.max() >= tree.numbers[nested.TOP]:
        raise ValueError(f"node {nodes.max()} is in use, but the top is {tree.numbers[nested.TOP]}")


def check_paths(tree: nested.Tree, target: nested.Target) -> None:
    """Counts are those of the paths, all leaves are at the depth, no node is empty."""
    counts = np.zeros(tree.parent.size, np.int64)
    for leaf in tree.leaf.tolist():
        if tree.level[leaf] != target.depth:
            raise ValueError(f"a path ends at level {tree.level[leaf]} of {target.depth}")
        node = leaf
        while node != NULL:
            counts[node] += 1
            node = int(tree.parent[node])
    nodes = nested.nodes_in_use(tree)
    if not np.array_equal(counts[nodes], tree.count[nodes]) or counts.sum() != counts[nodes].sum():
        raise ValueError(f"counts {tree.count[nodes]} are not {counts[nodes]}")
    if tree.leaf.size and not counts[nodes].all():
        raise ValueError(f"nodes {nodes[counts[nodes] == 0]} hold no data")


def check_components(mixture: nested.Mixture, target: nested.Target) -> None:
    """Sizes are those of the components."""
    sizes = np.bincount(mixture.component, minlength=mixture.size.size)
    if sizes[nested.REMAINDER] or not np.array_equal(sizes, mixture.size):
        raise ValueError(f"sizes {mixture.size} are not {sizes}")
    expected = sizes > 0
    if target.n_components:
        expected = (np.arange(sizes.size) >= 1) & (np.arange(sizes.size) <= target.n_components)
    if not np.array_equal(mixture.in_use, expected):
        raise ValueError(f"components in use {np.flatnonzero(mixture.in_use)} are not {np.flatnonzero(expected)}")
    if np.flatnonzero(expected).max(initial=0) >= mixture.numbers[0]:
        raise ValueError(f"the top slot {mixture.numbers[0]} is not above {np.flatnonzero(expected)}")


def check_weights(state: nested.State) -> None:
    """Weights of each node sum to 1, agree with their logs and are 0 in free slots."""
    nodes, mixture = nested.nodes_in_use(state.tree), state.mixture
    log_weight, weight = mixture.log_weight[nodes], mixture.weight[nodes]
    if np.isnan(log_weight).any() or not np.allclose(np.exp(log_weight), weight, rtol=1e-9, atol=1e-300):
        raise ValueError("weights are not the exponentials of their logs")
    if np.abs(weight.sum(axis=1) - 1.0).max() > 1e-10:
        raise ValueError(f"weights of nodes sum to {weight.sum(axis=1)}")
    unused = ~mixture.in_use
    unused[nested.REMAINDER] = False
    if weight[:, unused].any():
        raise ValueError("a free slot has weight")

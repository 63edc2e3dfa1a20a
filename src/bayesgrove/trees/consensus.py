"""One tree from many draws of a partition: average linkage on the share of draws that keep two items apart."""

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import MemoryLimitError
from bayesgrove.core.jit import kernel
from bayesgrove.stats.partitions import co_clustering, relabel_draws
from bayesgrove.trees.table import Tree
from bayesgrove.trees.traverse import running_maximum

MAX_GROUPS = 5_000
MIXED = -2
"""In a draw, the items below a node have several labels."""


def consensus_tree(draws: ArrayLike, leaf_labels: tuple[str, ...] | None = None) -> Tree:
    """A binary tree whose nodes say in which share of the draws their items are one cluster.

    Parameters
    ----------
    draws : int array of shape (..., n_items)
        For instance (chain, draw, item). Items that share a label in every draw are joined first, without any
        matrix; of the groups so made there may be 5,000.
    leaf_labels : tuple of str, optional
        One name per item.

    Returns
    -------
    Tree
        Height is 1 less the mean similarity of the two sides of a merge. Columns: `together`, the share of draws in
        which all items below a node have one label; `similarity`, the mean similarity of the two sides (1 at leaves);
        `log_merge_odds`, the log odds that a node's items are one cluster in those draws in which its parent's are
        not, so that `same_cluster_probability(tree, i, j)` is `together` of the lowest node with both.

    Examples
    --------
    >>> tree = consensus_tree([[0, 0, 1, 1], [0, 0, 1, 2], [3, 3, 3, 1], [0, 0, 1, 1]])
    >>> tree.columns["together"].tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0]
    >>> tree.cut(n_clusters=2).tolist()
    [0, 0, 1, 1]
    """
    labels = relabel_draws(draws)
    first, group = identical_items(labels)
    if first.size > MAX_GROUPS:
        raise MemoryLimitError(
            f"a consensus tree takes up to {MAX_GROUPS} groups of items that no draw parts, got {first.size} groups "
            f"of {group.size} items. Give a sample of the items.",
            n_groups=first.size,
        )
    pairs, heights = link_averages(1.0 - co_clustering(labels[:, first]), np.bincount(group).astype(np.float64))
    merges, merge_heights = with_identical_items(group, pairs, heights)
    tree = Tree.from_merges(merges, heights=merge_heights)
    together = share_together(tree.parent, tree.item, np.ascontiguousarray(labels.T))
    columns = {
        "together": together,
        "similarity": np.where(tree.item == NULL, 1.0 - tree.height, 1.0),
        "log_merge_odds": odds_below(tree.parent, together),
    }
    return Tree(tree.parent, tree.item, tree.height, columns, leaf_labels)


def identical_items(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First item of each group of items that no draw parts, and every item's group, in order of first items."""
    columns = np.ascontiguousarray(labels.T)
    whole = columns.view(np.dtype((np.void, columns.dtype.itemsize * columns.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return np.sort(first), rank[inverse]


def link_averages(distance: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merges of average linkage of weighted points, and their heights, lowest first; `distance` is used up.

    Row t joins two ids into id n + t.
    """
    slots, heights = nearest_neighbour_chain(distance, weight)
    n = weight.size
    # The chain finds merges in no order of height. Children are found before their parents and are not higher but
    # for rounding, which the running maximum takes away; a stable sort then keeps children first.
    ids = ids_of_slots(slots, n)
    parent = np.full(2 * n - 1, NULL)
    parent[ids.ravel()] = np.repeat(np.arange(n, 2 * n - 1), 2)
    heights = running_maximum(parent, np.concatenate([np.zeros(n), heights]))[n:]
    order = np.argsort(heights, kind="stable")
    new_id = np.arange(2 * n - 1)
    new_id[n + order] = np.arange(n, 2 * n - 1)
    return np.sort(new_id[ids[order]], axis=1), heights[order]


@kernel
def nearest_neighbour_chain(distance: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average linkage by chains of nearest neighbours: pairs of slots and heights, the second slot taken over.

    Notes
    -----
    d(c, a + b) = (w_a d(c, a) + w_b d(c, b)) / (w_a + w_b) never brings a cluster nearer than its parts were, so
    that mutual nearest neighbours may be merged in any order (Murtagh 1983).
    """
    n = weight.size
    slots = np.empty((n - 1, 2), np.int64)
    heights = np.empty(n - 1)
    alive = np.ones(n, np.bool_)
    chain = np.empty(n + 1, np.int64)
    length, first_alive = 0, 0
    for merge in range(n - 1):
        if length == 0:
            while not alive[first_alive]:
                first_alive += 1
            chain[0] = first_alive
            length = 1
        while True:
            tip = chain[length - 1]
            before = chain[length - 2] if length > 1 else NULL
            # The one before wins ties: else two equal neighbours could be followed in a circle.
            nearest, least = before, distance[tip, before] if length > 1 else np.inf
            for other in range(n):
                if alive[other] and other != tip and distance[tip, other] < least:
                    nearest, least = other, distance[tip, other]
            if nearest == before:
                break
            chain[length] = nearest
            length += 1
        slots[merge, 0], slots[merge, 1] = before, tip
        heights[merge] = least
        length -= 2
        join_slots(distance, weight, alive, before, tip)
    return slots, heights


@kernel
def join_slots(distance: np.ndarray, weight: np.ndarray, alive: np.ndarray, gone: int, kept: int) -> None:
    """Let one slot take over another's weight and mean distances."""
    total = weight[gone] + weight[kept]
    alive[gone] = False
    for other in range(alive.size):
        if alive[other] and other != kept:
            mean = (weight[gone] * distance[gone, other] + weight[kept] * distance[kept, other]) / total
            distance[kept, other] = mean
            distance[other, kept] = mean
    weight[kept] = total


@kernel
def ids_of_slots(slots: np.ndarray, n: int) -> np.ndarray:
    """The ids merged in each row, where row t makes id n + t."""
    current = np.arange(n)
    ids = np.empty(slots.shape, np.int64)
    for merge in range(slots.shape[0]):
        ids[merge, 0], ids[merge, 1] = current[slots[merge, 0]], current[slots[merge, 1]]
        current[slots[merge, 1]] = n + merge
    return ids


def with_identical_items(group: np.ndarray, pairs: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merges of all items: those of each group first, at height 0, then those of the groups."""
    n_items, n_groups = group.size, len(pairs) + 1
    joins, top = join_groups(group, n_groups)
    group_id = np.concatenate([top, 2 * n_items - n_groups + np.arange(n_groups - 1)])
    return np.concatenate([joins, group_id[pairs]]), np.concatenate([np.zeros(len(joins)), heights])


@kernel
def join_groups(group: np.ndarray, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Merges that join each group's items, and the id that stands for each group in the end."""
    n_items = group.size
    top = np.full(n_groups, NULL)
    joins = np.empty((n_items - n_groups, 2), np.int64)
    n_joins = 0
    for item in range(n_items):
        if top[group[item]] == NULL:
            top[group[item]] = item
        else:
            joins[n_joins, 0], joins[n_joins, 1] = top[group[item]], item
            top[group[item]] = n_items + n_joins
            n_joins += 1
    return joins, top


@kernel
def share_together(parent: np.ndarray, item: np.ndarray, labels_of_item: np.ndarray) -> np.ndarray:
    """Share of draws, for every node, in which all items below it have one label."""
    n_draws = labels_of_item.shape[1]
    share = np.zeros(parent.size)
    label = np.empty(parent.size, np.int64)
    for draw in range(n_draws):
        for node in range(parent.size):
            label[node] = NULL
        for node in range(parent.size):
            if item[node] != NULL:
                label[node] = labels_of_item[item[node], draw]
            share[node] += label[node] != MIXED
            above = parent[node]
            if above != NULL:
                if label[above] == NULL:
                    label[above] = label[node]
                elif label[above] != label[node]:
                    label[above] = MIXED
    return share / n_draws


def odds_below(parent: np.ndarray, together: np.ndarray) -> np.ndarray:
    """Log odds of being one cluster where the parent's items are not; for the root, in all draws.

    Notes
    -----
    With t the share, (t - t_parent) / (1 - t); then the product of 1 - r from the root down to a node telescopes to
    1 - t, as `trees.weights` wants it.
    """
    above = np.zeros(together.size)
    above[:-1] = together[parent[:-1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(together - above) - np.log(1.0 - together)
    return np.where(together == 1.0, np.inf, odds)

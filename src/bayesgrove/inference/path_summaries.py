"""What draws of trees of fixed depth say: the most central draw, the most frequent tree, how credible a node is."""

from typing import NamedTuple

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.inference.description import spread
from bayesgrove.stats.partitions import co_clustering, relabel_draws
from bayesgrove.stats.paths import PathNodes

MOST_COMPARED_ITEMS = 2_000
"""Central draws are found by so many items, evenly spread: a matrix of 32 MB."""
MOST_STEPS = 4e9
"""Additions that the search of the central draw may take; fewer draws are candidates where it would take more."""
CODE_SEED = 20_240_607


class FrequentTree(NamedTuple):
    """A draw of the tree that most draws have."""

    draw: int
    share: float
    """Of the draws that have exactly this tree."""


def mean_overlap(paths: np.ndarray) -> np.ndarray:
    """Mean number of nodes below the root that the paths of two items share; paths (draw, item, level)."""
    found = np.zeros((paths.shape[1], paths.shape[1]))
    for level in range(paths.shape[2]):
        found += co_clustering(paths[:, :, level])
    return found


def central_draw(paths: np.ndarray) -> int:
    """The draw whose path overlaps are nearest to those of all draws, by mean squared distance; paths as above.

    Let O_t(i, j) be the number of nodes that the paths of i and j share in draw t, and M its mean over draws. The mean
    of |O_t - O_s|^2 over s is |O_t|^2 - 2 <O_t, M> plus a number that does not depend on t. As nodes are nested,
    |O_t|^2 = sum over nodes of (2 level - 1) size^2. Of more than 2,000 items a fixed even sample is compared, and of
    very many draws so many are candidates that about 4e9 additions suffice; M is of all draws in any case.
    """
    n_draws, n_items, n_levels = paths.shape
    items = spread(n_items, MOST_COMPARED_ITEMS)
    compared = paths[:, items] if items.size < n_items else paths
    n_candidates = int(np.clip(MOST_STEPS / (items.size**2 * n_levels), min(n_draws, 50), n_draws))
    candidates = spread(n_draws, n_candidates)
    mean = mean_overlap(compared)
    distance = np.zeros(candidates.size)
    for level in range(n_levels):
        labels = relabel_draws(compared[candidates, :, level])
        distance += overlap_terms(labels, mean, 2.0 * (level + 1) - 1.0)
    return int(candidates[np.argmin(distance)])


@kernel
def overlap_terms(labels: np.ndarray, mean: np.ndarray, weight: float) -> np.ndarray:
    """Sum over the nodes of a level of weight size^2 - 2 (sum of `mean` over pairs of their items), for each draw."""
    n_draws, n_items = labels.shape
    found = np.zeros(n_draws)
    last_of = np.empty(n_items, np.int64)  # the last item seen of each node
    before = np.empty(n_items, np.int64)  # the item of the same node before each item, -1 where there is none
    for draw in range(n_draws):
        n_blocks, total = 0, 0.0
        for i in range(n_items):
            block = labels[draw, i]
            if block == n_blocks:  # labels are by first appearance
                n_blocks += 1
                before[i] = -1
            else:
                before[i] = last_of[block]
            last_of[block] = i
            total += weight - 2.0 * mean[i, i]
            other = before[i]
            while other >= 0:
                total += 2.0 * weight - 4.0 * mean[i, other]
                other = before[other]
        found[draw] = total
    return found


def frequent_tree(paths: np.ndarray) -> FrequentTree:
    """The tree that most draws have, by its first draw; of trees equally frequent the one drawn first."""
    n_draws = len(paths)
    numbered = np.concatenate([relabel_draws(paths[:, :, level]) for level in range(paths.shape[2])], axis=1)
    whole = np.ascontiguousarray(numbered).view(np.dtype((np.void, numbered.dtype.itemsize * numbered.shape[1])))
    _, first, counts = np.unique(whole.ravel(), return_index=True, return_counts=True)
    best = np.lexsort((first, -counts))[0]
    return FrequentTree(int(first[best]), float(counts[best] / n_draws))


def node_credibility(nodes: PathNodes, paths: np.ndarray) -> np.ndarray:
    """Share of draws in which the items of a node are the items of a node at some level; 1 for the root.

    Sets of items are compared by sums of two random 64-bit codes of their items, drawn with a fixed seed: two
    different sets are taken for one with a probability of about 1e-38.
    """
    codes = generator(CODE_SEED, 0).integers(0, 2**64, (paths.shape[1], 2), dtype=np.uint64)
    keys = np.zeros((nodes.parent.size, 2), np.uint64)
    for level in range(nodes.node.shape[1]):
        np.add.at(keys, nodes.node[:, level], codes)
    order = np.argsort(keys[1:, 0], kind="stable") + 1
    levels = [relabel_draws(paths[:, :, level]) for level in range(paths.shape[2])]
    counts = count_nodes(keys[order, 0], keys[order, 1], np.stack(levels), codes)
    found = np.ones(nodes.parent.size)
    found[order] = counts / len(paths)
    return found


@kernel
def count_nodes(first_keys: np.ndarray, second_keys: np.ndarray, levels: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Draws that have a node with each key; first keys ascend; levels (level, draw, item) by first appearance."""
    n_levels, n_draws, n_items = levels.shape
    counts = np.zeros(first_keys.size)
    last_draw = np.full(first_keys.size, -1)
    one, two = np.zeros(n_items, np.uint64), np.zeros(n_items, np.uint64)
    for draw in range(n_draws):
        for level in range(n_levels):
            n_blocks = 0
            for i in range(n_items):
                block = levels[level, draw, i]
                if block == n_blocks:
                    one[block], two[block] = codes[i, 0], codes[i, 1]
                    n_blocks += 1
                else:
                    one[block] += codes[i, 0]
                    two[block] += codes[i, 1]
            for block in range(n_blocks):
                place, high = 0, first_keys.size
                while place < high:
                    middle = (place + high) // 2
                    if first_keys[middle] < one[block]:
                        place = middle + 1
                    else:
                        high = middle
                while place < first_keys.size and first_keys[place] == one[block]:
                    if second_keys[place] == two[block] and last_draw[place] != draw:
                        last_draw[place] = draw
                        counts[place] += 1.0
                    place += 1
    return counts

"""Kernels of the search for the partition nearest to all draws: allocate, reallocate, destroy and rebuild.

The expected loss of a partition is, up to what does not depend on it,

    sum over its clusters k of cost(size_k) - (2 / n_draws) * sum over draws d, their blocks l, clusters k of
    cost(number of items in both l and k),

see `stats.partitions.named_loss`. A *cell* is one block of one draw; `counts[cell, k]` is the last number above. An
item lies in one cell per draw, so that putting it into cluster k changes the sum by
step[size_k] - (2 / n_draws) * (sum over its cells of step[counts[cell, k]]).
"""

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel

TOLERANCE = 1e-10
"""Smaller changes of the sum are rounding: going after them might never end."""
MAX_SCANS = 100


@kernel
def count_cells(labels: np.ndarray, cells: np.ndarray, counts: np.ndarray, sizes: np.ndarray) -> int:
    """Fill the tables from labels (NULL: not allocated yet) and give the number of clusters."""
    for k in range(sizes.size):
        sizes[k] = 0
    for cell in range(counts.shape[0]):
        for k in range(sizes.size):
            counts[cell, k] = 0
    n_clusters = 0
    for i in range(labels.size):
        k = labels[i]
        if k != NULL:
            n_clusters = max(n_clusters, k + 1)
            shift_item(cells[i], k, 1, counts, sizes)
    return n_clusters


@kernel
def shift_item(cells: np.ndarray, cluster: int, by: int, counts: np.ndarray, sizes: np.ndarray) -> None:
    """Put an item, given by its cells, into a cluster (by = 1) or take it out (by = -1)."""
    sizes[cluster] += by
    for cell in cells:
        counts[cell, cluster] = np.uint32(np.int64(counts[cell, cluster]) + by)


@kernel
def close_cluster(labels: np.ndarray, cluster: int, last: int, counts: np.ndarray, sizes: np.ndarray) -> None:
    """Fill an empty cluster's place with the last cluster, so that no gap is ever visited."""
    if cluster == last:
        return
    sizes[cluster] = sizes[last]
    sizes[last] = 0
    for cell in range(counts.shape[0]):
        counts[cell, cluster] = counts[cell, last]
        counts[cell, last] = 0
    for i in range(labels.size):
        if labels[i] == last:
            labels[i] = cluster


@kernel
def widen(counts: np.ndarray, sizes: np.ndarray, max_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """The tables with room for twice as many clusters."""
    capacity = min(max_clusters, 2 * sizes.size)
    wider_counts = np.zeros((counts.shape[0], capacity), np.uint32)
    wider_sizes = np.zeros(capacity, np.int64)
    for k in range(sizes.size):
        wider_sizes[k] = sizes[k]
    for cell in range(counts.shape[0]):
        for k in range(sizes.size):
            wider_counts[cell, k] = counts[cell, k]
    return wider_counts, wider_sizes


@kernel
def changes_of_places(
    cells: np.ndarray, n_clusters: int, counts: np.ndarray, sizes: np.ndarray, step: np.ndarray, change: np.ndarray
) -> None:
    """Change of the sum for each cluster an item may go to; opening a new one changes nothing."""
    for k in range(n_clusters):
        change[k] = 0.0
    for cell in cells:
        row = counts[cell]
        for k in range(n_clusters):
            change[k] += step[row[k]]
    weight = 2.0 / cells.size
    for k in range(n_clusters):
        change[k] = step[sizes[k]] - weight * change[k]


@kernel
def choose_place(change: np.ndarray, n_clusters: int, current: int, may_open: bool) -> int:
    """The cluster of least change: the current one unless another is truly better; n_clusters is a new one."""
    if current != NULL:
        best, least = current, change[current] - TOLERANCE
    elif may_open:
        best, least = n_clusters, 0.0
    else:
        best, least = 0, change[0]
    for k in range(n_clusters):
        if change[k] < least:
            best, least = k, change[k]
    if may_open and least > 0.0:
        best = n_clusters
    return best


@kernel
def reallocate(
    items: np.ndarray,
    labels: np.ndarray,
    cells: np.ndarray,
    n_clusters: int,
    counts: np.ndarray,
    sizes: np.ndarray,
    step: np.ndarray,
    max_clusters: int,
) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Move each item in turn to its best cluster; numbers of moves and of clusters, and the tables, maybe widened."""
    n_moves = 0
    change = np.empty(sizes.size)
    for i in items:
        if n_clusters == sizes.size and n_clusters < max_clusters:
            counts, sizes = widen(counts, sizes, max_clusters)
            change = np.empty(sizes.size)
        current = labels[i]
        if current != NULL:
            shift_item(cells[i], current, -1, counts, sizes)
        alone = current != NULL and sizes[current] == 0
        changes_of_places(cells[i], n_clusters, counts, sizes, step, change)
        place = choose_place(change, n_clusters, current, n_clusters < max_clusters and not alone)
        shift_item(cells[i], place, 1, counts, sizes)
        labels[i] = place
        n_moves += place != current
        if place == n_clusters:
            n_clusters += 1
        elif alone and place != current:
            n_clusters -= 1
            close_cluster(labels, current, n_clusters, counts, sizes)
    return n_moves, n_clusters, counts, sizes


@kernel
def shuffled(rng: np.random.Generator, items: np.ndarray) -> np.ndarray:
    """The items in random order, in place; numpy's own permutation would take 10 s to compile."""
    for last in range(items.size - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        items[last], items[other] = items[other], items[last]
    return items


@kernel
def settle(
    rng: np.random.Generator,
    labels: np.ndarray,
    cells: np.ndarray,
    n_clusters: int,
    counts: np.ndarray,
    sizes: np.ndarray,
    step: np.ndarray,
    max_clusters: int,
) -> tuple[int, np.ndarray, np.ndarray]:
    """Reallocate all items, in a new random order each time, until none moves."""
    for _ in range(MAX_SCANS):
        order = shuffled(rng, np.arange(labels.size))
        n_moves, n_clusters, counts, sizes = reallocate(
            order, labels, cells, n_clusters, counts, sizes, step, max_clusters
        )
        if n_moves == 0:
            break
    return n_clusters, counts, sizes


@kernel
def sum_of_costs(n_clusters: int, n_draws: int, counts: np.ndarray, sizes: np.ndarray, step: np.ndarray) -> float:
    """The sum above for all items allocated."""
    cost = np.zeros(step.size + 1)
    for m in range(step.size):
        cost[m + 1] = cost[m] + step[m]
    own, shared = 0.0, 0.0
    for k in range(n_clusters):
        own += cost[sizes[k]]
    for cell in range(counts.shape[0]):
        for k in range(n_clusters):
            shared += cost[counts[cell, k]]
    return own - 2.0 * shared / n_draws


@kernel
def destroy(
    rng: np.random.Generator,
    labels: np.ndarray,
    cells: np.ndarray,
    n_clusters: int,
    counts: np.ndarray,
    sizes: np.ndarray,
) -> np.ndarray:
    """Empty a random cluster and close it; its items in random order."""
    cluster = int(rng.random() * n_clusters)
    items, n_items = np.empty(sizes[cluster], np.int64), 0
    for i in range(labels.size):
        if labels[i] == cluster:
            items[n_items] = i
            n_items += 1
            shift_item(cells[i], cluster, -1, counts, sizes)
            labels[i] = NULL
    close_cluster(labels, cluster, n_clusters - 1, counts, sizes)
    return shuffled(rng, items)


@kernel
def search_from(
    rng: np.random.Generator,
    start: np.ndarray,
    cells: np.ndarray,
    n_cells: int,
    step: np.ndarray,
    max_clusters: int,
    n_attempts: int,
) -> np.ndarray:
    """Labels of a local minimum: settle from a start (all NULL: one by one), then destroy and rebuild clusters."""
    n_draws, most = cells.shape[1], 8
    for i in range(start.size):
        most = max(most, start[i] + 2)
    capacity = min(max_clusters, most)
    counts = np.zeros((n_cells, capacity), np.uint32)
    sizes = np.zeros(capacity, np.int64)
    labels = start.copy()
    n_clusters = count_cells(labels, cells, counts, sizes)
    n_clusters, counts, sizes = settle(rng, labels, cells, n_clusters, counts, sizes, step, max_clusters)
    least = sum_of_costs(n_clusters, n_draws, counts, sizes, step)
    best = labels.copy()
    for _ in range(n_attempts):
        items = destroy(rng, labels, cells, n_clusters, counts, sizes)
        n_clusters -= 1
        for _ in range(2):  # the second time each item sees where the others went
            _, n_clusters, counts, sizes = reallocate(
                items, labels, cells, n_clusters, counts, sizes, step, max_clusters
            )
        if sum_of_costs(n_clusters, n_draws, counts, sizes, step) < least - TOLERANCE:
            n_clusters, counts, sizes = settle(rng, labels, cells, n_clusters, counts, sizes, step, max_clusters)
            least = sum_of_costs(n_clusters, n_draws, counts, sizes, step)
            best = labels.copy()
        else:
            labels = best.copy()
            n_clusters = count_cells(labels, cells, counts, sizes)
    return best

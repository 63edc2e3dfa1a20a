"""Search for the partition of least expected loss where the loss is no sum over clusters: omARI, NVI, NID, weights.

Every loss of `stats.partitions.named_loss` is a function of three costs: of the partition's blocks, of a draw's blocks
and of their meetings. Moving one item changes the first by a step and the last, of each draw, by another, so that one
scan costs items x draws x clusters, as in `partition_search`, with an evaluation of the function each.
"""

import numpy as np

from bayesgrove.core.jit import kernel
from bayesgrove.inference.partition_search import MAX_SCANS, close_cluster, shift_item, shuffled, widen
from bayesgrove.stats.partition_losses import loss_value

TOLERANCE = 1e-12


@kernel
def n_labels(labels: np.ndarray) -> int:
    """One more than the largest label."""
    most = 0
    for label in labels:
        most = max(most, label + 1)
    return most


@kernel
def take_item(
    cells: np.ndarray,
    cluster: int,
    by: int,
    counts: np.ndarray,
    sizes: np.ndarray,
    step: np.ndarray,
    own: float,
    shared: np.ndarray,
) -> float:
    """Put an item into a cluster (by = 1) or take it out (by = -1); the new cost of the blocks, `shared` in place."""
    if by < 0:
        shift_item(cells, cluster, -1, counts, sizes)
    own += by * step[sizes[cluster]]
    for d in range(cells.size):
        shared[d] += by * step[counts[cells[d], cluster]]
    if by > 0:
        shift_item(cells, cluster, 1, counts, sizes)
    return own


@kernel
def best_place(
    cells: np.ndarray,
    current: int,
    n_places: int,
    counts: np.ndarray,
    sizes: np.ndarray,
    step: np.ndarray,
    own: float,
    other: np.ndarray,
    shared: np.ndarray,
    code: int,
    a: float,
    scale: float,
) -> tuple[int, float]:
    """The cluster of least expected loss for an item; the present one unless another is truly better."""
    best, least = current, np.inf
    for turn in range(n_places + 1):
        k = current if turn == 0 else turn - 1
        size = sizes[k] if k < sizes.size else 0
        total = 0.0
        for d in range(cells.size):
            meeting = counts[cells[d], k] if k < sizes.size else 0
            total += loss_value(code, a, scale, own + step[size], other[d], shared[d] + step[meeting])
        if total < least - (TOLERANCE * cells.size if turn > 0 else 0.0):
            best, least = k, total
    return best, least / cells.size


@kernel
def sweeten(
    rng: np.random.Generator,
    labels: np.ndarray,
    cells: np.ndarray,
    n_cells: int,
    other: np.ndarray,
    step: np.ndarray,
    code: int,
    a: float,
    scale: float,
    max_clusters: int,
) -> float:
    """Move items, in random order, to their best clusters until none moves, in place; the expected loss."""
    n_clusters = n_labels(labels)
    sizes, counts = np.zeros(n_clusters, np.int64), np.zeros((n_cells, n_clusters), np.uint32)
    own, shared, expected = 0.0, np.zeros(cells.shape[1]), 0.0
    for i in range(labels.size):
        own = take_item(cells[i], labels[i], 1, counts, sizes, step, own, shared)
    for _ in range(MAX_SCANS):
        n_moves = 0
        for i in shuffled(rng, np.arange(labels.size)):
            if n_clusters == sizes.size and n_clusters < max_clusters:
                counts, sizes = widen(counts, sizes, max_clusters)
            current = labels[i]
            own = take_item(cells[i], current, -1, counts, sizes, step, own, shared)
            is_alone = sizes[current] == 0
            n_places = n_clusters if is_alone or n_clusters >= max_clusters else n_clusters + 1
            place, expected = best_place(
                cells[i], current, n_places, counts, sizes, step, own, other, shared, code, a, scale
            )
            own = take_item(cells[i], place, 1, counts, sizes, step, own, shared)
            labels[i] = place
            n_moves += place != current
            if place == n_clusters:
                n_clusters += 1
            elif is_alone and place != current:
                n_clusters -= 1
                close_cluster(labels, current, n_clusters, counts, sizes)
        if n_moves == 0:
            break
    return expected


@kernel
def scatter(rng: np.random.Generator, labels: np.ndarray, max_clusters: int) -> np.ndarray:
    """The members of a random cluster to random clusters or a new one; labels stay 0, 1, ..."""
    n_clusters = n_labels(labels)
    gone, most = int(rng.random() * n_clusters), min(n_clusters + 1, max_clusters)
    moved = labels.copy()
    for i in range(labels.size):
        if labels[i] == gone:
            moved[i] = int(rng.random() * most)
    names, n_names = np.full(most, -1), 0
    for i in range(labels.size):
        if names[moved[i]] < 0:
            names[moved[i]] = n_names
            n_names += 1
        moved[i] = names[moved[i]]
    return moved


@kernel
def sweeten_from(
    rng: np.random.Generator,
    start: np.ndarray,
    cells: np.ndarray,
    n_cells: int,
    other: np.ndarray,
    step: np.ndarray,
    code: int,
    a: float,
    scale: float,
    max_clusters: int,
    n_attempts: int,
) -> np.ndarray:
    """Labels of a local minimum, from a start and then from scattered clusters of what was best."""
    best = start.copy()
    least = sweeten(rng, best, cells, n_cells, other, step, code, a, scale, max_clusters)
    for _ in range(n_attempts):
        labels = scatter(rng, best, max_clusters)
        found = sweeten(rng, labels, cells, n_cells, other, step, code, a, scale, max_clusters)
        if found < least - TOLERANCE:
            best, least = labels, found
    return best

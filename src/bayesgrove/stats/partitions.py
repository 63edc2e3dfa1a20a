"""Partitions of items as label vectors: normal form, comparison, averages, enumeration."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, MemoryLimitError
from bayesgrove.core.jit import kernel

MAX_MATRIX_ITEMS = 20_000


class Overlap(NamedTuple):
    """Sizes that compare two partitions of the same items; no table of all pairs of blocks is made."""

    both: np.ndarray
    """Items in each non-empty meeting of a block of the first with a block of the second."""
    first: np.ndarray
    """Block sizes of the first partition."""
    second: np.ndarray
    """Block sizes of the second partition."""


def relabel(labels: ArrayLike) -> np.ndarray:
    """The same partition with labels 0, 1, ... by first appearance (its restricted growth string).

    Examples
    --------
    >>> relabel(["b", "b", "a", "c", "a"]).tolist()
    [0, 0, 1, 2, 1]
    """
    values = _vector(labels)
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def contingency(first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """Counts of items by (block of first, block of second), blocks in order of first appearance."""
    a, b = _pair(first, second)
    shape = (_n_blocks(a), _n_blocks(b))
    return np.bincount(a * shape[1] + b, minlength=shape[0] * shape[1]).reshape(shape)


def overlap(first: ArrayLike, second: ArrayLike) -> Overlap:
    """Sizes of blocks and of their meetings, in memory proportional to the number of items."""
    a, b = _pair(first, second)
    both = np.unique(a * _n_blocks(b) + b, return_counts=True)[1]
    return Overlap(both, np.bincount(a), np.bincount(b))


def variation_of_information(first: ArrayLike, second: ArrayLike) -> float:
    """H(first) + H(second) - 2 I(first, second) in nats: a distance, 0 for equal partitions."""
    sizes = overlap(first, second)
    n = sizes.first.sum()
    distance = _size_entropy(sizes.first) + _size_entropy(sizes.second) - 2.0 * _size_entropy(sizes.both)
    return max(0.0, float(distance / n)) if n else 0.0


def binder_loss(first: ArrayLike, second: ArrayLike) -> float:
    """Share of the pairs of items that one partition joins and the other parts (1 - Rand index)."""
    sizes = overlap(first, second)
    n_all = _n_pairs(sizes.first.sum(keepdims=True))
    apart = _n_pairs(sizes.first) + _n_pairs(sizes.second) - 2.0 * _n_pairs(sizes.both)
    return float(apart / n_all) if n_all else 0.0


def adjusted_rand(first: ArrayLike, second: ArrayLike) -> float:
    """Rand index corrected for chance: 1 for equal partitions, about 0 for unrelated ones."""
    sizes = overlap(first, second)
    joined = _n_pairs(sizes.both)
    joined_first, joined_second = _n_pairs(sizes.first), _n_pairs(sizes.second)
    n_all = _n_pairs(sizes.first.sum(keepdims=True))
    if n_all == 0.0 or joined == joined_first == joined_second:
        return 1.0
    by_chance = joined_first * joined_second / n_all
    return float((joined - by_chance) / (0.5 * (joined_first + joined_second) - by_chance))


def co_clustering(draws: ArrayLike) -> np.ndarray:
    """Share of draws in which items i and j have one label, shape (n_items, n_items).

    Parameters
    ----------
    draws : int array of shape (..., n_items)
        For instance (chain, draw, item); labels mean something within one draw only.
    """
    labels = np.asarray(draws)
    if labels.ndim < 2 or labels.size == 0:
        raise InvalidInputError(
            f"draws have at least one draw of at least one item, got shape {labels.shape}. "
            "Give an array of shape (draw, item)."
        )
    n_items = labels.shape[-1]
    if n_items > MAX_MATRIX_ITEMS:
        raise MemoryLimitError(
            f"the matrix of {n_items} items needs {8e-9 * n_items**2:.1f} GB, the limit is "
            f"{MAX_MATRIX_ITEMS} items. Give a sample of the items."
        )
    rows = np.ascontiguousarray(labels.reshape(-1, n_items), dtype=np.int64)
    return shared_counts(rows) / rows.shape[0]


@kernel
def shared_counts(draws):
    """Number of rows in which items i and j agree, as floats."""
    n_draws, n_items = draws.shape
    counts = np.zeros((n_items, n_items))
    for row in draws:
        for i in range(n_items):
            for j in range(i):
                counts[i, j] += row[i] == row[j]
    for i in range(n_items):
        counts[i, i] = n_draws
        for j in range(i):
            counts[j, i] = counts[i, j]
    return counts


def all_partitions(n_items: int) -> Iterator[np.ndarray]:
    """Every partition of n items once, as restricted growth strings in lexicographic order.

    There are 203 for 6 items, 4,140 for 8, 115,975 for 10.
    """
    if not 1 <= n_items <= 14:
        raise InvalidSettingError(
            f"n_items lies between 1 and 14 (190,899,322 partitions), got {n_items}. Use a sampler instead."
        )
    labels = np.zeros(n_items, np.int64)
    while True:
        yield labels.copy()
        highest = np.maximum.accumulate(labels)
        can_grow = np.flatnonzero(labels[1:] <= highest[:-1])
        if can_grow.size == 0:
            return
        last = can_grow[-1] + 1
        labels[last] += 1
        labels[last + 1 :] = 0


def _vector(labels: ArrayLike) -> np.ndarray:
    values = np.asarray(labels)
    if values.ndim != 1:
        raise InvalidInputError(f"labels are a vector, got shape {values.shape}. Give one label per item.")
    return values


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = relabel(first), relabel(second)
    if a.size != b.size:
        raise InvalidInputError(f"two partitions of the same items are compared, got {a.size} and {b.size} items.")
    return a, b


def _n_blocks(labels: np.ndarray) -> int:
    return int(labels.max(initial=-1)) + 1


def _size_entropy(sizes: np.ndarray) -> float:
    return float((sizes * np.log(sizes)).sum())


def _n_pairs(sizes: np.ndarray) -> float:
    counts = sizes.astype(np.float64)
    return float((counts * (counts - 1.0)).sum() / 2.0)

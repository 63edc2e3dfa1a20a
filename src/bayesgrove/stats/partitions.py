"""Partitions of items as label vectors: normal form, comparison, averages, enumeration."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, MemoryLimitError
from bayesgrove.core.jit import kernel

MAX_MATRIX_ITEMS = 20_000
ROWS_PER_BLOCK = 64


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


MISSING_CLASS = "missing"
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
"""By name: pandas' own are known here without pandas."""


def class_codes(classes: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Different classes in their order, and the place of each item's among them; None and NaN are a class, the last.

    Examples
    --------
    >>> names, codes = class_codes(["b", None, "a", "b"])
    >>> names.tolist(), codes.tolist()
    (['a', 'b', 'missing'], [1, 2, 0, 1])
    """
    given = np.asarray(classes)
    if given.dtype.kind not in "Of":
        names, codes = np.unique(given, return_inverse=True)
        return names, codes.reshape(-1)
    cells = [None if _is_missing(cell) else cell for cell in given.ravel().tolist()]
    known: set[Any] = set(cells) - {None}
    try:
        order = sorted(known)
    except TypeError:  # of several types
        order = sorted(known, key=str)
    place = {cell: k for k, cell in enumerate(order)}
    names = np.array([*order, *([MISSING_CLASS] if None in cells else [])], dtype=object)
    return names, np.array([place.get(cell, len(order)) for cell in cells], dtype=np.int64)


def _is_missing(cell: Any) -> bool:
    return type(cell).__name__ in _MISSING_TYPES or (isinstance(cell, float) and math.isnan(cell))


def overlap(first: ArrayLike, second: ArrayLike) -> Overlap:
    """Sizes of blocks and of their meetings, in memory proportional to the number of items."""
    a, b = _pair(first, second)
    both = np.unique(a * _n_blocks(b) + b, return_counts=True)[1]
    return Overlap(both, np.bincount(a), np.bincount(b))


def variation_of_information(first: ArrayLike, second: ArrayLike) -> float:
    """H(first) + H(second) - 2 I(first, second) in nats: a distance, 0 for equal partitions.

    Parameters
    ----------
    first, second : int arrays of shape (n_items,)
        Labels of the items in two partitions.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [0, 0, 0, 0])  # log 2
    0.693...
    """
    sizes = overlap(first, second)
    n = sizes.first.sum()
    distance = _size_entropy(sizes.first) + _size_entropy(sizes.second) - 2.0 * _size_entropy(sizes.both)
    return max(0.0, float(distance / n)) if n else 0.0


def binder_loss(first: ArrayLike, second: ArrayLike) -> float:
    """Share of the pairs of items that one partition joins and the other parts (1 - Rand index).

    Parameters
    ----------
    first, second : int arrays of shape (n_items,)
        Labels of the items in two partitions.

    Examples
    --------
    >>> binder_loss([0, 0, 1], [0, 1, 1])  # two pairs of three
    0.666...
    """
    sizes = overlap(first, second)
    n_all = _n_pairs(sizes.first.sum(keepdims=True))
    apart = _n_pairs(sizes.first) + _n_pairs(sizes.second) - 2.0 * _n_pairs(sizes.both)
    return float(apart / n_all) if n_all else 0.0


def adjusted_rand(first: ArrayLike, second: ArrayLike) -> float:
    """Rand index corrected for chance: 1 for equal partitions, about 0 for unrelated ones.

    Parameters
    ----------
    first, second : int arrays of shape (n_items,)
        Labels of the items in two partitions.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], [5, 5, 2, 2])
    1.0
    """
    sizes = overlap(first, second)
    joined = _n_pairs(sizes.both)
    joined_first, joined_second = _n_pairs(sizes.first), _n_pairs(sizes.second)
    n_all = _n_pairs(sizes.first.sum(keepdims=True))
    if n_all == 0.0 or joined == joined_first == joined_second:
        return 1.0
    by_chance = joined_first * joined_second / n_all
    return float((joined - by_chance) / (0.5 * (joined_first + joined_second) - by_chance))


def co_clustering(draws: ArrayLike) -> np.ndarray:
    """Share of draws (..., n_items) in which items i and j have one label, shape (n_items, n_items)."""
    labels = _draws(draws)
    n_items = labels.shape[1]
    if n_items > MAX_MATRIX_ITEMS:
        raise MemoryLimitError(
            f"the matrix of {n_items} items needs {8e-9 * n_items**2:.1f} GB, the limit is "
            f"{MAX_MATRIX_ITEMS} items. Give a sample of the items."
        )
    shared = np.zeros((n_items, n_items))
    # 16 bits are enough for so few items, and twice as many of them fit into a vector register.
    add_shared(relabel_draws(labels).astype(np.int16), shared)
    shared /= labels.shape[0]
    mirror(shared)
    return shared


@kernel
def add_shared(draws, shared):
    """Add to `shared[i, j]`, j <= i, the number of rows in which items i and j agree.

    Blocks of rows stay in the cache while all items pass by; the inner loop is a comparison of short integers,
    which the compiler turns into vector code.
    """
    n_draws, n_items = draws.shape
    agree = np.empty(n_items, np.int16)
    for first in range(0, n_draws, ROWS_PER_BLOCK):
        last = min(first + ROWS_PER_BLOCK, n_draws)
        for i in range(n_items):
            for j in range(i + 1):
                agree[j] = 0
            for row in range(first, last):
                label = draws[row, i]
                for j in range(i + 1):
                    agree[j] += np.int16(draws[row, j] == label)
            for j in range(i + 1):
                shared[i, j] += agree[j]


@kernel
def mirror(matrix):
    """Copy the lower triangle to the upper one, tile by tile as both sides must stay in the cache."""
    n = matrix.shape[0]
    for top in range(0, n, 64):
        for left in range(0, top + 1, 64):
            for i in range(top, min(top + 64, n)):
                for j in range(left, min(left + 64, i)):
                    matrix[j, i] = matrix[i, j]


def relabel_draws(draws: ArrayLike) -> np.ndarray:
    """Every draw's labels as 0, 1, ... by first appearance: int32 of shape (n_draws, n_items), draws of any shape.

    Examples
    --------
    >>> relabel_draws([[[7, 7, 2], [0, 1, 1]]]).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    labels = _draws(draws)
    lowest, highest = int(labels.min()), int(labels.max())
    if highest - lowest > 4 * labels.shape[1] + 1024:  # a look-up table of all values would be mostly empty
        return np.array([relabel(row) for row in labels], np.int32)
    if labels.dtype.kind == "u":  # may be too large for int64; signed ones may be too far apart for their own type
        shifted = (labels - labels.min()).astype(np.int64)
    else:
        shifted = np.subtract(labels, lowest, dtype=np.int64)
    return first_appearances(shifted, highest - lowest + 1)


@kernel
def first_appearances(draws, n_values):
    """Labels of each row numbered by first appearance; values lie in 0 .. n_values - 1."""
    n_draws, n_items = draws.shape
    out = np.empty((n_draws, n_items), np.int32)
    name = np.empty(n_values, np.int32)
    for row in range(n_draws):
        for value in range(n_values):
            name[value] = -1
        n_names = 0
        for i in range(n_items):
            value = draws[row, i]
            if name[value] < 0:
                name[value] = n_names
                n_names += 1
            out[row, i] = name[value]
    return out


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


def _draws(draws: ArrayLike) -> np.ndarray:
    labels = np.asarray(draws)
    if labels.ndim < 2 or labels.size == 0:
        raise InvalidInputError(
            f"draws have at least one draw of at least one item, got shape {labels.shape}. "
            "Give an array of shape (draw, item)."
        )
    if labels.dtype.kind not in "biu":
        raise InvalidInputError(f"labels of draws are integers, got an array of {labels.dtype}. Convert it to int64.")
    return labels.reshape(-1, labels.shape[-1])


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

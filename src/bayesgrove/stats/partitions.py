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
    """Share of draws in which items i and j have one label, shape (n_items, n_items).

    Parameters
    ----------
    draws : int array of shape (..., n_items)
        For instance (chain, draw, item); labels mean something within one draw only.
    """
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


WEIGHTED, OMARI, NVI, NID = range(4)
LOSSES = {"vi": WEIGHTED, "binder": WEIGHTED, "omari": OMARI, "nvi": NVI, "nid": NID}


class Loss(NamedTuple):
    """A distance of partitions, from the costs of the first's blocks, of the second's and of their meetings."""

    name: str
    step: np.ndarray
    """Cost of a block of m + 1 items less that of m items, for m = 0 .. n_items - 1."""
    scale: float
    """What the sum of costs is divided by."""
    code: int = WEIGHTED
    """How the three costs make the loss; see `loss_value`."""
    a: float = 1.0
    """Cost of parting what belongs together; of joining what does not, 2 - a."""

    @property
    def is_plain(self) -> bool:
        """Whether it is the sum of costs itself."""
        return self.code == WEIGHTED and self.a == 1.0


def named_loss(name: str, n_items: int, a: float = 1.0) -> Loss:
    """The variation of information ("vi", in nats), the share of pairs that differ ("binder") and their relatives.

    "omari" is 1 - the adjusted Rand index; "nvi" and "nid" are the variation of information over the joint entropy, and
    1 - mutual information over the larger entropy.

    Notes
    -----
    A block of m items costs m log m for "vi", "nvi" and "nid", divided by n in the end, and m (m - 1) / 2 for "binder"
    and "omari", divided by the number of pairs.
    """
    if name not in LOSSES:
        raise InvalidSettingError(f"loss is one of {', '.join(LOSSES)}, got {name!r}. Choose one of these.")
    if not 0.0 < a < 2.0 or (a != 1.0 and name not in ("vi", "binder")):
        raise InvalidSettingError(f'a lies between 0 and 2 and is 1 but for "vi" and "binder", got {a}. Try 1.0.')
    sizes = np.arange(n_items + 1.0)
    if name in ("binder", "omari"):
        return Loss(name, sizes[:-1], max(1.0, n_items * (n_items - 1) / 2.0), LOSSES[name], float(a))
    costs = np.concatenate([[0.0], sizes[1:] * np.log(sizes[1:])])
    return Loss(name, np.diff(costs), float(n_items), LOSSES[name], float(a))


@kernel
def loss_value(code: int, a: float, scale: float, own: float, other: float, shared: float) -> float:
    """The loss of an estimate whose blocks cost `own`, to a partition whose blocks cost `other`; meetings `shared`."""
    if code == WEIGHTED:
        return ((2.0 - a) * own + a * other - 2.0 * shared) / scale
    if code == OMARI:
        chance = own * other / scale
        span = 0.5 * (own + other) - chance
        return 1.0 - (shared - chance) / span if span > 1e-9 else 0.0
    entropy, other_entropy = math.log(scale) - own / scale, math.log(scale) - other / scale
    joint = math.log(scale) - shared / scale
    if code == NVI:
        return (2.0 * joint - entropy - other_entropy) / joint if joint > 1e-12 else 0.0
    larger = max(entropy, other_entropy)
    return 1.0 - (entropy + other_entropy - joint) / larger if larger > 1e-12 else 0.0


@kernel
def fill_losses(code, a, scale, own, other, shared):
    """Losses of estimates (rows) to draws (columns) in place of the costs of their meetings."""
    for row in range(own.size):
        for draw in range(other.size):
            value = loss_value(code, a, scale, own[row], other[draw], shared[row, draw])
            shared[row, draw] = max(value, 0.0)


def distances_to_draws(partitions: np.ndarray, draws: np.ndarray, loss: Loss) -> np.ndarray:
    """Loss between every partition and every draw, both as `relabel_draws` gives them: (n_partitions, n_draws)."""
    distances = meeting_costs(partitions, draws, loss.step)
    if not loss.is_plain:
        own, other = block_costs(partitions, loss.step), block_costs(draws, loss.step)
        fill_losses(loss.code, loss.a, loss.scale, own, other, distances)
        return distances
    distances *= -2.0
    distances += block_costs(partitions, loss.step)[:, np.newaxis] + block_costs(draws, loss.step)
    return np.maximum(distances / loss.scale, 0.0)


@kernel
def block_costs(partitions: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Sum of the costs of each partition's blocks."""
    costs = np.zeros(partitions.shape[0])
    counts = np.zeros(step.size, np.int64)
    for row in range(partitions.shape[0]):
        for label in partitions[row]:
            costs[row] += step[counts[label]]
            counts[label] += 1
        for label in partitions[row]:
            counts[label] = 0
    return costs


@kernel
def items_by_block(labels):
    """Items block after block, and the place where each block ends."""
    n_blocks = 0
    for label in labels:
        n_blocks = max(n_blocks, np.int64(label) + 1)
    ends = np.zeros(n_blocks, np.int64)
    for label in labels:
        ends[label] += 1
    for block in range(1, ends.size):
        ends[block] += ends[block - 1]
    order = np.empty(labels.size, np.int64)
    for i in range(labels.size - 1, -1, -1):  # fills each block from its end; afterwards `ends` are the beginnings
        ends[labels[i]] -= 1
        order[ends[labels[i]]] = i
    for block in range(ends.size - 1):
        ends[block] = ends[block + 1]
    ends[-1] = labels.size
    return order, ends


@kernel
def meeting_costs(partitions, draws, step):
    """Sum of the costs of the meetings of each partition's blocks with each draw's blocks.

    Items are visited block by block of the partition, so that one vector of counts takes the place of a table.
    """
    costs = np.zeros((partitions.shape[0], draws.shape[0]))
    counts = np.zeros(step.size, np.int64)
    for row in range(partitions.shape[0]):
        order, ends = items_by_block(partitions[row])
        for draw in range(draws.shape[0]):
            total, first = 0.0, 0
            labels = draws[draw]
            for last in ends:
                for place in range(first, last):
                    label = labels[order[place]]
                    total += step[counts[label]]
                    counts[label] += 1
                for place in range(first, last):
                    counts[labels[order[place]]] = 0
                first = last
            costs[row, draw] = total
    return costs


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

"""Losses between partitions, given as label vectors: one estimate against many draws."""

import math
from typing import NamedTuple

import numpy as np

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.jit import kernel

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

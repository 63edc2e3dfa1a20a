"""Slow, clear twins of the losses, the point estimate, the credible ball and the certainty of items."""

import math

import numpy as np

from bayesgrove.stats.partitions import all_partitions


def entropy(labels) -> float:
    """Of the sizes of the blocks, in nats."""
    shares = [list(labels).count(label) / len(labels) for label in set(labels)]
    return -sum(share * math.log(share) for share in shares)


def weighted(estimate, truth, loss: str, a: float) -> float:
    """`a` for parting what belongs together, 2 - a for joining what does not."""
    if loss == "binder":
        pairs = [(i, j) for i in range(len(truth)) for j in range(i)]
        parted = sum(truth[i] == truth[j] and estimate[i] != estimate[j] for i, j in pairs)
        joined = sum(truth[i] != truth[j] and estimate[i] == estimate[j] for i, j in pairs)
        return (a * parted + (2 - a) * joined) / max(1, len(pairs))
    joint = entropy(list(zip(estimate, truth, strict=True)))
    return a * (joint - entropy(truth)) + (2 - a) * (joint - entropy(estimate))


def distance(first, second, loss: str) -> float:
    """Variation of information in nats, or the share of pairs that one partition joins and the other parts; others."""
    n = len(first)
    if loss == "omari":
        pairs = [(first[i] == first[j], second[i] == second[j]) for i in range(n) for j in range(i)]
        one, two = sum(a for a, _ in pairs), sum(b for _, b in pairs)
        chance = one * two / len(pairs)
        span = (one + two) / 2 - chance
        return 1.0 - (sum(a and b for a, b in pairs) - chance) / span if span else 0.0
    if loss in ("nvi", "nid"):
        joint, larger = entropy(list(zip(first, second, strict=True))), max(entropy(first), entropy(second))
        if larger < 1e-12:
            return 0.0
        mutual = entropy(first) + entropy(second) - joint
        return 1.0 - mutual / (joint if loss == "nvi" else larger)
    if loss == "binder":
        pairs = [(i, j) for i in range(n) for j in range(i)]
        differ = [(first[i] == first[j]) != (second[i] == second[j]) for i, j in pairs]
        return sum(differ) / max(1, len(pairs))
    total = 0.0
    for a in set(first):
        for b in set(second):
            both = sum(x == a and y == b for x, y in zip(first, second, strict=True)) / n
            share_a, share_b = list(first).count(a) / n, list(second).count(b) / n
            total -= both * (math.log(both / share_a) + math.log(both / share_b)) if both else 0.0
    return total


def expected_loss(labels, draws, loss: str) -> float:
    """Mean distance to the draws."""
    return float(np.mean([distance(list(labels), list(draw), loss) for draw in draws]))


def least_expected_loss(draws, loss: str, max_clusters: int | None = None) -> float:
    """The minimum over all partitions."""
    candidates = all_partitions(draws.shape[1])
    limit = max_clusters or draws.shape[1]
    return min(expected_loss(labels, draws, loss) for labels in candidates if labels.max() < limit)


def radius(center, draws, level: float, loss: str) -> float:
    """The smallest distance within which at least this share of the draws lies."""
    distances = sorted(distance(list(center), list(draw), loss) for draw in draws)
    return next(reach for reach in distances if np.mean([d <= reach + 1e-9 for d in distances]) >= level - 1e-12)


def mean_similarity(draws, item: int, others) -> float:
    """Share of draws, averaged over others, in which an item has the other's label."""
    return float(np.mean([[draw[item] == draw[other] for other in others] for draw in draws]))


def share_together(draws, items) -> float:
    """Share of draws in which all items have one label."""
    return float(np.mean([len({draw[i] for i in items}) == 1 for draw in draws]))

"""What documents say about a posterior, computed from a table of all states with their probabilities.

Partitions have names ("labels", "level_1", "views", ...). Of each, four numbers are looked at (`FEATURES`), the law of
the number of blocks and the probability that two items are in one block.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from posteriors.codes import Labels, code_of

SIGNIFICANT = 13
"""Digits kept of exact numbers."""


class State(NamedTuple):
    """A state by the labels of its partitions, and its probability."""

    partitions: Mapping[str, Labels]
    probability: float


def n_blocks(labels: Sequence[int]) -> float:
    """Number of blocks."""
    return float(len(set(labels)))


def largest(labels: Sequence[int]) -> float:
    """Items of the largest block."""
    return float(max(Counter(labels).values()))


def n_singletons(labels: Sequence[int]) -> float:
    """Blocks of one item."""
    return float(sum(size == 1 for size in Counter(labels).values()))


def entropy(labels: Sequence[int]) -> float:
    """Of the blocks' shares, in nats."""
    n = len(labels)
    return -math.fsum(size / n * math.log(size / n) for size in Counter(labels).values())


FEATURES = {"n_blocks": n_blocks, "largest": largest, "n_singletons": n_singletons, "entropy": entropy}


def rounded(value: Any, n_digits: int = SIGNIFICANT) -> float:
    """A float with so many digits."""
    return float(f"{float(value):.{n_digits}g}")


def law(states: Iterable[State], names: Sequence[str]) -> dict[str, Any]:
    """Law of one or several partitions together, states by their code."""
    found: Counter[str] = Counter()
    for state in states:
        found["|".join(code_of(state.partitions[name]) for name in names)] += state.probability
    codes = sorted(found)
    return {"codes": codes, "probabilities": [rounded(found[code]) for code in codes]}


def counts_law(states: Iterable[State], name: str) -> dict[str, Any]:
    """Law of the number of blocks."""
    found: Counter[int] = Counter()
    for state in states:
        found[len(set(state.partitions[name]))] += state.probability
    values = sorted(found)
    return {"values": values, "probabilities": [rounded(found[value]) for value in values]}


def expectations(states: Sequence[State], name: str) -> dict[str, Any]:
    """Mean and standard deviation of the features of a partition."""
    found = {}
    for feature, of in FEATURES.items():
        weighted = [(state.probability, of(state.partitions[name])) for state in states]
        mean = math.fsum(p * x for p, x in weighted)
        variance = math.fsum(p * (x - mean) ** 2 for p, x in weighted)
        found[f"{name}.{feature}"] = {"value": rounded(mean), "sd": rounded(math.sqrt(max(variance, 0.0)))}
    return found


def together(states: Iterable[State], name: str) -> list[list[float]]:
    """P(items i and j are in one block), i > j: row i has the i entries below the diagonal."""
    total: list[list[float]] = []
    for labels, probability in ((state.partitions[name], state.probability) for state in states):
        total = total or [[0.0] * i for i in range(len(labels))]
        for i, row in enumerate(total):
            for j in range(i):
                row[j] += probability * (labels[i] == labels[j])
    return [[rounded(value) for value in row] for row in total]


def describe(states: Sequence[State], laws: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """All quantities of an exact law; `laws` names the tuples of partitions whose whole law is given."""
    names = list(states[0].partitions)
    return {
        "laws": {"|".join(tuple_): law(states, tuple_) for tuple_ in laws},
        "counts": {name: counts_law(states, name) for name in names},
        "expectations": {key: value for name in names for key, value in expectations(states, name).items()},
        "together": {name: {"value": together(states, name)} for name in names},
    }

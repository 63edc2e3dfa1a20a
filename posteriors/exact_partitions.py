"""Posteriors over partitions by enumeration, and the evidence once more by a recursion over subsets."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from posteriors.codes import all_partitions, blocks
from posteriors.marginals import log_chain, log_marginal, table_marginal
from posteriors.processes import Prior
from posteriors.quantities import State, describe, rounded

BlockLog = Callable[[tuple[int, ...]], float]


class PartitionLaw(NamedTuple):
    """All partitions with their probabilities."""

    states: list[State]
    log_evidence: float


def enumerate_law(n_items: int, log_prior: Callable[[Sequence[int]], float], log_block: BlockLog) -> PartitionLaw:
    """The posterior over all partitions of a few items."""
    found = all_partitions(n_items)
    parts = [blocks(labels) for labels in found]
    remembered: dict[tuple[int, ...], float] = {}
    logs = []
    for own in parts:
        sizes = tuple(sorted(len(block) for block in own))  # the prior does not depend on the order
        if sizes not in remembered:
            remembered[sizes] = log_prior(sizes)
        logs.append(remembered[sizes] + math.fsum(log_block(block) for block in own))
    log_evidence = float(np.logaddexp.reduce(logs))
    states = [State({"labels": labels}, math.exp(log - log_evidence)) for labels, log in zip(found, logs, strict=True)]
    return PartitionLaw(states, log_evidence)


def partition_quantities(rows: Sequence[Sequence[Any]], columns: Sequence[Any], prior: Prior) -> dict[str, Any]:
    """Exact quantities of a mixture, with how far two ways of computing them are apart."""
    first = enumerate_law(len(rows), prior.log_probability, table_marginal(rows, columns, log_marginal))
    again = enumerate_law(len(rows), prior.log_again, table_marginal(rows, columns, log_chain))
    found = describe(first.states, [("labels",)])
    for name, mean in prior.means.items():
        found["expectations"][name] = {"value": rounded(posterior_mean(first.states, mean))}
    found["log_evidence"] = {"value": rounded(first.log_evidence)}
    return {"quantities": found, "difference": law_difference(first, again)}


def posterior_mean(states: Sequence[State], mean: Callable[[Sequence[int]], float]) -> float:
    """Mean over partitions of what depends on their sizes."""
    remembered: dict[tuple[int, ...], float] = {}
    total = []
    for state in states:
        sizes = tuple(sorted(len(block) for block in blocks(state.partitions["labels"])))
        if sizes not in remembered:
            remembered[sizes] = mean(sizes)
        total.append(state.probability * remembered[sizes])
    return math.fsum(total)


def law_difference(first: PartitionLaw, again: PartitionLaw) -> float:
    """Largest difference of probabilities and log evidence."""
    pairs = zip(first.states, again.states, strict=True)
    worst = max(abs(one.probability - other.probability) for one, other in pairs)
    return max(worst, abs(first.log_evidence - again.log_evidence))


def greedy_tree(n_items: int, log_block: BlockLog, concentration: float) -> dict[str, Any]:
    """The tree of Bayesian hierarchical clustering: at each step the pair with the greatest odds of being one cluster.

    Notes
    -----
    g(c) = log(concentration (|c| - 1)!) + log m(X_c); q(leaf) = g, q(c) = log(exp g(c) + exp(q(l) + q(r))); the log
    odds of a merge are g(c) - q(l) - q(r). Node n + k is that of merge k. The bound is
    q(root) + log Gamma(concentration) - log Gamma(n + concentration), at most the log evidence.
    """

    def log_one(block: tuple[int, ...]) -> float:
        return math.log(concentration) + math.lgamma(len(block)) + log_block(block)

    nodes = {i: ((i,), log_one((i,))) for i in range(n_items)}
    merges, odds = [], []
    for new in range(n_items, 2 * n_items - 1):
        scored = []
        for a in nodes:
            for b in nodes:
                if a < b:
                    block = tuple(sorted(nodes[a][0] + nodes[b][0]))
                    scored.append((log_one(block) - nodes[a][1] - nodes[b][1], a, b, block))
        log_odds, a, b, block = max(scored, key=lambda entry: (entry[0], -entry[1], -entry[2]))
        q = float(np.logaddexp(log_one(block), nodes.pop(a)[1] + nodes.pop(b)[1]))
        nodes[new] = (block, q)
        merges.append([a, b])
        odds.append(rounded(log_odds))
    bound = nodes[2 * n_items - 2][1] + math.lgamma(concentration) - math.lgamma(n_items + concentration)
    return {"merges": merges, "log_merge_odds": odds, "log_evidence_bound": rounded(bound)}

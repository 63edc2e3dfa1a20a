"""Posteriors over partitions of labelled trees (mixtures of hidden-tree Markov models), by enumeration.

A complete state of a tree says the hidden state of every node and which place the switch of every inner node chose.
Given complete states the tables are Dirichlet and integrate out; so a block's marginal is a sum over complete
states of all its trees. First way: states of a tree with the same counts are pooled, trees are joined by adding
counts, and the closed Dirichlet-multinomial is taken. Second way: urns. All complete states are walked through one
choice after the other, each with its share of what was drawn before.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from posteriors.exact_partitions import enumerate_law, law_difference
from posteriors.processes import dirichlet
from posteriors.quantities import describe, rounded

Cell = tuple[str, int, int, int]
"""Table, row (two indices), column of one draw from a row of a table."""
Tree = Mapping[str, Sequence[int]]


def draws_of(tree: Tree, states: Sequence[int], chosen: Sequence[int], sizes: Mapping[str, Any]) -> list[Cell]:
    """All draws from rows of tables behind one complete state; place 0 of `chosen` marks leaves."""
    bottom, found = sizes["n_states"], []
    for node, label in enumerate(tree["labels"]):
        children = {tree["positions"][c]: c for c, parent in enumerate(tree["parents"]) if parent == node}
        found.append(("emission", states[node], 0, label))
        if not children:
            found.append(("initial", tree["positions"][node], 0, states[node]))
            continue
        place = chosen[node]
        child_state = states[children[place]] if place in children else bottom
        found.append(("switching", 0, 0, place))
        found.append(("transition", place, child_state, states[node]))
        if sizes["missing"] == "bottom_prior":
            absent = [p for p in range(1, sizes["max_outdegree"] + 1) if p not in children]
            found += [("initial", p, 0, bottom) for p in absent]
    return found


def row_width(cell: Cell, sizes: Mapping[str, Any]) -> int:
    """Cells of the row a draw comes from."""
    table, row, _, _ = cell
    if table == "emission":
        return sizes["n_labels"]
    if table == "switching":
        return sizes["max_outdegree"]
    has_bottom = table == "initial" and row > 0 and sizes["missing"] == "bottom_prior"
    return sizes["n_states"] + has_bottom


def complete_states(tree: Tree, sizes: Mapping[str, Any]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every vector of hidden states with every vector of the switches' places."""
    inner = set(tree["parents"])
    places = [range(1, sizes["max_outdegree"] + 1) if node in inner else (0,) for node in range(len(tree["labels"]))]
    states = itertools.product(range(sizes["n_states"]), repeat=len(tree["labels"]))
    return itertools.product(states, itertools.product(*places))


def log_closed(trees: Sequence[Tree], sizes: Mapping[str, Any], strength: float) -> float:
    """Log marginal of trees in one cluster, by counts."""
    pooled: Counter[frozenset] = Counter({frozenset(): 1})
    for tree in trees:
        own = Counter(
            frozenset(Counter(draws_of(tree, *state, sizes)).items()) for state in complete_states(tree, sizes)
        )
        joined: Counter[frozenset] = Counter()
        for (one, ways), (other, more) in itertools.product(pooled.items(), own.items()):
            joined[frozenset((Counter(dict(one)) + Counter(dict(other))).items())] += ways * more
        pooled = joined
    logs = [
        math.log(ways) + log_dirichlet_multinomial(dict(counts), sizes, strength) for counts, ways in pooled.items()
    ]
    return float(np.logaddexp.reduce(logs))


def log_dirichlet_multinomial(counts: Mapping[Cell, int], sizes: Mapping[str, Any], strength: float) -> float:
    """Log probability of a sequence of draws with these counts."""
    totals: Counter[Cell] = Counter()
    rise = 0.0
    for cell, count in counts.items():
        totals[(*cell[:3], 0)] += count
        rise += math.lgamma(strength + count) - math.lgamma(strength)
    for row, total in totals.items():
        mass = strength * row_width(row, sizes)
        rise -= math.lgamma(mass + total) - math.lgamma(mass)
    return rise


def log_urns(trees: Sequence[Tree], sizes: Mapping[str, Any], strength: float) -> float:
    """The same, every complete state of all trees on its own, draw by draw."""
    total = 0.0
    for combination in itertools.product(*(list(complete_states(tree, sizes)) for tree in trees)):
        seen: Counter[Cell] = Counter()
        rows: Counter[Cell] = Counter()
        weight = 1.0
        for tree, state in zip(trees, combination, strict=True):
            for cell in draws_of(tree, *state, sizes):
                row = (*cell[:3], 0)
                weight *= (strength + seen[cell]) / (strength * row_width(cell, sizes) + rows[row])
                seen[cell] += 1
                rows[row] += 1
        total += weight
    return math.log(total)


def tree_mixture_quantities(data: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Exact quantities of a Dirichlet process mixture of trees."""
    sizes = {"n_labels": data["n_labels"], "max_outdegree": data["max_outdegree"], **parameters}
    trees, prior = data["trees"], dirichlet(parameters["concentration"])
    first = enumerate_blocks(trees, sizes, prior.log_probability, log_closed)
    again = enumerate_blocks(trees, sizes, prior.log_again, log_urns)
    found = describe(first.states, [("labels",)])
    found["log_evidence"] = {"value": rounded(first.log_evidence)}
    return {"quantities": found, "difference": law_difference(first, again)}


def enumerate_blocks(trees: Sequence[Tree], sizes: Mapping[str, Any], log_prior: Any, way: Any):
    """The law over partitions with every block's marginal computed once."""
    remembered: dict[tuple[int, ...], float] = {}

    def log_block(block: tuple[int, ...]) -> float:
        if block not in remembered:
            remembered[block] = way([trees[i] for i in block], sizes, sizes["prior_strength"])
        return remembered[block]

    return enumerate_law(len(trees), log_prior, log_block)

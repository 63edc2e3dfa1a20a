"""Evidence bounds of all sorts of trees over tiny tables, with the exact evidence by enumeration.

Run as plain Python (`NUMBA_DISABLE_JIT=1 python -m reference.bounds`): tiny tables of nine likelihoods would spend
minutes in the compiler. Prints one list of records.
"""

import json
import math
import sys

import numpy as np

from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.agglomeration.learn import bound_and_gradient, evidence_bound, fixed_tree, new_space
from bayesgrove.agglomeration.randomized import grow as grow_randomized
from bayesgrove.agglomeration.search import search_tree
from bayesgrove.agglomeration.splits import Problem, Settings
from bayesgrove.likelihoods.coordinates import coordinates
from bayesgrove.models.bhc.duplicates import merge_duplicates_first
from bayesgrove.trees import Tree
from conftest import ALL_LIKELIHOODS
from reference.bhc import evidence_of, exact_evidence, grow
from reference.trees import random_merges

TRUNCATED = Settings(leaf_size=3, sample_size=3, inner="truncate")
RANDOMIZED = (
    Settings(leaf_size=2, sample_size=3),
    Settings(leaf_size=3, sample_size=4, filter_nodes=1),
    Settings(leaf_size=2, sample_size=2, split="root", filter_rule="paper"),
    Settings(leaf_size=2, sample_size=3, split="skeleton", fanout=3, max_depth=2),
)


def greedy_record(example, values, log_concentration):
    """Whether the library's merges are the twin's, and their bound."""
    atoms = atoms_of_rows(example.prior, values, log_concentration)
    complete = not np.isnan(values).any()
    got = agglomerate(example.prior, atoms, log_concentration, complete=complete)
    expected = grow(evidence_of(example.name, example.prior, values), len(values), log_concentration)
    same = got.children.tolist() == expected.children.tolist()
    return same, evidence_bound(got.log_q[-1], len(values), log_concentration)


def search_bound(example, values, log_concentration):
    """The bound that the search finds with everything learned, and the exact evidence under what it learned."""
    names = tuple(coordinate.name for coordinate in coordinates(example.prior))
    space = new_space(example.prior, log_concentration, names, learn_concentration=True)
    problem = Problem(example.prior, values, log_concentration, not np.isnan(values).any(), 0, 1)
    found = search_tree(problem, space)
    prior, log_learned = space.at(found.where)
    return found.bound - exact_evidence(evidence_of(example.name, prior, values), len(values), log_learned)


def random_tree_bound(rng, example, values, log_concentration):
    """The bound of a tree that no data chose."""
    tree = Tree.from_merges(random_merges(rng, len(values)))
    gradient = np.zeros(len(coordinates(example.prior)) + 1)
    return bound_and_gradient(example.prior, fixed_tree(example.prior, values, tree), log_concentration, gradient)


def chain_bound(example, values, log_concentration):
    """The bound of the tree that a nearest-neighbour chain builds: quick, and not always the greedy one."""
    evidence = evidence_of(example.name, example.prior, values)
    items = {i: frozenset([i]) for i in range(len(values))}
    log_q = {i: log_concentration + evidence(own) for i, own in items.items()}

    def log_one(a, b):
        return log_concentration + math.lgamma(len(items[a] | items[b])) + evidence(items[a] | items[b])

    live, chain = set(items), []
    while len(live) > 1:
        chain = chain or [min(live)]
        here, before = chain[-1], chain[-2:-1]
        others = [*before, *sorted(live - {here, *before})]  # the one before wins ties, so the chain ends
        nearest = max(others, key=lambda other: log_one(here, other) - log_q[here] - log_q[other])
        if [nearest] != before:
            chain.append(nearest)
            continue
        new = len(items)
        log_q[new] = np.logaddexp(log_one(here, nearest), log_q[here] + log_q[nearest])
        items[new] = items[here] | items[nearest]
        live = (live - {here, nearest}) | {new}
        chain = chain[:-2]
    return evidence_bound(log_q[max(live)], len(values), log_concentration)


def randomized_bound(settings, example, values, log_concentration, seed):
    """The bound of a randomized tree, regrafted and refined by turns."""
    complete = not np.isnan(values).any()
    problem = Problem(example.prior, values, log_concentration, complete, seed, 1)
    grown = grow_randomized(problem, settings, regraft=seed % 2 == 0, refine=seed % 3)
    return evidence_bound(grown.log_q, len(values), log_concentration)


def duplicates_bound(rng, example, values, log_concentration):
    """The bound of a tree that joins identical rows first, and the exact evidence of those rows."""
    repeated = values[rng.integers(0, max(1, len(values) // 2), len(values))]
    complete = not np.isnan(repeated).any()
    problem = Problem(example.prior, repeated, log_concentration, complete, 0, 1)
    forest = merge_duplicates_first(problem, memory_limit=math.inf, progress=None)
    exact = exact_evidence(evidence_of(example.name, example.prior, repeated), len(values), log_concentration)
    return evidence_bound(forest.log_q[-1], len(values), log_concentration) - exact


def record(example, seed):
    """All bounds on one table."""
    rng = np.random.default_rng([41, seed])
    n = 8 if seed % 40 == 0 else int(rng.integers(2, 7))
    log_concentration = math.log(rng.choice([0.2, 1.0, 5.0]))
    values = example.data(1_000 + seed, n, missing=0.2 * (seed % 2))
    same, greedy = greedy_record(example, values, log_concentration)
    exact = exact_evidence(evidence_of(example.name, example.prior, values), n, log_concentration)
    return {
        "likelihood": example.name,
        "seed": seed,
        "same": same,
        "exact": exact,
        "greedy": greedy,
        "chain": chain_bound(example, values, log_concentration),
        "search": exact + search_bound(example, values, log_concentration),
        "random": random_tree_bound(rng, example, values, log_concentration),
        "duplicates": exact + duplicates_bound(rng, example, values, log_concentration),
        "truncated": randomized_bound(TRUNCATED, example, values, log_concentration, seed),
        "randomized": randomized_bound(RANDOMIZED[seed % 4], example, values, log_concentration, seed),
    }


if __name__ == "__main__":
    n_tables = int(sys.argv[1])
    print(json.dumps([record(example, seed) for example in ALL_LIKELIHOODS for seed in range(n_tables)]))

"""What a greedy tree says about partitions, and its evidence bound, against enumeration of all of them."""

import json
import math
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from bayesgrove.agglomeration.learn import bound_and_gradient, fixed_tree
from bayesgrove.likelihoods import bind, log_marginal
from bayesgrove.likelihoods.coordinates import coordinates, with_coordinates
from bayesgrove.trees import Tree, expected_clusters, node_log_weights
from conftest import ALL_LIKELIHOODS
from reference.bhc import evidence_of, exact_evidence, items_of_nodes, tree_log_joints
from reference.golden import golden_table
from reference.tables import FAMILIES, merges_of
from reference.trees import front_probability, random_merges

pytestmark = pytest.mark.exact
TESTS = Path(__file__).resolve().parents[1]
TABLES_PER_LIKELIHOOD = 112


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson", "columns"])
def test_q_and_d_are_sums_over_the_partitions_of_the_tree(name):
    """Theorem 5.5 of Li and Shafto."""
    for seed in range(25):
        rng = np.random.default_rng([51, seed])
        n, log_concentration = int(rng.integers(2, 8)), math.log(rng.choice([0.3, 1.0, 4.0]))
        prior, values = FAMILIES[name](rng, n)
        got = merges_of(prior, values, math.exp(log_concentration))
        fronts, joints = tree_log_joints(evidence_of(name, prior, values), got.children, log_concentration)
        assert np.logaddexp.reduce(joints) == pytest.approx(got.log_q[-1], abs=1e-9)
        _, weights = tree_log_joints(lambda items: 0.0, got.children, log_concentration)
        assert np.logaddexp.reduce(weights) == pytest.approx(got.log_d[-1], abs=1e-9)
        tree = Tree.from_merges(got.children, got.log_odds)
        chance = np.array([front_probability(tree.parent, got.log_odds, front) for front in fronts])
        np.testing.assert_allclose(chance, np.exp(joints - got.log_q[-1]), rtol=0, atol=1e-9)
        mean = math.fsum(len(front) * p for front, p in zip(fronts, chance, strict=True))
        assert expected_clusters(tree) == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "bernoulli"])
def test_identities_of_the_weights_of_greedy_trees(name):
    for seed in range(10):
        rng = np.random.default_rng([52, seed])
        prior, values = FAMILIES[name](rng, 40)
        got = merges_of(prior, values)
        weight = np.exp(node_log_weights(Tree.from_merges(got.children, got.log_odds)))
        items = items_of_nodes(got.children)
        assert math.fsum(w * len(own) for w, own in zip(weight, items, strict=True)) == pytest.approx(40, rel=1e-12)
        for i in range(40):
            path = math.fsum(w for w, own in zip(weight, items, strict=True) if i in own)
            assert path == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
def test_no_bound_exceeds_the_evidence():
    """Greedy, searched, chain, random, truncated and randomized trees; and greedy merges are the twin's."""
    paths = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        [sys.executable, "-W", "ignore::RuntimeWarning", "-m", "reference.bounds", str(TABLES_PER_LIKELIHOOD)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    records = json.loads(done.stdout)
    assert len(records) == TABLES_PER_LIKELIHOOD * len(ALL_LIKELIHOODS) >= 1_000
    for record in records:
        assert record["same"], record
        for kind in ("greedy", "search", "chain", "random", "truncated", "randomized", "duplicates"):
            assert record[kind] <= record["exact"] + 1e-10, (kind, record)
    gaps = [record["exact"] - record["greedy"] for record in records]
    assert np.mean(gaps) < 2.0  # a bound of minus infinity would pass the rest


@pytest.mark.parametrize("name", ["bern_6x4", "nig_5x3", "mixed_5x4_missing"])
def test_golden_exact_evidence(golden, name):
    values, likelihood, concentration, numbers = golden_table(golden("bhcc")["tables"][name])
    evidence = cache(lambda items: log_marginal(likelihood, values[sorted(items)]))
    got = exact_evidence(evidence, len(values), math.log(concentration))
    assert got == pytest.approx(numbers["bhc_all_cols"]["log_dpm_exact"], abs=1e-8)


def bound_at(prior, log_factors, tree, log_concentration):
    """The bound of a fixed tree and its gradient."""
    gradient = np.zeros(log_factors.size)
    moved = with_coordinates(prior, np.exp(log_factors[:-1]))
    return bound_and_gradient(moved, tree, log_concentration + log_factors[-1], gradient), gradient


@pytest.mark.parametrize("example", ALL_LIKELIHOODS, ids=lambda example: example.name)
def test_gradient_of_the_bound_against_differences(example):
    rng = np.random.default_rng(53)
    values = example.data(53, 25, missing=0.1)
    tree = fixed_tree(example.prior, values, Tree.from_merges(random_merges(rng, 25)))
    here, step = np.zeros(len(coordinates(example.prior)) + 1), 1e-5
    _, gradient = bound_at(example.prior, here, tree, 0.3)
    for k, move in enumerate(step * np.eye(here.size)):
        above, below = (bound_at(example.prior, here + sign * move, tree, 0.3)[0] for sign in (1, -1))
        assert gradient[k] == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ["bern_6x4", "nig_5x3", "mixed_5x4_missing"])
def test_golden_derivative_by_the_concentration(golden, name):
    values, likelihood, concentration, numbers = golden_table(golden("bhcc")["tables"][name])
    bound = bind(likelihood, values, hyper="fixed")
    merges = [[merge["a"], merge["b"]] for merge in numbers["bhc_all_cols"]["merges"]]
    tree = fixed_tree(bound.prior, bound.values, Tree.from_merges(merges))
    gradient = np.zeros(len(coordinates(bound.prior)) + 1)
    got = bound_and_gradient(bound.prior, tree, math.log(concentration), gradient) + bound.log_measure
    assert got == pytest.approx(numbers["bhc_all_cols"]["log_lower_bound"], abs=1e-8)
    assert gradient[-1] == pytest.approx(numbers["bhc_all_cols"]["d_bound_d_log_alpha_fixed_tree"], abs=1e-8)

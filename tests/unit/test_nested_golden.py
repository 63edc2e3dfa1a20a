"""Path weights, regraft, scores and predictive density of the golden state of nested hierarchies."""

import math

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.models.nested.log_joint import log_cdl, log_path_prior
from bayesgrove.models.nested.nodes import release
from bayesgrove.models.nested.paths import log_density_ratio, weigh_paths, weigh_paths_in_logs
from bayesgrove.models.nested.regraft import detach, regraft_log_weights
from bayesgrove.models.nested.state import ROOT
from bayesgrove.models.nested.tables import Tables
from bayesgrove.models.nested.target import ALPHA
from bayesgrove.models.nested.visits import fill_densities, log_mixed, remove_datum
from bayesgrove.stats.special import log_gamma_table
from reference.nested_states import golden_node, golden_state, golden_target
from reference.state_checks import check_nested

pytestmark = pytest.mark.unit


@pytest.fixture
def state_entry(golden):
    return golden("bhmc")["state"]


def candidate_weights(target, state, datum, data):
    """Node and log weight of each candidate, in linear space and in logs."""
    capacity, n_slots = state.tree.parent.size, state.mixture.size.size
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty(n_slots)
    prior, nodes, running = np.empty(capacity), np.empty(capacity, np.int64), np.empty(capacity)
    top, alpha, depth = int(state.mixture.numbers[0]), float(state.values[ALPHA]), target.depth
    shift = fill_densities(target.law, data, datum, state.values, state.mixture, 0, scores, densities)
    n_found = weigh_paths(state.tree, state.mixture.weight, densities, top, alpha, depth, prior, nodes, running)
    linear = np.log(np.diff(running[:n_found], prepend=0.0)) + shift
    found = nodes[:n_found].copy()
    weigh_paths_in_logs(state.tree, state.mixture.log_weight, scores, top, alpha, depth, prior, nodes, running, scratch)
    np.testing.assert_allclose(running[:n_found], linear, rtol=0, atol=1e-12)
    return found, linear


def test_scores(state_entry):
    inputs = state_entry["inputs"]
    target, state = golden_target(inputs), golden_state(inputs)
    check_nested(state, target)
    assert log_path_prior(state.tree, inputs["alpha"], inputs["L"]) == pytest.approx(state_entry["log_pV"], abs=1e-8)
    assert log_cdl(target, state) == pytest.approx(state_entry["log_CDL"], abs=1e-8)


def test_path_weights(state_entry):
    inputs, expected = state_entry["inputs"], state_entry["path_gibbs"]
    target, state, datum = golden_target(inputs), golden_state(inputs), expected["datum"]
    release(state.tree, remove_datum(target.law, target.data, state.tree, state.mixture, datum, 0))
    nodes, log_weights = candidate_weights(target, state, datum, target.data)
    probabilities = dict(zip(nodes.tolist(), np.exp(log_weights) / np.exp(log_weights).sum(), strict=True))
    assert len(probabilities) == len(expected["C_zero"])
    for candidate in expected["C_zero"]:
        node = golden_node(inputs, candidate["node"])
        assert probabilities[node] == pytest.approx(candidate["prob"], abs=1e-8), candidate


def test_predictive_density(state_entry):
    inputs, expected = state_entry["inputs"], state_entry["predictive"]
    data = np.array([*inputs["X"], expected["x"]])
    target, state = golden_target(inputs, data), golden_state(inputs)
    _, log_weights = candidate_weights(target, state, len(data) - 1, data)
    assert math.log(np.exp(log_weights).sum()) == pytest.approx(expected["log_density"], abs=1e-8)


def test_densities_of_a_proposed_leaf(state_entry):
    inputs, expected = state_entry["inputs"], state_entry["path_mh"]
    target, state, datum = golden_target(inputs), golden_state(inputs), expected["datum"]
    old = int(state.tree.leaf[datum])
    remove_datum(target.law, target.data, state.tree, state.mixture, datum, 0)
    n_slots, new = state.mixture.size.size, state.tree.parent.size - 1
    state.mixture.weight[new, :4] = np.roll(expected["new_leaf_weights"], 1)
    state.mixture.log_weight[new, :4] = np.log(np.roll(expected["new_leaf_weights"], 1))
    scores, densities, scratch = np.empty(n_slots), np.empty(n_slots), np.empty(n_slots)
    fill_densities(target.law, target.data, datum, state.values, state.mixture, 0, scores, densities)
    log_weight = state.mixture.log_weight
    assert log_mixed(log_weight, new, scores, 4, scratch) == pytest.approx(expected["log_ell_new"], abs=1e-8)
    assert log_mixed(log_weight, old, scores, 4, scratch) == pytest.approx(expected["log_ell_old"], abs=1e-8)
    ratio = log_density_ratio(state.mixture, new, old, scores, densities, scratch)
    assert ratio == pytest.approx(expected["log_ell_new"] - expected["log_ell_old"], abs=1e-8)


def golden_tables(inputs, state, expected):
    """Tables of the leaves, which are the customers of the level above."""
    shape = state.mixture.weight.shape
    tables = Tables(np.zeros(shape), np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[0]))
    for name, counts in expected["tables"].items():
        node = golden_node(inputs, name)
        tables.tables[node, 1:4] = counts
        tables.n_tables[node] = sum(counts)
        tables.customers[state.tree.parent[node], 1:4] += counts
        tables.n_customers[state.tree.parent[node]] += sum(counts)
    return tables


def test_regraft_weights(state_entry):
    inputs, expected = state_entry["inputs"], state_entry["regraft"]
    state = golden_state(inputs)
    tables, node, capacity = golden_tables(inputs, state, expected), golden_node(inputs, expected["node"]), 1 << 6
    n_items = state.tree.leaf.size
    assert detach(state.tree, tables, node, 4) == NULL
    base, nodes, log_weights = np.empty(capacity), np.empty(capacity, np.int64), np.empty(capacity)
    by_alpha = log_gamma_table(inputs["alpha"], n_items + 1)
    n_found = regraft_log_weights(
        state.tree, state.mixture, state.values, tables, node, log_gamma_table(0.0, n_items + 1), by_alpha, base, nodes,
        log_weights,
    )  # fmt: skip
    probabilities = np.exp(log_weights[:n_found] - log_weights[:n_found].max())
    found = dict(zip(nodes[:n_found].tolist(), probabilities / probabilities.sum(), strict=True))
    assert len(found) == len(expected["prob"])
    for name, probability in zip(expected["candidates"], expected["prob"], strict=True):
        place = ROOT if name == "1:new" else golden_node(inputs, name)
        assert found[place] == pytest.approx(probability, abs=1e-8), name

"""The twin of nested hierarchies, and the library, against the golden file (acceptance 1 to 3 of the specification)."""

import json
import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad

from conftest import find_shared_file
from reference import nested_margins as margins
from reference import nested_moves as moves
from reference import nested_paths as paths
from reference.crosscat import proportional
from reference.nested import Model, Node, log_complete_likelihood, log_p_tree, log_predictive, log_sum_exp, tree_key
from reference.nested_exact import all_trees, exact_law, expected_factors, log_prior, named_nodes, state_at

pytestmark = pytest.mark.exact
NAMES = ("A", "B")


@cache
def golden():
    return json.loads(find_shared_file("golden/bhmc.json").read_text())


def golden_trees(name):
    return golden()["trees_N4_L2"][NAMES.index(name)]


def model_of(inputs, **changes):
    """Data and settings of golden inputs, C = 0 unless said."""
    return Model(np.array(inputs["X"], float), 2, margin=inputs["eps0"])._replace(**changes)


def numbers_of(inputs):
    return {name: inputs[name] for name in ("alpha", "gamma", "gamma0", "s2", "h2")}


def numbers_in(levels):
    """Restricted growth strings as labels."""
    return tuple(tuple(map(int, labels)) for labels in levels)


# 60 trees


@pytest.mark.parametrize("name", NAMES)
def test_the_exact_law_of_all_trees(name):
    given = golden_trees(name)
    law = exact_law(model_of(given["inputs"]), **numbers_of(given["inputs"]))
    assert law.names == given["trees"]
    prior = np.exp([log_prior(levels, given["inputs"]["alpha"]) for levels in law.trees])
    assert prior.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(prior, given["prior"], atol=1e-8)
    np.testing.assert_allclose(law.log_likelihood, given["log_p_X_given_V"], atol=1e-8)
    np.testing.assert_allclose(law.probabilities, given["posterior"], atol=1e-8)
    assert law.log_evidence == pytest.approx(given["log_evidence"], abs=1e-8)
    for found, wanted in ((law.level_1(), "P_level1"), (law.leaves(), "P_leaves"), (law.components(), "P_K")):
        np.testing.assert_allclose(found, given[wanted], atol=1e-8)
    assert math.fsum(law.joint.values()) == pytest.approx(1.0, abs=1e-12)


def test_the_regularised_law_of_all_trees():
    """Factors of the golden file give its law; ours by fewer draws agree within 5 standard errors."""
    given = golden_trees("A")
    model = model_of(given["inputs"], strength=given["inputs"]["C"])
    law = exact_law(model, given["ER"], **numbers_of(given["inputs"]))
    np.testing.assert_allclose(law.probabilities, given["q"], atol=1e-8)
    for found, wanted in ((law.level_1(), "q_P_level1"), (law.leaves(), "q_P_leaves"), (law.components(), "q_P_K")):
        np.testing.assert_allclose(found, given[wanted], atol=1e-8)
    means, errors = expected_factors(model, 40_000, 1)
    # Standard errors of 10 parts: P(|t_9| > 12) = 8e-7.
    assert (np.abs(means - given["ER"]) <= 12.0 * np.hypot(errors, given["ER_se"]) + 1e-12).all()


@pytest.mark.parametrize(("n_rows", "depth", "n_trees"), [(4, 1, 15), (4, 2, 60), (3, 3, 22), (5, 2, 358)])
def test_numbers_of_trees(n_rows, depth, n_trees):
    """Chains of partitions, each finer than the last: 1, 1, 2, 5, 15 of depth 1, then 1, 3, 12, 60, 358 of depth 2."""
    trees = all_trees(n_rows, depth)
    assert len(set(trees)) == len(trees) == n_trees
    assert math.fsum(math.exp(log_prior(levels, 0.7)) for levels in trees) == pytest.approx(1.0, abs=1e-12)


# One state


def golden_state():
    given = golden()["state"]
    inputs = given["inputs"]
    weights = {name: np.log(values) for name, values in inputs["weights"].items()}
    numbers = {**numbers_of(inputs), "nu2": inputs["nu0"] ** 2}
    state = state_at(numbers_in(inputs["levels"]), inputs["c"], weights, inputs["theta"], inputs["eta"], **numbers)
    return given, model_of(inputs, strength=inputs["C"]), state


def test_scores_of_a_state():
    given, model, state = golden_state()
    assert log_p_tree(state.root, 2, state.alpha) == pytest.approx(given["log_pV"], abs=1e-8)
    np.testing.assert_allclose(margins.hinges(model, state), given["h"], atol=1e-8)
    log_cdl = log_complete_likelihood(model, state)
    assert log_cdl == pytest.approx(given["log_CDL"], abs=1e-8)
    assert log_cdl - margins.energy_of(model, state) == pytest.approx(given["log_RCDL"], abs=1e-8)
    x = np.array(given["predictive"]["x"])
    assert log_predictive(model, state, x) == pytest.approx(given["predictive"]["log_density"], abs=1e-8)


@pytest.mark.parametrize("which", ["C_zero", "C_given"])
def test_candidates_of_the_gibbs_path(which):
    given, model, state = golden_state()
    wanted = given["path_gibbs"]
    names = {id(node): name for name, node in named_nodes(state).items()}
    slots = {}
    for candidate in wanted[which]:
        if candidate["kind"] == "new":
            slots.setdefault(candidate["node"], []).append(candidate["eta_top"])
    model = model if which == "C_given" else model._replace(strength=0.0)
    removed = paths.remove_datum(model, state, wanted["datum"])
    assert [names[id(node)] for node in removed.aside] == ["2:2"]
    found = paths.path_candidates(
        model, state, wanted["datum"], lambda node: [np.array(eta) for eta in slots[names[id(node)]]]
    )
    total = log_sum_exp([candidate.log_weight for candidate in found])
    key = {
        (candidate.is_new, names[id(candidate.node)], None if candidate.eta_top is None else tuple(candidate.eta_top)):
        math.exp(candidate.log_weight - total)
        for candidate in found
    }  # fmt: skip
    expected = {
        (entry["kind"] == "new", entry["node"], tuple(entry["eta_top"]) if entry["eta_top"] else None): entry["prob"]
        for entry in wanted[which]
    }
    assert key == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("sampler", "name"), [("exact", "log_ratio_correct"), ("paper", "log_ratio_printed")])
def test_the_ratio_of_a_proposed_path(sampler, name):
    given, model, state = golden_state()
    wanted, model = given["path_mh"], model._replace(sampler=sampler)
    n, old = wanted["datum"], state.leaf[wanted["datum"]]
    paths.remove_datum(model, state, n)
    top = Node(state.root, 1)
    leaf = Node(top, 2)
    top.eta, leaf.log_weights = np.array(wanted["new_level1_eta"]), np.log(wanted["new_leaf_weights"])
    assert paths.mh_log_ratio(model, state, n, old, leaf) == pytest.approx(wanted[name], abs=1e-8)
    np.testing.assert_allclose(margins.hinges(model, state), wanted["h_new"], atol=1e-8)


def test_the_gaussian_of_an_augmented_discriminant():
    given, model, state = golden_state()
    wanted, nodes = given["eta_augmented"], named_nodes(state)
    constraints = margins.augmented_constraints(model, state, dict(enumerate(wanted["lam"])))
    for (n, own, other, _), (own_name, other_name, gap) in zip(constraints, wanted["s"], strict=True):
        assert own is nodes[own_name]
        assert other is nodes[other_name]
        assert margins.active_constraint(model, state, n)[0] == pytest.approx(gap, abs=1e-8)
    precision, mean = margins.conditional_of_eta(model, state, nodes[wanted["node"]], constraints)
    np.testing.assert_allclose(precision, wanted["precision"], atol=1e-8)
    np.testing.assert_allclose(mean, wanted["mean"], atol=1e-8)


def test_places_of_a_regraft():
    given, model, state = golden_state()
    wanted, nodes, model = given["regraft"], named_nodes(state), model._replace(strength=0.0)
    moves.count_leaves(state)
    for name, tables in wanted["tables"].items():
        nodes[name].tables = np.array(tables, float)
        nodes[name].parent.customers += nodes[name].tables
    node = nodes[wanted["node"]]
    emptied = moves.unlink_block(node)
    assert emptied is None
    places = moves.regraft_places(model, state, node, emptied, lambda: np.zeros(2))
    found = proportional(moves.regraft_log_weights(model, state, node, places))
    names = {id(place): name for name, place in nodes.items()}
    assert [names.get(id(place), "1:new") for place in places] == wanted["candidates"]
    np.testing.assert_allclose(found, wanted["prob"], atol=1e-8)


# Augmentation


@pytest.mark.parametrize("place", range(5))
def test_the_identity_of_the_augmentation(place):
    given = golden()["augmentation"]
    u = given["u"][place]

    def density(root):  # lambda = root^2: no pole at 0
        lam = root * root
        return 2.0 / math.sqrt(2.0 * math.pi) * math.exp(-((lam + u) ** 2) / (2.0 * lam)) if lam > 0.0 else 0.0

    middle = max(1.0, math.sqrt(abs(u)))
    parts = [quad(density, *limits, epsabs=1e-13, epsrel=1e-13) for limits in ((0.0, middle), (middle, 40.0))]
    assert math.fsum(part[0] for part in parts) == pytest.approx(given["value"][place], abs=1e-10)
    assert given["value"][place] == pytest.approx(math.exp(-2.0 * max(0.0, u)), abs=1e-15)


def test_names_of_trees():
    assert tree_key(((0, 0, 1), (0, 1, 2))) == "001|012"

"""New rows under draws of a nested hierarchy: golden density, plain sums, normalisation, refusals of nothing."""

import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal

from bayesgrove.likelihoods import bind
from bayesgrove.models.nested.component_models import collapsed
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.penalty_predictive import PenaltyLaw, energies_of
from bayesgrove.models.nested.predictive import (
    draw_of,
    draw_rows,
    keep_draws,
    level_probabilities,
    likely_paths,
    log_density,
    node_probabilities,
    possibilities,
)
from bayesgrove.models.nested.target import make_target, sampled_means
from bayesgrove.stats.paths import path_nodes

pytestmark = pytest.mark.exact


@pytest.fixture
def given(golden):
    return golden("bhmc")["state"]


def golden_paths(inputs):
    return np.array([[int(code) for code in level] for level in inputs["levels"]]).T


def golden_draw(inputs):
    """The golden state as the sampler stores a draw: nodes level by level, the remainder first."""
    names = sorted(inputs["weights"], key=lambda name: tuple(map(int, name.split(":"))))
    weights = np.array([inputs["weights"][name] for name in names])
    numbers = [inputs[name] for name in ("alpha", "gamma", "gamma0", "s2", "h2")]
    return {
        "paths": golden_paths(inputs).astype(np.int32),
        "components": np.array(inputs["c"], np.int32),
        "log_weights": np.log(np.roll(weights, 1, axis=1)),
        "means": np.array(inputs["theta"]),
        "values": np.array([*numbers, inputs["nu0"] ** 2]),
        "discriminants": np.array([inputs["eta"][name] for name in names[1:]]),
    }


def golden_target(inputs):
    rows, draw = np.array(inputs["X"]), golden_draw(inputs)
    return make_target(rows, sampled_means(rows), depth=2, values=draw["values"])


@pytest.fixture
def kept(given):
    inputs = given["inputs"]
    return keep_draws(golden_target(inputs), [golden_draw(inputs)], golden_paths(inputs))


def test_golden_predictive_density(given, kept):
    row = np.array([given["predictive"]["x"]])
    assert log_density(kept, sampled_means, row)[0] == pytest.approx(given["predictive"]["log_density"], abs=1e-8)


def plain_terms(inputs, x):
    """The terms of section 8 by their formulas: {node: term}, nodes named level:number."""
    draw, paths = golden_draw(inputs), golden_paths(inputs)
    nodes = path_nodes(paths)
    alpha, s2, h2 = inputs["alpha"], inputs["s2"], inputs["h2"]
    f = [multivariate_normal.pdf(x, np.zeros(2), (s2 + h2) * np.eye(2))]
    f += [multivariate_normal.pdf(x, mean, s2 * np.eye(2)) for mean in inputs["theta"]]
    ell = np.exp(draw["log_weights"]) @ f
    found = []
    for node in range(nodes.parent.size):
        chance, at = 1.0, node
        while at:
            above = nodes.parent[at]
            chance *= nodes.size[at] / (nodes.size[above] + alpha)
            at = above
        branch = 1.0 if nodes.level[node] == 2 else alpha / (nodes.size[node] + alpha)
        found.append(chance * branch * ell[node])
    return np.array(found)


def test_probabilities_are_the_normalised_terms(given, kept):
    x = np.array([[0.2, -0.3], [3.0, 1.0]])
    found = node_probabilities(kept, sampled_means, x)
    for row, own in zip(x, found, strict=True):
        terms = plain_terms(given["inputs"], row)
        np.testing.assert_allclose(own, terms / terms.sum(), rtol=1e-10)
    assert possibilities(draw_of(kept, 0)).sum() == pytest.approx(1.0)


def test_levels_add_up_what_is_below_them(given, kept):
    shown = path_nodes(golden_paths(given["inputs"]))
    masses = node_probabilities(kept, sampled_means, np.array([[0.2, -0.3]]))
    first, last = (level_probabilities(masses, shown, level)[0] for level in (1, 2))
    np.testing.assert_allclose([first.sum(), last.sum()], 1.0)
    assert first[-1] == pytest.approx(masses[0, 0])  # branches off at the root
    assert last[-1] == pytest.approx(masses[0, shown.level < 2].sum())
    below_first = masses[0, [1, *np.flatnonzero(shown.parent == 1)]].sum()
    assert first[0] == pytest.approx(below_first)


def test_likely_paths_end_where_a_row_branches_off(given):
    shown = path_nodes(golden_paths(given["inputs"]))
    masses = np.eye(shown.parent.size)
    found = likely_paths(masses, shown)
    assert found[0].tolist() == [-1, -1]
    assert found[1].tolist() == [0, -1]
    np.testing.assert_array_equal(found[shown.node[:, -1]], golden_paths(given["inputs"]))


def test_several_draws_are_averaged_and_shared_by_members(given):
    inputs = given["inputs"]
    draw, target = golden_draw(inputs), golden_target(inputs)
    one = np.zeros((6, 2), np.int32)
    flat = {**draw, "paths": one, "log_weights": draw["log_weights"][:3], "discriminants": np.zeros((2, 2))}
    kept = keep_draws(target, [draw, flat], golden_paths(inputs))
    alone = [keep_draws(target, [own], golden_paths(inputs)) for own in (draw, flat)]
    x = np.array([[0.2, -0.3]])
    densities = [np.exp(log_density(own, sampled_means, x)) for own in alone]
    assert np.exp(log_density(kept, sampled_means, x)) == pytest.approx(np.mean(densities))
    share = draw_of(kept, 1).share
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_allclose(share[1, 1:4], [2 / 6, 2 / 6, 2 / 6])  # all rows in one node: by the estimate's sizes


def test_the_density_of_a_collapsed_law_integrates_to_one():
    rows = np.array([[0.0], [0.3], [4.0], [4.2], [9.0]])
    bound = bind("gaussian", rows, "fixed")
    target = make_target(bound.values, collapsed(bound.prior, bound.values), depth=1, values=np.ones(6))
    paths = np.array([[0], [0], [1], [1], [1]], np.int32)
    weights = np.log([[0.2, 0.4, 0.4], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
    draw = {
        "paths": paths,
        "components": np.array([0, 0, 1, 1, 1], np.int32),
        "log_weights": weights,
        "values": np.ones(6),
    }
    kept = keep_draws(target, [draw], paths.astype(np.int64))

    def density(x):
        return float(np.exp(log_density(kept, lambda v: collapsed(bound.prior, v), np.array([[x]])))[0])

    total = quad(density, -60.0, 60.0, limit=400)[0]
    assert total == pytest.approx(1.0, abs=1e-3)  # heavy tails beyond


def test_sampled_rows_follow_the_density(given, kept):
    """Means of 20,000 rows against the exact mean of the mixture; |z| <= 5, false alarm below 1e-5."""
    rows = draw_rows(kept, None, np.random.default_rng(0), np.zeros(2), 20_000)
    draw = draw_of(kept, 0)
    weights = possibilities(draw) @ draw.weight
    expected = weights @ draw.rows
    error = rows.std(axis=0) / np.sqrt(len(rows))
    assert np.all(np.abs(rows.mean(axis=0) - expected) < 5.0 * error)


def plain_energy(inputs, kind, x, path):
    """2C times the worst margin, or all of them, on a path of node numbers."""
    draw, nodes = golden_draw(inputs), path_nodes(golden_paths(inputs))
    eta = np.vstack([np.zeros(2), draw["discriminants"]])
    zetas = [
        inputs["eps0"] - (eta[v] - eta[z]) @ x
        for v in path
        for z in range(1, nodes.parent.size)
        if z != v and nodes.parent[z] == nodes.parent[v]
    ]
    positive = [max(0.0, zeta) for zeta in zetas]
    return 2.0 * inputs["C"] * (max(positive, default=0.0) if kind == "max" else sum(positive))


@pytest.mark.parametrize("kind", ["max", "sum"])
def test_new_rows_pay_their_own_margins_at_leaves(given, kept, kind):
    inputs = given["inputs"]
    nodes = path_nodes(golden_paths(inputs))
    x = np.array([[0.2, -0.3], [1.5, 2.0]])
    law = PenaltyLaw(PENALTIES[kind], inputs["C"], inputs["eps0"])
    found = energies_of(law, x)(draw_of(kept, 0))
    for row, leaf in itertools.product(range(2), np.unique(nodes.node[:, -1])):
        path = [int(nodes.parent[leaf]), int(leaf)]
        assert found[row, leaf] == pytest.approx(plain_energy(inputs, kind, x[row], path), abs=1e-10)
    assert np.all(found[:, nodes.level < 2] >= 0.0)


@pytest.mark.parametrize("kind", list(PENALTIES))
def test_a_weak_penalty_changes_assignments_little(given, kept, kind):
    x = np.array([[0.2, -0.3]])
    law = PenaltyLaw(PENALTIES[kind], 1e-6, 1.0)
    plain = node_probabilities(kept, sampled_means, x)
    np.testing.assert_allclose(
        node_probabilities(kept, sampled_means, x, lambda v: energies_of(law, v)), plain, rtol=1e-4
    )
    strong = PenaltyLaw(PENALTIES[kind], 5.0, 1.0)
    changed = node_probabilities(kept, sampled_means, x, lambda v: energies_of(strong, v))
    assert changed.sum() == pytest.approx(1.0)
    assert np.abs(changed - plain).max() > 0.01

"""The printed sampler misses its target in the known way, and only where it must (acceptance 9, 11, 14; errata E1, E2).

Its ratio looks at the hinge of one datum only, and its update of the discriminants ignores that the worst constraint
depends on them.
"""

import math

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.packing import stream_to_array
from bayesgrove.models.nested.penalty import PENALTIES, log_penalty
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.schedules import paper_steps
from bayesgrove.models.nested.target import make_target, sampled_means
from bayesgrove.stats.testing import batch_means
from reference.nested_laws import LARGEST_Z, agreement, golden, law_of, run, sampler_of

pytestmark = pytest.mark.statistical
STRENGTH = 0.4
WEIGHTS, MEANS = Step("weights", 1, {"regraft": False}), Step("means")
N_SWEEPS = 8_000


def chain_of(steps, strength=STRENGTH):
    law, error = law_of("A", "max", strength)
    chain = run(sampler_of("A", "max", strength), steps, N_SWEEPS, 1, law)
    return chain, law, agreement(chain, law, error)


def test_the_printed_sampler_on_sixty_trees():
    """Total variation .54 to .55; one leaf .087 instead of .604 to .65."""
    chain, law, found = chain_of(paper_steps(penalty=True))
    assert 0.4 <= found.total_variation <= 0.7
    assert found.p_trees < 1e-50
    one_leaf = float((chain.trees == law.names.index("0000|0000")).mean())
    assert 0.05 <= one_leaf <= 0.15
    assert law.leaves()[0] > 0.6


def test_the_printed_ratio_alone():
    """E1: with the right move of the discriminants the law of the trees is still far off."""
    steps = (Step("paths", 1, {"path": "mh", "own_only": True}), Step("discriminants"), WEIGHTS, MEANS)
    _, _, found = chain_of(steps)
    assert found.total_variation > 0.3


def test_without_a_penalty_the_printed_sampler_is_exact():
    _, _, found = chain_of(paper_steps(penalty=True), 0.0)
    assert found.total_variation <= 0.06
    assert min(found.p_trees, found.p_joint) > 1e-4
    assert found.worst_z <= LARGEST_Z


# Discriminants of a fixed tree


def fixed_tree():
    """Sampler and state of the golden fixed tree, all data in one component."""
    given = golden()["eta_fixed_tree"]["inputs"]
    data = np.array(given["X"])
    paths = np.array([[int(label) for label in labels] for labels in given["levels"]], np.int32).T.copy()
    target = make_target(
        data,
        sampled_means(data),
        depth=2,
        values=[1.0, 1.0, 1.0, 1.0, 1.0, given["nu0"] ** 2],
        penalty=PENALTIES["max"],
        strength=given["C"],
        margin=given["eps0"],
        margin_data=data,
    )
    n_nodes = 1 + int((paths.max(axis=0) + 1).sum())
    arrays = {
        "paths": paths,
        "components": np.zeros(len(data), np.int32),
        "log_weights": np.full((n_nodes, 2), math.log(0.5)),
        "values": target.values,
        "means": np.zeros((1, 2)),
        "discriminants": np.random.default_rng(1).normal(size=(n_nodes - 1, 2)),
        "stream": stream_to_array(generator(2)),
    }
    sampler = NestedSampler(target)
    return sampler, sampler.unpack(arrays), paths


def statistics(sampler, state, paths):
    """Sum of hinges, squares at level 1, mean score at level 1."""
    first = sampler.draw(state)["discriminants"][: paths[:, 0].max() + 1]
    target = sampler.target
    scores = (first[paths[:, 0]] * target.margin_data).sum(axis=1)
    return [-log_penalty(target, state) / (2.0 * target.strength), (first**2).sum(), scores.mean()]


def fixed_tree_z(update, n_draws):
    """z of the golden statistics, standard errors combined, and the mean sum of hinges."""
    sampler, state, paths = fixed_tree()
    rng, step = generator(3), Step("discriminants", 1, {"update": update})
    draws = np.empty((n_draws, 3))
    for row in draws:
        sampler.move(rng, state, step)
        row[:] = statistics(sampler, state, paths)
    given, batches = golden()["eta_fixed_tree"], batch_means(draws)
    errors = np.hypot(batches.std(axis=0, ddof=1) / math.sqrt(len(batches)), given["se"])
    return (batches.mean(axis=0) - given["expectation"]) / errors, float(batches.mean(axis=0)[0])


@pytest.mark.parametrize(
    "update", [pytest.param("slice", marks=pytest.mark.slow), pytest.param("augmented", marks=pytest.mark.slow)]
)
def test_exact_moves_of_the_discriminants_of_a_fixed_tree(update):
    z, _ = fixed_tree_z(update, 20_000)
    assert np.abs(z).max() <= LARGEST_Z, z


def test_the_printed_move_misses_the_hinges_of_a_fixed_tree():
    """E2: about half as much again as the exact 10.44."""
    z, hinges = fixed_tree_z("printed", 4_000)
    assert z[0] > 20.0
    assert 13.0 <= hinges <= 20.0

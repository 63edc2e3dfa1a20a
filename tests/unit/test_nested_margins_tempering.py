"""Chains coupled over the strength of the penalty."""

import math

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.models.nested.packing import drawn
from bayesgrove.models.nested.penalty import chance_table, log_penalty
from bayesgrove.models.nested.penalty_moves import penalised_sweep
from bayesgrove.models.nested.penalty_tempering import strength_ladder, swap_strengths
from bayesgrove.models.nested.starts import first_state
from bayesgrove.models.nested.target import CHANCE, CHANCE_MAXIMUM, MAXIMUM, make_target, sampled_means

pytestmark = pytest.mark.unit


def golden_target(golden, kind):
    """Four data of the golden file."""
    numbers = golden("bhmc")["trees_N4_L2"][0]
    given = numbers["inputs"]
    data = np.array(given["X"])
    values = [given[name] for name in ("alpha", "gamma", "gamma0", "s2", "h2")] + [given["nu0"] ** 2]
    return numbers, make_target(
        data, sampled_means(data), depth=2, values=values, penalty=kind, strength=given["C"], margin=given["eps0"],
        margin_data=data,
    )  # fmt: skip


def test_ladder(golden):
    """From C to 0; one temperature is C itself."""
    _, target = golden_target(golden, MAXIMUM)
    assert [rung.strength for rung in strength_ladder(target, 1)] == [0.4]
    np.testing.assert_allclose([rung.strength for rung in strength_ladder(target, 3)], [0.4, 0.1, 0.0])
    with pytest.raises(InvalidSettingError, match="n_temperatures must be at least 1"):
        strength_ladder(target, 0)


@pytest.mark.parametrize("kind", [CHANCE, CHANCE_MAXIMUM])
def test_tables_belong_to_the_strength(golden, kind):
    """After swaps each state has the table of its place."""
    _, target = golden_target(golden, kind)
    targets, rng = strength_ladder(target, 2), generator(3)
    states = [first_state(rng, rung) for rung in targets]
    n_swaps = 0
    for _ in range(40):
        for rung, state in zip(targets, states, strict=True):
            penalised_sweep(rng, rung, state)
        n_swaps += len(swap_strengths(rng, targets, states))
        for rung, state in zip(targets, states, strict=True):
            expected = chance_table(rung, 1.0)
            width = min(expected.shape[1], state.margins.log_chance.shape[1])
            np.testing.assert_allclose(state.margins.log_chance[:, :width], expected[:, :width])
        assert log_penalty(targets[1], states[1]) == pytest.approx(0.0, abs=1e-10)
    assert 0 < n_swaps < 40


def test_coupled_chains_keep_the_law(golden):
    """Share of trees with one leaf at C = 0.4 with swaps against the exact law, |z| <= 4.4; and without penalty too."""
    numbers, target = golden_target(golden, MAXIMUM)
    targets, rng = strength_ladder(target, 2), generator(8)
    states = [first_state(rng, rung) for rung in targets]
    found = np.empty((4_000, 2))
    for i in range(len(found)):
        for rung, state in zip(targets, states, strict=True):
            penalised_sweep(rng, rung, state)
        swap_strengths(rng, targets, states)
        found[i] = [not drawn(rung, state)["paths"].any() for rung, state in zip(targets, states, strict=True)]
    means = found.reshape(40, -1, 2).mean(axis=1)
    errors = means.std(axis=0, ddof=1) / math.sqrt(40)
    z = (means.mean(axis=0) - [numbers["q"][0], numbers["posterior"][0]]) / errors
    assert (np.abs(z) <= 4.4).all(), z

"""States of nested hierarchies: what is kept through moves, extremes, packing, resuming, refusals."""

import math

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.jit import types_of
from bayesgrove.core.rng import generator
from bayesgrove.inference.chain import Draw, begin, from_checkpoint, to_checkpoint, walk
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.models.nested import target as targets
from bayesgrove.models.nested.component_models import collapsed, log_density_rows
from bayesgrove.models.nested.log_joint import log_joint
from bayesgrove.models.nested.packing import stream_from_array, stream_to_array
from bayesgrove.models.nested.penalty_moves import refuse_regraft
from bayesgrove.models.nested.precompile import calls_elsewhere, calls_here, compile_kernels, small
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.schedules import default_schedule
from bayesgrove.models.nested.state import grow_nodes, grow_slots, nodes_in_use
from bayesgrove.models.nested.target import make_target, sampled_means
from bayesgrove.models.nested.tempered_sampler import tempered_sampler
from bayesgrove.models.nested.visits import refuse_datum
from conftest import BY_NAME
from reference.nested_states import gaussian_sampler
from reference.state_checks import check_nested

pytestmark = pytest.mark.unit
LEARNED = np.array([[2.0, 2.0], [3.0, 2.0], [2.0, 1.5], [3.0, 2.0], [3.0, 2.0], [np.nan, np.nan]])
EVERY_MOVE = (
    Step("paths"),
    Step("weights"),
    Step("means"),
    Step("paths", 1, {"path": "mh"}),
    Step("weights", 1, {"regraft": False}),
    Step("sweep"),
)


def random_sampler(seed):
    """Any depth, size, numbers; every third has finitely many components, every other learns all numbers."""
    rng = generator(seed)
    data = np.round(rng.normal(size=(int(rng.integers(1, 13)), int(rng.integers(1, 4)))) * 2.0, int(rng.integers(2)))
    values = np.exp(rng.normal(size=6))
    return gaussian_sampler(
        data,
        depth=int(rng.integers(1, 5)),
        values=values,
        n_components=int(rng.integers(1, 5)) if seed % 3 == 0 else 0,
        hyperpriors=LEARNED if seed % 2 else None,
    )


def test_what_is_kept_stays_true_through_all_moves_of_200_states():
    for seed in range(200):
        sampler, rng = random_sampler(seed), generator(seed, 1)
        state = sampler.start(rng)
        check_nested(state, sampler.target)
        for step in EVERY_MOVE:
            sampler.move(rng, state, step)
            check_nested(state, sampler.target)
        assert math.isfinite(log_joint(sampler.target, state))


@pytest.mark.parametrize("name", ["gaussian-known-variance", "gaussian", "bernoulli", "multinomial"])
def test_statistics_of_integrated_components_stay_true(name):
    given = BY_NAME[name]
    data = given.data(5, 20, missing=0.1)
    target = make_target(data, collapsed(given.prior, data), depth=2, values=(0.8, 1.2, 0.9, 1.0, 1.0, 1.0))
    sampler, rng = NestedSampler(target), generator(6)
    state = sampler.start(rng)
    for _ in range(20):
        sampler.move(rng, state, Step("sweep"))
    check_nested(state, target)
    kept = density(target, state)
    sampler.refresh(state)
    assert kept == pytest.approx(density(target, state), rel=1e-9)
    assert "means" not in sampler.draw(state)


def density(target, state):
    mixture = state.mixture
    return log_density_rows(
        target.law, target.data, state.values, mixture.component, mixture.in_use, mixture.numbers[0], mixture.rows
    )


def test_small_concentrations_and_deep_trees_do_not_underflow():
    data = generator(8).normal(size=(200, 2)) * 2.0
    sampler, rng = gaussian_sampler(data, depth=6, values=(0.5, 0.05, 0.9, 1.0, 1.0, 1.0)), generator(9)
    state, lowest = sampler.start(rng), 0.0
    for _ in range(50):
        sampler.move(rng, state, Step("sweep"))
        log_weight = state.mixture.log_weight[nodes_in_use(state.tree)]
        lowest = min(lowest, log_weight[np.isfinite(log_weight)].min())
        assert all(math.isfinite(value) for value in sampler.scalars(state).values())
    check_nested(state, sampler.target)
    assert lowest < -800.0  # far below what floats hold: without logs these weights would be 0


@pytest.mark.parametrize("data", [np.zeros((40, 2)), np.full((3, 1), 1e6), np.repeat([[0.0], [1e3]], 30, axis=0)])
@pytest.mark.parametrize("values", [(0.01, 0.01, 0.01), (100.0, 100.0, 100.0), (0.01, 100.0, 1.0)])
def test_extreme_tables_and_concentrations(data, values):
    sampler, rng = gaussian_sampler(data, depth=3, values=(*values, 1.0, 1.0, 1.0)), generator(10)
    state = sampler.start(rng)
    for step in EVERY_MOVE * 3:
        sampler.move(rng, state, step)
    check_nested(state, sampler.target)


def trace(sampler, schedule, position, until):
    """All that draws hold, as bytes."""
    found = []
    for item in walk(sampler, schedule, position, until):
        if isinstance(item, Draw):
            found += [array.tobytes() for array in item.arrays.values()] + list(item.scalars.values())
    return found


@pytest.mark.parametrize("settings", [{}, {"n_components": 3}, {"hyperpriors": LEARNED}], ids=str)
def test_a_stored_chain_goes_on_with_the_same_bits(settings):
    sampler = gaussian_sampler(generator(11).normal(size=(25, 3)) * 3.0, depth=3, **settings)
    schedule = default_schedule(0, refresh=5)
    position = begin(sampler, generator(12))
    trace(sampler, schedule, position, 10)
    resumed = from_checkpoint(sampler, to_checkpoint(sampler, position))
    assert trace(sampler, schedule, position, 30) == trace(sampler, schedule, resumed, 30)


def test_larger_arrays_change_no_draw():
    sampler = gaussian_sampler(generator(13).normal(size=(25, 3)) * 3.0, depth=3)
    rngs = [generator(14), generator(14)]
    states = [sampler.start(rng) for rng in rngs]
    grow_nodes(states[1])
    grow_slots(states[1])
    for _ in range(20):
        for rng, state in zip(rngs, states, strict=True):
            sampler.move(rng, state, Step("sweep"))
        first, second = (sampler.draw(state) for state in states)
        assert all(np.array_equal(first[name], second[name]) for name in first)


def test_full_arrays_grow_in_the_middle_of_a_sweep():
    data = generator(15).normal(size=(60, 1)) * 30.0
    sampler, rng = gaussian_sampler(data, depth=3, values=(50.0, 5.0, 20.0, 0.01, 900.0, 1.0)), generator(16)
    state = sampler.start(rng)
    sampler.refresh(state)
    before = state.tree.parent.size, state.mixture.size.size
    state = sampler.unpack(sampler.pack(state))
    sampler.move(rng, state, Step("sweep", 3))
    check_nested(state, sampler.target)
    assert state.tree.parent.size >= before[0] > 64
    assert state.mixture.size.size >= before[1] > 16


def test_draws_are_in_normal_form():
    sampler, rng = gaussian_sampler(generator(17).normal(size=(20, 2)) * 3.0, depth=3), generator(18)
    state = sampler.start(rng)
    sampler.move(rng, state, Step("sweep", 5))
    draw = sampler.draw(state)
    for labels in (*draw["paths"].T, draw["components"]):
        _, first = np.unique(labels, return_index=True)
        assert (np.diff(first) > 0).all()
    n_nodes = 1 + (draw["paths"].max(axis=0) + 1).sum()
    assert draw["log_weights"].shape == (n_nodes, draw["components"].max() + 2)
    np.testing.assert_allclose(np.exp(draw["log_weights"]).sum(axis=1), 1.0, atol=1e-10)
    again = sampler.draw(sampler.unpack(sampler.pack(state)))
    assert all(np.array_equal(draw[name], again[name]) for name in draw)


def test_numbers_without_a_hyperprior_stay():
    learned = LEARNED.copy()
    learned[[targets.GAMMA, targets.BASE_VARIANCE]] = np.nan
    sampler, rng = gaussian_sampler(generator(19).normal(size=(10, 2)), hyperpriors=learned), generator(20)
    state = sampler.start(rng)
    sampler.move(rng, state, Step("sweep", 3))
    changed = state.values != sampler.target.values
    assert changed.tolist() == [True, False, True, True, False, False]
    assert set(sampler.scalars(state)) >= {"alpha", "gamma0", "component_variance"}


def test_a_generator_goes_through_an_array():
    stream = generator(21, 3)
    stream.random(5)
    again = stream_from_array(stream_to_array(stream))
    assert again.random() == stream.random()


def test_states_that_lie_are_found():
    sampler = gaussian_sampler(generator(22).normal(size=(12, 2)) * 3.0)
    target = sampler.target

    def broken(change):
        state = sampler.start(generator(23))
        change(state)
        return state

    def shift_count(state):
        state.tree.count[nodes_in_use(state.tree)[-1]] += 1

    def shift_size(state):
        state.mixture.size[1] += 1

    def shift_weight(state):
        state.mixture.weight[0, 0] += 1e-3

    def shift_level(state):
        state.tree.level[nodes_in_use(state.tree)[-1]] = 0

    def double_log(state):
        state.mixture.log_weight[0, 0] += math.log(2.0)
        state.mixture.weight[0, 0] *= 2.0

    for change, words in (
        (shift_count, "counts"),
        (shift_size, "sizes"),
        (shift_weight, "exponentials"),
        (shift_level, "is at level"),
        (double_log, "sum to"),
    ):
        with pytest.raises(ValueError, match=words):
            check_nested(broken(change), target)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"depth": 0}, "depth must be at least 1"),
        ({"n_components": -1}, "n_components must be at least 1"),
        ({"values": (0.0, 1, 1, 1, 1, 1)}, "alpha must be positive"),
        ({"values": (1, 1, 1, 1, math.inf, 1)}, "base_variance must be positive"),
        ({"hyperpriors": np.full((6, 2), -1.0)}, "hyperpriors need positive"),
        ({"strength": -1.0}, "C must be at least 0"),
    ],
)
def test_settings_out_of_range(settings, words):
    with pytest.raises(InvalidSettingError, match=words):
        gaussian_sampler(np.zeros((3, 1)), **settings)


def test_missing_cells_need_integrated_means():
    with pytest.raises(InvalidSettingError, match="complete rows, got 1 missing"):
        sampled_means(np.array([[0.0, np.nan]]))


def test_variances_need_drawn_means():
    given = BY_NAME["bernoulli"]
    data = given.data(5, 4)
    with pytest.raises(InvalidSettingError, match="sampled Gaussian means only"):
        make_target(data, collapsed(given.prior, data), depth=2, values=np.ones(6), hyperpriors=LEARNED)


def test_unknown_moves_and_paths():
    sampler, rng = gaussian_sampler(np.zeros((3, 1))), generator(24)
    state = sampler.start(rng)
    with pytest.raises(InvalidSettingError, match="a move is one of sweep"):
        sampler.move(rng, state, Step("jump"))
    with pytest.raises(InvalidSettingError, match="path is one of gibbs, mh"):
        sampler.move(rng, state, Step("paths", 1, {"path": "slice"}))
    with pytest.raises(InvalidSettingError, match="needs a model with a penalty"):
        sampler.move(rng, state, Step("discriminants"))


def test_impossible_data_and_regrafts_are_refused():
    with pytest.raises(NumericalError, match="possible for row 3"):
        refuse_datum(-4)
    with pytest.raises(NumericalError, match="possible for a node"):
        refuse_regraft()
    data = np.zeros((3, 1))
    target = gaussian_sampler(data).target
    broken = NestedSampler(target._replace(law=target.law._replace(squared_norm=np.full(3, np.nan))))
    with pytest.raises(NumericalError, match="possible for row 0"):
        broken.start(generator(25))


def test_fingerprints_tell_models_apart():
    data = generator(26).normal(size=(6, 2))
    prints = [
        gaussian_sampler(data).fingerprint(),
        gaussian_sampler(data, depth=3).fingerprint(),
        gaussian_sampler(data + 1.0).fingerprint(),
        gaussian_sampler(data, hyperpriors=LEARNED).fingerprint(),
        gaussian_sampler(data, n_components=2).fingerprint(),
    ]
    assert all(first != second for k, first in enumerate(prints) for second in prints[:k])
    assert gaussian_sampler(data).fingerprint() == prints[0]


def penalised_sampler(strength, kind=targets.MAXIMUM, **settings):
    data = generator(27).normal(size=(15, 2)) * 2.0
    return gaussian_sampler(data, penalty=kind, strength=strength, margin_data=data, **settings)


def test_discriminants_without_strength_change_no_other_draw():
    without = gaussian_sampler(penalised_sampler(0.0).target.data)
    plain, penalised = default_schedule(0), default_schedule(0, penalty=True)
    first, second = begin(without, generator(28)), begin(penalised_sampler(0.0), generator(28))
    for one, other in zip(
        walk(without, plain, first, 20), walk(penalised_sampler(0.0), penalised, second, 20), strict=True
    ):
        if isinstance(one, Draw):
            assert all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)
            assert other.scalars["energy"] == 0.0
            assert other.scalars["rcdl"] == other.scalars["cdl"]


@pytest.mark.parametrize("options", [{}, {"sampler": "paper"}], ids=str)
def test_a_stored_penalised_chain_goes_on_with_the_same_bits(options):
    sampler, schedule = penalised_sampler(0.3), default_schedule(0, refresh=5, penalty=True, **options)
    position = begin(sampler, generator(29))
    trace(sampler, schedule, position, 10)
    resumed = from_checkpoint(sampler, to_checkpoint(sampler, position))
    assert trace(sampler, schedule, position, 30) == trace(sampler, schedule, resumed, 30)
    check_nested(position.state, sampler.target)


def test_a_sweep_under_a_penalty_always_regrafts():
    sampler, rng = penalised_sampler(0.3), generator(30)
    state = sampler.start(rng)
    with pytest.raises(InvalidSettingError, match='"sweep" with a penalty regrafts'):
        sampler.move(rng, state, Step("sweep", 1, {"regraft": False}))


@pytest.mark.parametrize("strength", [None, 0.3])
def test_kernels_are_compiled_for_the_arguments_they_get(strength):
    plain = gaussian_sampler(generator(31).normal(size=(9, 2)))
    sampler, rng = plain if strength is None else penalised_sampler(strength), generator(32)
    state = sampler.start(rng)
    sampler.move(rng, state, Step("sweep"))
    sampler.scalars(state)
    sampler.refresh(state)
    few = small(sampler.target)
    for dispatcher, arguments in (*calls_here(few), *calls_elsewhere(few)):
        assert types_of(arguments) in dispatcher.overloads, dispatcher.py_func.__name__
    compile_kernels(sampler.target)


def test_coupled_chains_swap_and_go_on_with_the_same_bits():
    sampler = tempered_sampler(penalised_sampler(0.1).target, 3)
    steps = (*default_schedule(0, penalty=True).draw, Step("swap"))
    schedule = Schedule(steps, steps, 0, refresh=5)
    position = begin(sampler, generator(33))
    trace(sampler, schedule, position, 20)
    assert position.counts["swap"]["swaps_0"] == 20
    assert position.counts["swap"]["swaps_1_accepted"] > 0
    resumed = from_checkpoint(sampler, to_checkpoint(sampler, position))
    assert trace(sampler, schedule, position, 40) == trace(sampler, schedule, resumed, 40)
    assert sampler.fingerprint()["strengths"] == [0.1, 0.025, 0.0]

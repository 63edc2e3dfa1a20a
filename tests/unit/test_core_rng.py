"""Generators depend on seed and path only, and their state survives JSON."""

import json

import numpy as np
import pytest

from bayesgrove.core.rng import fixed_sample, generator, resolve_seed, state_from_json, state_to_json

pytestmark = pytest.mark.unit


def through_json(rng):
    return state_from_json(json.loads(json.dumps(state_to_json(rng), allow_nan=False)))


def draws(rng):
    """A bit of everything, 32-bit and 64-bit numbers mixed."""
    return [
        rng.integers(2**31, dtype=np.int32, size=3).tolist(),
        rng.random(3).tolist(),
        rng.normal(size=3).tolist(),
        rng.gamma(0.3, size=3).tolist(),
    ]


@pytest.mark.parametrize("n_half", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("n_whole", [0, 1, 2, 3, 4, 5])
def test_the_state_continues_exactly_after_json(n_half, n_whole):
    """An odd number of 32-bit draws leaves half a word in store, a few 64-bit ones leave part of a block."""
    rng = generator(11, 3)
    rng.random(n_whole)
    for _ in range(n_half):
        rng.integers(2**31, dtype=np.int32)
    copy = through_json(rng)
    assert draws(copy) == draws(rng)


def test_the_odd_draw_matters():
    """The cases above would not all pass if the half word in store were forgotten."""
    rng = generator(11, 3)
    rng.integers(2**31, dtype=np.int32)
    state = state_to_json(rng)
    assert state["has_uint32"] == 1
    forgetful = state_from_json({**state, "has_uint32": 0})
    assert draws(forgetful) != draws(rng)


def test_taking_the_state_draws_nothing():
    rng, twin = generator(5), generator(5)
    state_to_json(rng)
    assert draws(rng) == draws(twin)


@pytest.mark.parametrize("path", [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (2**32 - 1,)])
def test_equal_paths_agree(path):
    assert draws(generator(7, *path)) == draws(generator(7, *path))


def test_different_paths_and_seeds_differ():
    keys = [
        (7,),
        (7, 0),
        (7, 1),
        (7, 0, 0),
        (7, 0, 1),
        (7, 1, 0),
        (7, 2**32 - 1),
        (8,),
        (8, 0),
        (2**63 - 1,),
        (2**63 - 1, 0),
    ]
    first = [float(generator(*key).random()) for key in keys]
    assert len(set(first)) == len(keys)


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3)])
def test_an_integer_is_its_own_seed(given):
    seed = resolve_seed(given)
    assert seed == 3
    assert type(seed) is int


def test_none_gives_a_new_seed_each_time():
    """False alarm once in 2**63 runs."""
    first, second = resolve_seed(None), resolve_seed(None)
    assert first != second
    assert 0 <= min(first, second) <= max(first, second) < 2**63


def test_generators_give_a_seed_that_follows_their_state():
    for make in (np.random.default_rng, np.random.RandomState):
        source = make(4)
        first, second = resolve_seed(source), resolve_seed(source)
        assert first == resolve_seed(make(4))
        assert first != second


def test_large_and_zero_seeds_work():
    for seed in (0, 2**63 - 1, 2**200):
        assert 0.0 <= float(generator(seed).random()) < 1.0


def test_fixed_samples_do_not_follow_a_period_of_the_rows():
    n, period = 20_000, 10
    shares = np.bincount(fixed_sample(n, 400) % period, minlength=period)
    assert shares.min() > 10  # rows at even distances are all of one kind


def test_fixed_samples_are_in_order_and_without_repeats():
    chosen = fixed_sample(1_000, 300)
    assert chosen.size == 300
    assert (np.diff(chosen) > 0).all()

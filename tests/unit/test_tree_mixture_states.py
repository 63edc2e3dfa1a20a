"""States of tree mixtures: stored and unpacked they go on alike, grown they hold the same; what is refused and how."""

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidInputError, InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm import hdp
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler, grow_rows, with_plain_links
from bayesgrove.models.tree_hmm.mixture_joint import log_joint
from bayesgrove.models.tree_hmm.mixture_state import check, grow, weights_of
from bayesgrove.models.tree_hmm.mixture_target import ALL_NAMES, STATE_CONCENTRATION, TRANSITION, make_target
from bayesgrove.models.tree_hmm.redraw import count_uses, draw_all_tables
from bayesgrove.models.tree_hmm.sampler import TreeMixtureSampler
from bayesgrove.models.tree_hmm.schedules import default_schedule, default_steps
from bayesgrove.models.tree_hmm.starts import LabelsStart, VariationalStart
from bayesgrove.models.tree_hmm.tables import zero_counts
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS
from reference.tree_hmm_engine import forest_of
from reference.tree_sets import random_forest

pytestmark = pytest.mark.unit
MODES = ("bottom_prior", "bottom", "renorm")
SWEEP = default_steps()


def some_forest(n_trees=12):
    return forest_of(random_forest(generator(3), n_trees, empty_internal=False), 3, 3)


def continuous_forest():
    rng = generator(4)
    sizes = rng.integers(1, 5, 8)
    parents = [[-1] + [0] * (size - 1) for size in sizes]
    return TreeData.from_parents([rng.normal(size=size) for size in sizes], parents).forest


RANDOM = LabelsStart("random")
QUICK_VB = VariationalStart(VB_DEFAULTS._replace(n_init=1, n_iter=5))


def make_sampler(kind="bottom_prior", first=RANDOM):
    """A small mixture of one kind."""
    if kind == "continuous":
        return TreeMixtureSampler(make_target(continuous_forest(), n_states=2, prior_strength="auto"), first)
    if kind == "infinite":
        return TreeMixtureSampler(make_target(some_forest(), n_states="infinite", concentration="auto"), first)
    target = make_target(some_forest(), n_states=2, missing=kind, concentration="auto", prior_strength="auto")
    return TreeMixtureSampler(target, first)


def make_collapsed(**settings):
    forest = some_forest()
    target = make_target(forest, n_states=2, **settings)
    return CollapsedTreeSampler(with_plain_links(target, forest), LabelsStart("random"))


def sweeps(sampler, rng, state, n_sweeps, steps=SWEEP):
    for _ in range(n_sweeps):
        for step in steps:
            sampler.move(rng, state, step)


@pytest.mark.parametrize("kind", [*MODES, "continuous", "infinite"])
def test_a_stored_state_goes_on_with_the_same_bits(kind):
    sampler, rng = make_sampler(kind), generator(5)
    state = sampler.start(rng)
    sweeps(sampler, rng, state, 5)
    sampler.refresh(state)
    check(sampler.target, state)
    assert sampler.scalars(state)["log_joint"] == pytest.approx(log_joint(sampler.target, state), abs=1e-8)
    grow(state)  # room must not show
    other = sampler.unpack(sampler.pack(state))
    sweeps(sampler, generator(6), state, 5)
    sweeps(sampler, generator(6), other, 5)
    for name, values in sampler.pack(state).items():
        assert np.array_equal(values, sampler.pack(other)[name]), name


def test_a_stored_collapsed_state_goes_on_with_the_same_bits():
    sampler, rng = make_collapsed(concentration="auto", prior_strength="auto"), generator(7)
    steps = default_steps(method="collapsed", split_merge="sequential")
    state = sampler.start(rng)
    sweeps(sampler, rng, state, 5, steps)
    sampler.refresh(state)
    grow_rows(state)
    other = sampler.unpack(sampler.pack(state))
    sweeps(sampler, generator(8), state, 5, steps)
    sweeps(sampler, generator(8), other, 5, steps)
    for name, values in sampler.pack(state).items():
        assert np.array_equal(values, sampler.pack(other)[name]), name
    fresh = sampler.unpack(sampler.pack(state))
    in_use = state.mixture.order[: state.n_clusters]
    assert sorted(map(tuple, state.mixture.counts[in_use])) == sorted(map(tuple, fresh.mixture.counts[: in_use.size]))


def test_many_clusters_need_more_rows():
    """A concentration so large that nearly every tree is alone."""
    forest = some_forest(40)
    sampler = TreeMixtureSampler(make_target(forest, n_states=2, concentration=1e6), LabelsStart())
    state, rng = sampler.start(generator(9)), generator(10)
    sweeps(sampler, rng, state, 3)
    check(sampler.target, state)
    assert state.n_clusters > 30
    collapsed = CollapsedTreeSampler(with_plain_links(sampler.target, forest), LabelsStart())
    few = collapsed.start(generator(11))
    sweeps(collapsed, rng, few, 3, default_steps(method="collapsed", split_merge="sequential"))
    assert few.n_clusters > 30


@pytest.mark.parametrize(
    ("first", "n_clusters"),
    [(LabelsStart("one"), 1), (LabelsStart(labels=(5, 5, 2) * 4), 2), (QUICK_VB, None)],
    ids=["one", "labels", "vb"],
)
def test_starts(first, n_clusters):
    sampler = make_sampler(first=first)
    state = sampler.start(generator(12))
    check(sampler.target, state)
    assert n_clusters in (None, state.n_clusters)
    assert np.isfinite(sampler.scalars(state)["log_joint"])


def test_a_single_tree_has_no_pairs():
    sampler = TreeMixtureSampler(make_target(some_forest(1), n_states=2), LabelsStart())
    state = sampler.start(generator(13))
    assert sampler.move(generator(14), state, Step("split-merge", 2)) == {}


def test_learned_numbers_are_among_the_scalars():
    infinite = make_sampler("infinite")
    state = infinite.start(generator(15))
    assert {"n_states", "state_concentration", "concentration"} <= set(infinite.scalars(state))
    assert set(ALL_NAMES[:5]) <= set(make_sampler().scalars(make_sampler().start(generator(15))))


def test_runs_of_different_models_are_told_apart():
    one, other = make_sampler(), make_sampler("bottom")
    assert one.fingerprint() != other.fingerprint()
    assert one.fingerprint() == make_sampler().fingerprint()


# ---- infinitely many states


def test_uniform_weights_make_the_finite_model():
    """Acceptance 9: with weights 1 / C and concentrations C alpha rows have the law of the finite model."""
    finite = make_target(some_forest(), n_states=20)
    infinite = make_target(some_forest(), n_states="infinite")
    values = infinite.values.copy()
    values[[1, 4]], values[6:] = 20.0, (1.0, 20.0)
    sampler = TreeMixtureSampler(finite, LabelsStart())
    state = sampler.start(generator(16))
    other = TreeMixtureSampler(infinite, LabelsStart()).unpack(
        {**sampler.pack(state), "values": values, "weights": np.full((1, 20), 1 / 20)}
    )
    counts = zero_counts(1, finite.shape)
    count_uses(generator(17), finite, state.components, state.labels, counts)
    draw_all_tables(generator(18), finite, state.components, state.values, counts)
    draw_all_tables(generator(18), infinite, other.components, values, counts)
    for name in ("initial", "transition", "emission", "switching"):
        found, wanted = getattr(other.components, name)[0], getattr(state.components, name)[0]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_weights_follow_the_tables():
    """States that are never used lose their weight."""
    rng, weights = generator(19), np.full(4, 0.25)
    hdp.draw_weights(rng, 1.0, np.array([500.0, 500.0, 0.0, 0.0]), weights)
    assert weights[:2].sum() > 0.99
    assert weights.sum() == pytest.approx(1.0)


def test_number_of_tables():
    """One customer sits at one table; means of more follow a sum of a / (a + k)."""
    rng = generator(20)
    assert hdp.draw_table_count(rng, 1.0, 0.3) == 1
    found = np.mean([hdp.draw_table_count(rng, 6.0, 0.8) for _ in range(4_000)])
    assert found == pytest.approx(sum(0.8 / (0.8 + k) for k in range(6)), abs=0.08)


def test_infinite_chain_uses_few_states():
    sampler = make_sampler("infinite")
    state, rng = sampler.start(generator(21)), generator(22)
    sweeps(sampler, rng, state, 20)
    assert weights_of(state).sum(axis=1) == pytest.approx(1.0)
    assert state.values[TRANSITION] > 0.0 < state.values[STATE_CONCENTRATION]


# ---- what is refused


def test_unknown_moves_and_settings():
    sampler, collapsed = make_sampler(), make_collapsed()
    with pytest.raises(InvalidSettingError, match="a move is one of split-merge, assign, tables, values, got 'dance'"):
        sampler.move(generator(0), sampler.start(generator(0)), Step("dance"))
    with pytest.raises(InvalidSettingError, match="a move is one of collapsed, split-merge, values, got 'tables'"):
        collapsed.move(generator(0), collapsed.start(generator(0)), Step("tables"))
    with pytest.raises(InvalidSettingError, match="method is one of gibbs, collapsed, got 'vb'"):
        default_steps(method="vb")
    with pytest.raises(InvalidSettingError, match="split_merge is \"sequential\" or None for method='collapsed'"):
        default_schedule(10, method="collapsed", split_merge="retained")
    with pytest.raises(InvalidSettingError, match='method="collapsed" sums all tables out'):
        make_collapsed(missing="renorm")


def test_a_tree_that_no_component_can_have():
    sampler = make_sampler()
    state = sampler.start(generator(23))
    state.values[0] = np.nan
    with pytest.raises(NumericalError, match="no component, old or new, is possible for tree 0"):
        sampler.move(generator(24), state, Step("assign"))


def test_broken_states():
    sampler = make_sampler()
    state = sampler.start(generator(25))
    state.components.sizes[0] += 1
    with pytest.raises(InvalidInputError, match="sizes of components are"):
        check(sampler.target, state)
    sampler.refresh(state)
    state.values[0] = -1.0
    with pytest.raises(InvalidInputError, match="components have trees and numbers are positive"):
        check(sampler.target, state)
    state = sampler.start(generator(25))
    state.components.switching[0] *= 2.0
    with pytest.raises(InvalidInputError, match="rows of switching sum to 1"):
        check(sampler.target, state)
    state = sampler.start(generator(25))
    state.components.order[0] = state.components.order[1]
    with pytest.raises(InvalidInputError, match="the order of rows is no permutation"):
        check(sampler.target, state)

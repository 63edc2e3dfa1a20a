"""One move of a tree mixture's sampler leaves the joint law as it is: many truths, each moved once.

Truth and data come from the prior, the move is made once, and every functional is compared with itself before: its mean
change, over its standard error, stays within 4.5. On fresh seeds a right move fails with probability 1e-4. The tests of
few truths are run as plain Python among the planted errors.
"""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.models.tree_hmm.collapsed_sampler import CollapsedTreeSampler
from bayesgrove.models.tree_hmm.parameters import Parameters
from bayesgrove.models.tree_hmm.sampler import TABLE_NAMES
from bayesgrove.models.tree_hmm.tables import Tables
from reference.tree_hmm_generative import C, TreeModel

pytestmark = [pytest.mark.statistical, pytest.mark.slow]
FREE = ("concentration", "initial_strength", "emission_strength", "switching_strength", "transition_strength")
LARGEST_Z = 4.5
N_QUICK, N_LONG = 200, 1500


def largest_z(before, after):
    """Over all functionals that the move changes."""
    changes = np.array([[own[name] - then[name] for name in then] for then, own in zip(before, after, strict=True)])
    errors = changes.std(axis=0) / np.sqrt(len(changes))
    moved = errors > 0.0
    assert moved.sum() >= 2
    return np.abs(changes.mean(axis=0)[moved] / errors[moved]).max()


def moved_once(model, step, n_truths, seed):
    """Functionals of every truth before and after one move."""
    rng, before, after = generator(seed), [], []
    for _ in range(n_truths):
        truth = model.draw_prior(rng)
        sampler = model.sampler(model.draw_data(rng, truth))
        state = model.state_from(sampler, truth)
        before.append(model.summarise(sampler, state))
        sampler.move(rng, state, step)
        after.append(model.summarise(sampler, state))
    return before, after


MOVES = {
    "assign": (Step("assign", 1, {"n_auxiliary": 2}), ()),
    "split-merge": (Step("split-merge"), ()),
    "tables": (Step("tables"), ()),
    "strengths": (Step("tables"), FREE),
    "values": (Step("values", 3), FREE),
}


@pytest.mark.parametrize(("name", "mode"), [*((name, "bottom_prior") for name in MOVES), ("tables", "renorm")])
def test_a_move_keeps_the_joint_law(name, mode):
    step, free = MOVES[name]
    assert largest_z(*moved_once(TreeModel(mode, free), step, N_QUICK, 3)) < LARGEST_Z


@pytest.mark.parametrize("infinite", [False, True], ids=["finite", "infinite"])
@pytest.mark.parametrize("mode", ["bottom_prior", "bottom", "renorm"])
@pytest.mark.parametrize("name", MOVES)
def test_many_truths(name, mode, infinite):
    step, free = MOVES[name]
    assert largest_z(*moved_once(TreeModel(mode, free, infinite=infinite), step, N_LONG, 5)) < LARGEST_Z


# ---- tables summed out


def collapsed(rng, model):
    """A collapsed sampler of data from the prior, and a state that has the law of the posterior."""
    truth = model.draw_prior(rng)
    target = model.target(model.draw_data(rng, truth))
    arrays = truth.arrays
    parameters = Parameters(Tables(*(arrays[name] for name in TABLE_NAMES)), arrays["moments"])
    sampler = CollapsedTreeSampler(target, lambda _rng, _target: (arrays["labels"], parameters))
    return sampler, sampler.start(rng)


def collapsed_functionals(sampler, state):
    """Of labels, and of states and switches in ways that their numbers do not matter for."""
    links, labels = sampler.target.links, state.labels
    is_root = np.zeros(links.labels.size, bool)
    is_root[links.roots] = True
    inner = links.leaf_positions < 0
    top = state.states[links.roots]
    return {
        "clusters": float(state.n_clusters),
        "same 1 2": float(labels[0] == labels[1]),
        "same 2 3": float(labels[1] == labels[2]),
        "same nodes": float(labels[0] == labels[1]) * float(links.roots[0] - links.roots[1]),
        "absent": float((state.switches[inner] < 0).mean()),
        "first place": float((state.switches[inner] == -2).mean()),
        "states": float((state.states == C - 1).mean()),
        "roots alike": float(top[0] == top[1]),
        "roots alike in one": float(top[0] == top[1] and labels[0] == labels[1]),
        "state and label": float(((state.states == links.labels) & ~is_root).mean()),
        "log joint": float(np.tanh(sampler.scalars(state)["log_joint"] / 20.0)),
    }


def collapsed_once(model, move, n_truths, seed):
    rng, before, after = generator(seed), [], []
    for _ in range(n_truths):
        sampler, state = collapsed(rng, model)
        before.append(collapsed_functionals(sampler, state))
        sampler.move(rng, state, Step(move))
        after.append(collapsed_functionals(sampler, state))
    return before, after


@pytest.mark.parametrize("move", ["collapsed", "split-merge"])
def test_a_collapsed_move_keeps_the_joint_law(move):
    """A small strength, for which mean tables are a bad guess."""
    assert largest_z(*collapsed_once(TreeModel(strength=0.3), move, N_QUICK, 4)) < LARGEST_Z


@pytest.mark.parametrize("mode", ["bottom_prior", "bottom"])
@pytest.mark.parametrize("move", ["collapsed", "split-merge"])
def test_many_truths_collapsed(move, mode):
    assert largest_z(*collapsed_once(TreeModel(mode), move, N_LONG, 6)) < LARGEST_Z

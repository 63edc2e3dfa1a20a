"""Deep trees of many rows under a likelihood that says nothing: moves must leave the nested process as it is.

Laws of a few data, enumerated, hardly see what only larger trees show: regrafts in the order of the tree passed them.
Fixed seeds, no retries. On fresh seeds a right sampler fails any comparison of this file with probability 1e-3.
"""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.models.nested.penalty import PENALTIES
from bayesgrove.models.nested.sampler import NestedSampler
from bayesgrove.models.nested.state import nodes_in_use
from bayesgrove.models.nested.target import NO_PENALTY, make_target, sampled_means
from bayesgrove.stats.testing import bonferroni_z, mean_z
from reference.nested_prior import node_laws, pair_chances, shared_pairs

pytestmark = pytest.mark.statistical
N_ROWS, DEPTH, ALPHA = 33, 4, 0.5
NO_STRENGTH = 1e-12
"""The moves of a penalty at a strength that changes no law."""
SCANS = Step("weights", 4)
SCHEDULES = {
    "regraft": (Step("sweep"), SCANS),
    "split-merge": (Step("sweep", 1, {"regraft": False}), Step("split-merge", 4)),
    "metropolis": (Step("paths", 1, {"path": "mh"}), SCANS),
    "paths": (Step("sweep", 1, {"regraft": False}),),
}
PENALISED = {"regraft": (Step("sweep"), SCANS), "split-merge": (Step("sweep"), Step("split-merge", 4))}
FAST = ("", "regraft")
CASES = [("", name) for name in SCHEDULES] + [(penalty, name) for penalty in PENALTIES for name in PENALISED]
LARGEST_Z = bonferroni_z(1e-3, 2 * DEPTH * len(CASES))
N_SWEEPS = {True: 8_000, False: 40_000}
"""In the fast suite, and of slow cases."""


def flat_sampler(penalty):
    """All data are 0 and all means nearly: every component gives the same density."""
    data = np.zeros((N_ROWS, 2))
    margin_data = np.random.default_rng(1).normal(size=(N_ROWS, 2))
    target = make_target(
        data, sampled_means(data), depth=DEPTH, values=[ALPHA, 1.2, 0.9, 1.0, 1e-16, 1.0],
        penalty=PENALTIES[penalty] if penalty else NO_PENALTY, strength=NO_STRENGTH if penalty else 0.0, margin=0.5,
        margin_data=margin_data if penalty else None,
    )  # fmt: skip
    return NestedSampler(target)


def visited(penalty, steps, n_sweeps, seed):
    """Numbers of nodes and shares of pairs by level after each sweep, (n_sweeps, 2, DEPTH)."""
    rng, sampler = generator(seed), flat_sampler(penalty)
    state, found = sampler.start(rng), np.empty((n_sweeps, 2, DEPTH))
    for sweep in range(-200, n_sweeps):
        for step in steps:
            sampler.move(rng, state, step)
        if sweep >= 0:
            nodes = nodes_in_use(state.tree)
            counts = [state.tree.count[nodes[state.tree.level[nodes] == level]] for level in range(1, DEPTH + 1)]
            found[sweep] = [each.size for each in counts], [shared_pairs(each) for each in counts]
    return found


def test_laws_of_the_process():
    """Three data: a partition of them at each level, by hand; means by many draws are the recursion's."""
    laws = node_laws(3, 2, 1.0)
    np.testing.assert_allclose(laws[0], [0.0, 1 / 3, 1 / 2, 1 / 6])
    # One node of 3, or a node of 2 with one of 1, or three of 1, divided once more.
    np.testing.assert_allclose(laws[1], [0.0, 1 / 9, 1 / 6 + 1 / 4, 1 / 18 + 1 / 4 + 1 / 6])
    np.testing.assert_allclose(node_laws(N_ROWS, DEPTH, ALPHA).sum(axis=1), 1.0)


def cases():
    for case in CASES:
        yield pytest.param(*case, marks=() if case == FAST else pytest.mark.slow, id="-".join(filter(None, case)))


@pytest.mark.parametrize(("penalty", "name"), list(cases()))
def test_moves_leave_the_process_as_it_is(penalty, name):
    steps = PENALISED[name] if penalty else SCHEDULES[name]
    found = visited(penalty, steps, N_SWEEPS[(penalty, name) == FAST], 1)
    expected = node_laws(N_ROWS, DEPTH, ALPHA) @ np.arange(N_ROWS + 1.0), pair_chances(DEPTH, ALPHA)
    z = [[mean_z(found[:, k, level], expected[k][level]) for level in range(DEPTH)] for k in range(2)]
    assert np.abs(z).max() <= LARGEST_Z, (z, found.mean(axis=0), expected)

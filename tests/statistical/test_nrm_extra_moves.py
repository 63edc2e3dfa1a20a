"""The optional moves of the mixture, L3 and V2, against the exact transition rows of their twins and the exact law.

Seeds are fixed; a right sampler on fresh seeds would fail any of the G-tests of one move with probability 1e-3
together, and each of the long chains with probability about 1e-4.
"""

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.models.nrm.guide import ward_guide
from bayesgrove.models.nrm.points import euclidean_points
from bayesgrove.models.nrm.process import DIRICHLET, GENERALISED_GAMMA, Process
from bayesgrove.models.nrm.sampler import make_sampler
from bayesgrove.models.nrm.state import check, grow
from bayesgrove.stats.testing import bonferroni_level, g_test, partition_agreement, partition_counts
from reference import nrm, nrm_trees
from reference.enumerate_moves import law_of
from reference.nrm_other_moves import l3, v2
from reference.nrm_settings import AMBIGUOUS, setting

pytestmark = pytest.mark.statistical

KINDS = {"dp": DIRICHLET, "nggp": GENERALISED_GAMMA}
TWINS = {"l3": l3, "v2": v2}
STARTS = [(0, 0, 0, 0, 0), (0, 1, 2, 3, 4), (0, 0, 0, 1, 1), (0, 1, 0, 1, 2), (0, 0, 1, 2, 2)]
GUIDES = ("greedy", "wrong")
N_ROWS_TESTED = len(KINDS) * len(TWINS) * len(STARTS) * len(GUIDES)
N_MOVES = 4_000


def process_of(kind):
    return Process(KINDS[kind], 1.0, 0.5, free_alpha=False, free_sigma=False)


@cache
def sampler_of(kind, guide):
    """The twin's setting as the sampler sees it."""
    tree = nrm_trees.leaf_order(setting(kind, guide).guide)
    prior = GaussianKnownVariancePrior(np.array([1.0]), np.array([0.0]), np.array([9.0]))
    return make_sampler(
        prior,
        np.array(AMBIGUOUS)[:, None],
        (np.array(tree.order), np.array(tree.adj)),
        process_of(kind),
        (),
        0.0,
        lambda rng: np.zeros(5, np.int64),
        {},
    )


def state_at(sampler, labels):
    """The state of given labels of the rows, at u = 2."""
    numbers = np.array([math.log(2.0), 1.0, 0.5])
    return sampler.unpack({"labels": np.array(labels), "numbers": numbers, "log_factors": np.zeros(0)})


@pytest.mark.parametrize("guide", GUIDES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("move", TWINS)
def test_one_move_has_the_twins_law(move, kind, guide):
    case, sampler = setting(kind, guide), sampler_of(kind, guide)
    level = bonferroni_level(1e-3, N_ROWS_TESTED)
    for number, start in enumerate(STARTS):
        rng, reached = generator(31, number), np.empty((N_MOVES, 5), np.int64)
        for t in range(N_MOVES):
            state = state_at(sampler, start)
            sampler.move(rng, state, Step(move))
            reached[t] = sampler.labels(state)
        row = law_of(lambda choose, start=start: TWINS[move](start, case.log_phi, case.tree_of, choose))
        law = [row.get(partition, 0.0) for partition in case.states]
        assert g_test(partition_counts(reached), law).p_value > level, start


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("move", TWINS)
def test_the_move_and_a_little_gibbs_have_the_exact_law(move, kind):
    """4e4 sweeps of three moves and one Gibbs step, u free."""
    sampler, rng = sampler_of(kind, "greedy"), generator(7)
    state = state_at(sampler, STARTS[0])
    steps = (Step(move, 3), Step("gibbs", 1, {"n_points": 1}), Step("process"))
    draws, trace = np.empty((40_000, 5), np.int64), np.empty(40_000)
    for t in range(len(draws)):
        for step in steps:
            sampler.move(rng, state, step)
        draws[t], trace[t] = sampler.labels(state), sampler.scalars(state)["log_joint"]
    process = nrm.Dirichlet(1.0) if kind == "dp" else nrm.GeneralisedGamma(1.0, 0.5)
    law = nrm.posterior(nrm.gaussian_evidence(AMBIGUOUS, 1.0, 9.0), len(AMBIGUOUS), process).as_dict()
    found = partition_agreement(draws, list(law.values()), trace)
    assert found.p_value > 1e-4
    assert found.total_variation <= found.total_variation_bound


@pytest.mark.parametrize("name", ["gaussian-full", "multinomial", "columns"])
def test_moves_keep_statistics_and_do_not_depend_on_room(by_name, name):
    """300 V2 and L3 moves with a Gibbs sweep: what is kept is what the labels say, however much room there was."""
    example = by_name[name]
    values = example.data(3, 12)
    order_and_key = ward_guide(euclidean_points(example.prior, values))
    process = process_of("dp")
    sampler = make_sampler(example.prior, values, order_and_key, process, (), 0.0, lambda rng: np.arange(12) % 3, {})
    tight, roomy = (sampler.start(generator(1)) for _ in range(2))
    for _ in range(3):
        roomy.clusters = grow(roomy.clusters)
    tallies = Counter()
    for state in (tight, roomy):
        rng = generator(2)
        for _ in range(30):
            for step in (Step("v2", 10), Step("l3", 10), Step("gibbs", 1, {"n_points": 3})):
                tallies.update(sampler.move(rng, state, step))
        check(state, sampler.values)
    assert np.array_equal(tight.clusters.labels, roomy.clusters.labels)
    n_clusters = int(tight.clusters.n_clusters[0])
    assert np.array_equal(tight.clusters.rows[:n_clusters], roomy.clusters.rows[:n_clusters])
    assert min(tallies[kind] for kind in ("splits_accepted", "merges_accepted", "points_accepted")) > 0


def test_a_split_may_need_more_room_than_there_is():
    """Thirty far points in one cluster fall apart at once; the arrays grow for them."""
    values = np.arange(0.0, 3_000.0, 100.0)[:, None]
    prior = GaussianKnownVariancePrior(np.array([1.0]), np.array([0.0]), np.array([1e6]))
    process = process_of("dp")
    sampler = make_sampler(
        prior, values, (np.arange(30), np.arange(29)), process, (), 0.0, lambda rng: np.zeros(30, np.int64), {}
    )
    state, rng = sampler.start(generator(0)), generator(5)
    capacity = state.clusters.sizes.size
    while state.clusters.n_clusters[0] < capacity:
        sampler.move(rng, state, Step("v2"))
    check(state, sampler.values)

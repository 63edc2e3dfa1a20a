"""Exact kernel test of CrossCat's own moves: transition matrices of the sources run as plain Python.

`reference.enumerate_rng` follows every outcome of a move; its law must be that of the reference twin to 1e-12. The test
of planted errors runs this file; `test_crosscat_golden.py` compares the compiled moves.
"""

import itertools
import math
from functools import cache

import numba
import numpy as np
import pytest

from bayesgrove.models.cross.mcmc_columns import N_TALLIES, Options, move_columns
from bayesgrove.models.cross.mcmc_proposals import PROPOSALS, propose
from bayesgrove.models.cross.mcmc_rows import gibbs_rows
from bayesgrove.models.cross.mcmc_sampler import swap_chains
from bayesgrove.models.cross.mcmc_split_merge import split_merge
from bayesgrove.models.cross.mcmc_state import make_state
from bayesgrove.models.cross.mcmc_views import split_merge_views
from reference import crosscat, crosscat_views
from reference.crosscat_tables import ALPHAS, faults, small_model, target_of
from reference.enumerate_moves import law_of, outcomes
from reference.enumerate_rng import EnumeratingRng

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]
BETAS = (1.0, 0.8)


@cache
def targets(name):
    return target_of(small_model(name))


def state_of(name, cross):
    target, bound = targets(name)
    return target, make_state(target, cross[0], cross[1], bound.prior.params, ALPHAS)


def cross_of(state):
    """What the twin calls this state."""
    return crosscat.normal(state.views.of_column.tolist(), [row.tolist() for row in state.row_labels()])


def check_move(name, states, library, twin):
    """Both laws from each state, and that what the library keeps stays true."""
    for cross in states:

        def draw(choose, cross=cross):
            target, state = state_of(name, cross)
            library(EnumeratingRng(choose), target, state)
            assert faults(target, state) == ""
            return cross_of(state)

        found, wanted = law_of(draw), law_of(lambda choose, cross=cross: twin(cross, choose))
        for key in found | wanted:
            assert found.get(key, 0.0) == pytest.approx(wanted.get(key, 0.0), abs=1e-12), (cross, key)


def some_states(name, step=1):
    """Every so many cross-partitions: all column partitions are among them."""
    return crosscat.all_states(small_model(name))[::step]


@pytest.mark.parametrize("beta", BETAS)
def test_rows(beta):
    model = small_model("four")

    def library(rng, target, state):
        sizes, stats, failed = gibbs_rows(
            rng, target, state.views, state.params, state.tables, ALPHAS[0], beta, 0, np.array([1])
        )
        assert failed == -1
        state.views = state.views._replace(sizes=sizes, stats=stats)

    states = some_states("four", 29)
    check_move("four", states, library, lambda s, c: crosscat.gibbs_row(model, s, 0, 1, c, beta))


@pytest.mark.parametrize("beta", BETAS)
def test_split_merge(beta):
    model = small_model("three")

    def library(rng, target, state):
        sizes, stats = split_merge(
            rng, target, state.views, state.params, state.tables, ALPHAS[0], beta, 0, 1, np.zeros(4, np.int64)
        )
        state.views = state.views._replace(sizes=sizes, stats=stats)

    check_move("three", some_states("three", 7), library, lambda s, c: crosscat.split_merge(model, s, 0, c, beta))


def test_split_merge_of_four_rows():
    """Two rows besides the anchors, so that their order matters."""
    model = small_model("four")

    def library(rng, target, state):
        split_merge(rng, target, state.views, state.params, state.tables, ALPHAS[0], 1.0, 0, 1, np.zeros(4, np.int64))

    states = [((0, 0, 0), (labels,)) for labels in crosscat.partitions(4)]
    check_move("four", states, library, lambda s, c: crosscat.split_merge(model, s, 0, c, 1.0))


def move_one_column(j, kind, n_proposals, share, beta):
    def library(rng, target, state):
        options, tallies = Options(PROPOSALS[kind], n_proposals, share), np.zeros(N_TALLIES, np.int64)
        sizes, stats, failed = move_columns(
            rng, target, state.views, state.params, state.tables, state.concentrations, beta, options, np.array([j]),
            tallies,
        )  # fmt: skip
        assert failed == -1
        state.views = state.views._replace(sizes=sizes, stats=stats)

    return library


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize(("kind", "n_proposals"), [("sequential", 1), ("prior", 1), ("sequential", 2)])
def test_columns(kind, n_proposals, beta):
    model = small_model("three")
    library = move_one_column(1, kind, n_proposals, 1.0, beta)

    def twin(cross, choose):
        return crosscat.column_move(model, cross, 1, choose, kind=kind, n_draws=n_proposals, beta=beta)

    check_move("three", some_states("three", 9 if n_proposals == 1 else 41), library, twin)


@pytest.mark.parametrize("j", [0, 2])
def test_discrete_columns(j):
    model = small_model("three")
    library = move_one_column(j, "sequential", 1, 1.0, 1.0)
    check_move("three", some_states("three", 11), library, lambda s, c: crosscat.column_move(model, s, j, c))


def test_columns_among_existing_views_only():
    model = small_model("three")
    library = move_one_column(1, "sequential", 1, 0.0, 0.8)
    check_move(
        "three",
        some_states("three", 5),
        library,
        lambda s, c: crosscat.column_among_existing(model, s, 1, c, 0.8),
    )


def test_a_share_of_new_views():
    """A mixture of the two moves."""
    model = small_model("three")

    def twin(cross, choose):
        if choose([0.25, 0.75]) == 0:
            return crosscat.column_move(model, cross, 0, choose)
        return crosscat.column_among_existing(model, cross, 0, choose)

    check_move("three", some_states("three", 17), move_one_column(0, "sequential", 1, 0.25, 1.0), twin)


@pytest.mark.parametrize("beta", BETAS)
def test_whole_views(beta):
    model = small_model("three")

    def library(rng, target, state):
        sizes, stats = split_merge_views(
            rng,
            target,
            state.views,
            state.params,
            state.tables,
            state.concentrations,
            beta,
            1,
            1.0,
            np.zeros(4, np.int64),
        )
        state.views = state.views._replace(sizes=sizes, stats=stats)

    states = some_states("three", 23)
    assert {max(views) for views, _ in states} == {0, 1, 2}
    check_move("three", states, library, lambda s, c: crosscat_views.split_merge_views(model, s, c, beta))
    wide = small_model("wide")  # two pairs of columns: two views can be divided before a merge, one after it
    pairs = [((0, 0, 1, 1), rows) for rows in itertools.product(crosscat.partitions(2), repeat=2)]
    check_move("wide", pairs, library, lambda s, c: crosscat_views.split_merge_views(wide, s, c, beta))


@pytest.mark.parametrize("kind", PROPOSALS)
@pytest.mark.parametrize("j", range(3))
def test_proposals(kind, j):
    """The law of the drawn labels, their log Q, and log Q of the same labels when they are forced."""
    model, (target, bound) = small_model("four"), targets("four")
    n, params = model.n_rows, bound.prior.params
    tables = state_of("four", ((0, 0, 0), ((0,) * 4,)))[1].tables

    def draw(choose):
        labels, sizes = np.empty(n, np.int64), np.empty(n + 1, np.int64)
        rng = EnumeratingRng(choose)
        n_open, log_q = propose(rng, target, params, tables, ALPHAS[0], PROPOSALS[kind], j, False, labels, sizes)
        assert sizes[:n_open].tolist() == np.bincount(labels).tolist()
        moved = np.array([2, 0, 1, 3])[labels]  # other names for the same clusters
        if n_open == 4 or kind == "sequential":
            forced = propose(rng, target, params, tables, ALPHAS[0], PROPOSALS[kind], j, True, moved, sizes)
            assert forced[1] == pytest.approx(log_q, abs=1e-12)
        return tuple(labels.tolist()), log_q

    total = 0.0
    for (labels, log_q), chance in outcomes(draw):
        if kind == "sequential":
            assert log_q == pytest.approx(math.log(chance), abs=1e-10)
        assert log_q == pytest.approx(crosscat.log_proposal(model, j, labels, kind), abs=1e-12)
        total += chance
    assert total == pytest.approx(1.0, abs=1e-12)


def test_swaps():
    model, betas = small_model("narrow"), (1.0, 0.5)
    states = crosscat.all_states(model)[::3]
    for pair in ((a, b) for a in states for b in states[::2]):

        def draw(choose, pair=pair):
            both = [state_of("narrow", cross)[1] for cross in pair]
            logs = [crosscat.log_joint(model, cross) for cross in pair]
            swap_chains(EnumeratingRng(choose), betas, logs, both)
            return tuple(cross_of(state) for state in both)

        found = law_of(draw)
        wanted = law_of(lambda choose, pair=pair: crosscat.swap(model, pair, betas, choose))
        assert found == pytest.approx(wanted, abs=1e-12)

"""Mixtures under constraints: every move leaves the posterior restricted to the allowed partitions invariant.

Transition matrices of the sources run as plain Python, as in `test_nrm_sources.py`; the test of planted errors runs
this file.
"""

import copy
from functools import cache

import numba
import numpy as np
import pytest

from bayesgrove import NRMMixture, load
from bayesgrove.core.errors import BayesgroveError
from bayesgrove.core.rng import generator
from bayesgrove.models.nrm import linked
from bayesgrove.models.nrm.anchors import Options, split_merge_moves
from bayesgrove.models.nrm.gibbs import gibbs_points
from bayesgrove.models.nrm.local import draw_local_points
from bayesgrove.models.nrm.process import process_tables
from bayesgrove.models.nrm.split_merge import LAWS, N_TALLIES
from reference import nrm
from reference.enumerate_moves import balance_gap, invariance_gap, transition_matrix
from reference.enumerate_rng import EnumeratingRng
from reference.linked import LOG_U, ROWS, TWINS, case_of, is_allowed
from reference.mixtures import faults, state_of

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]


def gibbs(item):
    def move(rng, sampler, state):
        gibbs_points(rng, state.scorer, sampler.values, state.clusters, state.weights, np.array([item]), 0)

    return move


def local(rng, sampler, state):
    points = draw_local_points(rng, sampler.guide, 1, 10)
    gibbs_points(rng, state.scorer, sampler.values, state.clusters, state.weights, points, 0)


def split_merge(law):
    def move(rng, sampler, state):
        arguments = (state.scorer, sampler.values, state.clusters, state.weights, sampler.guide)
        laws, options = np.array([LAWS[law]]), Options(n_scans=0, n_coin_scans=0)
        assert split_merge_moves(rng, *arguments, laws, options, 0, np.zeros(N_TALLIES, np.int64)) == 1

    return move


@cache
def tables_of(process, numbers, n_rows):
    """The tables of a process, which take long in plain Python, once."""
    return process_tables(process, np.array(numbers), n_rows, n_rows)


@pytest.fixture(autouse=True)
def tables_once(monkeypatch):
    monkeypatch.setattr(linked, "process_tables", lambda process, numbers, n, *_: tables_of(process, tuple(numbers), n))


@cache
def state_at(kind, sampler, partition):
    """The state of a partition; u is 2 where there is one."""
    state = state_of(sampler, partition, log_u=LOG_U if kind == "nggp" else None)
    sampler._weigh(state)
    return state


def matrix_of(case, kind, move):
    """Transition matrix over the allowed partitions; a move that leaves them has no place there."""

    def step(partition, choose):
        state = copy.deepcopy(state_at(kind, case.sampler, partition))
        move(EnumeratingRng(choose), case.sampler, state)
        assert faults(state, case.sampler.values) == ""
        reached = nrm.relabel(case.sampler.labels(state).tolist())
        assert reached in case.states
        return reached

    return transition_matrix(step, case.states)


def check(case, found):
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert invariance_gap(found, case.law) <= 1e-12
    assert balance_gap(found, case.law) <= 1e-12
    assert invariance_gap(found, np.full(len(case.states), 1.0 / len(case.states))) > 1e-3


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", TWINS)
def test_split_merge(kind, law):
    case = case_of(kind, "links")
    check(case, matrix_of(case, kind, split_merge(law)))


@pytest.mark.parametrize("name", ["links", "labels", "apart", "together"])
@pytest.mark.parametrize("kind", TWINS)
def test_gibbs(kind, name):
    """Steps of single items, and all in turn: then every allowed partition is reached."""
    case = case_of(kind, name)
    steps = [matrix_of(case, kind, gibbs(item)) for item in range(case.sampler.n_items)]
    for found in steps:
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
        assert balance_gap(found, case.law) <= 1e-12
    sweep = np.linalg.multi_dot(steps)
    assert (np.linalg.matrix_power(sweep, 2) > 0.0).all()
    np.testing.assert_allclose(np.linalg.matrix_power(sweep, 200)[0], case.law, atol=1e-9)


@pytest.mark.parametrize("kind", TWINS)
def test_local(kind):
    case = case_of(kind, "links")
    found = matrix_of(case, kind, local)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert invariance_gap(found, case.law) <= 1e-12


@pytest.mark.parametrize("name", ["apart", "together"])
@pytest.mark.parametrize("law", ["uniform", "cluster", "jain-neal"])
def test_split_merge_under_other_constraints(law, name):
    case = case_of("dp", name)
    check(case, matrix_of(case, "dp", split_merge(law)))


@pytest.mark.parametrize("kind", TWINS)
def test_log_joint(kind):
    """What traces show is the log joint of the rows, and the process learns from numbers of rows."""
    case, (_, twin) = case_of(kind, "links"), TWINS[kind]
    evidence = nrm.gaussian_evidence(ROWS, 1.0, 9.0)
    logs = []
    for partition in case.states:
        state = state_at(kind, case.sampler, partition)
        logs.append(case.sampler.scalars(state)["log_joint"])
        sizes = case.sampler._cluster_sizes(state).tolist()
        assert sorted(sizes) == sorted(np.bincount(partition).tolist())
        assert case.sampler.labels(case.sampler.unpack(case.sampler.pack(state))).tolist() == list(partition)
    if kind == "nggp":
        wanted = [nrm.log_joint(partition, evidence, twin, LOG_U) for partition in case.states]
    else:
        wanted = [nrm.log_marginal_joint(partition, evidence, twin) for partition in case.states]
    if kind in ("dp", "nggp"):
        np.testing.assert_allclose(logs, wanted, atol=1e-10)
    np.testing.assert_allclose(np.diff(logs), np.diff(wanted), atol=1e-10)


def small_mixture(**settings):
    return NRMMixture(likelihood="gaussian", n_chains=1, n_tune=1, random_state=3, n_jobs=1, **settings)


VALUES = generator(4).normal(np.repeat([0.0, 2.0], 5)[:, None], 1.0, (10, 1))
GIVEN = {"must_link": [(0, 1, 6), (7, 8)], "cannot_link": [(2, 3), (0, 7)]}


@pytest.mark.filterwarnings("ignore:NRMMixture did not fully converge")
@pytest.mark.parametrize("sampler", ["tree-guided", "split-merge", "gibbs"])
def test_draws_and_estimate_meet_the_constraints(sampler):
    model = small_mixture(sampler=sampler, n_draws=4, clusters="components").fit(VALUES, **GIVEN)
    draws = model.posterior_.labels.reshape(-1, len(VALUES)).tolist()
    assert all(is_allowed(labels, GIVEN) for labels in (*draws, model.labels_.tolist()))
    assert len(set(map(tuple, draws))) > 1
    assert model.result_.provenance["constraints"] == {"rows_linked": 5, "items": 7, "pairs_apart": 2}


@pytest.mark.filterwarnings("ignore:NRMMixture did not fully converge")
def test_runs_go_on_under_their_constraints_only(tmp_path):
    """A run that is resumed is the same as one that was longer from the start."""
    run = {"sampler": "gibbs", "run_dir": tmp_path / "run"}
    whole = small_mixture(sampler="gibbs", n_draws=4).fit(VALUES, **GIVEN)
    small_mixture(n_draws=2, **run).fit(VALUES, **GIVEN)
    resumed = small_mixture(n_draws=4, resume=True, **run).fit(VALUES, **GIVEN)
    assert np.array_equal(resumed.posterior_.labels, whole.posterior_.labels)
    assert np.array_equal(resumed.posterior_.scalars["log_joint"], whole.posterior_.scalars["log_joint"])
    with pytest.raises(BayesgroveError, match="links"):
        small_mixture(n_draws=5, resume=True, **run).fit(VALUES, must_link=GIVEN["must_link"])
    whole.save(tmp_path / "model.bg")
    assert load(tmp_path / "model.bg").predict(VALUES).tolist() == whole.predict(VALUES).tolist()

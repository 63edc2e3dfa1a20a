"""Exact kernel test of the library's own moves: transition matrices of the sources run as plain Python.

`reference.enumerate_rng` follows every outcome of a move, so that its law is known to rounding; it must be that of the
reference twin, and leave the posterior invariant. The test of planted errors runs this file (compiled kernels cannot
take such a generator); `statistical/test_nrm_laws.py` compares the compiled moves.
"""

import math
from functools import cache

import numba
import numpy as np
import pytest

from bayesgrove.models.nrm.anchors import Options, split_merge_moves
from bayesgrove.models.nrm.gibbs import gibbs_points
from bayesgrove.models.nrm.local import draw_local_points
from bayesgrove.models.nrm.split_merge import LAWS, N_TALLIES
from reference import nrm, nrm_trees
from reference.enumerate_moves import balance_gap, collapsed, invariance_gap, transition_matrix
from reference.enumerate_rng import EnumeratingRng
from reference.mixtures import DP, GIBBS_TYPE, NGGP, build, faults, guide_of, known_variance, state_of, weighed_at
from reference.nrm_local import l2, sample_sub
from reference.nrm_moves import fixed_rule, gibbs_point
from reference.nrm_settings import (
    Setting,
    anchored,
    coin_launch,
    law_named,
    matrix_of,
    tree_launch,
    uniform_law,
    v1_matrix,
)

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]
ROWS = [-1.5, -0.6, 0.9, 2.4]
LOG_U = math.log(2.0)
GUIDES = {"near": "((0,1),(2,3))", "chain": "(0,(1,(2,3)))"}
TWIN_LAWS = {"cluster": "cluster .5"}


@cache
def setting(kind, guide="near"):
    """Potentials, partitions of four points, their law and a guide whose leaves stand in order."""
    process = nrm.Dirichlet(1.0) if kind == "dp" else nrm.GeneralisedGamma(1.0, 0.5)
    log_phi = nrm.phi_of(nrm.gaussian_evidence(ROWS, 1.0, 9.0), process, LOG_U)
    exact = nrm.posterior_given_phi(log_phi, len(ROWS))
    tree = nrm_trees.parse(GUIDES[guide])
    return Setting(log_phi, exact.states, exact.probabilities, tree, nrm_trees.leaf_order(tree).pos)


@cache
def sampler_of(kind, guide="near"):
    """The library's sampler of the same setting; its guide is weighed at u = 2, as the twin's."""
    values = np.array(ROWS)[:, None]
    sampler = build(known_variance(1), values, DP if kind == "dp" else NGGP, guide=guide_of(setting(kind, guide).guide))
    return weighed_at(sampler, LOG_U)


def library_matrix(kind, guide, move):
    """Transition matrix of `move(rng, sampler, state)`."""
    sampler = sampler_of(kind, guide)

    def step(partition, choose):
        state = state_of(sampler, partition, log_u=LOG_U)
        move(EnumeratingRng(choose), sampler, state)
        assert faults(state, sampler.values) == ""
        return nrm.relabel(sampler.labels(state).tolist())

    return transition_matrix(step, setting(kind, guide).states)


def split_merge(law, **options):
    """One split-merge move by a law."""

    def move(rng, sampler, state):
        laws, tallies = np.array([LAWS[law]]), np.zeros(N_TALLIES, np.int64)
        done = split_merge_moves(
            rng,
            state.scorer,
            sampler.values,
            state.clusters,
            state.weights,
            sampler.guide,
            laws,
            Options(**options),
            0,
            tallies,
        )
        assert done == 1

    return move


def twin_matrix(case, law, n_scans):
    """The twin's matrix of the same move."""
    if law == "v1":
        return v1_matrix(case, fixed_rule(case.log_phi, 0.5), case.tree_of, n_scans)
    if law == "jain-neal":
        launch, own = collapsed(coin_launch(case.log_phi, n_scans)), uniform_law()
    else:
        launch = collapsed(tree_launch(case.guide, case.pos, case.log_phi, n_scans=n_scans))
        own = law_named(case, TWIN_LAWS.get(law, law))
    return matrix_of(case, lambda state, log_phi, choose: anchored(state, log_phi, own, launch, choose, pos=case.pos))


def check_matrix(found, wanted, case):
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert invariance_gap(found, case.law) <= 1e-12
    np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "kind", "guide", "n_scans"),
    [
        *((law, kind, "near", 0) for law in LAWS for kind in ("dp", "nggp")),
        *((law, "nggp", "chain", 0) for law in LAWS if law != "jain-neal"),  # whose launch knows no guide
        *((law, "nggp", "near", 1) for law in LAWS),
    ],
)
def test_split_merge(law, kind, guide, n_scans):
    case = setting(kind, guide)
    found = library_matrix(kind, guide, split_merge(law, n_scans=n_scans, n_coin_scans=n_scans))
    check_matrix(found, twin_matrix(case, law, n_scans), case)
    assert balance_gap(found, case.law) <= 1e-12


@cache
def sampler_with_factor(kind):
    """The library's sampler under a prior with a factor V(n, K), and the law of all partitions."""
    process, twin = GIBBS_TYPE[kind]
    exact = nrm.posterior(nrm.gaussian_evidence(ROWS, 1.0, 9.0), len(ROWS), twin)
    guide = guide_of(nrm_trees.parse(GUIDES["chain"]))
    return build(known_variance(1), np.array(ROWS)[:, None], process, guide=guide), exact


@pytest.mark.parametrize("law", [*LAWS, "gibbs"])
@pytest.mark.parametrize("kind", ["negative", "mfm"])
def test_priors_with_a_factor_of_the_number_of_clusters(kind, law):
    sampler, exact = sampler_with_factor(kind)

    def step(partition, choose):
        state, rng = state_of(sampler, partition), EnumeratingRng(choose)
        if law == "gibbs":
            gibbs_points(rng, state.scorer, sampler.values, state.clusters, state.weights, np.array([2]), 0)
        else:
            split_merge(law, n_scans=0, n_coin_scans=0)(rng, sampler, state)
        return nrm.relabel(sampler.labels(state).tolist())

    found = transition_matrix(step, exact.states)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert invariance_gap(found, exact.probabilities) <= 1e-12
    assert balance_gap(found, exact.probabilities) <= 1e-12
    assert invariance_gap(found, np.full(len(exact.states), 1.0 / len(exact.states))) > 1e-3


@pytest.mark.parametrize("point", range(4))
@pytest.mark.parametrize("kind", ["dp", "nggp"])
def test_gibbs_of_one_point(kind, point):
    case = setting(kind)

    def move(rng, sampler, state):
        gibbs_points(rng, state.scorer, sampler.values, state.clusters, state.weights, np.array([point]), 0)

    found = library_matrix(kind, "near", move)
    wanted = matrix_of(case, lambda state, log_phi, choose: gibbs_point(state, log_phi, point, choose))
    check_matrix(found, wanted, case)


@pytest.mark.parametrize("kind", ["dp", "nggp"])
def test_local(kind):
    """At depth 1; deeper the twin's floor differs, which no law of the partition sees."""
    case = setting(kind)

    def move(rng, sampler, state):
        points = draw_local_points(rng, sampler.guide, 1, 10)
        gibbs_points(rng, state.scorer, sampler.values, state.clusters, state.weights, points, 0)

    node = collapsed(lambda depth, choose: sample_sub(case.guide, case.log_phi, depth, choose))
    options = {"depth": 1, "node_of": lambda guide, log_phi, depth, choose: node(depth, choose)}
    wanted = matrix_of(case, lambda state, log_phi, choose: l2(state, log_phi, case.guide, choose, **options))
    check_matrix(library_matrix(kind, "near", move), wanted, case)

"""Compiled moves and whole schedules of mixtures against exact laws over the 52 partitions of five points.

Fixed seeds, no retries. LEVEL is the false-alarm rate of the whole family of tests of this file on fresh seeds; the
bound on the total variation and |z| <= 4.4 are the specification's (acceptance 9-11) and fail far more rarely.
"""

import itertools
import json
import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.likelihoods.contract import hyper
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.models.nrm.hyper import PRIOR_SD
from bayesgrove.models.nrm.process import V
from bayesgrove.models.nrm.split_merge import LAWS
from bayesgrove.stats.testing import (
    autocorrelation_time,
    bonferroni_level,
    g_test,
    mean_z,
    partition_agreement,
    partition_counts,
)
from conftest import find_shared_file
from reference import compiled, nrm, nrm_settings
from reference.enumerate_moves import collapsed
from reference.mixtures import (
    DP,
    FREE_DP,
    FREE_NGGP,
    GIBBS,
    GIBBS_TYPE,
    LIKELIHOOD,
    LOCAL,
    NGGP,
    PROCESS,
    SCHEDULES,
    anchors,
    build,
    guide_of,
    known_variance,
    log_u_moments,
    run,
    state_of,
    weighed_at,
)
from reference.nrm_local import l2, sample_sub
from reference.nrm_moves import fixed_rule, gibbs_scan

pytestmark = pytest.mark.statistical
N_SWEEPS = 100_000
N_TESTS = 12 + 15 + 40 + 4 + 56
"""Schedules, those with a factor V, moves alone, random hyper-parameters, single moves."""
LEVEL = bonferroni_level(1e-3, N_TESTS)
LARGEST_Z = 4.4
PROCESSES = {"dp": DP, "nggp": NGGP}
DATA_SETS = ("one_d", "two_d")


@cache
def numbers():
    """The golden numbers."""
    return json.loads(find_shared_file("golden/nrm.json").read_text())


def golden_sampler(data, process, **options):
    """The sampler of a golden data set."""
    inputs = numbers()["posterior"][data]["inputs"]
    values = np.array(inputs["X"], float)
    return build(known_variance(values.shape[1], inputs["s2"], inputs["t2"]), values, process, **options)


def check_law(labels, scalars, probabilities):
    found = partition_agreement(labels, probabilities, scalars["log_joint"])
    assert found.p_value > LEVEL, found
    assert found.total_variation <= found.total_variation_bound, found


def check_posterior(data, kind, steps, seed):
    """A chain with u free where there is one, against the golden posterior."""
    golden = numbers()["posterior"][data][kind]
    prior = golden["prior"]
    process = PROCESSES[kind]._replace(alpha=prior["alpha"], sigma=prior.get("sigma", 0.0))
    check_law(*run(golden_sampler(data, process), seed, steps, N_SWEEPS), golden["prob"])


# Composed schedules


def in_fast_suite(name, data, kind):
    """Where each schedule costs least; the rest is left to `make test-slow`."""
    return (data, kind) == (("one_d", "dp") if name == "tree-guided" else ("two_d", "dp"))


def schedule_cases():
    for name, data, kind in itertools.product(SCHEDULES, DATA_SETS, PROCESSES):
        marks = [] if in_fast_suite(name, data, kind) else [pytest.mark.slow]
        yield pytest.param(name, data, kind, marks=marks, id=f"{name}-{data}-{kind}")


@pytest.mark.parametrize(("name", "data", "kind"), list(schedule_cases()))
def test_schedules(name, data, kind):
    check_posterior(data, kind, SCHEDULES[name], 101)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("kind", GIBBS_TYPE)
def test_schedules_of_priors_with_a_factor_of_the_number_of_clusters(name, kind):
    process, twin = GIBBS_TYPE[kind]
    inputs = numbers()["posterior"]["one_d"]["inputs"]
    log_evidence = nrm.gaussian_evidence(inputs["X"], inputs["s2"], inputs["t2"])
    exact = nrm.posterior(log_evidence, 5, twin)
    labels, scalars = run(golden_sampler("one_d", process), 107, SCHEDULES[name], 20_000)
    check_law(labels, scalars, exact.probabilities)
    last = tuple(labels[-1].tolist())
    assert scalars["log_joint"][-1] == pytest.approx(nrm.log_marginal_joint(last, log_evidence, twin), abs=1e-9)


# Each move alone, or with the least that makes it irreducible

ALONE = {
    **{law: (anchors(law), PROCESS) for law in LAWS},
    "uniform with scans": (anchors("uniform", n_scans=2), PROCESS),
    "cluster, split .3": (anchors("cluster", p_split=0.3), PROCESS),
    "local and gibbs": (LOCAL, GIBBS, PROCESS),
    "local, two of the points": (Step("local", 2, {"depth": 1, "most": 2}), anchors("tree"), PROCESS),
}


@pytest.mark.slow
@pytest.mark.parametrize("move", ALONE)
@pytest.mark.parametrize("kind", PROCESSES)
@pytest.mark.parametrize("data", DATA_SETS)
def test_moves_alone(data, kind, move):
    check_posterior(data, kind, ALONE[move], 102)


# Random hyper-parameters


@pytest.mark.parametrize(
    ("kind", "schedule"),
    [
        pytest.param("dp", "gibbs"),
        pytest.param("nggp", "gibbs"),
        pytest.param("dp", "tree-guided", marks=pytest.mark.slow),
        pytest.param("nggp", "tree-guided", marks=pytest.mark.slow),
    ],
)
def test_random_hyper_parameters(kind, schedule):
    golden = numbers()["posterior_random_hyper"][kind]
    process = (FREE_DP if kind == "dp" else FREE_NGGP)._replace(
        alpha_shape=golden["a_alpha"],
        alpha_rate=golden["b_alpha"],
        sigma_a=golden.get("a_sigma", 1.0),
        sigma_b=golden.get("b_sigma", 1.0),
    )
    labels, scalars = run(golden_sampler(golden["data"], process), 103, SCHEDULES[schedule], N_SWEEPS)
    # alpha and sigma remember longer than the log joint: thin by the slowest of them.
    slowest = max(scalars.values(), key=autocorrelation_time)
    check_law(labels, {"log_joint": slowest}, golden["prob"])
    assert abs(mean_z(scalars["concentration"], golden["E_alpha"])) <= LARGEST_Z
    assert abs(mean_z(scalars["n_clusters"], np.dot(np.arange(1, 6), golden["P_K"]))) <= LARGEST_Z
    if kind == "nggp":
        assert abs(mean_z(scalars["sigma"], golden["E_sigma"])) <= LARGEST_Z


@pytest.mark.parametrize("row", [0, 1])
def test_golden_moments_of_log_u(row):
    """At a fixed partition of five points into 1 and 3 clusters."""
    golden = numbers()["u_conditional"]
    case = golden["rows"][row]
    process = NGGP._replace(alpha=golden["alpha"], sigma=golden["sigma"])
    check_log_u(process, np.minimum(np.arange(5), case["K"] - 1), case["mean_log_u"], case["sd_log_u"])


@pytest.mark.parametrize(("alpha", "sigma"), [(0.3, 0.05), (5.0, 0.95)])
def test_moments_of_log_u_by_quadrature(alpha, sigma):
    process = NGGP._replace(alpha=alpha, sigma=sigma)
    check_log_u(process, np.array([0, 1, 1, 2, 0]), *log_u_moments(process, 5, 3))


def check_log_u(process, labels, mean, sd):
    sampler = golden_sampler("one_d", process)
    state, rng = state_of(sampler, labels), generator(104)
    draws = np.empty(20_000)
    for at in range(draws.size):
        sampler.move(rng, state, PROCESS)
        draws[at] = state.numbers[V]
    assert abs(mean_z(draws, mean)) <= LARGEST_Z
    assert abs(mean_z((draws - mean) ** 2, sd**2)) <= LARGEST_Z
    np.testing.assert_array_equal(sampler.labels(state), labels)


# The likelihood's own numbers


def log_marginals_at(prior, name, log_factors, values, labels):
    """Sum over the clusters of the log marginals, for each factor on one number of the prior."""
    numbers = prior._asdict()
    return np.array(
        [
            sum(
                compiled.log_marginal(scaled, compiled.statistics(scaled, values[labels == k]))
                for k in range(labels.max() + 1)
            )
            for scaled in (
                type(prior)(**{**numbers, name: numbers[name] * math.exp(log_factor)}) for log_factor in log_factors
            )
        ]
    )


DIAGONAL = GaussianDiagonalPrior(np.array([0.2]), np.array([0.5]), np.array([2.0]), np.array([1.5]), np.zeros(1))


@pytest.mark.parametrize(
    ("prior", "name"),
    [
        (known_variance(1), "variance"),
        (known_variance(1), "prior_variance"),
        (DIAGONAL, "strength"),
        (DIAGONAL, "rate"),
    ],
    ids=["known variance", "variance of the means", "strength", "rate"],
)
def test_a_learned_number_of_the_likelihood(prior, name):
    """Mean and variance of the log factor on a fixed partition, against quadrature."""
    values, labels = np.array([-1.5, -0.6, 0.2, 1.1, 2.4, 2.2])[:, None], np.array([0, 0, 0, 1, 2, 2])
    (limits,) = [(math.log(low), math.log(high)) for own, low, high in hyper(prior) if own == name]
    grid = np.linspace(max(limits[0], -16.0), min(limits[1], 16.0), 4_001)
    logs = log_marginals_at(prior, name, grid, values, labels) + norm.logpdf(grid, 0.0, PRIOR_SD)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    sampler = build(prior, values, DP, free=(name,))
    state, rng = state_of(sampler, labels), generator(105)
    draws = np.empty(20_000)
    for at in range(draws.size):
        sampler.move(rng, state, LIKELIHOOD)
        draws[at] = state.log_factors[0]
    assert abs(mean_z(draws, mean)) <= LARGEST_Z
    assert abs(mean_z((draws - mean) ** 2, weights @ (grid - mean) ** 2)) <= LARGEST_Z
    assert sampler.scalars(state)[f"log_factor_{name}"] == draws[-1]


# One move of the compiled kernels, from fixed partitions, against the twin's exact row

N_MOVES = 20_000
STARTS = ((0, 0, 0, 0, 0), (0, 0, 1, 1, 1), (0, 1, 0, 2, 1), (0, 1, 2, 3, 4))
TWIN_LAWS = {"cluster": "cluster .5"}


@cache
def five_points(kind):
    """The twin's setting (u = 2), and the library's sampler with its guide; leaves stand in order."""
    case = nrm_settings.setting(kind)
    values = np.array(nrm_settings.AMBIGUOUS)[:, None]
    sampler = build(known_variance(1), values, PROCESSES[kind], guide=guide_of(case.guide))
    return case, weighed_at(sampler, math.log(2.0))


@cache
def twin_matrix(kind, move):
    """Exact transition matrix of a move."""
    case, _ = five_points(kind)
    if move == "gibbs":
        rows = [
            nrm_settings.matrix_of(case, lambda s, log_phi, choose, i=i: gibbs_scan(s, log_phi, [i], choose))
            for i in range(5)
        ]
        orders = [np.linalg.multi_dot(order) for order in itertools.permutations(rows)]
        return sum(orders) / len(orders)
    if move == "local":
        node = collapsed(lambda depth, choose: sample_sub(case.guide, case.log_phi, depth, choose))
        options = {"depth": 1, "node_of": lambda guide, log_phi, depth, choose: node(depth, choose)}
        return nrm_settings.matrix_of(case, lambda s, log_phi, choose: l2(s, log_phi, case.guide, choose, **options))
    if move == "v1":
        return nrm_settings.v1_matrix(case, fixed_rule(case.log_phi, 0.5), case.tree_of)
    return nrm_settings.anchored_matrix((kind,), TWIN_LAWS.get(move, move))


STEPS = {"gibbs": GIBBS, "local": Step("local", 1, {"depth": 1})}


@pytest.mark.parametrize("start", STARTS, ids=lambda start: "".join(map(str, start)))
@pytest.mark.parametrize("move", ["gibbs", "local", "uniform", "tree", "balanced", "cluster", "v1"])
@pytest.mark.parametrize("kind", PROCESSES)
def test_one_compiled_move_has_the_law_of_its_twin(kind, move, start):
    case, sampler = five_points(kind)
    state, rng = state_of(sampler, start, log_u=math.log(2.0)), generator(106)
    step = STEPS.get(move) or anchors(move)
    kept = [array.copy() for array in state.clusters]
    reached = np.empty((N_MOVES, 5), np.int64)
    for at in range(N_MOVES):
        sampler.move(rng, state, step)
        reached[at] = sampler.labels(state)
        for array, before in zip(state.clusters, kept, strict=True):
            array[...] = before
    row = twin_matrix(kind, move)[case.states.index(start)]
    found = g_test(partition_counts(reached), row)
    assert found.p_value > LEVEL, found

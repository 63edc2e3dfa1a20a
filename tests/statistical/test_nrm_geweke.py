"""Geweke's test and simulation-based calibration of the mixture's sampler, hyper-parameters free (acceptance 12).

Fixed seeds; on a fresh seed a right sampler fails each test with probability 1e-3 (the level of a report).
"""

import pytest

from bayesgrove.inference.calibration import simulation_based_calibration
from bayesgrove.inference.geweke import geweke_test
from bayesgrove.inference.schedule import Schedule
from reference.generative import MixtureModel
from reference.mixtures import (
    FREE_DP,
    FREE_FEW,
    FREE_NGGP,
    FREE_PITMAN,
    GIBBS,
    LIKELIHOOD,
    LOCAL,
    PROCESS,
    SCHEDULES,
    anchors,
)

pytestmark = pytest.mark.statistical
SHORT = (anchors("uniform", "tree", "cluster"), GIBBS, PROCESS)
WHOLE = (anchors("uniform", "tree", "cluster", "balanced", "v1", "jain-neal"), GIBBS, LOCAL, PROCESS)
MODELS = {
    "dp": MixtureModel(FREE_DP),
    "nggp": MixtureModel(FREE_NGGP),
    "pitman-yor": MixtureModel(FREE_PITMAN),
    "mfm": MixtureModel(FREE_FEW),
}


def check(report, n_functionals=12):
    assert len(report.checks) >= n_functionals
    assert report.passed, report


@pytest.mark.parametrize(
    ("kind", "n_chain"),
    [
        ("dp", 40_000),
        *(pytest.param(kind, 100_000, marks=pytest.mark.slow) for kind in ("nggp", "pitman-yor", "mfm")),
    ],
)
def test_sweeps_leave_the_joint_law_of_everything_as_it_is(kind, n_chain):
    report = geweke_test(MODELS[kind], SHORT, n_forward=20_000, n_chain=n_chain, seed=1)
    check(report)
    assert report.largest_z <= 4.4


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps", [WHOLE, SCHEDULES["split-merge"], SCHEDULES["gibbs"]], ids=["all", "split-merge", "gibbs"]
)
@pytest.mark.parametrize("kind", MODELS)
def test_every_schedule_leaves_the_joint_law_as_it_is(kind, steps):
    check(geweke_test(MODELS[kind], steps, n_forward=20_000, n_chain=100_000, seed=2))


@pytest.mark.slow
def test_with_a_learned_number_of_the_likelihood():
    model = MixtureModel(FREE_DP, ("variance",))
    check(geweke_test(model, (*SHORT, LIKELIHOOD), n_forward=20_000, n_chain=40_000, seed=3), 15)


@pytest.mark.slow
@pytest.mark.parametrize("model", [*MODELS.values(), MixtureModel(FREE_NGGP, ("variance",))], ids=[*MODELS, "learned"])
def test_calibration(model):
    """From the sampler's own start and through burn-in, 200 replications."""
    steps = (*SHORT, LIKELIHOOD)
    schedule = Schedule(tune=steps, draw=steps, n_tune=100, thin=10)
    report = simulation_based_calibration(model, schedule, n_draws=99, seed=4)
    check(report)
    assert report.ranks.shape == (200, len(report.names))

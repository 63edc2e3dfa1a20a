"""The checks of samplers, checked: right toy samplers pass, planted errors are caught.

Seeds are fixed. On a fresh seed each test of a right sampler fails with probability 1e-3 (the level of a report), the
tests of many p-values and of visits with 1e-4. Planted errors are sought with so many sweeps that nearly every seed
finds them.
"""

import math

import numpy as np
import pytest
from scipy import stats

from bayesgrove.core.errors import InvalidSettingError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.inference.calibration import simulation_based_calibration
from bayesgrove.inference.geweke import geweke_test
from bayesgrove.inference.schedule import Schedule, Step
from bayesgrove.stats.testing import exact_partition_law, partition_agreement
from reference.toys import SWEEP, MixtureModel, NormalModel, NormalTruth, log_joint, visited

pytestmark = pytest.mark.statistical
SHORT = Schedule(tune=SWEEP, draw=SWEEP, n_tune=10, thin=4)
AMBIGUOUS = (-1.5, -0.6, 0.2, 1.1, 2.4)


class Summarised(NormalModel):
    """The normal model with another summary."""

    def summarise(self, sampler, state):
        return dict(self.error)


@pytest.mark.parametrize("model", [NormalModel(), MixtureModel()], ids=["normal", "mixture"])
def test_a_right_sampler_passes(model):
    report = geweke_test(model, SWEEP, n_forward=8_000, n_chain=20_000, seed=1)
    assert report.passed, report
    assert report.largest_z < 4.4
    assert (report.n_forward, report.n_chain) == (8_000, 20_000)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (NormalModel("wrong conditional variance"), "residual"),
        (MixtureModel("new-cluster term forgotten"), "n_clusters"),
        (MixtureModel("count not removed"), "n_clusters"),
    ],
    ids=lambda value: getattr(value, "error", None),
)
def test_planted_errors_are_caught(model, name):
    report = geweke_test(model, SWEEP, n_forward=8_000, n_chain=20_000, seed=2)
    assert not report.passed, report
    assert name in report.alarms


def test_an_error_that_leaves_means_alone_shows_in_the_law():
    report = geweke_test(NormalModel("wrong conditional variance"), SWEEP, n_forward=8_000, n_chain=20_000, seed=3)
    residual = next(check for check in report.checks if check.name == "residual")
    assert abs(residual.z) < 4.4
    assert residual.p_law < report.threshold


def test_p_values_of_a_right_sampler_are_not_too_small():
    """z scores follow t, and the p-values of laws, which are bounds, are at least uniform."""
    reports = [geweke_test(NormalModel(), SWEEP, n_forward=2_000, n_chain=2_000, seed=seed) for seed in range(60)]
    for name in ("mean", "log_variance"):
        checks = [check for report in reports for check in report.checks if check.name == name]
        assert stats.kstest([check.z for check in checks], stats.t(39).cdf).pvalue > 1e-4
        assert stats.kstest([check.p_law for check in checks], "uniform", alternative="greater").pvalue > 1e-4


def test_geweke_does_not_see_a_chain_that_never_moves_but_calibration_does():
    stuck = MixtureModel("never moves")
    assert geweke_test(stuck, SWEEP, n_forward=2_000, n_chain=2_000, seed=4).passed
    report = simulation_based_calibration(stuck, SHORT, n_draws=9, seed=4)
    assert {"n_clusters", "entropy", "log joint"} <= set(report.alarms), report


@pytest.mark.parametrize("model", [NormalModel(), MixtureModel()], ids=["normal", "mixture"])
def test_a_right_sampler_is_calibrated(model):
    report = simulation_based_calibration(model, SHORT, n_draws=39, seed=5)
    assert report.passed, report
    assert report.ranks.shape == (200, len(report.names))
    assert report.ranks.min() == 0
    assert report.ranks.max() == 39


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (NormalModel("wrong conditional variance"), "residual"),
        (MixtureModel("new-cluster term forgotten"), "n_clusters"),
    ],
    ids=lambda value: getattr(value, "error", None),
)
def test_planted_errors_are_not_calibrated(model, name):
    report = simulation_based_calibration(model, SHORT, n_replications=1_500, n_draws=15, seed=6)
    assert name in report.alarms, report


def test_ties_are_broken_evenly():
    """A functional that is 0 or 1, and one of the data alone, still have uniform ranks."""
    report = simulation_based_calibration(MixtureModel(), SHORT, n_draws=9, seed=7)
    for name in ("pair 0 1", "range"):
        ranks = report.ranks[:, report.names.index(name)]
        assert stats.chisquare(np.bincount(ranks, minlength=10)).pvalue > 1e-4
        assert report.checks[report.names.index(name)].mean_rank == pytest.approx(0.5, abs=0.1)


def test_results_do_not_depend_on_the_number_of_workers():
    settings = {"n_replications": 20, "n_draws": 5, "seed": 8}
    one, two = (simulation_based_calibration(MixtureModel(), SHORT, n_jobs=n, **settings) for n in (1, 2))
    np.testing.assert_array_equal(one.positions, two.positions)
    one, two = (geweke_test(NormalModel(), SWEEP, n_forward=80, n_chain=80, seed=8, n_jobs=n) for n in (1, 2))
    assert one == two
    assert one != geweke_test(NormalModel(), SWEEP, n_forward=80, n_chain=80, seed=9)


@pytest.mark.parametrize(
    ("error", "n_sweeps"),
    [
        ("", 40_000),
        ("new-cluster term forgotten", 40_000),
        ("count not removed", 40_000),
        # Its law is 0.037 away in total variation, yet only 0.007 in the mean of n_clusters: summaries hardly show it.
        ("item not removed", 100_000),
    ],
)
def test_visits_against_the_exact_law(error, n_sweeps):
    """The 52 partitions of five numbers on one data set."""
    law = exact_partition_law(lambda labels: log_joint(AMBIGUOUS, labels.tolist()), 5)
    draws, scores = visited(AMBIGUOUS, error, generator(10), n_sweeps)
    found = partition_agreement(draws, law.probabilities, scores)
    assert (found.p_value > 1e-4) == (not error), found
    assert (found.total_variation < found.total_variation_bound) == (not error), found


def test_reports_are_tables():
    good = geweke_test(NormalModel(), SWEEP, n_forward=80, n_chain=80, seed=1)
    lines = repr(good).splitlines()
    assert lines[0].startswith("Geweke test passed: 80 forward draws, 80 sweeps, alarm below p = 8.3e-05")
    assert [line.split("  ")[0] for line in lines[2:]] == [check.name for check in good.checks]
    bad = simulation_based_calibration(MixtureModel("never moves"), SHORT, n_draws=9, seed=4)
    lines = repr(bad).splitlines()
    assert lines[0].startswith("Simulation-based calibration FAILED on n_clusters, largest")
    assert lines[2].endswith("<-")
    assert len(lines) == 2 + len(bad.names)


class Jumping(NormalModel):
    """A functional that is constant among forward draws and another constant in the chain."""

    def redraw_data(self, rng, sampler, state):
        return super().redraw_data(rng, sampler, [0.0, 0.0])

    def draw_prior(self, rng):
        return NormalTruth(0.0, 1.0)

    def summarise(self, sampler, state):
        return {"constant": 3.0, "moved": float(state[1] != 1.0)}


def test_constants_agree_or_not():
    report = geweke_test(Jumping(), (Step("gibbs", 50),), n_forward=80, n_chain=80)
    assert report.alarms == ("moved",)
    assert [check.z for check in report.checks] == [0.0, math.inf]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: geweke_test(NormalModel(), SWEEP, n_forward=79),
            InvalidSettingError,
            "at least 80 forward draws, as many sweeps and a step, got 79 draws, 100000 sweeps and 1 steps",
        ),
        (lambda: geweke_test(None, SWEEP, level=1.0), InvalidSettingError, "a level lies between 0 and 1"),
        (
            lambda: simulation_based_calibration(None, SHORT, level=0.0),
            InvalidSettingError,
            "between 0 and 1 .* level 0.0",
        ),
        (lambda: geweke_test(NormalModel(), ()), InvalidSettingError, "100000 sweeps and 0 steps"),
        (
            lambda: geweke_test(Summarised((("a", 1.0),)), SWEEP, n_forward=80, n_chain=80),
            InvalidSettingError,
            "at least 2 functionals, better a dozen, got 1",
        ),
        (
            lambda: geweke_test(Summarised((("a", 1.0), ("b", math.nan))), SWEEP, n_forward=80, n_chain=80),
            NumericalError,
            "'b' is not in the forward draws",
        ),
        (
            lambda: simulation_based_calibration(NormalModel(), SHORT, n_replications=19),
            InvalidSettingError,
            "at least 20 replications of 3 draws, got 19 of 99",
        ),
        (
            lambda: simulation_based_calibration(Summarised((("a", 1.0), ("b", math.inf))), SHORT),
            NumericalError,
            "'b' is not in replication 0",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()

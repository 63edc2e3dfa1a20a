"""`BHMC(method="variational")`: components of nested groups, files, what it refuses."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import bayesgrove as bg
from bayesgrove import BHMC
from bayesgrove.core.errors import InvalidSettingError
from estimators.test_bhmc_variances import nested_groups

pytestmark = pytest.mark.unit
SHORT = {"depth": 2, "method": "variational", "n_chains": 1, "n_draws": 10, "random_state": 0}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_components_of_nested_groups_are_found(seed):
    rows, groups = nested_groups(seed)
    model = BHMC(**SHORT).fit(rows)
    drawn = model.posterior_.extra["components"].reshape(-1, len(rows))
    assert np.mean([adjusted_rand_score(groups, each) for each in drawn]) > 0.95
    within = np.mean([rows[groups == group].var(axis=0, ddof=1) for group in range(9)])
    assert model.component_variance_ == pytest.approx(within, rel=0.15)
    assert np.diff(model.bound_trace_).min() >= -1e-9 * np.abs(model.bound_trace_).max()


@pytest.mark.parametrize("seed", range(3))
def test_one_group_stays_one(seed):
    rows = np.random.default_rng(seed).normal(size=(150, 4))
    model = BHMC(**SHORT).fit(rows)
    assert model.n_clusters_ == 1
    assert model.posterior_.extra["components"].max() == 0


def test_predictions_reports_and_files(tmp_path):
    rows, _ = nested_groups(3)
    model = BHMC(**{**SHORT, "gamma": "auto", "alpha": "auto"}, center=True).fit(rows)
    assert model.converged_
    assert "variational" in model.diagnostics_.verdict.sentence
    model.save(tmp_path / "model.bg")
    again = bg.load(tmp_path / "model.bg")
    assert again.log_evidence_ == model.log_evidence_
    assert np.array_equal(again.predict_proba(rows), model.predict_proba(rows))
    assert again.diagnostics_.verdict == model.diagnostics_.verdict
    assert "variational" in model.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_bound_is_of_the_rows_own_unit():
    rows, _ = nested_groups(4)
    fixed = {"component_variance": 2.0, "base_variance": 90.0}
    small = {name: value / 100.0 for name, value in fixed.items()}
    plain = BHMC(**{**SHORT, **fixed}).fit(10.0 * rows)
    scaled = BHMC(**{**SHORT, **small}, scale=10.0).fit(10.0 * rows)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-6)


@pytest.mark.parametrize(
    "setting", [{"likelihood": "gaussian"}, {"n_components": 3}, {"means": "collapsed"}, {"sampler": "paper"}]
)
def test_what_the_approximation_does_not_take_is_refused(setting):
    with pytest.raises(InvalidSettingError, match="spherical Gaussian components, countably many"):
        BHMC(**SHORT, **setting).fit(np.zeros((5, 2)))

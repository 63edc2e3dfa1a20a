"""Outliers by predictive density, in scikit-learn's interface."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.outliers import OutlierDetector

GREEDY = bg.BHC("gaussian", search="greedy")


@pytest.mark.slow
@parametrize_with_checks([OutlierDetector(GREEDY)])
def test_scikit_learn_convention(estimator, check):
    check(estimator)


@pytest.mark.unit
def test_rows_far_from_all_clusters_are_outliers():
    rng = np.random.default_rng(0)
    inside = np.vstack([rng.normal(centre, 1.0, (60, 2)) for centre in (0.0, 12.0)])
    outside = rng.uniform(-30.0, 40.0, (12, 2))
    X, truth = np.vstack([inside, outside]), np.repeat([1, -1], (120, 12))
    detector = OutlierDetector(GREEDY, contamination=12 / 132).fit(X)
    assert roc_auc_score(truth, detector.decision_function(X)) > 0.9
    found = detector.predict(X)
    assert np.count_nonzero(found == -1) == 12
    assert np.array_equal(found == -1, detector.score_samples(X) < detector.offset_)
    assert detector.predict([[100.0, 100.0], [0.0, 0.0]]).tolist() == [-1, 1]


@pytest.mark.unit
@pytest.mark.parametrize("share", [0.0, 0.6, True, "auto"])
def test_impossible_shares_are_refused(share):
    with pytest.raises(InvalidSettingError, match="contamination lies above 0 and is at most"):
        OutlierDetector(GREEDY, contamination=share).fit(np.zeros((4, 2)))

"""scikit-learn's own checks, without a single expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesgrove import BHC, BHCC, BHMC, RBHMC, CrossCat, IncrementalBHC, NRMMixture, RandomizedBHC, RandomizedBHCC

pytestmark = pytest.mark.unit


SHORT = {"n_chains": 2, "n_tune": 5, "n_draws": 10}


@parametrize_with_checks(
    [
        BHC(),
        BHCC(),
        RandomizedBHC(),
        RandomizedBHCC(),
        IncrementalBHC(),
        NRMMixture(**SHORT),
        NRMMixture("nggp", sampler="gibbs", **SHORT),
        CrossCat(**SHORT),
        BHMC(**SHORT, n_jobs=1),
        RBHMC(**SHORT, n_jobs=1),
    ]
)
def test_scikit_learn_convention(estimator, check):
    check(estimator)

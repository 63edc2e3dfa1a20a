"""scikit-learn's own checks, without a single expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesgrove import BHC, BHCC, BHMC, RBHMC, CrossCat, IncrementalBHC, NRMMixture, RandomizedBHC, RandomizedBHCC

pytestmark = pytest.mark.unit


SHORT = {"n_chains": 2, "n_tune": 5, "n_draws": 3}
"""Too few draws for diagnostics, which conventions do not depend on and which would take a third of the time."""
ONE_LEVEL = {"depth": 1, "alpha": 1.0, "gamma": 0.02, "component_variance": 0.05, "base_variance": 1.5}
ONE_LEVEL |= {"n_chains": 2, "n_tune": 40, "n_draws": 40, "n_jobs": 1}
"""A flat mixture whose leaves have a component each, at the scale of standardised blobs."""


@parametrize_with_checks(
    [
        BHC(),
        BHCC(),
        RandomizedBHC(),
        RandomizedBHCC(),
        IncrementalBHC(),
        NRMMixture(**SHORT),
        CrossCat(**SHORT),
        BHMC(**ONE_LEVEL),
        RBHMC(**ONE_LEVEL),
    ]
)
def test_scikit_learn_convention(estimator, check):
    check(estimator)

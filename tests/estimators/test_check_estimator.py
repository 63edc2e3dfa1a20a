"""scikit-learn's own checks, without a single expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesgrove import BHC, IncrementalBHC, RandomizedBHC

pytestmark = pytest.mark.unit


@parametrize_with_checks([BHC(), RandomizedBHC(), IncrementalBHC()])
def test_scikit_learn_convention(estimator, check):
    check(estimator)

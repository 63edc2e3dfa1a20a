"""Two clear clusters in several dresses, and all estimators."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from bayesgrove import BHC, IncrementalBHC, NRMMixture, RandomizedBHC
from bayesgrove.core.rng import generator

TREES = [BHC, RandomizedBHC, IncrementalBHC]
SHORT_MIXTURE = partial(NRMMixture, n_chains=2, n_tune=10, n_draws=20)
"""Long enough for clear clusters."""


@pytest.fixture(params=[*TREES, SHORT_MIXTURE], ids=[*(kind.__name__ for kind in TREES), "NRMMixture"])
def estimator(request):
    """Each estimator class in turn, that of mixtures with short chains."""
    return request.param


@pytest.fixture(params=TREES)
def tree_estimator(request):
    """Each estimator class whose result is a tree, in turn."""
    return request.param


@pytest.fixture
def X():
    """Forty rows, three columns, two clusters: the first twenty rows and the others."""
    rng = generator(0)
    return np.vstack([rng.normal(centre, 1, (20, 3)) for centre in (0, 8)])


@pytest.fixture
def frame(X):
    """A pandas frame with a column of every type, missing cells included."""
    high = X[:, 1] > 4
    return pd.DataFrame(
        {
            "flag": high,
            "count": generator(1).poisson(3, 40),
            "size": X[:, 0],
            "grade": pd.Categorical(np.where(high, "good", "bad"), categories=["good", "bad", "never"]),
            "colour": np.where(high, "red", "blue"),
            "nullable_int": pd.array([1, None] * 20, dtype="Int64"),
            "nullable_bool": pd.array([True, None] * 20, dtype="boolean"),
            "nullable_text": pd.array(["u", None] * 20, dtype="string"),
            "nullable_float": pd.array([0.5, None] * 20, dtype="Float64"),
        }
    )

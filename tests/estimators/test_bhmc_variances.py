"""Variances of `BHMC` that nobody gives: estimated from the rows, and learned from there."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHMC
from bayesgrove.models.nested.hyperparameters import estimate_variances

pytestmark = pytest.mark.unit
AUTO = {"component_variance": "auto", "base_variance": "auto"}
SHORT = {"depth": 2, "n_chains": 2, "n_tune": 100, "n_draws": 40, "random_state": 0, "n_jobs": 1}


def nested_groups(seed: int, n_rows: int = 15, noise: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    """Standardised rows of three groups of three groups in five columns, and their small groups."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.normal(0.0, 6.0, (3, 5)), 3, axis=0) + rng.normal(0.0, 2.0, (9, 5))
    groups = np.repeat(np.arange(9), n_rows)
    rows = rng.normal(centres[groups], noise)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0), groups


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_default_recovers_the_components_of_nested_groups(seed):
    """Fixed variances of 1 find three components here, and chains that begin with wide ones may stay with seven."""
    rows, groups = nested_groups(seed)
    model = BHMC(**SHORT).fit(rows)
    components = model.posterior_.extra["components"].reshape(-1, len(rows))
    assert np.mean([adjusted_rand_score(groups, drawn) for drawn in components]) > 0.95
    assert np.median([np.unique(drawn).size for drawn in components]) == pytest.approx(9.0, abs=1.0)
    within = np.mean([rows[groups == group].var(axis=0, ddof=1) for group in range(9)])
    assert model.component_variance_ == pytest.approx(within, rel=0.15)


def test_estimates_follow_the_unit_and_what_is_given():
    rows, _ = nested_groups(3)
    found, wide = estimate_variances(AUTO, rows), estimate_variances(AUTO, 10.0 * rows)
    assert wide == pytest.approx({name: 100.0 * variance for name, variance in found.items()}, rel=1e-3)
    half = estimate_variances({**AUTO, "component_variance": 0.5}, rows)
    assert half["component_variance"] == 0.5
    assert half["base_variance"] > 0.5


def test_rows_that_tell_nothing_have_estimates():
    assert estimate_variances(AUTO, np.zeros((5, 2))) == {"component_variance": 1.0, "base_variance": 1.0}
    assert estimate_variances(AUTO, np.array([[0.0], [2.0]])) == {"component_variance": 0.25, "base_variance": 2.0}


def test_collapsed_components_keep_the_estimates():
    rows, _ = nested_groups(4)
    rows[3, 1] = np.nan
    model = BHMC(means="collapsed", **{**SHORT, "n_tune": 5, "n_draws": 5}).fit(rows)
    assert "component_variance" not in model.posterior_.scalars
    found = estimate_variances(AUTO, rows)
    assert (model.component_variance_, model.base_variance_) == (found["component_variance"], found["base_variance"])


def test_likelihoods_need_no_variances():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "red"]})
    model = BHMC(likelihood="auto", **{**SHORT, "n_tune": 5, "n_draws": 5}).fit(frame)
    assert not {"component_variance", "base_variance"} & set(model.posterior_.scalars)

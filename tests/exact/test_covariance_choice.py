"""Diagonal or full covariances by evidence."""

import logging

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, RandomizedBHC, load
from bayesgrove.likelihoods import GaussianDiagonal, GaussianFull

pytestmark = pytest.mark.exact


def tilted(n, seed=0):
    """Two long clusters side by side, whose columns are correlated."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 2)) * [4.0, 0.4]
    labels = np.arange(n) % 2
    rows[:, 1] += 3.0 * labels
    turn = np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2.0)
    return rows @ turn, labels


def test_correlated_columns_get_full_covariances():
    X, y = tilted(300)
    model = BHC(random_state=0).fit(X)
    assert isinstance(model.likelihood_, GaussianFull)
    assert adjusted_rand_score(y, model.component_labels_) > 0.98
    alone = BHC(GaussianFull.learned(), random_state=0).fit(X)
    diagonal = BHC(GaussianDiagonal.learned(), clusters="components", random_state=0).fit(X)
    assert np.array_equal(model.labels_, alone.labels_)
    assert model.result_.details["log_evidence_full"] == pytest.approx(
        alone.result_.details["log_evidence_of_components"]
    )
    assert model.result_.details["log_evidence_diagonal"] == pytest.approx(diagonal.log_evidence_)


def test_uncorrelated_columns_get_diagonal_ones(caplog):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 4)) * rng.uniform(0.3, 2.0, (3, 4))[kind] + rng.uniform(-20, 20, (3, 4))[kind]
    with caplog.at_level(logging.INFO, logger="bayesgrove"):
        model = BHC(random_state=0).fit(X)
    assert isinstance(model.likelihood_, GaussianDiagonal)
    assert "diagonal covariances: log evidence" in caplog.text


def test_a_sample_decides_for_many_rows():
    X, y = tilted(3_000)
    found = BHC(random_state=0).fit(X)
    assert isinstance(found.likelihood_, GaussianFull)
    assert adjusted_rand_score(y, found.labels_) > 0.98


@pytest.mark.parametrize("model", [BHC, RandomizedBHC])
def test_columns_without_information_change_nothing(model, tmp_path):
    X, _ = tilted(900)
    more = np.column_stack([np.full(900, np.nan), X[:, 0], np.full(900, 7.0), X[:, 1]])
    full = GaussianFull.learned()
    plain, found = model(full, random_state=0).fit(X), model(full, random_state=0).fit(more)
    assert found.likelihood_.columns == (1, 3)
    assert np.array_equal(found.labels_, plain.labels_)
    assert found.log_evidence_ == pytest.approx(plain.log_evidence_)
    np.testing.assert_allclose(found.score_samples(more), plain.score_samples(X))
    found.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.predict(more), plain.predict(X))
    drawn = again.sample(5)
    assert np.isfinite(drawn[:, [1, 3]]).all()
    assert (drawn[:, 2] == 7.0).all()


def test_tables_without_a_choice():
    X, _ = tilted(80)
    holes = X.copy()
    holes[3, 1] = np.nan
    for table, settings in (
        (holes, {}),
        (X[:, :1], {}),
        (X, {"search": "greedy"}),
        (X, {"likelihood": "gaussian"}),
    ):
        assert isinstance(BHC(random_state=0, **settings).fit(table).likelihood_, GaussianDiagonal)


@pytest.mark.parametrize("seed", range(5))
def test_rounded_columns_do_not_decide(seed):
    """A column of few values would drive a determinant to zero if its cells were taken as exact."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(200, 3)), 0.4 * rng.integers(0, 4, 200)])
    X[:, 2] = X[:, 0] + X[:, 1]  # an exact linear relation
    model = BHC(random_state=0).fit(X.round(2))
    assert model.n_clusters_ == 1

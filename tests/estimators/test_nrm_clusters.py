"""Clusters of `NRMMixture`: unions of the components of each draw, their posterior, files and reports."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.estimators import nrm_mixture
from bayesgrove.estimators.mixture_clusters import cluster_posterior

pytestmark = pytest.mark.unit
SHORT = {"n_chains": 2, "n_tune": 60, "n_draws": 60, "random_state": 0}


def two_squares(n_each=100):
    """Two uniform squares, far apart: components tile them."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.uniform(size=(n_each, 2)), rng.uniform(size=(n_each, 2)) + [3.0, 0.0]])


@pytest.fixture(scope="module")
def squares():
    return bg.NRMMixture("gaussian", "dp", **SHORT).fit(two_squares())


def test_clusters_are_unions_of_components(squares):
    assert adjusted_rand_score(squares.labels_, np.repeat([0, 1], 100)) == 1.0
    assert squares.n_clusters_ == 2
    assert squares.n_components_ > 2
    assert squares.component_labels_.max() + 1 == squares.n_components_


def test_draws_of_clusters_are_coarser_than_those_of_components(squares):
    draws, clusters = squares.posterior_.labels, squares.cluster_posterior_.labels
    assert clusters.shape == draws.shape
    for components, united in zip(draws.reshape(-1, 200), clusters.reshape(-1, 200), strict=True):
        pairs = np.unique(np.column_stack([components, united]), axis=0)
        assert len(pairs) == np.unique(components).size  # every component is in one cluster
    numbers = squares.cluster_posterior_.scalars["n_clusters"]
    np.testing.assert_array_equal(numbers, clusters.max(axis=2) + 1)


def test_the_probability_of_being_apart_is_one_minus_the_mean_similarity(squares):
    similarity, labels = squares.cluster_posterior_.similarity(), squares.labels_
    first, second = labels == 0, labels == 1
    assert squares.apart_[0, 1] == pytest.approx(1.0 - similarity[np.ix_(first, second)].mean())
    inside = similarity[np.ix_(first, first)][~np.eye(first.sum(), dtype=bool)].mean()
    assert squares.apart_[0, 0] == pytest.approx(1.0 - inside)
    assert squares.tree_.nodes["probability"][-1] == pytest.approx(1.0 - squares.apart_[0, 1])


def test_probabilities_are_those_of_clusters(squares):
    found = squares.predict_proba([[0.5, 0.5], [3.5, 0.5]])
    assert found.shape == (2, 3)
    np.testing.assert_array_equal(found.argmax(axis=1), [0, 1])


def test_clusters_come_back_from_a_file(squares, tmp_path):
    squares.save(tmp_path / "model.bg")
    read = bg.load(tmp_path / "model.bg")
    np.testing.assert_array_equal(read.labels_, squares.labels_)
    np.testing.assert_array_equal(read.component_labels_, squares.component_labels_)
    np.testing.assert_array_equal(read.cluster_posterior_.labels, squares.cluster_posterior_.labels)
    np.testing.assert_array_equal(read.apart_, squares.apart_)
    assert (read.n_clusters_, read.n_components_) == (squares.n_clusters_, squares.n_components_)
    assert "are unions of" in read.report(tmp_path / "page.html").read_text()


def test_the_verdict_speaks_of_clusters_and_of_components(squares, tmp_path):
    found = squares.diagnostics_
    assert found["clusters.n_clusters"]["mean"] == squares.cluster_posterior_.scalars["n_clusters"].mean()
    assert found["n_clusters"]["mean"] == squares.posterior_.scalars["n_clusters"].mean()
    statements = {*found.verdict.trusted, *found.verdict.doubtful}
    assert {"the number of clusters", "the number of components"} <= statements
    squares.save(tmp_path / "model.bg")
    assert bg.load(tmp_path / "model.bg").diagnostics_.verdict == found.verdict


def test_components_are_united_once_for_each_number_of_draws(monkeypatch):
    made = []

    def counted(bound, posterior, log_factors, links):
        made.append(posterior.n_draws)
        return cluster_posterior(bound, posterior, log_factors, links)

    monkeypatch.setattr(nrm_mixture, "cluster_posterior", counted)
    model = bg.NRMMixture(likelihood="gaussian", **{**SHORT, "n_draws": 8}).fit(two_squares())
    model.continue_fit(4)
    assert made == [8, 12]
    assert model.cluster_posterior_.n_draws == 12
    monkeypatch.setattr(model, "_united", {})
    assert not model._verdict_on(model._chains).converged
    assert made == [8, 12]  # components that cannot be trusted are not united


def test_components_are_the_clusters_on_request():
    model = bg.NRMMixture(likelihood="gaussian", clusters="components", **SHORT).fit(two_squares())
    np.testing.assert_array_equal(model.labels_, model.component_labels_)
    assert model.cluster_posterior_ is model.posterior_
    assert model.n_clusters_ > 2
    with pytest.raises(InvalidSettingError, match="clusters"):
        bg.NRMMixture(clusters="branches").fit(two_squares())


def test_the_most_probable_draw_is_united_too():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, np.pi, 200)
    arc = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0.0, 0.1, (200, 2))
    model = bg.NRMMixture(likelihood="gaussian", estimate="map", **SHORT).fit(arc)
    assert model.n_components_ > model.n_clusters_
    pairs = np.unique(np.column_stack([model.component_labels_, model.labels_]), axis=0)
    assert len(pairs) == model.n_components_


def test_discrete_columns_and_few_rows_have_components_only():
    rng = np.random.default_rng(0)
    bits = (rng.uniform(size=(60, 4)) < np.repeat([[0.1], [0.9]], 30, axis=0)).astype(bool)
    model = bg.NRMMixture(**SHORT).fit(bits)
    assert model.cluster_posterior_ is model.posterior_
    few = bg.NRMMixture(likelihood="gaussian", **SHORT).fit(two_squares(20))
    np.testing.assert_array_equal(few.labels_, few.component_labels_)


def correlated(n_each=60):
    """Two parallel, long and thin clouds: full covariances explain them by two components."""
    rng = np.random.default_rng(0)
    along = rng.normal(0.0, 3.0, (2 * n_each, 1))
    across = np.repeat([[0.0, 0.0], [2.0, -2.0]], n_each, axis=0)
    return np.hstack([along, along]) + across + rng.normal(0.0, 0.3, (2 * n_each, 2))


def test_covariances_are_chosen_by_evidence_and_come_back(tmp_path):
    X = correlated()
    model = bg.NRMMixture(**SHORT).fit(X)
    assert isinstance(model.likelihood_, bg.likelihoods.GaussianFull)
    assert adjusted_rand_score(model.labels_, np.repeat([0, 1], 60)) > 0.95
    model.save(tmp_path / "model.bg")
    np.testing.assert_array_equal(bg.load(tmp_path / "model.bg").score_samples(X), model.score_samples(X))


def test_a_run_with_a_learned_scale_goes_on_to_the_same_draws(tmp_path):
    X = correlated()
    whole = bg.NRMMixture(**SHORT).fit(X)
    bg.NRMMixture(**{**SHORT, "n_draws": 20}, run_dir=tmp_path / "run").fit(X)
    resumed = bg.NRMMixture(**SHORT, run_dir=tmp_path / "run", resume=True).fit(X)
    np.testing.assert_array_equal(resumed.posterior_.labels, whole.posterior_.labels)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)

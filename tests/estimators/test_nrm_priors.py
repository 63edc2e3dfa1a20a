"""NRMMixture under a Pitman-Yor process and as a mixture of finite mixtures, from settings to files."""

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.models.nrm.process import FINITE, PITMAN_YOR
from bayesgrove.stats.processes import POISSON, Components

pytestmark = pytest.mark.unit
LIKELIHOOD = bg.likelihoods.GaussianKnownVariance(variance=1.0, prior_mean=0.0, prior_variance=25.0)
SHORT = {"likelihood": LIKELIHOOD, "n_chains": 2, "n_tune": 30, "n_draws": 60, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(centre, 1.0, (20, 2)) for centre in (-6.0, 0.0, 6.0)])


@pytest.mark.parametrize("sampler", ["tree-guided", "split-merge", "gibbs"])
@pytest.mark.parametrize(
    ("process", "settings"),
    [("pitman-yor", {}), ("mfm", {}), ("mfm", {"components": ("poisson", 3.0), "concentration": 0.5})],
)
def test_three_clusters(X, process, settings, sampler):
    model = bg.NRMMixture(process=process, sampler=sampler, **settings, **SHORT).fit(X)
    assert model.n_clusters_ == 3
    assert model.predict([[6.0, 6.0]]).tolist() == [2]
    learned = {"concentration", "sigma"} if process == "pitman-yor" else {"concentration"} - settings.keys()
    assert learned == model.posterior_.scalars.keys() & {"concentration", "sigma"}


@pytest.mark.parametrize("process", ["pitman-yor", "mfm"])
def test_saved_and_loaded(X, process, tmp_path):
    settings = {"components": ("poisson", 3.0)} if process == "mfm" else {"concentration": -0.1, "sigma": 0.3}
    model = bg.NRMMixture(process=process, **settings, **SHORT).fit(X)
    model.save(tmp_path / "model.bg")
    loaded = bg.load(tmp_path / "model.bg")
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    assert loaded._process == model._process
    if process == "mfm":
        assert loaded._process.kind == FINITE
        assert loaded._process.components == Components(float(POISSON), 3.0, 0.0, 0.0)
    else:
        assert loaded._process.kind == PITMAN_YOR
        assert (loaded.concentration_, loaded.sigma_) == pytest.approx((-0.1, 0.3), rel=1e-12)  # means of draws


@pytest.mark.parametrize("process", ["pitman-yor", "mfm"])
def test_the_published_sampler_refuses_them(X, process):
    with pytest.raises(InvalidSettingError, match=f"knows the processes dp, nggp, nig, got process='{process}'"):
        bg.NRMMixture(process=process, sampler="paper").fit(X)


def test_as_many_clusters_as_rows_may_be_where_a_chain_begins(X):
    """The table of V(K) grows and shrinks with the number of clusters."""
    model = bg.NRMMixture(process="mfm", init="singletons", **SHORT).fit(X)
    assert model.n_clusters_ == 3

"""`InfiniteTreeHMMMixture`: clusters by every method, prediction, continued and resumed runs, what is refused."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayesgrove import InfiniteTreeHMMMixture, TreeData
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.inference.partial import partial_result
from bayesgrove.models.tree_hmm.em import distinct_trees
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.parameters import draw_prior, make_prior
from bayesgrove.models.tree_hmm.predictive import log_new_component

sys.path.append(str(Path(__file__).parent))
from tree_trees import KINDS, documents, numbered_trees

pytestmark = pytest.mark.unit

SHORT = {"n_states": 2, "n_chains": 2, "n_tune": 10, "n_draws": 20, "n_init": 1, "random_state": 1, "n_jobs": 1}
WITHOUT_CHAINS = {"vb": {"n_init": 2}, "paper": {"prior_strength": 1.5, "concentration": 1.0}}


@pytest.fixture(scope="module")
def fitted():
    return InfiniteTreeHMMMixture(**SHORT).fit(documents())


def check_answers(model):
    """Clusters, chances and densities hang together."""
    data = documents()
    chances = model.predict_proba(data)
    assert chances.shape == (24, model.n_clusters_ + 1)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert (chances >= 0.0).all()
    np.testing.assert_array_equal(model.predict(data), chances[:, :-1].argmax(axis=1))
    assert np.isfinite(model.score_samples(data)).all()
    assert model.weights_.sum() == pytest.approx(1.0)
    assert len(model.components_) == len(model.typical_trees_) == model.n_clusters_
    assert len(model.cut(1)) == 24
    assert set(model.cut(1)) == {0}
    np.testing.assert_array_equal(model.cut(model.n_clusters_), model.labels_)
    assert model.tree_.n_leaves == 24
    assert model.components_tree_.n_leaves == model.n_clusters_


def test_chains_find_both_kinds(fitted):
    np.testing.assert_array_equal(fitted.labels_, np.repeat([0, 1], 12))
    assert fitted.posterior_.labels.shape == (2, 20, 24)
    assert {"log_joint", "n_clusters"} <= set(fitted.posterior_.scalars)
    assert fitted.concentration_ == 1.0
    assert set(fitted.acceptance_) >= {"split-merge"}
    assert isinstance(fitted.converged_, bool | np.bool_)
    check_answers(fitted)
    np.testing.assert_array_equal(fitted.class_table(KINDS).counts, [[0, 12], [12, 0]])
    titles = [exhibit.title for exhibit in fitted.result_.exhibits]
    assert "Number of components by draw" in titles
    assert "Labels that set clusters apart" in titles


def test_the_printed_procedure_takes_a_prior_for_each_family_of_tables():
    """A strong prior of the emissions makes these even, and leaves the transitions alone."""
    given = {**SHORT, "method": "paper", "concentration": 1.0, "prior_strength": {"emission": 1e7}}
    tables = InfiniteTreeHMMMixture(**given).fit(documents())._parameters.tables
    assert np.ptp(tables.emission) < 1e-3
    assert np.ptp(tables.transition) > 0.1


@pytest.mark.parametrize("method", WITHOUT_CHAINS)
def test_methods_without_chains(method):
    model = InfiniteTreeHMMMixture(**{**SHORT, "method": method, **WITHOUT_CHAINS[method]}).fit(documents())
    check_answers(model)
    assert not hasattr(model, "posterior_")
    assert model.result_.posterior is None
    if method == "vb":
        np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 12))
        assert model.log_evidence_ == model.result_.log_evidence
        np.testing.assert_allclose(model.responsibilities_.sum(axis=1), 1.0)
    else:
        assert model.history_["n_clusters"].shape == (30,)
        assert "Number of components by sweep" in [exhibit.title for exhibit in model.result_.exhibits]
    with pytest.raises(InvalidSettingError, match=f"method='{method}' has no chains to resume"):
        model.continue_fit(3)


@pytest.mark.slow
def test_collapsed_chains_and_learned_numbers():
    model = InfiniteTreeHMMMixture(
        **{**SHORT, "method": "collapsed", "concentration": "auto", "prior_strength": "auto", "n_draws": 6}
    ).fit(documents()[::3])
    assert {"concentration", "emission_strength"} <= set(model.posterior_.scalars)
    assert model.concentration_ == pytest.approx(model.posterior_.scalars["concentration"].mean())
    assert model.prior_strength_.emission == pytest.approx(model.posterior_.scalars["emission_strength"].mean())
    np.testing.assert_allclose(model.predict_proba(documents()).sum(axis=1), 1.0)


def test_a_tree_of_another_kind_opens_a_cluster(fitted):
    strange = TreeData.from_parents([[-1] * 9], [np.arange(9) - 1], vocabulary=fitted.vocabulary_)
    usual = documents()[:1]
    assert fitted.predict_proba(strange)[0, -1] > 10.0 * fitted.predict_proba(usual)[0, -1]
    clusters, _ = fitted.predict_proba(strange, top_k=1)
    assert clusters.shape == (1, 1)


def test_the_mass_of_a_new_cluster_is_a_lower_bound():
    """Against an average of prior draws, of trees so small that it is exact to a percent or so; two nats are lost."""
    trees = TreeData.from_newick(["(a,b)a;", "a;", "(a,a,b)b;"]).with_own_vocabulary()
    prior = make_prior(trees.forest, 2)
    distinct = distinct_trees(unique_links(trees.forest))
    bound = log_new_component(distinct, prior, None)[distinct.number]
    drawn = draw_prior(generator(4), prior, 4_000)
    scores = log_likelihoods(unique_links(trees.forest), drawn.tables, prior.mode)
    exact = np.log(np.exp(scores).mean(axis=0))
    assert (bound <= exact + 0.05).all()
    assert (bound > exact - 2.0).all()


def test_densities_average_over_draws(fitted):
    kept, data = fitted._kept, documents()[:2]
    total = np.zeros(2)
    prior = fitted._prior
    distinct = distinct_trees(unique_links(data.forest))
    alone = log_new_component(distinct, prior, None)[distinct.number]
    from bayesgrove.models.tree_hmm.predictive import draw_parameters

    for draw in range(kept.log_new.size):
        own = slice(kept.start[draw], kept.start[draw + 1])
        scores = log_likelihoods(unique_links(data.forest), draw_parameters(kept, draw, prior, None).tables, prior.mode)
        total += np.exp(scores + kept.log_weight[own][:, None]).sum(axis=0) + np.exp(alone + kept.log_new[draw])
    prepared = fitted.prepare(data)
    np.testing.assert_array_equal(prepared.forest.labels, data.with_vocabulary(fitted.vocabulary_).forest.labels)
    np.testing.assert_allclose(fitted.score_samples(data), np.log(total / kept.log_new.size), atol=1e-9)


def draws_of(model):
    posterior = model.posterior_
    return posterior.labels.tobytes(), {name: values.tobytes() for name, values in posterior.scalars.items()}


def test_a_continued_or_resumed_run_is_a_longer_one(fitted, tmp_path):
    data = documents()
    continued = InfiniteTreeHMMMixture(**{**SHORT, "n_draws": 7}).fit(data).continue_fit(13)
    assert draws_of(continued) == draws_of(fitted)
    np.testing.assert_array_equal(continued.predict_proba(data), fitted.predict_proba(data))
    folder = tmp_path / "run"
    InfiniteTreeHMMMixture(**{**SHORT, "n_draws": 7, "run_dir": folder}).fit(data)
    so_far = partial_result(folder)
    assert so_far.model == "InfiniteTreeHMMMixture"
    resumed = InfiniteTreeHMMMixture(**{**SHORT, "run_dir": folder, "resume": True}).fit(data)
    assert draws_of(resumed) == draws_of(fitted)
    np.testing.assert_array_equal(resumed.predict_proba(data), fitted.predict_proba(data))
    for change, message in (
        ({"n_states": 3}, "n_states"),
        ({"init": "one"}, "init"),
        ({"concentration": 2.0}, "numbers"),
    ):
        with pytest.raises(InvalidFileError, match=message):
            InfiniteTreeHMMMixture(**{**SHORT, "run_dir": folder, "resume": True, **change}).fit(data)


@pytest.mark.slow
def test_numbers_for_labels():
    data = numbered_trees(generator(3))
    model = InfiniteTreeHMMMixture(**{**SHORT, "n_states": 1}).fit(data)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 6))
    np.testing.assert_allclose(sorted(own.means_[0, 0] for own in model.components_), [-4.0, 4.0], atol=0.8)
    chances = model.predict_proba(TreeData.from_parents([[5.0, 4.0], [90.0, -70.0]], [[-1, 0], [-1, 0]]))
    assert chances[0, model.labels_[-1]] > 0.9
    assert chances[1, -1] > 0.5


@pytest.mark.slow
def test_states_may_be_as_many_as_are_needed():
    model = InfiniteTreeHMMMixture(**{**SHORT, "n_states": "infinite", "n_draws": 10}).fit(documents())
    assert model.n_states_ == 20
    assert (model.posterior_.scalars["n_states"] <= 20).all()
    check_answers(model)


@pytest.mark.slow
def test_the_number_of_states_may_be_chosen():
    model = InfiniteTreeHMMMixture(**{**SHORT, "n_states": "auto", "method": "vb"}).fit(documents())
    assert model.n_states_ in (4, 8, 16)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"estimate": "mean"}, "estimate must be one of"),
        ({"init": "two"}, "init must be one of"),
        ({"init": [0, 1]}, r"init must have one label for each of the 24 trees, got shape \(2,\)"),
        ({"n_states": "many"}, "n_states must be a whole number, 'auto' or 'infinite', got 'many'"),
        ({"n_states": "infinite", "method": "vb"}, 'n_states="infinite" needs method="gibbs"'),
        ({"n_states": 0}, "n_states must be a whole number of at least 1"),
        ({"concentration": "much"}, "concentration must be a positive number or 'auto', got 'much'"),
        ({"concentration": "auto", "method": "vb"}, "concentration must be a positive number, got 'auto'"),
        ({"concentration": -1.0}, "concentration must be a positive number"),
        ({"concentration": np.inf}, "concentration must be finite"),
        ({"prior_strength": "auto", "method": "paper"}, "prior_strength must be a positive number, got 'auto'"),
        ({"prior_strength": {"emission": 0.9}, "method": "paper"}, "needs prior_strength of at least 1, got 0.9"),
        *(({"init": init, "method": "paper"}, "begins with one cluster") for init in ("labels", "vb", [0, 1])),
        ({"prior_strength": 0.5, "method": "paper"}, "needs prior_strength of at least 1"),
        ({"split_merge": "sequential"}, "split_merge is \"retained\" or None for method='gibbs'"),
        ({"method": "collapsed", "missing": "renorm"}, 'method="collapsed" sums all tables out'),
        ({"n_draws": 0}, "n_draws must be a whole number of at least 1"),
        ({"n_init": 0}, "n_init must be a whole number of at least 1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"resume": True}, "resume=True needs run_dir"),
    ],
)
def test_settings_are_refused(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        InfiniteTreeHMMMixture(**{**SHORT, **settings}).fit(documents())


def test_a_model_must_be_fitted_first():
    with pytest.raises(NotFittedError):
        InfiniteTreeHMMMixture().cut(2)
    with pytest.raises(NotFittedError):
        InfiniteTreeHMMMixture().predict(documents())

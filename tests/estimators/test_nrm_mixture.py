"""`NRMMixture`: what it refuses, what it says of the data it was fitted to, and what it predicts."""

import math

import numpy as np
import pytest
import scipy.sparse as sparse

from bayesgrove import NRMMixture, likelihoods
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.bind import as_table
from bayesgrove.models.nrm import predictive
from bayesgrove.models.nrm.predictive import draw_weights, keep_draws, log_density
from bayesgrove.models.nrm.process import DIRICHLET, GENERALISED_GAMMA
from reference import nrm

pytestmark = pytest.mark.unit

SHORT = {"n_chains": 2, "n_tune": 10, "n_draws": 30, "random_state": 0}
KNOWN = likelihoods.GaussianKnownVariance(variance=1.0, prior_mean=0.0, prior_variance=100.0)


def fitted(X, **settings):
    return NRMMixture(**{**SHORT, **settings}).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"likelihood": "nggp"}, "likelihood, the first argument, .* Give process='nggp'"),
        *(({"process": value}, "process must be one of") for value in ("x", None)),
        *(({"sampler": value}, "sampler must be one of") for value in ("x", None)),
        *(({"estimate": value}, "estimate must be one of") for value in ("x", None)),
        *(({"concentration": value}, "concentration must be") for value in (0, -1.0, "x", np.nan, np.inf, True, None)),
        *(({"process": "nggp", "sigma": value}, "sigma must lie") for value in (0, 0.0, 1.0, 1, -0.5, "x", None, True)),
        *(({"n_chains": value}, "n_chains must be a whole number of at least 1") for value in (0, 1.5, None, True)),
        *(({"n_draws": value}, "n_draws must be a whole number of at least 1") for value in (0, "x")),
        *(({"n_tune": value}, "n_tune must be a whole number of at least 0") for value in (-1, 2.5)),
        *(({"thin": value}, "thin must be a whole number of at least 1") for value in (0, None)),
        *(({"time_limit": value}, "time_limit must be a positive number") for value in (0, -1, "x", np.nan)),
        *(({"hyper": value}, "hyper must be") for value in ("x", None)),
        *(({"n_jobs": value}, "n_jobs must be") for value in (0, 1.5)),
        ({"random_state": -1}, "random_state must be"),
        ({"resume": True}, "resume=True needs run_dir"),
        ({"init": "x"}, "init must be one of guide, bhc, one, singletons, ibhc, randomized-bhc or an array"),
        *(({name: 0}, f"{name} must be a whole number of at least 1, got 0") for name in ("n_global", "n_local")),
        *(({name: 3, "sampler": "gibbs"}, f"{name} is a setting of the samplers") for name in ("n_global", "n_local")),
        *(({"init": value}, "init must have one label for each of the 40 rows") for value in ([0, 1], 3, None)),
        ({"init": np.zeros((40, 1), int)}, r"init must have one label .*got shape \(40, 1\)"),
    ],
    ids=str,
)
def test_settings_out_of_range(X, settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        fitted(X, **settings)


@pytest.mark.parametrize(("sampler", "move"), [("tree-guided", "anchors"), ("paper", "paper")])
def test_numbers_of_global_and_local_moves(X, sampler, move):
    """Every global move proposes a split or a merge, or finds one cluster only; local draws stand in the schedule."""
    settings = {"sampler": sampler, "n_chains": 1, "n_tune": 0, "n_draws": 30, "n_global": 3, "n_local": 1}
    model = fitted(X, **settings)
    steps = {step.move: step for step in model._schedule.draw}
    deepest = steps["paper" if sampler == "paper" else "local"]
    assert deepest.options["depth"] == 1
    usual = fitted(X, **{**settings, "n_global": 12})
    assert model.acceptance_[move] != usual.acceptance_[move]
    if sampler == "paper":
        counts = model.acceptance_[move]
        assert counts["splits"] + counts["merges"] <= 90


@pytest.mark.parametrize("estimate", ["vi", "binder", "map"])
@pytest.mark.parametrize("sampler", ["tree-guided", "split-merge", "gibbs"])
def test_two_clear_clusters(X, estimate, sampler):
    model = fitted(X, estimate=estimate, sampler=sampler)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 20))
    assert model.labels_.dtype == np.int64
    assert model.n_clusters_ == 2
    assert model.posterior_.labels.shape == (2, 30, 40)


def test_map_is_the_draw_of_largest_log_joint():
    X = generator(2).normal(0, 2, (12, 1))
    model = fitted(X, likelihood=KNOWN, concentration=2.0, estimate="map")
    chain, draw = np.unravel_index(np.argmax(model.posterior_.scalars["log_joint"]), (2, 30))
    np.testing.assert_array_equal(model.labels_, model.posterior_.labels[chain, draw])


@pytest.mark.parametrize("init", ["guide", "bhc", "one", "singletons", "ibhc", "randomized-bhc", "labels"])
def test_every_start_ends_at_the_same_clusters(X, init):
    given = np.array(["b", "a", "c"] * 13 + ["a"]) if init == "labels" else init
    model = fitted(X, init=given, n_tune=100)
    np.testing.assert_array_equal(model.labels_, np.repeat([0, 1], 20))


def test_without_sweeps_of_other_moves_the_given_labels_are_the_start(X):
    first = np.arange(40) % 5
    sampler = fitted(X, init=first * 7 - 3)._sampler
    np.testing.assert_array_equal(sampler.first_labels(generator(0)), first)
    start = fitted(X, init="ibhc")._sampler.first_labels
    np.testing.assert_array_equal(start(generator(1)), np.repeat([0, 1], 20))


@pytest.mark.parametrize("process", ["dp", "nggp", "nig"])
def test_labels_tree_and_numbers_fit_together(process):
    rng = generator(3)
    X = np.vstack([rng.normal(centre, 1, (15, 2)) for centre in (0, 3, 6, 12)])
    model = fitted(X, process=process, n_tune=50)
    assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
    model.tree_.check()
    assert model.tree_.n_leaves == 60
    assert not np.isnan(model.tree_.columns["log_merge_odds"]).any()
    similarity = model.cluster_posterior_.similarity()
    nodes = {frozenset(model.tree_.items_below(node).tolist()): node for node in range(model.tree_.n_nodes)}
    for k in range(model.n_clusters_):
        rows = np.flatnonzero(model.labels_ == k)
        node = nodes[frozenset(rows.tolist())]  # every cluster is a node ...
        if rows.size > 1:  # ... as probable as its rows are together in the draws
            pairs = similarity[np.ix_(rows, rows)][np.triu_indices(rows.size, 1)]
            assert model.tree_.nodes["probability"][node] == pytest.approx(pairs.mean(), abs=1e-9)
    assert model.concentration_ > 0
    assert 0 <= model.sigma_ < 1
    assert (model.sigma_ == 0.5) == (process == "nig")
    for counts in model.acceptance_.values():
        assert 0 <= counts["splits_accepted"] <= counts["splits"]
        assert 0 <= counts["merges_accepted"] <= counts["merges"]
    assert sum(sum(counts[name] for name in ("splits", "merges")) for counts in model.acceptance_.values()) > 0


def test_inverse_gaussian_is_the_generalised_gamma_at_one_half(X):
    first, second = fitted(X, process="nig"), fitted(X, process="nggp", sigma=0.5)
    assert first.posterior_.labels.tobytes() == second.posterior_.labels.tobytes()
    for name, values in first.posterior_.scalars.items():
        assert values.tobytes() == second.posterior_.scalars[name].tobytes()
    assert fitted(X, process="nggp", sigma=np.float32(0.5)).sigma_ == 0.5


def test_numbers_of_the_likelihood_are_learned():
    rng = generator(4)
    X = np.repeat(rng.normal(0, 20, (8, 2)), 30, axis=0) + rng.normal(0, 1, (240, 2))
    model = fitted(X, likelihood="gaussian", hyper="optimize", n_tune=60, n_draws=60)
    assert model.n_clusters_ == 8
    variance = np.array(model.likelihood_.rate) / model.likelihood_.shape
    assert np.all((variance > 0.5) & (variance < 2.0))
    fixed = fitted(X, hyper="fixed")
    assert not [name for name in fixed.posterior_.scalars if name.startswith("log_factor")]


FAMILIES = {
    "gaussian": lambda rng: rng.normal(0, 3, (24, 2)),
    "gaussian-full": lambda rng: rng.normal(0, 3, (24, 2)),
    "gaussian-known-variance": lambda rng: rng.normal(0, 3, (24, 2)),
    "bernoulli": lambda rng: rng.integers(0, 2, (24, 3)),
    "categorical": lambda rng: rng.integers(0, 3, (24, 2)),
    "multinomial": lambda rng: rng.poisson(2, (24, 4)),
    "poisson": lambda rng: rng.poisson(4, (24, 2)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family):
    X = FAMILIES[family](generator(5)).astype(float)
    if family not in ("gaussian-full", "multinomial"):
        X[3, 1] = np.nan
    model = fitted(X, likelihood=family)
    assert np.isfinite(model.score_samples(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)
    drawn = model.sample(200)
    if family == "multinomial":
        totals = np.sort(X.sum(axis=1))
        np.testing.assert_array_equal(drawn.sum(axis=1), totals[12])
        other = fitted(sparse.csr_array(X), likelihood=family)
        np.testing.assert_array_equal(other.posterior_.labels, model.posterior_.labels)
    elif family in ("bernoulli", "categorical"):
        assert set(np.unique(drawn)) <= set(np.unique(X[~np.isnan(X)]))
    elif family == "poisson":
        assert np.all((drawn >= 0) & (drawn == np.round(drawn)))


# ---------------------------------------------------------------- prediction


def test_probabilities_of_clusters(X):
    model = fitted(X)
    chances = model.predict_proba(X)
    assert chances.shape == (40, 3)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)
    best, most = model.predict_proba(X, top_k=2)
    np.testing.assert_array_equal(most, -np.sort(-chances, axis=1)[:, :2])
    np.testing.assert_array_equal(best[:, 0], model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    for top_k in (0, 4, 1.5):
        with pytest.raises(InvalidSettingError, match="top_k"):
            model.predict_proba(X, top_k=top_k)
    np.testing.assert_array_equal(model.predict_proba(X[7:8]), chances[7:8])
    assert model.score(X) == pytest.approx(np.mean(model.score_samples(X)))


def test_a_far_row_is_a_new_cluster():
    X = generator(6).normal(0, 1, (30, 1))
    chances = fitted(X, likelihood=KNOWN).predict_proba([[0.0], [25.0]])
    assert chances[0, -1] < 0.1
    assert chances[1, -1] > 0.99


def test_a_row_without_cells_goes_by_cluster_sizes(X):
    model = fitted(X, likelihood="gaussian", concentration=1.0, init=np.repeat([0, 1], 20), n_tune=0, n_draws=1)
    if (model.posterior_.labels == np.repeat([0, 1], 20)).all():
        np.testing.assert_allclose(model.predict_proba([[np.nan] * 3])[0], [20 / 41, 20 / 41, 1 / 41], rtol=1e-12)
    else:
        pytest.fail("the seed no longer gives the two clear clusters")


@pytest.mark.parametrize("process", ["dp", "nggp"])
def test_densities_integrate_to_the_weights(process):
    """To 1 in each draw of the Dirichlet process; only their mean over u does so for the others."""
    X = 1000.0 * generator(7).normal(0, 3, (20, 1))
    likelihood = likelihoods.GaussianKnownVariance(variance=1e6, prior_mean=0.0, prior_variance=1e8)
    model = fitted(X, process=process, likelihood=likelihood)
    grid = np.linspace(-1.2e5, 1.2e5, 24_001)
    area = np.trapezoid(np.exp(model.score_samples(grid[:, None])), grid)
    kept = model._kept
    weights = (np.exp(kept.log_weight).sum() + np.exp(kept.log_new).sum()) / kept.log_new.size
    assert area == pytest.approx(weights, rel=1e-9)
    assert weights == pytest.approx(1.0, rel=1e-12 if process == "dp" else 0.2)


def test_samples_have_the_moments_of_the_density():
    """|z| <= 4.4 for the mean and the mean square of 20,000 rows: false alarm 2e-5."""
    model = fitted(generator(8).normal(3, 2, (25, 1)), likelihood=KNOWN)
    grid = np.linspace(-120.0, 120.0, 24_001)
    density = np.exp(model.score_samples(grid[:, None]))
    drawn = model.sample(20_000, random_state=1)[:, 0]
    for power in (1, 2):
        expected = np.trapezoid(density * grid**power, grid)
        z = (np.mean(drawn**power) - expected) / (np.std(drawn**power) / math.sqrt(drawn.size))
        assert abs(z) <= 4.4
    np.testing.assert_array_equal(model.sample(5), model.sample(5))
    np.testing.assert_array_equal(model.sample(5, random_state=2), model.sample(5, random_state=2))
    assert model.sample(0).shape == (0, 1)
    with pytest.raises(InvalidSettingError, match="n_samples must be a whole number of at least 0"):
        model.sample(-1)


def golden_problem(golden, name, kind):
    """Bound data, golden numbers and the process of the reference."""
    inputs, numbers = golden["posterior"][name]["inputs"], golden["posterior"][name][kind]
    dim = len(inputs["mu0"])
    likelihood = likelihoods.GaussianKnownVariance(
        variance=[inputs["s2"]] * dim, prior_mean=inputs["mu0"], prior_variance=[inputs["t2"]] * dim
    )
    prior = numbers["prior"]
    process = nrm.Dirichlet(prior["alpha"]) if kind == "dp" else nrm.GeneralisedGamma(prior["alpha"], prior["sigma"])
    return np.array(inputs["X"], float), likelihood, numbers, process


@pytest.mark.parametrize("kind", ["dp", "nggp"])
@pytest.mark.parametrize("name", ["one_d", "two_d"])
def test_predictive_density_from_all_partitions_is_the_golden_one(golden, name, kind):
    everything = golden("nrm")
    X, likelihood, numbers, process = golden_problem(everything, name, kind)
    bound = likelihoods.bind(likelihood, X)
    points = everything["predictive"][name][kind]
    values, log_measure = likelihoods.encode(bound, as_table([point["x"] for point in points]))
    total = np.zeros(len(points))
    for text, probability in zip(numbers["partitions"], numbers["prob"], strict=True):
        labels = np.array([int(c) for c in text])
        kept = keep_draws(bound.prior, bound.values, DIRICHLET, labels[None], np.ones((1, 3)), np.empty((1, 0)), labels)
        weights = nrm.predictive_weights(tuple(labels.tolist()), process)
        kept = kept._replace(log_weight=np.log(weights.clusters), log_new=np.log([weights.new]))
        total += probability * np.exp(log_density(kept, bound.prior, (), 5, values) + log_measure)
    np.testing.assert_allclose(np.log(total), [point["log_predictive"] for point in points], atol=1e-8)


@pytest.mark.parametrize("partition", [(0, 0, 0, 0, 0), (0, 0, 1, 1, 2), (0, 1, 2, 3, 4)])
@pytest.mark.parametrize("process", [nrm.Dirichlet(0.7), nrm.GeneralisedGamma(1.0, 0.5), nrm.GeneralisedGamma(2, 0.2)])
def test_weights_of_draws_have_the_mean_of_the_reference(partition, process):
    n, sizes = 5, np.bincount(partition).astype(float)
    expected = nrm.predictive_weights(partition, process)
    if isinstance(process, nrm.Dirichlet):
        clusters, new = draw_weights(DIRICHLET, np.array([0.0, process.alpha, 0.0]), sizes, n)
        clusters, new = np.exp(clusters), math.exp(new)
    else:
        alpha, sigma = process
        grid = np.linspace(-30.0, 120.0, 30_001)
        plus = np.logaddexp(0.0, grid)
        log_law = n * grid - alpha * np.expm1(np.minimum(sigma * plus, 700.0)) - (n - sizes.size * sigma) * plus
        law = np.exp(log_law - log_law.max())
        found = [draw_weights(GENERALISED_GAMMA, np.array([v, alpha, sigma]), sizes, n) for v in grid]
        clusters = law @ np.exp([own for own, _ in found]) / law.sum()
        new = law @ np.exp([own for _, own in found]) / law.sum()
    np.testing.assert_allclose(clusters, expected.clusters, rtol=1e-9)
    assert new == pytest.approx(expected.new, rel=1e-9)


@pytest.mark.parametrize("kind", ["dp", "nggp"])
def test_score_samples_is_the_golden_predictive(golden, monkeypatch, kind):
    """|z| <= 4.4 by 40 batches of draws at each of the golden points: false alarm 8e-5 each."""
    monkeypatch.setattr(predictive, "MOST_DRAWS", 4_000)
    everything = golden("nrm")
    X, likelihood, numbers, _ = golden_problem(everything, "one_d", kind)
    prior = numbers["prior"]
    settings = {"process": kind, "concentration": prior["alpha"], "sigma": prior.get("sigma", "auto")}
    model = fitted(X, likelihood=likelihood, n_chains=1, n_draws=4_000, **settings)
    whole, densities = model._kept, []
    points = everything["predictive"]["one_d"][kind]
    rows = [point["x"] for point in points]
    for first in range(0, 4_000, 100):
        own = slice(whole.start[first], whole.start[first + 100])
        model._kept = predictive.Kept(
            whole.start[first : first + 101] - whole.start[first],
            whole.rows[own],
            whole.log_weight[own],
            whole.log_new[first : first + 100],
            whole.log_factors[first : first + 100],
            whole.share[own],
        )
        densities.append(np.exp(model.score_samples(rows)))
    expected = np.exp([point["log_predictive"] for point in points])
    z = (np.mean(densities, axis=0) - expected) / (np.std(densities, axis=0, ddof=1) / math.sqrt(40))
    assert np.abs(z).max() <= 4.4

"""Clusters as unions of components: the parts of the rule, the tree it leaves, and its error rates on simple shapes."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from bayesgrove import BHC, RandomizedBHC, load
from bayesgrove.agglomeration.gaps import gap_probability
from bayesgrove.agglomeration.regrow import weighed
from bayesgrove.agglomeration.soft_components import fitted_components, soft_components
from bayesgrove.agglomeration.unions import (
    Components,
    bhattacharyya_distances,
    excess_mass,
    log_density,
    log_gaussians,
    neighbour_pairs,
    paths_between,
    projections,
    unite,
)
from bayesgrove.likelihoods import GaussianDiagonal, GaussianFull, bind
from bayesgrove.models.bhc.united import Rows, united_tree

pytestmark = pytest.mark.exact


def gaussians(*means, spread=1.0, sizes=None):
    """Components of equal, round covariances."""
    means = np.array(means, float)
    k, d = means.shape
    return Components(
        np.full(k, 100.0) if sizes is None else np.array(sizes), means, np.tile(spread * np.eye(d), (k, 1, 1))
    )


def pair(distance, n, seed=0):
    """Rows of two Gaussians at a distance, and the component of each."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(0, 1, (n, 2)), rng.normal(0, 1, (n, 2)) + [distance, 0.0]])
    return rows, np.repeat([0, 1], n)


@pytest.mark.parametrize("ratio", [0.05, 0.3, 0.7, 0.95])
def test_the_excess_mass_is_what_lies_above_the_valley(ratio):
    level, edge = ratio * norm.pdf(0.0), math.sqrt(-2.0 * math.log(ratio))
    assert excess_mass(ratio) == pytest.approx(quad(lambda x: norm.pdf(x) - level, -edge, edge)[0], abs=1e-9)
    assert excess_mass(0.0) == 1.0


def test_densities_of_components():
    rng = np.random.default_rng(1)
    factor = rng.normal(size=(3, 2, 2))
    components = Components(np.array([5.0, 1.0, 4.0]), rng.normal(size=(3, 2)), factor @ factor.transpose(0, 2, 1))
    points = rng.normal(size=(7, 2))
    each = [multivariate_normal(components.means[k], components.covariances[k]) for k in range(3)]
    np.testing.assert_allclose(log_gaussians(components, points), np.array([law.logpdf(points) for law in each]).T)
    wanted = np.log(sum(share * law.pdf(points) for share, law in zip((0.5, 0.1, 0.4), each, strict=True)))
    np.testing.assert_allclose(log_density(components, points), wanted)


def test_missing_cells_are_integrated_out():
    components = gaussians((0, 0), (3, 1), spread=2.0)
    found = log_gaussians(components, np.array([[1.0, np.nan], [0.5, 0.5]]))
    assert found[0] == pytest.approx([norm.logpdf(1.0, 0.0, math.sqrt(2.0)), norm.logpdf(1.0, 3.0, math.sqrt(2.0))])
    np.testing.assert_allclose(found[1], log_gaussians(components, np.array([[0.5, 0.5]]))[0])


def test_the_ridge_of_two_gaussians_holds_the_critical_points_of_their_mixture():
    components = Components(
        np.array([1.0, 1.0]), np.array([[0.0, 0.0], [4.0, 2.0]]), np.array([np.diag([1.0, 3.0]), np.diag([2.0, 0.5])])
    )
    ridge = paths_between(components, np.array([[0, 1]]))[0, 1]
    precision = np.linalg.inv(components.covariances)
    for x in ridge:  # the gradients of both log densities are parallel and point in opposite directions
        first, second = (-precision[k] @ (x - components.means[k]) for k in range(2))
        assert first[0] * second[1] - first[1] * second[0] == pytest.approx(0.0, abs=1e-9)
        assert first @ second < 0.0


def test_distances_between_gaussians_and_the_pairs_that_are_looked_at():
    components = gaussians(*[(3.0 * i, 0.0) for i in range(14)])
    distance = bhattacharyya_distances(components.means, components.covariances)
    assert distance[0, 1] == pytest.approx(9.0 / 8.0)
    pairs = {tuple(found) for found in neighbour_pairs(components).tolist()}
    assert {(i, i + 1) for i in range(13)} <= pairs
    assert (0, 13) not in pairs


@pytest.mark.parametrize(("distance", "n_clusters"), [(2.0, 1), (3.0, 1), (5.0, 2), (8.0, 2)])
def test_two_gaussians_are_apart_where_their_density_has_a_valley(distance, n_clusters):
    rows, labels = pair(distance, 200)
    found = unite(gaussians((0, 0), (distance, 0), sizes=(200.0, 200.0)), rows, labels)
    assert int(found.cluster.max()) + 1 == n_clusters
    assert found.apart.tolist() == [n_clusters == 2]


def test_the_projected_valley_of_equal_covariances_is_that_of_the_ridge():
    factor = np.array([[1.5, 0.0], [0.7, 0.6]])
    covariances = np.tile(factor @ factor.T, (2, 1, 1))
    components = Components(np.array([8e6, 8e6]), np.array([[0.0, 0.0], [4.0, -1.0]]), covariances)
    ridge = paths_between(components, np.array([[0, 1]]))[0, 1]
    middle, top = log_density(components, ridge[5:6])[0], log_density(components, components.means).max()
    assert projections(components, np.array([[0, 1]])).ratio[0] == pytest.approx(math.exp(middle - top), rel=1e-3)


def test_a_wide_group_beside_a_dense_one_is_a_cluster():
    """In ten dimensions the density at the wide group's mean is far below that of the dense one's tail."""
    rng = np.random.default_rng(0)
    centre = np.zeros(10)
    centre[0] = 9.0
    rows = np.vstack([0.3 * rng.normal(size=(200, 10)), 1.5 * rng.normal(size=(200, 10)) + centre])
    spreads = np.array([0.09, 2.25])[:, np.newaxis, np.newaxis] * np.eye(10)
    components = Components(np.array([200.0, 200.0]), np.array([np.zeros(10), centre]), spreads)
    assert unite(components, rows, np.repeat([0, 1], 200)).cluster.tolist() == [0, 1]


def test_a_few_rows_far_away_are_not_a_cluster_but_many_are():
    for n, n_clusters in ((2, 1), (20, 2)):
        rows = np.vstack([np.random.default_rng(0).normal(0, 1, (200, 2)), np.full((n, 2), 9.0)])
        labels = np.repeat([0, 1], [200, n])
        components = gaussians((0, 0), (9, 9), sizes=(200.0, float(n)))
        assert int(unite(components, rows, labels).cluster.max()) + 1 == n_clusters


def test_rows_of_one_cloud_show_no_gap_and_those_of_two_do():
    rng = np.random.default_rng(3)
    found = []
    for _ in range(200):
        cloud = rng.uniform(0, 1, (400, 2))
        left = cloud[:, 0] < 0.5
        found.append(gap_probability(cloud[left], cloud[~left]))
    assert np.mean(np.array(found) < 0.01) <= 0.03  # the mean of 200 rates of .01 exceeds this once in 10,000 times
    rows, labels = pair(6.0, 200)
    assert gap_probability(rows[labels == 0], rows[labels == 1]) < 1e-6


@pytest.mark.parametrize("likelihood", [GaussianDiagonal(grain=0.3), GaussianFull(grain=0.3), GaussianFull()])
def test_components_that_were_cut_off_get_their_tails_back(likelihood):
    rows, _ = pair(2.5, 200)
    labels = (rows[:, 0] > 1.25).astype(np.int64)  # as a partition by the larger density would be
    bound = bind(likelihood, rows)
    components = fitted_components(bound.prior, bound.values, np.eye(2)[labels])
    soft, home = soft_components(bound.prior, bound.values, labels)
    assert components.sizes.tolist() == np.bincount(labels).tolist()
    assert np.mean(home == labels) > 0.9
    assert soft.covariances[:, 0, 0].sum() > components.covariances[:, 0, 0].sum()


@pytest.mark.parametrize("likelihood", [GaussianDiagonal.learned(), GaussianFull.learned()])
def test_clusters_are_nodes_of_the_tree_and_its_weights_are_exact(likelihood):
    X, _ = make_moons(240, noise=0.06, random_state=1)
    plain = BHC(likelihood, clusters="components", random_state=0).fit(X)
    model = BHC(likelihood, random_state=0).fit(X)
    assert model.n_clusters_ < model.n_components_ == plain.n_components_
    assert adjusted_rand_score(model.component_labels_, plain.labels_) == 1.0
    merges = np.argsort(model.tree_.parent[:-1], kind="stable").reshape(-1, 2)
    bound = bind(likelihood, X)
    again = weighed(model._bound.prior, bound.values, merges, math.log(model.concentration_))
    np.testing.assert_allclose(model.tree_.columns["log_q"], again.log_q, rtol=1e-10)
    np.testing.assert_allclose(model.tree_.log_merge_odds[240:], again.log_odds[240:], rtol=1e-6, atol=1e-6)
    assert model.log_evidence_ - plain.log_evidence_ == pytest.approx(
        again.log_q[-1] - plain.tree_.columns["log_q"][-1]
    )
    assert np.array_equal(model.predict(X), model.labels_) or np.mean(model.predict(X) == model.labels_) > 0.97
    assert model.predict_proba(X).shape == (240, model.n_clusters_ + 1)


def test_no_rule_for_documents():
    X = np.random.default_rng(0).integers(0, 3, (60, 4)).astype(float)
    model = BHC("multinomial", random_state=0).fit(X)
    assert np.array_equal(model.labels_, model.component_labels_)
    bound = bind("multinomial", X)
    assert united_tree(model.tree_, Rows(bound.values, bound.prior, 0.0, True)) is None


def test_saved_models_keep_clusters_and_components(tmp_path):
    X, _ = make_moons(200, noise=0.05, random_state=0)
    model = BHC(random_state=0).fit(X)
    model.save(tmp_path / "model.zip")
    again = load(tmp_path / "model.zip")
    assert np.array_equal(again.labels_, model.labels_)
    assert np.array_equal(again.component_labels_, model.component_labels_)
    assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("model", [BHC, RandomizedBHC])
def test_shapes_that_no_gaussian_has(model):
    for X, y in (
        make_moons(600, noise=0.05, random_state=0),
        make_circles(600, noise=0.03, factor=0.4, random_state=0),
    ):
        assert adjusted_rand_score(y, model(GaussianFull.learned(), random_state=0).fit(X).labels_) > 0.95


def cloud(kind, n, seed):
    """One cluster of some shape."""
    rng = np.random.default_rng([seed, n])
    t = rng.normal(size=n)
    return {
        "gaussian": lambda: rng.normal(size=(n, 2)),
        "gaussian of 10 columns": lambda: rng.normal(size=(n, 10)),
        "uniform square": lambda: rng.random((n, 2)),
        "uniform cube": lambda: rng.random((n, 5)),
        "banana": lambda: np.column_stack([t, 0.7 * t**2 + 0.4 * rng.normal(size=n)]),
        "t3 of 2 columns": lambda: rng.standard_t(3, (n, 2)),
        "t3 of 5 columns": lambda: rng.standard_t(3, (n, 5)),
        "exponential": lambda: rng.exponential(size=(n, 3)),
        "gamma": lambda: rng.gamma(2.0, size=(n, 3)),
        "log-normal": lambda: np.exp(0.7 * rng.normal(size=(n, 3))),
    }[kind]()


KINDS = (
    "gaussian",
    "gaussian of 10 columns",
    "uniform square",
    "uniform cube",
    "banana",
    "t3 of 2 columns",
    "t3 of 5 columns",
    "exponential",
    "gamma",
    "log-normal",
)


def n_found(kind, n, seed):
    return BHC(random_state=0).fit(StandardScaler().fit_transform(cloud(kind, n, seed))).n_clusters_


def test_one_cloud_stays_one_cluster():
    """Three sets of 200 rows of each kind; the slow test has 50 of 200 and of 800 of each."""
    found = np.array([[n_found(kind, 200, seed) for seed in range(3)] for kind in KINDS])
    assert np.mean(found == 1) >= 0.95
    assert found.max() <= 2


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 800])
@pytest.mark.parametrize("kind", KINDS)
def test_one_cloud_is_one_cluster_in_at_least_95_percent(kind, n):
    assert np.mean([n_found(kind, n, seed) == 1 for seed in range(50)]) >= 0.95


def test_separated_blobs_stay_apart():
    X, y = make_blobs(400, 3, centers=8, cluster_std=0.5, random_state=2)
    assert adjusted_rand_score(y, BHC(random_state=0).fit(X).labels_) > 0.98

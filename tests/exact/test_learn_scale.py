"""The scale matrix of full covariances, learned from clusters."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from bayesgrove import BHC
from bayesgrove.agglomeration.learn_scale import Clusters, learned_scale, with_dependence
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.likelihoods import GaussianFull, bind
from bayesgrove.likelihoods.contract import log_marginal, with_hyper
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior, with_scale
from bayesgrove.models.bhc.fit import learns_scale
from bayesgrove.stats.dense import cholesky, log_determinant

pytestmark = pytest.mark.exact


def alike(n_clusters, n_each, seed=0):
    """Clusters of one tilted covariance at random places."""
    rng = np.random.default_rng(seed)
    factor = np.array([[1.0, 0.0, 0.0], [0.9, 0.3, 0.0], [-0.5, 0.4, 0.6]])
    labels = np.repeat(np.arange(n_clusters), n_each)
    rows = rng.normal(size=(labels.size, 3)) @ factor.T + rng.uniform(-20, 20, (n_clusters, 3))[labels]
    return rows, labels


def total(prior, values, labels):
    rows, _ = cluster_statistics(prior, values, labels, int(labels.max()) + 1)
    return sum(log_marginal(prior, row) for row in rows)


def test_priors_carry_the_determinant_of_their_scale():
    X, labels = alike(4, 9)
    prior = bind(GaussianFull(), X).prior
    for made in (prior, with_hyper(prior, np.array([0.3, 2.0, 1.7])), learned_scale(prior, X, labels)):
        assert made.log_determinant == pytest.approx(np.linalg.slogdet(made.scale)[1], rel=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-60, 1e90])
def test_log_determinants_of_small_matrices(unit):
    rng = np.random.default_rng(0)
    for d in (1, 2, 7, 30):
        root = rng.normal(size=(d, d + 2))
        matrix = unit * (root @ root.T)
        expected = np.linalg.slogdet(root @ root.T)[1] + d * np.log(unit)
        assert log_determinant(matrix.copy()) == pytest.approx(expected, rel=1e-11)
    flat = np.ones((3, 3)) * unit  # of no rank: pivots end at the floor, as those of the factor
    assert log_determinant(flat.copy()) == pytest.approx(cholesky(flat.copy()), rel=1e-9)


def test_marginals_differ_from_the_contract_by_a_constant():
    X, labels = alike(4, 9)
    bound = bind(GaussianFull(grain=0.5), X)
    prior, d = bound.prior, 3
    rows, sizes = cluster_statistics(prior, bound.values, labels, 4)
    clusters = Clusters(sizes, rows[:, 1 : 1 + d] - prior.mean, rows[:, 1 + d :].reshape(-1, d, d))
    gaps = []
    for strength, dof, factor in ((0.1, 5.0, 1.0), (2.0, 9.0, 0.3), (0.5, 40.0, 4.0)):
        other = with_scale(prior, factor * prior.scale + 0.01)._replace(strength=strength, dof=dof)
        gaps.append(total(other, bound.values, labels) - clusters.log_marginal(strength, dof, other.scale))
    assert gaps == pytest.approx([gaps[0]] * 3)


@pytest.mark.parametrize("seed", range(4))
def test_learning_raises_the_marginal_of_the_clusters(seed):
    X, labels = alike(6, 12, seed)
    bound = bind(GaussianFull(), X)
    learned = learned_scale(bound.prior, bound.values, labels)
    assert total(learned, bound.values, labels) > total(bound.prior, bound.values, labels) + 10.0


def test_clusters_that_are_alike_share_their_covariance():
    X, labels = alike(12, 40)
    within = np.mean([np.cov(X[labels == k].T) for k in range(12)], axis=0)
    bound = bind(GaussianFull(), X)
    learned = bound.likelihood.described_by(learned_scale(bound.prior, bound.values, labels), bound.encoding)
    assert learned.dof > 50.0
    expected = np.array(learned.scale) / (learned.dof - 3 - 1)  # of an inverse Wishart distribution
    np.testing.assert_allclose(expected, within, atol=0.03)


def test_a_scale_matrix_that_is_given_or_learned_already_is_not_learned_again():
    X, labels = alike(3, 20)
    bound = bind(GaussianFull.learned(), X)
    assert learns_scale(bound)
    assert not learns_scale(bound._replace(prior=learned_scale(bound.prior, bound.values, labels)))
    assert not learns_scale(bind(GaussianFull(scale=1.0), X))
    assert not learns_scale(bind("gaussian", X))


def test_few_clusters_of_many_columns_stay_regular():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 12))
    bound = bind(GaussianFull(), X)
    learned = learned_scale(bound.prior, bound.values, np.zeros(40, np.int64))
    assert np.linalg.eigvalsh(learned.scale).min() > 0.0


def test_the_growers_of_the_wines():
    wine = load_wine()
    model = BHC(random_state=0).fit(wine.data)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(wine.target, model.labels_) > 0.9


def cloud_of_factors(seed, n=300, d=50, n_factors=1):
    """One cluster whose columns depend on each other by common factors."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, n_factors)) @ (2.0 * rng.normal(size=(n_factors, d))) + rng.normal(size=(n, d))
    return StandardScaler().fit_transform(rows)


@pytest.mark.parametrize("seed", range(3))
def test_one_wide_cloud_of_dependent_columns_is_one_cluster(seed):
    """Covered by many components of independent columns, with valleys between them."""
    model = BHC(random_state=0).fit(cloud_of_factors(seed))
    assert isinstance(model._bound.prior, GaussianDiagonalPrior)
    assert model.n_components_ > 5
    assert model.n_clusters_ == 1


def test_dependence_is_decided_by_evidence():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    independent = rng.normal(size=(200, 4)) + 3.0 * labels[:, np.newaxis]
    prior = GaussianDiagonalPrior(np.full(4, 1.5), np.full(4, 0.5), np.full(4, 20.0), np.full(4, 20.0), np.zeros(4))
    assert with_dependence(prior, independent, labels) is prior
    dependent = independent + 2.0 * rng.normal(size=(200, 1))
    full = with_dependence(prior, dependent, labels)
    assert isinstance(full, GaussianFullPrior)
    assert with_dependence(full, dependent, labels) is full
    dependent[0, 0] = np.nan
    assert with_dependence(prior, dependent, labels) is prior
    assert with_dependence(prior, independent[:5], labels[:5]) is prior  # no more rows than columns

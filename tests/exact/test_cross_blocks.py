"""The mixture with full covariances behind imputed measurements: conditionals in closed form, and Geweke's test."""

import math

import numpy as np
import pytest

from bayesgrove.likelihoods import GaussianFull, log_marginal
from bayesgrove.models.cross import block_sampler
from bayesgrove.models.cross.block_cells import cell_terms, draw_missing, row_scores
from bayesgrove.models.cross.block_sampler import cluster_of, drawn_component, drawn_scale, swept
from bayesgrove.models.cross.block_state import EXTRA_DOF, STRENGTHS, BlockTable, Components, Hyper

K, D = 3, 3
NO_GRAIN = np.zeros(D)


@pytest.fixture
def components():
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(K, D, D))
    covariance = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(D)
    chance = np.log(np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]))
    return Components(np.log([0.5, 0.3, 0.2]), rng.normal(size=(K, D)), covariance, (chance,))


@pytest.fixture
def table():
    rows = np.array([[0.3, np.nan, -1.0], [np.nan, np.nan, 0.2], [1.0, 0.5, 0.1], [np.nan, 0.4, np.nan], [np.nan] * 3])
    codes = np.array([[0], [1], [-1], [1], [-1]])
    return BlockTable(rows, codes, np.array([2]), NO_GRAIN)


def normal(x, mean, covariance):
    apart = x - mean
    exponent = apart @ np.linalg.solve(covariance, apart) if x.size else 0.0
    return -0.5 * (exponent + np.linalg.slogdet(covariance)[1] + x.size * math.log(2.0 * math.pi))


@pytest.mark.exact
def test_scores_are_densities_of_the_observed_cells(components, table):
    found = row_scores(components, table)
    for i, (row, code) in enumerate(zip(table.numeric, table.codes[:, 0], strict=True)):
        seen = np.flatnonzero(~np.isnan(row))
        for k in range(K):
            expected = components.log_weight[k] + (components.log_chance[0][k, code] if code >= 0 else 0.0)
            expected += normal(row[seen], components.mean[k, seen], components.covariance[k][np.ix_(seen, seen)])
            assert found[i, k] == pytest.approx(expected, abs=1e-10)


@pytest.mark.exact
def test_terms_are_regressions_weighted_by_clusters(components, table):
    terms = cell_terms([components, components], table)
    i, j = np.argwhere(np.isnan(table.numeric))[0]
    seen = np.flatnonzero(~np.isnan(table.numeric[i]))
    scores = row_scores(components, table)[i]
    weight = np.exp(scores - np.logaddexp.reduce(scores))
    here = slice(terms.start[0], terms.start[1])
    np.testing.assert_allclose(np.exp(terms.log_weight[here]), np.tile(weight, 2) / 2.0)
    for k in range(K):
        slope = np.linalg.solve(components.covariance[k][np.ix_(seen, seen)], components.covariance[k][seen, j])
        mean = components.mean[k, j] + slope @ (table.numeric[i, seen] - components.mean[k, seen])
        variance = components.covariance[k, j, j] - slope @ components.covariance[k][seen, j]
        assert terms.mean[here][k] == pytest.approx(mean)
        assert terms.scale[here][k] == pytest.approx(math.sqrt(variance))
    assert terms.start.size == 1 + np.isnan(table.numeric).sum()


@pytest.mark.statistical
def test_missing_cells_are_drawn_together(components, table):
    """Means and covariances of 20,000 draws; each of 5 z-scores is beyond 5 with probability 6e-7."""
    rng, k = np.random.default_rng(1), 1
    rows = np.tile(table.numeric[1], (20_000, 1))
    drawn = draw_missing(rng, components, rows, np.full(len(rows), k))
    covariance = components.covariance[k]
    slope = covariance[:2, 2] / covariance[2, 2]
    mean = components.mean[k, :2] + slope * (0.2 - components.mean[k, 2])
    left = covariance[:2, :2] - np.outer(slope, covariance[2, :2])
    apart = drawn[:, :2] - mean
    assert np.all(np.abs(apart.mean(axis=0)) < 5.0 * np.sqrt(np.diag(left) / len(rows)))
    products = apart[:, [0, 1, 0]] * apart[:, [0, 1, 1]]
    expected = np.array([left[0, 0], left[1, 1], left[0, 1]])
    assert np.all(np.abs(products.mean(axis=0) - expected) < 5.0 * products.std(axis=0) / math.sqrt(len(rows)))
    assert np.all(drawn[:, 2] == 0.2)


@pytest.mark.exact
def test_the_marginal_of_a_cluster_is_that_of_full_covariances():
    """Up to the power of pi, which depends on the number of rows only."""
    rng = np.random.default_rng(2)
    rows, root = rng.normal(size=(7, D)), rng.normal(size=(D, D))
    hyper = Hyper(1.0, 0.3, D + 4.0, root @ root.T + np.eye(D), rng.normal(size=D))
    scatter = block_sampler.prior_scatter(hyper, hyper.dof)
    likelihood = GaussianFull(mean=tuple(hyper.centre), strength=0.3, dof=hyper.dof, scale=scatter)
    found = block_sampler.log_marginal(cluster_of(rows, NO_GRAIN), hyper, 0.3, hyper.dof)
    assert found - 0.5 * rows.size * math.log(math.pi) == pytest.approx(log_marginal(likelihood, rows), abs=1e-8)


@pytest.mark.statistical
def test_covariances_have_the_scale_as_their_mean():
    """z-scores of 4,000 draws; all nine within 5 but with probability 5e-6."""
    rng, scale = np.random.default_rng(3), np.array([[1.0, 0.4, 0.0], [0.4, 2.0, -0.3], [0.0, -0.3, 0.5]])
    hyper = Hyper(1.0, 0.1, D + 16.0, scale, np.zeros(D))
    drawn = np.array([drawn_component(rng, hyper, None)[1] for _ in range(4_000)])
    error = drawn.std(axis=0) / math.sqrt(len(drawn))
    assert np.all(np.abs(drawn.mean(axis=0) - scale) < 5.0 * error)
    scales = np.array([drawn_scale(rng, hyper, np.empty((0, D, D))).scale for _ in range(4_000)])
    error = scales.std(axis=0) / math.sqrt(len(scales))
    assert np.all(np.abs(scales.mean(axis=0) - 0.5 * np.eye(D)) < 5.0 * error)


def prior_state(rng, n):
    """Hyperparameters, components and clusters of n rows from the prior, for Geweke's test."""
    start = Hyper(
        rng.gamma(1.0), float(rng.choice(STRENGTHS)), 2.0 + float(rng.choice(EXTRA_DOF)), np.eye(2), np.zeros(2)
    )
    hyper = drawn_scale(rng, start, np.empty((0, 2, 2)))._replace(centre=rng.normal(size=2))
    parts = [drawn_component(rng, hyper, None) for _ in range(block_sampler.N_COMPONENTS)]
    sticks = rng.beta(1.0, hyper.concentration, block_sampler.N_COMPONENTS)
    sticks[-1] = 1.0
    weight = sticks * np.append(1.0, np.cumprod(1.0 - sticks[:-1]))
    chance = np.log(np.maximum(rng.dirichlet([0.5, 0.5], block_sampler.N_COMPONENTS), 1e-300))
    labels = rng.choice(weight.size, n, p=weight / weight.sum())
    mean, covariance = (np.array([part[i] for part in parts]) for i in (0, 1))
    return hyper, Components(np.log(weight + 1e-300), mean, covariance, (chance,)), labels


def rows_of(rng, components, labels):
    """Whole rows and codes given their clusters."""
    rows = np.array([rng.multivariate_normal(components.mean[k], components.covariance[k]) for k in labels])
    codes = np.array([[rng.choice(2, p=np.exp(components.log_chance[0][k]))] for k in labels])
    return rows, codes


def features(hyper, labels, rows):
    """Bounded quantities, whose means the two ways of sampling share."""
    sizes = np.bincount(labels)
    return [
        math.exp(-hyper.concentration),
        math.log(hyper.strength),
        math.log(hyper.dof - 2.0),
        np.tanh(hyper.scale[0, 0]),
        np.tanh(hyper.scale[0, 1]),
        np.tanh(hyper.centre[0]),
        np.count_nonzero(sizes),
        np.tanh(rows[0, 0]),
        np.tanh(rows[0, 0] * rows[0, 1]),
        np.tanh(rows[1, 0] ** 2),
    ]


@pytest.mark.statistical
@pytest.mark.slow
def test_geweke(monkeypatch):
    """Prior draws against a chain that draws data and state in turn; ten z-scores beyond 4.5: probability 7e-5."""
    monkeypatch.setattr(block_sampler, "N_COMPONENTS", 3)
    rng, n, n_sweeps = np.random.default_rng(4), 4, 6_000
    missing = np.zeros((n, 2), bool)
    missing[0, 1] = missing[1] = True
    known = []
    for _ in range(3_000):
        hyper, components, labels = prior_state(rng, n)
        known.append(features(hyper, labels, rows_of(rng, components, labels)[0]))
    hyper, components, labels = prior_state(rng, n)
    found = []
    for _ in range(n_sweeps):
        rows, codes = rows_of(rng, components, labels)
        table = BlockTable(np.where(missing, np.nan, rows), codes, np.array([2]), np.zeros(2))
        hyper, components, labels, rows = swept(rng, table, hyper, labels, rows)
        found.append(features(hyper, labels, rows))
    known, batches = np.array(known), np.array(found).reshape(40, n_sweeps // 40, -1).mean(axis=1)
    error = np.sqrt(known.var(axis=0) / len(known) + batches.var(axis=0, ddof=1) / len(batches))
    assert np.all(np.abs(known.mean(axis=0) - batches.mean(axis=0)) < 4.5 * error)

"""Scorers give the log predictive of the likelihood's contract, for every family, number of clusters and columns."""

import numba
import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.bernoulli import BernoulliPrior
from bayesgrove.likelihoods.categorical import CategoricalPrior
from bayesgrove.likelihoods.contract import log_predictive, n_stats
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import full_prior
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.models.nrm.state import empty_clusters, fill_alone, rebuild
from bayesgrove.scoring.count_lanes import CodeScorer, WordScorer
from bayesgrove.scoring.full_lanes import FullScorer
from bayesgrove.scoring.lanes import DiagonalScorer, KnownScorer, RowScorer, score_lanes
from bayesgrove.scoring.row_scorers import choose_scorer
from reference import compiled

pytestmark = pytest.mark.unit
FAST = {
    "gaussian-known-variance": KnownScorer,
    "gaussian-full": FullScorer,
    "gaussian-full-rounded": FullScorer,
    "bernoulli": CodeScorer,
    "categorical": CodeScorer,
    "multinomial": WordScorer,
}


@numba.njit(error_model="numpy")
def score_all(scorer, clusters, values, n_clusters, found, wanted):
    """Scores of rows by the scorer and, to `wanted`, by the contract."""
    out = np.empty((2, clusters.sizes.size))
    for i in range(values.shape[0]):
        score_lanes(scorer, clusters.rows, clusters.lanes, values[i], n_clusters, out)
        for k in range(n_clusters):
            found[i, k] = out[0, k]
            wanted[i, k] = log_predictive(scorer.prior, clusters.rows[k], values[i])


def clusters_of(scorer, values, n_clusters, seed=1):
    """Clusters of very different sizes with random members."""
    labels = np.minimum(generator(seed).geometric(0.2, len(values)) - 1, n_clusters - 1)
    labels[:n_clusters] = np.arange(n_clusters)
    clusters = empty_clusters(scorer, labels, n_clusters)
    rebuild(scorer, values, clusters)
    return clusters


def check_scores(scorer, values, n_clusters, rows=None):
    rows = values if rows is None else rows
    clusters = clusters_of(scorer, values, n_clusters)
    found, wanted = np.empty((2, len(rows), n_clusters))
    score_all(scorer, clusters, np.ascontiguousarray(rows, float), n_clusters, found, wanted)
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_scores_of_every_likelihood(example, missing):
    values = example.data(3, 60, missing)
    scorer = choose_scorer(example.prior, 60, complete=missing == 0.0)
    assert isinstance(scorer, FAST.get(example.name, RowScorer) if missing == 0.0 else RowScorer)
    for n_clusters in (1, 2, 7, 8, 9, 40):
        check_scores(scorer, values, n_clusters)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_density_of_a_row_alone_is_its_marginal(example, missing):
    values = example.data(4, 20, missing)
    alone = np.empty(20)
    fill_alone(choose_scorer(example.prior, 20, complete=missing == 0.0), values, alone)
    wanted = [compiled.log_marginal(example.prior, compiled.statistics(example.prior, row[None])) for row in values]
    np.testing.assert_allclose(alone, wanted, rtol=1e-10, atol=1e-10)


def diagonal(n_columns, rate=0.8):
    """Columns that differ in all but the shape."""
    ramp = 1.0 + np.arange(n_columns) / n_columns
    return GaussianDiagonalPrior(ramp - 1.2, 0.3 * ramp, np.full(n_columns, 1.7), rate * ramp, np.zeros(n_columns))


def full(n_columns):
    """A scale with correlations."""
    factor = np.tril(generator(9).normal(0, 0.3, (n_columns, n_columns))) + np.eye(n_columns)
    return full_prior(np.linspace(-1, 1, n_columns), 0.4, n_columns + 1.5, factor @ factor.T)


def full_rounded(n_columns):
    """The same with cells that are rounded, some columns more than others."""
    return full(n_columns)._replace(grain=np.linspace(0.0, 0.3, n_columns))


def known(n_columns):
    """Columns that differ."""
    ramp = 1.0 + np.arange(n_columns) / n_columns
    return GaussianKnownVariancePrior(0.5 * ramp, ramp - 1.2, 2.0 / ramp)


GAUSSIANS = [(diagonal, DiagonalScorer), (full, FullScorer), (full_rounded, FullScorer), (known, KnownScorer)]


@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 40])
@pytest.mark.parametrize(("make", "kind"), GAUSSIANS)
def test_gaussian_scores_for_any_number_of_columns(make, kind, n_columns):
    values = generator(5, n_columns).normal(0, 2, (50, n_columns))
    scorer = choose_scorer(make(n_columns), 50, complete=True)
    assert type(scorer) is kind
    for n_clusters in (1, 8, 13):
        check_scores(scorer, values, n_clusters)


@pytest.mark.parametrize("distance", [1e4, 1e8, 1e15])
@pytest.mark.parametrize("n_columns", [1, 7, 8, 40])
@pytest.mark.parametrize("make", [diagonal, full, known])
def test_scores_of_far_outliers(make, n_columns, distance):
    """Products of 40 factors as large as 1e30 must not overflow."""
    rng = generator(6)
    values = rng.normal(0, 1, (40, n_columns))
    far = distance * rng.choice([-1.0, 1.0], (5, n_columns))
    check_scores(choose_scorer(make(n_columns), 40, complete=True), values, 3, far)


@pytest.mark.parametrize("rate", [1e-12, 1e12])
def test_scores_of_very_narrow_and_very_wide_columns(rate):
    values = generator(7).normal(0, np.sqrt(rate), (40, 40))
    check_scores(choose_scorer(diagonal(40, rate), 40, complete=True), values, 9)


@pytest.mark.parametrize("n_columns", [1, 40])
def test_code_scores_for_many_columns(n_columns):
    rng = generator(8)
    values = rng.integers(0, 2, (50, n_columns)).astype(float)
    prior = BernoulliPrior(rng.gamma(1, 1, n_columns), rng.gamma(1, 1, n_columns))
    check_scores(choose_scorer(prior, 50, complete=True), values, 11)
    sizes = rng.integers(2, 9, n_columns)
    prior = CategoricalPrior(rng.gamma(1, 1, n_columns), np.concatenate([[0], np.cumsum(sizes)]))
    codes = rng.integers(0, sizes, (50, n_columns)).astype(float)
    check_scores(choose_scorer(prior, 50, complete=True), codes, 11)


def test_word_scores_of_empty_long_and_sparse_documents():
    values = generator(9).poisson(0.1, (50, 300)).astype(float)
    values[0], values[1, :3] = 0.0, 1_000.0
    check_scores(choose_scorer(MultinomialPrior(np.full(300, 0.1)), 50, complete=True), values, 5)


@pytest.mark.parametrize(("shape", "kind"), [([2.0, 2.0], DiagonalScorer), ([2.0, 3.0], RowScorer)])
def test_one_logarithm_for_all_columns_needs_one_shape(shape, kind):
    prior = GaussianDiagonalPrior(np.zeros(2), np.ones(2), np.array(shape), np.ones(2), np.zeros(2))
    assert type(choose_scorer(prior, 9, complete=True)) is kind
    assert type(choose_scorer(prior, 9, complete=False)) is RowScorer


def test_scratch_beyond_the_clusters_is_never_looked_at():
    """Lanes come in eights: what stands in unused ones may be anything."""
    prior, values = diagonal(6), generator(3).normal(0, 1, (20, 6))
    scorer = choose_scorer(prior, 20, complete=True)
    clusters = clusters_of(scorer, values, 3)
    assert clusters.sizes.size == 8
    assert clusters.rows.shape == (8, n_stats(prior))
    found, again, wanted = np.empty((3, 20, 3))
    score_all(scorer, clusters, values, 3, found, wanted)
    clusters.lanes[:, 3:] = 1e300
    score_all(scorer, clusters, values, 3, again, wanted)
    np.testing.assert_array_equal(found, again)

"""Every scorer's densities of a datum, under clusters as they are and under its own without it, are the contract's."""

import math

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import contract
from bayesgrove.likelihoods.gaussian_diagonal import GaussianDiagonalPrior
from bayesgrove.likelihoods.gaussian_full import full_prior
from bayesgrove.likelihoods.multinomial import MultinomialPrior
from bayesgrove.scoring.lanes import fill_lane, fill_lane_without, n_fields, padded, score_lanes
from bayesgrove.scoring.row_scorers import choose_scorer

pytestmark = pytest.mark.unit


def check_scores(prior, values, sizes, complete=True):
    """Clusters of consecutive rows; the first row is scored under all, and under the first cluster without it."""
    scorer = choose_scorer(prior, len(values), complete=complete)
    capacity = int(padded(len(sizes) + 1))
    rows = np.zeros((capacity, contract.n_stats(prior)))
    lanes, out = np.zeros((int(n_fields(scorer)), capacity)), np.zeros((2, capacity))
    for k, stop in enumerate(np.cumsum(sizes)):
        for x in values[stop - sizes[k] : stop]:
            contract.add(prior, rows[k], x)
        fill_lane(scorer, rows[k], lanes, k)
    x, place = values[0], len(sizes)
    fill_lane_without(scorer, rows, lanes, 0, place, x)
    reduced = rows[0].copy()
    contract.remove(prior, reduced, x)
    score_lanes(scorer, rows, lanes, x, place + 1, out)
    expected = [contract.log_predictive(prior, row, x) for row in (*rows[:place], reduced)]
    np.testing.assert_allclose(out[0, : place + 1], expected, rtol=1e-10)


@pytest.mark.parametrize("sizes", [(2, 1, 9), (12,), (5, 0, 7)])
def test_scorers_agree_with_the_contract(example, sizes):
    check_scores(example.prior, example.data(4, 12), list(sizes))


def test_missing_cells(by_name):
    check_scores(by_name["columns"].prior, by_name["columns"].data(4, 12, missing=0.3), [5, 7], complete=False)


@pytest.mark.parametrize("n_columns", [1, 3, 4, 9, 17])
def test_diagonal_and_full_gaussians_of_any_width(n_columns):
    values = generator(8).normal(5.0, 2.0, (40, n_columns))
    ones = np.ones(n_columns)
    strength = np.where(np.arange(n_columns) % 3 == 1, 0.7, 0.1)
    check_scores(GaussianDiagonalPrior(ones, strength, 2.0 * ones, 0.3 * ones, 0.0 * ones), values, [2, 38])
    scale = np.eye(n_columns) + 0.2
    check_scores(full_prior(ones, 0.3, n_columns + 2.0, scale), values, [2, 38])
    check_scores(full_prior(ones, 0.3, n_columns + 2.0, scale, 0.2 * ones), values, [2, 38])


def test_documents_with_rare_and_frequent_words():
    rng = generator(9)
    counts = rng.poisson(rng.gamma(0.1, 20.0, 50), (30, 50)).astype(float)
    counts[0, :3] = 64.0, 65.0, 900.0
    check_scores(MultinomialPrior(rng.gamma(1.0, 1.0, 50)), counts, [2, 28])


@pytest.mark.parametrize("pseudo_count", [1e-9, 0.1, 3.0, 1e8])
def test_marginal_of_documents_by_gamma_functions(pseudo_count):
    """Products of factors are taken for a few tokens of a word only, and never leave the range of floats."""
    counts = np.arange(400.0) % 13
    found = contract.log_marginal(MultinomialPrior(np.full(400, pseudo_count)), np.append(counts, 0.25))
    rising = [sum(math.log(pseudo_count + r) for r in range(int(count))) for count in counts]
    whole = sum(math.log(400 * pseudo_count + r) for r in range(int(counts.sum())))
    assert found == pytest.approx(math.fsum(rising) - whole + 0.25, rel=1e-11)

"""First views of CrossCat chains by the dependence of columns."""

import math

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_cross_table
from bayesgrove.likelihoods import Bernoulli, Categorical, Columns, GaussianDiagonal, bind
from bayesgrove.models.cross.mcmc_dependence import LEVELS, dependent_views, levels_of, log_dependence
from bayesgrove.models.cross.mcmc_target import make_target
from bayesgrove.stats.partitions import adjusted_rand

pytestmark = pytest.mark.unit


def start(X, likelihood, seed=0):
    """Views and rows of a start."""
    bound = bind(likelihood, X)
    target = make_target(bound.prior, bound.values)
    return dependent_views(generator(seed), target, bound.prior.params, np.ones(2))


def test_views_of_a_clear_table_are_found_at_once():
    made = make_cross_table(400, (8, 12), (3, 4), n_trials=1, random_state=2)
    views, rows = start(made.X, Columns([Bernoulli()] * 20))
    assert adjusted_rand(made.view_labels, views) > 0.8
    assert rows.shape == (views.max() + 1, 400)


def test_chains_start_apart():
    made = make_cross_table(100, (30, 50), (4, 5), n_trials=1, random_state=3)
    starts = [start(made.X, Columns([Bernoulli()] * 80), seed)[0] for seed in range(4)]
    assert len({views.tobytes() for views in starts}) > 1


def test_log_dependence_is_half_the_g_statistic_less_its_price():
    rng = generator(1)
    first = rng.integers(0, 3, 200)
    second = np.where(rng.random(200) < 0.7, first, rng.integers(0, 3, 200))
    table = np.zeros((3, 3))
    np.add.at(table, (first, second), 1)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / 200
    wanted = float((table * np.log(table / expected)).sum()) - 0.5 * 4 * math.log(200)
    assert log_dependence(first, second) == pytest.approx(wanted, abs=1e-9)


def test_missing_cells_and_columns_of_one_level_say_nothing():
    nothing = np.full(50, -1)
    assert log_dependence(nothing, np.zeros(50, np.int64)) == 0.0
    assert log_dependence(np.zeros(50, np.int64), np.arange(50) % 2) == pytest.approx(0.0)


def test_levels():
    cells = np.array([0.0, 1.0, 2.0, 3.0, np.nan, 100.0])
    assert levels_of(cells, 0).tolist() == [0, 0, 1, 2, -1, 3]
    codes = np.repeat(np.arange(12.0), np.arange(12, 0, -1))
    levels = levels_of(codes, 12)
    assert levels.max() == LEVELS - 1
    assert (levels[codes >= LEVELS - 1] == LEVELS - 1).all()
    assert levels_of(np.full(3, np.nan), 0).tolist() == [-1, -1, -1]


def test_odd_tables():
    rng = generator(2)
    X = np.column_stack([rng.normal(size=60), np.full(60, np.nan), rng.integers(0, 3, 60), np.ones(60)])
    family = Columns([GaussianDiagonal(), GaussianDiagonal(), Categorical(n_categories=3), GaussianDiagonal()])
    views, rows = start(X, family)
    assert views.shape == (4,)
    assert rows.shape[1] == 60
    assert start(X[:, :1], Columns([GaussianDiagonal()]))[0].tolist() == [0]
    few, _ = start(X[:5, :1], Columns([GaussianDiagonal()]))
    assert few.tolist() == [0]

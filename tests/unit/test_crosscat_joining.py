"""First views of CrossCat chains: views are merged where that is better, and cells that are rounded are spread."""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Columns, GaussianDiagonal, bind
from bayesgrove.models.cross import mcmc_joining
from bayesgrove.models.cross.mcmc_coordinates import default_hyperpriors
from bayesgrove.models.cross.mcmc_fit import learned_coordinates, make_sampler, unrounded
from bayesgrove.models.cross.mcmc_joining import adopt, joined_views, merge_pair, move_rows, score
from bayesgrove.models.cross.mcmc_schedules import default_steps
from bayesgrove.models.cross.mcmc_starts import Given
from bayesgrove.models.cross.mcmc_state import log_joint, make_state
from bayesgrove.models.cross.mcmc_target import make_target
from bayesgrove.stats.partitions import relabel
from reference.state_checks import check_cross

pytestmark = pytest.mark.unit
N_ROWS = 60
STEPS = default_steps(number_share=1.0)


def columns(values):
    """A bound table with one likelihood per column and fixed hyperparameters."""
    each = Columns([GaussianDiagonal(mean=0.0, strength=0.1, shape=2.0, rate=2.0)] * values.shape[1])
    return bind(each, values, "fixed")


def table_of(groups, seed=0):
    """Columns of equal numbers in `groups` share clusters of the rows, three that are far apart."""
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, 3, (max(groups) + 1, N_ROWS))
    values = np.column_stack([4.0 * clusters[group] for group in groups])
    return columns(values + rng.normal(size=values.shape))


def first_views(bound, start, seed=0):
    target = make_target(bound.prior, bound.values)
    return target, start(generator(seed), target, bound.prior.params, np.ones(2))


@pytest.mark.parametrize("groups", [(0, 0, 0, 0), (0, 0, 1, 1)], ids=str)
@pytest.mark.parametrize("start", [(0, 1, 2, 3), (0, 0, 1, 1), (0, 0, 0, 0)], ids=str)
def test_views_are_merged_until_no_pair_is_better_as_one(groups, start, monkeypatch):
    """From any finer views the truth is found; views that are too coarse are left to the chains."""
    bound = table_of(groups)
    monkeypatch.setattr(mcmc_joining, "dependent_views", Given(start))
    for seed in range(5):
        _, (of_column, labels) = first_views(bound, joined_views, seed)
        wanted = start if groups == (0, 0, 1, 1) and max(start) == 0 else groups
        assert relabel(of_column).tolist() == list(wanted)
        assert labels.shape == (max(wanted) + 1, N_ROWS)


def test_large_tables_start_as_they_are(monkeypatch):
    bound = table_of((0, 0))
    monkeypatch.setattr(mcmc_joining, "MOST_CELLS", 0)
    monkeypatch.setattr(mcmc_joining, "dependent_views", Given([0, 1]))
    assert first_views(bound, joined_views)[1][0].tolist() == [0, 1]


def test_what_is_kept_of_merged_views_is_true():
    bound = table_of((0, 1, 2))
    target, rng = make_target(bound.prior, bound.values), generator(1)
    rows = np.arange(3 * N_ROWS).reshape(3, N_ROWS) % 4
    state = make_state(target, np.arange(3), rows, bound.prior.params, np.ones(2))
    merged = merge_pair(rng, target, state, 0, 2)
    assert merged.views.of_column.tolist() == [0, 1, 0]
    assert merged.row_labels()[1].tolist() == relabel(rows[1]).tolist()
    move_rows(rng, target, merged)
    check_cross(target, merged)
    taken = adopt(target, state, merged, np.array([0, 2]))
    check_cross(target, taken)
    assert taken.views.of_column.tolist() == [0, 1, 0]
    assert np.array_equal(taken.row_labels()[0], relabel(merged.row_labels()[0]))
    assert state.views.of_column.tolist() == [0, 1, 2]


def test_the_score_of_all_columns_is_the_log_joint():
    bound = table_of((0, 1, 2))
    target = make_target(bound.prior, bound.values)
    rows = np.arange(2 * N_ROWS).reshape(2, N_ROWS) % 4
    state = make_state(target, np.array([0, 1, 0]), rows, bound.prior.params, np.array([0.5, 2.0]))
    nothing = default_hyperpriors(target, concentrations=False, columns=False)
    assert score(target, state, np.arange(3)) == pytest.approx(log_joint(target, nothing, state))


def rounded_table():
    """Numbers rounded to tenths, the same without equal values, and whole numbers with a missing cell."""
    rng = np.random.default_rng(2)
    tenths, exact, whole = rng.normal(size=80).round(1), rng.normal(size=80), rng.integers(0, 5, 80).astype(float)
    whole[3] = np.nan
    return np.column_stack([tenths, exact, whole])


def bound_gaussians(values):
    likelihood = Columns([GaussianDiagonal()] * values.shape[1])
    bound = bind(likelihood, values, "auto")
    return bound, learned_coordinates(likelihood, bound.prior, ("a", "b", "c"), "optimize")


def test_equal_cells_are_spread_within_their_rounding():
    values = rounded_table()
    bound, learned = bound_gaussians(values)
    found = unrounded(bound.prior, values, learned)
    assert np.array_equal(found[:, 1], values[:, 1])
    assert np.isnan(found[3, 2])
    for j, step in ((0, 0.1), (2, 1.0)):
        gaps = (found - values)[~np.isnan(values[:, j]), j]
        assert np.abs(gaps).max() <= step / 2 + 1e-12
        assert np.unique(gaps).size == gaps.size
    assert np.array_equal(found, unrounded(bound.prior, values, learned), equal_nan=True)


def test_fixed_hyperparameters_leave_cells_as_they_are():
    values = rounded_table()
    bound, learned = bound_gaussians(values)
    assert np.array_equal(unrounded(bound.prior, values, np.zeros_like(learned)), values, equal_nan=True)


def test_equal_cells_make_no_density_without_bound(monkeypatch):
    """Half of the cells are equal: taken as exact, their clusters lose all variance and the log joint has no bound."""
    values = np.random.default_rng(0).normal(size=(120, 2)).round(1)
    values[:60] = 0.0
    sweeps = {}
    for name, spread in (("spread", unrounded), ("exact", lambda prior, cells, learned: cells)):
        monkeypatch.setattr("bayesgrove.models.cross.mcmc_fit.unrounded", spread)
        bound, learned = bound_gaussians(values)
        sampler, rng = make_sampler(bound, ("auto", "auto"), learned, "dependence", 1, "CrossCat"), generator(0)
        state, seen = sampler.start(rng), []
        for _ in range(150):
            for step in STEPS:
                sampler.move(rng, state, step)
            seen.append(sampler.scalars(state)["log_joint"])
        sweeps[name] = np.array(seen)
    assert np.ptp(sweeps["spread"][-100:]) < 60.0
    assert sweeps["exact"][-1] - sweeps["spread"][-1] > 500.0

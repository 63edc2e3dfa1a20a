"""What CrossCat's kernels look up, side by side or by table, against plain sums of log predictives."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Bernoulli, Categorical, Columns, GaussianDiagonal, bind
from bayesgrove.likelihoods.columns import column_log_predictive, column_remove
from bayesgrove.models.cross.mcmc_allocation import allocate_rows
from bayesgrove.models.cross.mcmc_lanes import (
    LANES,
    add_gaussian,
    discrete_without,
    fill_lane,
    gaussian_without,
    layout_of,
    score_discrete,
)
from bayesgrove.models.cross.mcmc_state import make_state
from bayesgrove.models.cross.mcmc_target import make_target

pytestmark = pytest.mark.unit
N_ROWS, N_CLUSTERS = 40, 11
FAMILIES = [Bernoulli(0.3, 1.7), Categorical(n_categories=3, pseudo_count=0.4), GaussianDiagonal()] * 14


@pytest.fixture(scope="module")
def state_and_target():
    """42 columns with missing cells in one view of more clusters than stand side by side."""
    rng = generator(8)
    drawn = [rng.integers(0, 2, N_ROWS), rng.integers(0, 3, N_ROWS), rng.normal(size=N_ROWS)]
    values = np.stack([rng.permutation(drawn[j % 3]) for j in range(len(FAMILIES))], axis=1).astype(float)
    values[rng.random(values.shape) < 0.15] = np.nan
    bound = bind(Columns(FAMILIES), values)
    target = make_target(bound.prior, bound.values)
    labels = np.arange(N_ROWS) % N_CLUSTERS
    return make_state(target, np.zeros(len(FAMILIES), np.int64), [labels], bound.prior.params, (1.0, 1.0)), target


def log_predictive(target, state, row, i, *, without):
    """Of a row's cells in a cluster with these statistics, one after the other."""
    total, row = 0.0, row.copy()
    for j, family in enumerate(target.family):
        x, first, last, p = target.by_row[i, j], target.start[j], target.start[j + 1], state.params[j]
        if not math.isnan(x):
            if without:
                column_remove(family, row, first, x, p[0])
            total += column_log_predictive(family, row, first, last, x, p)
    return total


def test_rows_are_scored_in_all_clusters_at_once_and_without_themselves(state_and_target):
    state, target = state_and_target
    layout = layout_of(target, state.params, state.views.of_column, 0, len(FAMILIES))
    members, at, weights, _, n_discrete, n_regular, _ = layout
    assert (n_discrete, n_regular) == (28, 42)
    n_lanes, stats, start = 2 * LANES, state.views.stats, target.start
    fields, out = np.zeros((weights.size, n_lanes)), np.empty(n_lanes)
    for k in range(N_CLUSTERS):
        fill_lane(target, state.params, state.tables, layout, stats, k, fields, k)
    for i in range(N_ROWS):
        score_discrete(target.codes_by_row, i, members, at, n_discrete, fields, n_lanes, out)
        add_gaussian(target.by_row, target.codes_by_row, i, members, at, n_discrete, n_regular, fields, n_lanes, out)
        wanted = [log_predictive(target, state, stats[k], i, without=False) for k in range(N_CLUSTERS)]
        np.testing.assert_allclose(out[:N_CLUSTERS], wanted, rtol=1e-11)
        own = int(state.views.labels[0, i])
        found = discrete_without(target.codes_by_row, i, members, at, weights, n_discrete, start, fields, stats, own)
        found += gaussian_without(
            target.by_row, target.codes_by_row, i, members, at, n_discrete, n_regular, start, target.table_at,
            state.params, state.tables, fields, stats, own,
        )  # fmt: skip
        assert found == pytest.approx(log_predictive(target, state, stats[own], i, without=True), rel=1e-10)


def test_an_allocation_stops_where_it_has_become_too_improbable(state_and_target):
    state, target = state_and_target
    layout = layout_of(target, state.params, state.views.of_column, 0, len(FAMILIES))
    order, labels = generator(2).permutation(N_ROWS), state.views.labels[0].copy()

    def log_q(least):
        sizes = np.zeros(N_ROWS + 1, np.int64)
        return allocate_rows(
            generator(0), target, state.params, state.tables, 1.0, 1.0, layout, order, N_ROWS, labels, sizes, least
        )[1]

    whole = log_q(-np.inf)
    assert whole < -10.0
    assert log_q(whole - 1e-9) == whole
    assert log_q(whole + 1e-9) == -np.inf


@pytest.mark.parametrize("shape", [0.2, 3.0, 80.0])
def test_tables_of_sizes(shape):
    """Also beyond the numbers of cells for which Gamma functions are computed one by one."""
    n, strength, rate = np.arange(602.0), 0.3, 1.5
    values = generator(1).normal(size=(600, 1))
    one = GaussianDiagonal(mean=0.0, strength=strength, shape=shape, rate=rate)
    bound = bind(Columns([one]), values, "fixed")
    target = make_target(bound.prior, bound.values)
    table = make_state(target, [0], [np.zeros(600, np.int64)], bound.prior.params, (1.0, 1.0)).tables[0]
    _, strength, shape, rate = bound.prior.params[0]
    wanted = gammaln(shape + 0.5 * n) - gammaln(shape) + shape * math.log(rate)
    wanted += 0.5 * (math.log(strength) - np.log(strength + n)) - 0.5 * n * math.log(2.0 * math.pi)
    np.testing.assert_allclose(table, wanted, rtol=1e-13, atol=1e-11)

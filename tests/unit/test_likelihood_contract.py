"""What every likelihood promises, run over all of them."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import bayesgrove
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import contract
from reference import compiled
from reference import likelihoods as reference

pytestmark = pytest.mark.unit
N_POOL = 60
N_CYCLES = 1_000_000


@pytest.fixture(scope="module")
def toggles():
    """2,000,000 random comings and goings of 60 items; gives the moves and who is in at the end."""
    order = generator(3).integers(0, N_POOL, 2 * N_CYCLES)
    inside = [False] * N_POOL
    moves = []
    for item in order.tolist():
        moves.append(~item if inside[item] else item)
        inside[item] = not inside[item]
    return np.array(moves), np.flatnonzero(inside)


@pytest.fixture(scope="module")
def plain_portraits():
    """The portraits of all likelihoods computed without a compiler."""
    tests = Path(__file__).resolve().parents[1]
    source = Path(bayesgrove.__file__).resolve().parents[1]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"{tests}{os.pathsep}{source}"}
    command = [sys.executable, "-m", "reference.compiled"]
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def assert_same_row(row, expected, tolerance):
    assert np.all(np.abs(row - expected) <= tolerance * np.maximum(1.0, np.abs(expected)))


def test_the_empty_cluster_is_a_row_of_zeros(example):
    row = np.zeros(contract.n_stats(example.prior))
    assert compiled.log_marginal(example.prior, row) == 0.0
    assert np.all(compiled.gradient(example.prior, row) == 0.0)


def test_removing_what_was_added_is_the_identity(example):
    values = example.data(1, 20, missing=0.2)
    expected = compiled.statistics(example.prior, values[:12])
    row = compiled.statistics(example.prior, values)
    compiled.replay(example.prior, row, values, ~np.arange(12, 20))
    assert_same_row(row, expected, 1e-13)


def test_removing_everything_leaves_exact_zeros(example):
    values = example.data(2, 15, missing=0.2)
    row = compiled.statistics(example.prior, values)
    compiled.replay(example.prior, row, values, ~np.arange(15)[::-1])
    assert np.all(row == 0.0)


def test_merging_equals_adding_all(example):
    values = example.data(3, 25, missing=0.2)
    expected = compiled.statistics(example.prior, values)
    a, b = (compiled.statistics(example.prior, part) for part in (values[:9], values[9:]))
    empty = np.zeros(a.size)
    for out in (np.full(a.size, 7.0), a.copy(), b.copy()):
        left = out if np.array_equal(out, a) else a
        right = out if np.array_equal(out, b) else b
        compiled.merge(example.prior, out, left, right)
        assert_same_row(out, expected, 1e-13)
    for pair in ((a, empty), (empty, a)):
        out = np.full(a.size, 7.0)
        compiled.merge(example.prior, out, *pair)
        assert_same_row(out, a, 1e-15)
    compiled.merge(example.prior, out, empty, empty)
    assert np.all(out == 0.0)


def test_order_does_not_matter(example):
    values = example.data(4, 20, missing=0.2)
    forward = compiled.statistics(example.prior, values)
    assert_same_row(compiled.statistics(example.prior, values[::-1].copy()), forward, 1e-13)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_marginal_is_the_sum_of_predictives(example, missing):
    values = example.data(5, 30, missing=missing)
    row = np.zeros(contract.n_stats(example.prior))
    total = compiled.chain(example.prior, row, values)
    assert total == pytest.approx(compiled.log_marginal(example.prior, row), abs=1e-9)


@pytest.mark.parametrize(("n", "missing"), [(1, 0.0), (7, 0.0), (40, 0.0), (25, 0.4)])
def test_the_marginal_equals_its_slow_twin(example, n, missing):
    values = example.data(6, n, missing=missing)
    got = compiled.log_marginal(example.prior, compiled.statistics(example.prior, values))
    assert got == pytest.approx(reference.log_marginal(example.name, example.prior, values), abs=1e-10)


def test_missing_cells_are_not_counted(example):
    values = example.data(7, 10)
    row = compiled.statistics(example.prior, values)
    after = row.copy()
    nothing = np.full((1, values.shape[1]), np.nan)
    assert compiled.log_predictive(example.prior, row, nothing[0]) == 0.0
    compiled.replay(example.prior, after, nothing, np.array([0, ~0, 0]))
    assert np.array_equal(after, row)


def test_the_gradient_equals_central_differences(example):
    row = compiled.statistics(example.prior, example.data(8, 30, missing=0.2))
    exact = compiled.gradient(example.prior, row)
    for place in range(exact.size):
        sides = []
        for step in (1e-4, -1e-4):
            factors = np.ones(exact.size)
            factors[place] = np.exp(step)
            sides.append(compiled.log_marginal(contract.with_hyper(example.prior, factors), row))
        assert exact[place] == pytest.approx((sides[0] - sides[1]) / 2e-4, rel=1e-5, abs=1e-6)


def test_hyper_names_are_unique_and_bounds_hold_one(example):
    names = [name for name, _, _ in contract.hyper(example.prior)]
    assert len(set(names)) == len(names) > 0
    assert all(0 < low < 1 < high for _, low, high in contract.hyper(example.prior))
    same = contract.with_hyper(example.prior, np.ones(len(names)))
    for before, after in zip(example.prior, same, strict=True):
        assert np.array_equal(before, after)


def test_all_is_finite_at_the_bounds_of_hyper(example):
    values = example.data(9, 200, missing=0.1)
    row = compiled.statistics(example.prior, values)
    whole = example.data(10, 1)[0]
    bounds = [(low, high) for _, low, high in contract.hyper(example.prior)]
    for factors in itertools.product(*bounds) if len(bounds) < 4 else zip(*bounds, strict=True):
        prior = contract.with_hyper(example.prior, np.array(factors))
        assert np.isfinite(compiled.log_marginal(prior, row))
        assert np.isfinite(compiled.log_predictive(prior, row, whole))
        assert np.all(np.isfinite(compiled.gradient(prior, row)))


@pytest.mark.parametrize("size", [1e-150, 1e150])
@pytest.mark.parametrize("name", ["gaussian-known-variance", "gaussian", "gaussian-full"])
def test_gaussian_cells_may_be_tiny_or_huge(by_name, name, size):
    example = by_name[name]
    values = size * example.data(9, 5)
    row = np.zeros(contract.n_stats(example.prior))
    assert np.isfinite(compiled.chain(example.prior, row, values))
    assert np.isfinite(compiled.log_marginal(example.prior, row))


def test_large_counts_are_finite_and_accurate(by_name):
    """Terms of size 1e10 cancel, so five digits after the point are all there is."""
    prior = by_name["poisson"].prior._replace(rate=np.array([1e-9, 1e-6]))
    values = np.array([[1e9, 1e6], [1e9 + 1e3, 1e6]])
    row = np.zeros(contract.n_stats(prior))
    total = compiled.chain(prior, row, values)
    assert total == pytest.approx(compiled.log_marginal(prior, row), abs=1e-4)
    assert -100 < total < 0


def test_compiled_equals_plain_python(example, plain_portraits):
    assert compiled.portrait(example) == pytest.approx(plain_portraits[example.name], rel=1e-11, abs=1e-11)


def test_a_million_random_cycles_do_not_drift(example, toggles):
    moves, members = toggles
    values = example.data(13, N_POOL, missing=0.1)
    row = np.zeros(contract.n_stats(example.prior))
    compiled.replay(example.prior, row, values, moves)
    assert_same_row(row, compiled.statistics(example.prior, values[members]), 1e-9)


def test_a_million_times_the_same_item_does_not_drift(example):
    values = example.data(14, N_POOL)
    row = compiled.statistics(example.prior, values)
    expected = row.copy()
    compiled.replay(example.prior, row, values, np.tile([~7, 7], N_CYCLES))
    assert_same_row(row, expected, 1e-9)


def frequencies(found, support):
    """How often each row of `support` occurs among the rows found, and how often none of them."""
    hits = [np.sum(np.all(found == point, axis=1)) for point in support]
    return np.array([*hits, len(found) - sum(hits)])


DISCRETE = {
    "bernoulli": [np.arange(2)] * 3,
    "binomial": [np.arange(6), np.arange(13)],
    "categorical": [np.arange(3), np.arange(5)],
    "poisson": [np.arange(9), np.arange(20)],
    "columns-negative-binomial": [np.arange(12), np.arange(25)],
    "columns-ordinal": [np.arange(5), np.arange(7)],
}


def support_of(name):
    if name == "multinomial":
        return np.array([x for x in itertools.product(range(4), repeat=4) if sum(x) == 3], float)
    return np.array(list(itertools.product(*DISCRETE[name])), float)


@pytest.mark.statistical
@pytest.mark.parametrize("name", [*DISCRETE, "multinomial"])
def test_draws_follow_the_predictive_where_it_is_discrete(by_name, name):
    """Chi-squared with one bin per value and one for the rest; false alarm 1e-4 per likelihood."""
    example = by_name[name]
    row = compiled.statistics(example.prior, example.data(15, 3))
    support = support_of(name)
    expected = np.exp([compiled.log_predictive(example.prior, row, point) for point in support])
    found = frequencies(compiled.draws(example.prior, 16, row, support[0], 20_000), support)
    expected = 20_000 * np.append(expected, max(0.0, 1 - expected.sum()))
    common = expected >= 5
    assert np.all(found[expected < 1e-6] == 0)
    pooled = (
        np.append(found[common], found[~common].sum()),
        np.append(expected[common], expected[~common].sum()),
    )
    keep = pooled[1] > 0.5
    statistic = np.sum((pooled[0] - pooled[1])[keep] ** 2 / pooled[1][keep])
    assert stats.chi2.sf(statistic, keep.sum() - 1) > 1e-4


@pytest.mark.statistical
@pytest.mark.parametrize("name", ["gaussian-known-variance", "gaussian", "columns"])
def test_draws_follow_the_predictive_where_it_is_continuous(by_name, name):
    """Kolmogorov-Smirnov against the integrated predictive of column 0; false alarm 1e-4 per likelihood."""
    example = by_name[name]
    values = example.data(17, 4)
    row = compiled.statistics(example.prior, values)
    found = compiled.draws(example.prior, 18, row, values[0], 4_000)[:, 0]
    grid = np.linspace(-60, 60, 40_001)
    cells = np.full((grid.size, values.shape[1]), np.nan)
    cells[:, 0] = grid
    density = np.exp([compiled.log_predictive(example.prior, row, x) for x in cells])
    cumulative = integrate.cumulative_simpson(density, x=grid, initial=0)
    assert cumulative[-1] == pytest.approx(1.0, abs=1e-3)
    assert stats.kstest(found, lambda x: np.interp(x, grid, cumulative)).pvalue > 1e-4


@pytest.mark.statistical
def test_draws_of_the_full_gaussian_follow_a_multivariate_t(by_name):
    """Mahalanobis distances are F distributed; false alarm 1e-4 for each of three tests."""
    prior = by_name["gaussian-full"].prior
    values = by_name["gaussian-full"].data(19, 6)
    n, d = values.shape
    found = compiled.draws(prior, 20, compiled.statistics(prior, values), values[0], 4_000)
    centre, strength = values.mean(axis=0), prior.strength + n
    mean = (prior.strength * prior.mean + n * centre) / strength
    gap = centre - prior.mean
    scale = prior.scale + (values - centre).T @ (values - centre)
    scale += prior.strength * n / strength * np.outer(gap, gap)
    dof = prior.dof + n - d + 1
    shape = scale * (strength + 1) / (strength * dof)
    off = found - mean
    distances = np.sum(off * np.linalg.solve(shape, off.T).T, axis=1) / d
    assert stats.kstest(distances, stats.f(d, dof).cdf).pvalue > 1e-4
    for j in range(d):
        assert stats.kstest(off[:, j] / np.sqrt(shape[j, j]), stats.t(dof).cdf).pvalue > 1e-4


@pytest.mark.statistical
def test_mixed_columns_draw_each_column_from_its_own_family(by_name):
    """Column means of the draws against exact predictive means, within 4.5 standard errors each."""
    example = by_name["columns"]
    values = example.data(21, 5)
    row = compiled.statistics(example.prior, values)
    found = compiled.draws(example.prior, 22, row, values[0], 20_000)
    for j, points in {1: range(4), 3: range(2), 4: range(8), 5: range(200), 6: range(2)}.items():
        cells = np.full((len(points), values.shape[1]), np.nan)
        cells[:, j] = points
        weights = np.exp([compiled.log_predictive(example.prior, row, x) for x in cells])
        error = found[:, j].std() / np.sqrt(len(found))
        assert abs(found[:, j].mean() - weights @ cells[:, j]) < 4.5 * error


@pytest.mark.statistical
def test_tiny_weights_still_draw_probabilities(by_name):
    prior = by_name["multinomial"].prior._replace(pseudo_count=np.full(4, 1e-4))
    params = np.zeros(4)
    for seed in range(50):
        compiled.sample(prior, generator(seed), np.zeros(5), params, np.ones((1, 4)))
        assert params.sum() == pytest.approx(1.0, abs=1e-12)

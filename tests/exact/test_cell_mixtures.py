"""Predictive mixtures of cells against the formulas of the distributions, their own sums, integrals and draws."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from bayesgrove.likelihoods.columns import column_add
from bayesgrove.likelihoods.families import BERNOULLI, CATEGORICAL, GAUSSIAN, GAUSSIAN_KNOWN, POISSON
from bayesgrove.models.cross import cell_mixtures as mixtures_module
from bayesgrove.models.cross.cell_mixtures import CellMixtures
from conftest import COLUMNS, draw_mixed

pytestmark = pytest.mark.exact
PRIOR = COLUMNS
N_COLUMNS = PRIOR.family.size
REAL = [j for j in range(N_COLUMNS) if PRIOR.family[j] in (GAUSSIAN, GAUSSIAN_KNOWN)]
DISCRETE = [j for j in range(N_COLUMNS) if j not in REAL]
WIDTH = mixtures_module.widest(PRIOR)


def column_stats(j, cells):
    row = np.zeros(WIDTH)
    for x in cells:
        column_add(PRIOR.family[j], row, 0, x, PRIOR.params[j, 0])
    return row


def example(seed=3):
    """For each column two cells, of one term and of three; the last of these is the empty component."""
    rng = np.random.default_rng(seed)
    data = np.asarray(draw_mixed(rng, 12), float)
    column, sizes, rows, weights = [], [], [], []
    for j in range(N_COLUMNS):
        for parts in ([data[:4, j]], [data[:5, j], data[5:, j], []]):
            column.append(j)
            sizes.append(len(parts))
            rows.extend(column_stats(j, part) for part in parts)
            weights.extend(np.log(rng.dirichlet(np.ones(len(parts)))))
    start = np.concatenate([[0], np.cumsum(sizes)])
    return CellMixtures(np.array(column), start, np.array(weights), np.array(rows))


def law(j, row):
    """The predictive of one term as scipy has it."""
    p = PRIOR.params[j]
    family = PRIOR.family[j]
    if family == GAUSSIAN_KNOWN:
        precision = 1 / p[2] + row[0] / p[0]
        mean = (p[1] / p[2] + row[0] * row[1] / p[0]) / precision
        return stats.norm(mean, math.sqrt(p[0] + 1 / precision))
    if family == GAUSSIAN:
        kappa, shape = p[1] + row[0], p[2] + row[0] / 2
        rate = p[3] + row[2] / 2 + p[1] * row[0] * (row[1] - p[0]) ** 2 / (2 * kappa)
        mean = (p[1] * p[0] + row[0] * row[1]) / kappa
        return stats.t(2 * shape, mean, math.sqrt(rate * (kappa + 1) / (shape * kappa)))
    if family == POISSON:
        rate = p[1] + row[0]
        return stats.nbinom(p[0] + row[1], rate / (rate + 1))
    if family == CATEGORICAL:
        width = PRIOR.start[j + 1] - PRIOR.start[j]
        weights = p[0] + row[:width]
        return stats.rv_discrete(values=(np.arange(width), weights / weights.sum()))
    n, a, b = (1, p[0], p[1]) if family == BERNOULLI else (int(p[0]), p[1], p[2])
    return stats.betabinom(n, a + row[1], b + row[0])


def terms(mixtures, cell):
    """Weights and laws of a cell."""
    inside = slice(mixtures.start[cell], mixtures.start[cell + 1])
    j = mixtures.column[cell]
    return list(zip(np.exp(mixtures.log_weight[inside]), [law(j, row) for row in mixtures.stats[inside]], strict=True))


def density(mixtures, cell, x):
    is_real = mixtures.column[cell] in REAL
    return sum(weight * (own.pdf(x) if is_real else own.pmf(x)) for weight, own in terms(mixtures, cell))


def cells_of(mixtures, columns):
    return [cell for cell in range(mixtures.n_cells) if mixtures.column[cell] in columns]


def test_densities_are_those_of_the_formulas():
    mixtures = example()
    values = np.where(np.isin(mixtures.column, REAL), 0.37, 1.0)
    expected = [math.log(density(mixtures, cell, values[cell])) for cell in range(mixtures.n_cells)]
    np.testing.assert_allclose(mixtures_module.log_density(PRIOR, mixtures, values), expected, rtol=0, atol=1e-10)
    assert (mixtures_module.log_density(PRIOR, mixtures, np.full(mixtures.n_cells, np.nan)) == 0.0).all()


def test_moments_are_those_of_the_terms():
    mixtures = example()
    mean, sd = mixtures_module.moments(PRIOR, mixtures)
    is_category = PRIOR.family[mixtures.column] == CATEGORICAL
    assert np.isnan(mean[is_category]).all()
    assert np.isnan(sd[is_category]).all()
    for cell in np.flatnonzero(~is_category):
        own = terms(mixtures, cell)
        first = sum(weight * part.mean() for weight, part in own)
        second = sum(weight * (part.var() + part.mean() ** 2) for weight, part in own)
        assert mean[cell] == pytest.approx(first, rel=1e-10)
        assert sd[cell] == pytest.approx(math.sqrt(second - first**2), rel=1e-8)


def test_a_heavy_tail_has_no_deviation():
    prior = PRIOR._replace(params=np.where(np.arange(4) == 2, 0.9, PRIOR.params))
    j = list(PRIOR.family).index(GAUSSIAN)
    mixtures = CellMixtures(np.array([j]), np.array([0, 1]), np.zeros(1), np.zeros((1, WIDTH)))
    assert mixtures_module.moments(prior, mixtures)[1][0] == np.inf


def test_probabilities_are_those_of_the_terms():
    mixtures = example()
    place, flat = mixtures_module.probabilities(PRIOR, mixtures)
    for cell in cells_of(mixtures, DISCRETE):
        found = flat[place[cell] : place[cell + 1]]
        np.testing.assert_allclose(found, density(mixtures, cell, np.arange(found.size)), rtol=0, atol=1e-12)
        assert found.sum() == pytest.approx(1.0, abs=1e-12)
    for cell in cells_of(mixtures, REAL):
        assert place[cell + 1] == place[cell]


def test_modes_and_entropies_of_discrete_cells():
    mixtures = example()
    place, flat = mixtures_module.probabilities(PRIOR, mixtures)
    modes, entropies = mixtures_module.modes(PRIOR, mixtures), mixtures_module.entropies(PRIOR, mixtures)
    for cell in cells_of(mixtures, DISCRETE):
        own = flat[place[cell] : place[cell + 1]]
        assert modes[cell] == np.argmax(own)
        assert entropies[cell] == pytest.approx(-sum(p * math.log(p) for p in own if p > 0), abs=1e-10)


def test_modes_and_entropies_of_real_cells():
    mixtures = example()
    mean, _ = mixtures_module.moments(PRIOR, mixtures)
    modes, entropies = mixtures_module.modes(PRIOR, mixtures), mixtures_module.entropies(PRIOR, mixtures)
    for cell in cells_of(mixtures, REAL):
        assert modes[cell] == mean[cell]

        def surprise(u, cell=cell):
            p = density(mixtures, cell, math.sinh(u))
            return -p * math.log(p) * math.cosh(u) if p > 0.0 else 0.0

        expected, _ = integrate.quad(surprise, -9.0, 9.0, limit=300, epsabs=1e-10)
        assert entropies[cell] == pytest.approx(expected, abs=1e-6)


def test_quantiles_of_real_cells_invert_the_distribution_function():
    mixtures, levels = example(), np.array([0.001, 0.05, 0.5, 0.9, 0.9999])
    found = mixtures_module.quantiles(PRIOR, mixtures, levels)
    assert mixtures_module.quantiles(PRIOR, mixtures, [0.0, 1.0])[cells_of(mixtures, REAL)[0]].tolist() == [
        -np.inf,
        np.inf,
    ]
    for cell in cells_of(mixtures, REAL):
        cdf = sum(weight * own.cdf(found[cell]) for weight, own in terms(mixtures, cell))
        np.testing.assert_allclose(cdf, levels, rtol=0, atol=1e-10)


def test_quantiles_of_far_apart_terms():
    """Between two narrow terms the distribution function is flat: the search must still end at the level."""
    j = list(PRIOR.family).index(GAUSSIAN)
    rows = np.array([[400.0, -1e3, 1e-3], [400.0, 1e3, 1e-3]])
    stats_ = np.zeros((2, WIDTH))
    stats_[:, :3] = rows
    mixtures = CellMixtures(np.array([j]), np.array([0, 2]), np.log([0.3, 0.7]), stats_)
    low, high = mixtures_module.quantiles(PRIOR, mixtures, [0.15, 0.65])[0]
    assert low == pytest.approx(-1e3, rel=0.2)
    assert high == pytest.approx(1e3, rel=0.2)
    for level, x in ((0.15, low), (0.65, high)):
        assert sum(w * own.cdf(x) for w, own in terms(mixtures, 0)) == pytest.approx(level, abs=1e-9)


def test_quantiles_of_discrete_cells_are_the_smallest_that_reach_the_level():
    mixtures, levels = example(), np.array([0.0, 0.05, 0.5, 0.95, 1.0 - 1e-9])
    found = mixtures_module.quantiles(PRIOR, mixtures, levels)
    for cell in cells_of(mixtures, DISCRETE):
        for level, x in zip(levels, found[cell], strict=True):
            mass = density(mixtures, cell, np.arange(x + 1))
            assert mass.sum() >= level - 1e-12
            assert x == 0 or mass[:-1].sum() < level


def test_large_counts_keep_their_mass():
    j = list(PRIOR.family).index(POISSON)
    stats_ = np.zeros((2, WIDTH))
    stats_[:, :3] = [[3.0, 9_000.0, 0.0], [2.0, 20.0, 0.0]]
    mixtures = CellMixtures(np.array([j]), np.array([0, 2]), np.log([1e-4, 1.0 - 1e-4]), stats_)
    _, flat = mixtures_module.probabilities(PRIOR, mixtures)
    np.testing.assert_allclose(flat, density(mixtures, 0, np.arange(flat.size)), rtol=0, atol=1e-12)
    assert density(mixtures, 0, np.arange(flat.size)).sum() == pytest.approx(1.0, abs=1e-11)


def test_draws_follow_the_distribution():
    """False alarm rate 1e-4 for each of the cells when the seed is changed."""
    mixtures, n = example(), 4_000
    rng = np.random.default_rng(11)
    drawn = np.array([mixtures_module.draw(rng, PRIOR, mixtures) for _ in range(n)])
    for cell in cells_of(mixtures, REAL):
        own = terms(mixtures, cell)
        assert stats.kstest(drawn[:, cell], lambda x, own=own: sum(w * part.cdf(x) for w, part in own)).pvalue > 1e-4
    place, flat = mixtures_module.probabilities(PRIOR, mixtures)
    for cell in cells_of(mixtures, DISCRETE):
        expected = n * flat[place[cell] : place[cell + 1]]
        found = np.bincount(drawn[:, cell].astype(int), minlength=expected.size)[: expected.size]
        small = expected < 5.0
        expected = np.append(expected[~small], expected[small].sum() + 1e-9)
        found = np.append(found[~small], n - found[~small].sum())
        assert stats.chisquare(found, expected * n / expected.sum()).pvalue > 1e-4


def test_choosing_and_normalising():
    mixtures = example()
    some = mixtures_module.chosen_cells(mixtures, np.array([5, 2]))
    values = np.ones(2)
    whole = mixtures_module.log_density(PRIOR, mixtures, np.ones(mixtures.n_cells))
    assert mixtures_module.log_density(PRIOR, some, values).tolist() == [whole[5], whole[2]]
    shifted = mixtures_module.normalised(mixtures.log_weight + 3.0 * mixtures.log_weight.size, mixtures.start)
    np.testing.assert_allclose(shifted, mixtures.log_weight, rtol=0, atol=1e-12)


def test_no_cells_at_all():
    none = CellMixtures(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0), np.empty((0, WIDTH)))
    assert mixtures_module.log_density(PRIOR, none, np.empty(0)).size == 0
    assert mixtures_module.quantiles(PRIOR, none, [0.5]).shape == (0, 1)
    assert mixtures_module.modes(PRIOR, none).size == mixtures_module.entropies(PRIOR, none).size == 0
    assert mixtures_module.draw(np.random.default_rng(0), PRIOR, none).size == 0

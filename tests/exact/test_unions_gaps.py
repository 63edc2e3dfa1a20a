"""Gaps between two groups of rows: places without the row against slow twins, and rates of errors."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from bayesgrove.agglomeration.gaps import (
    CENTRES,
    LEAST_SPREAD,
    LEAST_WIDTH,
    gap_probability,
    places_between,
    valley_gain,
)
from bayesgrove.agglomeration.unions import RULE, Components, projections, unite

pytestmark = pytest.mark.exact


def slow_place(first, second, row):
    """Place of a row of the first group on the axis that all other rows give."""
    rest = np.delete(first, row, axis=0)
    gap = second.mean(axis=0) - rest.mean(axis=0)
    within = sum((part - part.mean(axis=0)).T @ (part - part.mean(axis=0)) for part in (rest, second))
    whole = sum(np.trace(np.cov(part.T, bias=True).reshape(len(gap), -1)) * len(part) for part in (first, second))
    whole_gap = second.mean(axis=0) - first.mean(axis=0)
    within[np.diag_indices_from(within)] += LEAST_SPREAD * whole / gap.size + LEAST_WIDTH * (whole_gap @ whole_gap)
    axis = np.linalg.solve(within, gap)
    return (first[row] - rest.mean(axis=0)) @ axis / (gap @ axis)


@pytest.mark.parametrize(("d", "n_first", "n_second"), [(1, 6, 9), (2, 12, 5), (6, 15, 10)])
def test_places_are_those_that_the_other_rows_give(d, n_first, n_second):
    rng = np.random.default_rng(d)
    first, second = rng.normal(size=(n_first, d)), rng.normal(size=(n_second, d)) @ np.diag(1.0 + np.arange(d)) + 1.5
    a, b = places_between(first, second)
    np.testing.assert_allclose(a, [slow_place(first, second, row) for row in range(n_first)], rtol=1e-6)
    np.testing.assert_allclose(1.0 - b, [slow_place(second, first, row) for row in range(n_second)], rtol=1e-6)


def test_halves_of_one_cloud_of_many_columns_are_not_far_apart():
    """With the row itself the axis separates 20 and 20 rows of 30 columns without error."""
    rng = np.random.default_rng(0)
    misplaced = []
    for _ in range(40):
        a, b = places_between(rng.normal(size=(20, 30)), rng.normal(size=(20, 30)))
        misplaced.append(np.mean(np.r_[a > 0.5, b < 0.5]))
    assert np.mean(misplaced) == pytest.approx(0.5, abs=0.1)  # 1,600 rows, dependent within a set


def test_noise_does_not_separate_components_of_many_columns():
    """The squared distance of the means of 20 and 20 rows of 30 columns is 3 where there is none, in variances."""
    rng = np.random.default_rng(1)
    means = rng.normal(size=(2, 400, 30)) / math.sqrt(20.0)
    spreads = []
    for pair in means.swapaxes(0, 1):
        components = Components(np.array([20.0, 20.0]), pair, np.tile(np.eye(30), (2, 1, 1)))
        spreads.append(projections(components, np.array([[0, 1]])).spread[0, 0])
    assert np.mean(np.array(spreads) > 1.0) > 0.7  # nearer than one standard deviation
    assert np.mean(1.0 / np.sqrt(np.sum((means[0] - means[1]) ** 2, axis=1)) > 1.0) < 0.01


@pytest.mark.parametrize("parts", [(np.zeros((8, 2)), np.zeros((8, 2))), (np.zeros((1, 2)), np.ones((9, 2)))])
def test_no_gap_where_groups_coincide_or_have_one_row(parts):
    assert gap_probability(*parts) == 1.0
    assert valley_gain(*parts, np.array([8.0, 8.0]), np.array([0.2, 0.2])) == -math.inf


def test_piles_of_rows_at_two_places_have_a_gap():
    assert gap_probability(np.zeros((20, 2)), np.ones((20, 2))) < 1e-4


def test_the_gain_is_a_ratio_of_likelihoods():
    rng = np.random.default_rng(2)
    first, second = rng.normal(0, 1, (150, 1)), rng.normal(4, 1, (50, 1))
    a, b = places_between(first, second)
    low, high = np.median(a), np.median(b)
    counts = np.histogram((np.r_[a, b] - low) / (high - low), np.linspace(0, 1, CENTRES.size + 1))[0]
    two = 0.75 * norm.pdf(CENTRES, 0.0, 0.25) + 0.25 * norm.pdf(CENTRES, 1.0, 0.25)

    def sloped(slope):
        return counts @ np.log(np.exp(slope * CENTRES) / np.exp(slope * CENTRES).sum())

    best = -minimize_scalar(lambda slope: -sloped(slope), (-1.0, 1.0)).fun
    found = valley_gain(first, second, np.array([150.0, 50.0]), np.array([0.25, 0.25]))
    assert found == pytest.approx(counts @ np.log(two / two.sum()) - best, abs=0.1)
    assert found > 0.0


def rate_of_valleys(draw):
    """Share of 200 pairs whose rows are those of two Gaussians, 3.3 standard deviations apart as fitted."""
    sizes, spread = np.array([150.0, 150.0]), np.array([0.3, 0.3])
    gains = [valley_gain(*draw(np.random.default_rng(seed)), sizes, spread) for seed in range(200)]
    return np.mean(np.array(gains) > RULE.least_gain)


def test_pieces_of_an_even_band_have_no_valley_and_two_gaussians_have():
    """Matched Gaussians of the two pieces are 3.5 standard deviations apart."""

    def band(rng):
        rows = rng.uniform(0.0, 1.0, (300, 2))
        left = rows[:, 0] < 0.5
        return rows[left], rows[~left]

    def pair(rng):
        rows = rng.normal(size=(300, 2)) + np.repeat([[0.0, 0.0], [3.7, 0.0]], 150, axis=0)
        left = rows[:, 0] < 1.85
        return rows[left], rows[~left]

    def slope(rng):
        rows = np.c_[rng.exponential(1.0, 300), rng.normal(size=300)]
        left = rows[:, 0] < 0.7
        return rows[left], rows[~left]

    assert rate_of_valleys(band) < 0.03
    assert rate_of_valleys(slope) < 0.03
    assert rate_of_valleys(pair) > 0.8


def number_of_clusters(rows, labels):
    """Of components with the moments of these groups of rows."""
    parts = [rows[labels == k] for k in range(labels.max() + 1)]
    covariances = np.array([np.cov(part.T, bias=True) for part in parts])
    components = Components(
        np.array([float(len(part)) for part in parts]), np.array([p.mean(axis=0) for p in parts]), covariances
    )
    return int(unite(components, rows, labels).cluster.max()) + 1


def test_gaussians_with_a_shallow_valley_are_apart_and_pieces_of_a_band_are_not():
    """Both have a saddle ratio of about .45, too high for a rule on saddles alone."""
    found = {"gaussians": 0, "band": 0, "band in three": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        truth = np.repeat([0, 1], 300)
        gaussians = rng.normal(size=(600, 2)) + np.array([3.5, 0.0]) * truth[:, np.newaxis]
        found["gaussians"] += number_of_clusters(gaussians, truth) == 2
        band = rng.uniform((0.0, 0.0), (4.0, 1.0), (600, 2))
        found["band"] += number_of_clusters(band, (band[:, 0] > 2.0).astype(int)) == 1
        found["band in three"] += number_of_clusters(band, (band[:, 0] // 1.34).astype(int)) == 1
    assert found["gaussians"] >= 32
    assert min(found["band"], found["band in three"]) >= 38


def test_overlapping_gaussians_are_apart_where_other_clusters_are_gaussian():
    """Two Gaussians 3.3 standard deviations apart, of 60 rows, without and with six others far away; the same of bands.

    Far more Gaussians become clusters of their own than bands are split.
    """
    more = {"gaussians": 0, "band": 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        labels = np.repeat(np.arange(8), 60)
        far = np.column_stack([25.0 * np.arange(1, 7), np.zeros(6)])
        rows = rng.normal(size=(480, 2)) + np.vstack([[0.0, 0.0], [3.3, 0.0], far])[labels]
        for kind in more:
            more[kind] += number_of_clusters(rows, labels) - 6 - number_of_clusters(rows[:120], labels[:120])
            rows[:120] = rng.uniform((0.0, 0.0), (4.0, 1.0), (120, 2))
            labels[:120] = rows[:120, 0] > 2.0
    assert more["gaussians"] >= 10
    assert more["band"] <= more["gaussians"] / 2

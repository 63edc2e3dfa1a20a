"""Profiles of groups of rows against plain numpy and scipy.stats, group by group."""

import numpy as np
import pytest
from scipy import stats

from bayesgrove.stats import profiles
from bayesgrove.stats.profiles import Feature, features_of, profile_groups
from reference.results import table_of

pytestmark = pytest.mark.unit


def random_table(seed, n=60):
    """Numbers far from 0, a yes/no column, a category, with missing cells."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(1e6, 2.0, (n, 2))
    yes = (rng.random(n) < 0.3).astype(float)
    codes = rng.integers(0, 3, n).astype(float)
    values = np.column_stack([numbers, yes, codes])
    values[rng.random(values.shape) < 0.15] = np.nan
    return table_of(
        values, ("a", "b", "yes", "kind"), ("float", "float", "bool", "category"), {3: ("red", "green", "blue")}
    )


GROUPS = np.array([0, 20, 10, 59, 7]), np.array([20, 60, 40, 60, 7])


def cells_of(table, feature, rows=slice(None)):
    cells = table.values[rows, feature.column]
    cells = cells[~np.isnan(cells)]
    return (cells == feature.category).astype(float) if feature.category >= 0 else cells


def test_features_are_columns_and_categories():
    features = features_of(random_table(0))
    assert [feature.name for feature in features] == ["a", "b", "yes", "kind = red", "kind = green", "kind = blue"]
    assert [feature.column for feature in features] == [0, 1, 2, 3, 3, 3]
    assert [feature.is_rate for feature in features] == [False, False, True, True, True, True]
    assert [feature.category for feature in features] == [-1, -1, -1, 0, 1, 2]


def test_only_frequent_categories_are_features():
    codes = np.repeat(np.arange(20.0), np.arange(1, 21))
    features = features_of(table_of(codes[:, np.newaxis], ("k",), ("category",)))
    assert [feature.category for feature in features] == list(range(20 - profiles.MOST_CATEGORIES, 20))
    assert features[0].name == "k = 8"


def test_a_column_without_cells_is_no_rate():
    assert features_of(table_of(np.full((3, 1), np.nan)))[0] == Feature("x0", 0, False, -1)


@pytest.mark.parametrize("seed", range(8))
def test_means_and_intervals_equal_naive_ones(seed):
    table = random_table(seed)
    profile = profile_groups(table, *GROUPS)
    for f, feature in enumerate(profile.features):
        assert profile.overall[f] == pytest.approx(cells_of(table, feature).mean(), rel=1e-12)
        for g, (start, stop) in enumerate(zip(*GROUPS, strict=True)):
            cells = cells_of(table, feature, slice(start, stop))
            found = profile.mean[g, f], profile.low[g, f], profile.high[g, f]
            np.testing.assert_allclose(found, naive_interval(cells, feature.is_rate), rtol=1e-9)


def naive_interval(cells, is_rate):
    n = cells.size
    if n == 0:
        return np.nan, np.nan, np.nan
    mean = cells.mean()
    if is_rate:
        law = stats.beta(cells.sum() + 0.5, n - cells.sum() + 0.5)
        return mean, min(law.ppf(0.025), mean), max(law.ppf(0.975), mean)
    if n == 1:
        return mean, np.nan, np.nan
    return mean, *stats.t.interval(0.95, n - 1, mean, stats.sem(cells))


@pytest.mark.parametrize("seed", range(8))
def test_telling_equals_the_information_of_shrunken_moments(seed):
    table = random_table(seed)
    profile = profile_groups(table, *GROUPS)
    assert (profile.telling >= 0.0).all()
    for f, feature in enumerate(profile.features):
        everything = cells_of(table, feature)
        for g, (start, stop) in enumerate(zip(*GROUPS, strict=True)):
            own = cells_of(table, feature, slice(start, stop))
            rest = np.concatenate([cells_of(table, feature, part) for part in (slice(0, start), slice(stop, None))])
            expected = naive_bits(own, rest, everything, feature.is_rate)
            assert profile.telling[g, f] == pytest.approx(expected, abs=1e-7)


def naive_bits(own, rest, everything, is_rate):
    if not own.size or not rest.size:
        return 0.0
    share = own.size / everything.size
    if is_rate:
        whole = everything.mean()
        rates = [(part.sum() + whole) / (part.size + 1) for part in (own, rest)]
        inside, outside = (stats.bernoulli(rate).entropy() / np.log(2) for rate in rates)
        before = stats.bernoulli(whole).entropy() / np.log(2)
    else:
        whole = everything.var()
        variances = [(part.var() * part.size + whole) / (part.size + 1) for part in (own, rest)]
        inside, outside = (0.5 * np.log2(variance) for variance in variances)
        before = 0.5 * np.log2(whole)
    return max(before - share * inside - (1 - share) * outside, 0.0)


def test_a_feature_that_is_the_same_everywhere_tells_nothing():
    values = np.column_stack([np.full(30, 7.5), np.ones(30), np.zeros(30), np.full(30, np.nan)])
    profile = profile_groups(table_of(values), np.array([0, 10]), np.array([10, 30]))
    assert (profile.telling == 0.0).all()
    assert profile.mean[:, :3].tolist() == [[7.5, 1.0, 0.0]] * 2
    assert profile.low[0, 0] == profile.high[0, 0] == 7.5
    assert np.isnan(profile.mean[:, 3]).all()
    assert np.isnan(profile.overall[3])


def test_rates_of_none_and_all_are_in_their_intervals():
    values = np.array([[0.0]] * 5 + [[1.0]] * 5)
    profile = profile_groups(table_of(values), np.array([0, 5]), np.array([5, 10]))
    assert profile.mean[:, 0].tolist() == [0.0, 1.0]
    assert profile.low[0, 0] == 0.0
    assert profile.high[1, 0] == 1.0
    assert profile.high[0, 0] == pytest.approx(stats.beta(0.5, 5.5).ppf(0.975))


def test_the_feature_that_parts_groups_is_the_strongest():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(100, 4))
    values[:50, 2] += 5.0
    profile = profile_groups(table_of(values), np.array([0, 50]), np.array([50, 100]))
    assert profile.strongest(2)[:, 0].tolist() == [2, 2]
    assert profile.strongest(9).shape == (2, 4)
    # All rows count as one normal law, of variance 1 + 6.25: so more can come out than the one bit of membership.
    assert profile.telling[0, 2] == pytest.approx(0.5 * np.log2(7.25), abs=0.25)


def test_all_rows_as_a_group_tell_nothing():
    table = random_table(3)
    assert (profile_groups(table, np.array([0]), np.array([60])).telling == 0.0).all()

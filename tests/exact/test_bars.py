"""Bars: likelihoods against scipy's, and what is one bar and what is not, over many simulated pieces."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC
from bayesgrove.agglomeration.bars import bar_of, pieces_of
from bayesgrove.agglomeration.unions import RULE, is_one_bar
from bayesgrove.datasets import make_shapes

pytestmark = pytest.mark.exact
N_SETS = 200


def rate_of_bars(draw):
    """Share of pairs of pieces that are one bar."""
    return np.mean([is_one_bar(pieces_of(draw(np.random.default_rng(seed))), 0, 1, RULE) for seed in range(N_SETS)])


def arc(rng, low, high, n, width):
    """A piece of the unit circle."""
    angle = rng.uniform(low, high, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + width * rng.normal(size=(n, 2))


def test_likelihoods_of_gaussians_and_of_a_bar():
    rng = np.random.default_rng(0)
    first, second = (rng.uniform((low, -0.1), (high, 0.1), (n, 2)) for low, high, n in ((0, 2, 50), (2.2, 5, 70)))
    first[:, 1], second[:, 1] = first[:, 1] + 0.1 * first[:, 0] ** 2, second[:, 1] + 0.1 * second[:, 0] ** 2
    parts = (first, second)
    wanted = sum(multivariate_normal(part.mean(0), np.cov(part.T, bias=True)).logpdf(part).sum() for part in parts)
    pieces = pieces_of(parts)
    assert pieces.log_likelihood.sum() == pytest.approx(wanted, abs=1e-3)  # but for the ridge
    two = wanted + 50 * math.log(50 / 120) + 70 * math.log(70 / 120)

    bar = bar_of(pieces, 0, 1)
    along, across = np.concatenate([bar.first, bar.second]).T
    assert across.std() == pytest.approx(0.2 / math.sqrt(12.0), rel=0.2)
    counts = (50, 70) if bar.first.mean() < bar.second.mean() else (70, 50)  # the bar may point either way
    ends = np.sort(along)[[0, counts[0] - 1, counts[0], -1]]
    middle = 0.5 * (ends[1] + ends[2])
    even = counts[0] * math.log(counts[0] / 120 / (middle - ends[0]))
    even += counts[1] * math.log(counts[1] / 120 / (ends[3] - middle))
    one = even + norm(0.0, across.std()).logpdf(across).sum()
    assert bar.log_gain == pytest.approx(one - two, abs=1e-3)


@pytest.mark.parametrize("width", [0.0, 0.01, 0.05])
def test_neighbouring_arcs_of_a_circle_are_one_bar(width):
    """Their Gaussians have a valley of .04 to .4 between them."""
    assert rate_of_bars(lambda rng: (arc(rng, 0.0, 0.6, 40, width), arc(rng, 0.6, 1.2, 40, width))) > 0.9


@pytest.mark.parametrize("gap", [0.15, 0.3])
def test_arcs_with_a_gap_between_them_are_two(gap):
    n = 120 if gap < 0.3 else 60
    assert rate_of_bars(lambda rng: (arc(rng, 0.0, 0.6, n, 0.01), arc(rng, 0.6 + gap, 1.2 + gap, n, 0.01))) < 0.05


@pytest.mark.parametrize("d", [2, 5, 10])
@pytest.mark.parametrize("widths", [(1.0, 1.0), (1.0, 0.2)])
def test_gaussians_beside_each_other_are_no_bar(d, widths):
    """Four standard deviations apart, round or drawn out."""
    scale = np.r_[widths[0], np.full(d - 1, widths[1])]
    shift = np.eye(d)[0] * 4.0
    assert rate_of_bars(lambda rng: (rng.normal(size=(60, d)) * scale, rng.normal(size=(60, d)) * scale + shift)) < 0.05


def test_parallel_bands_are_no_bar():
    def bands(rng):
        return tuple(rng.uniform((0.0, side), (4.0, side + 0.5), (80, 2)) for side in (0.0, 0.7))

    assert rate_of_bars(bands) == 0.0


@pytest.mark.parametrize(
    "parts",
    [
        (np.random.default_rng(0).normal(size=(5, 2)), np.ones((50, 2))),
        (np.arange(20.0)[:, np.newaxis], np.arange(20.0, 40.0)[:, np.newaxis]),
        (np.ones((20, 2)), np.ones((20, 2))),
        (np.ones((20, 2)), np.zeros((20, 2))),
    ],
)
def test_few_rows_one_column_and_rows_at_one_place_are_no_bar(parts):
    assert bar_of(pieces_of(parts), 0, 1) is None


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_clusters"), [("ring", 1), ("moons", 2), ("circles", 2)])
def test_bent_bands_are_whole(kind, n_clusters):
    """Twenty sets of each: 11 to 14 come out as they are, without bars hardly one."""
    sets = [make_shapes(kind, 600, random_state=seed) for seed in range(20)]
    models = [BHC(random_state=0).fit(shapes.X) for shapes in sets]
    scores = [adjusted_rand_score(own.labels, model.labels_) for own, model in zip(sets, models, strict=True)]
    assert np.mean(np.array(scores) > 0.95) >= 0.4
    assert all(model.n_clusters_ >= n_clusters for model in models)

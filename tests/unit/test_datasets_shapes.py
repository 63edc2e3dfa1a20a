"""`make_shapes`: the shapes it promises, and the depth of the valleys it tells."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.datasets import make_shapes
from bayesgrove.datasets.shapes import CURVED, ONE, TWO

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("kind", [*ONE, *TWO])
def test_every_kind_has_points_and_clusters(kind):
    for d in (1, 2, 20):
        if d >= 2 or kind not in CURVED:
            shapes = make_shapes(kind, 61, d, random_state=0)
            assert shapes.X.shape == (61, d)
            assert np.isfinite(shapes.X).all()
            assert set(shapes.labels.tolist()) == ({0, 1} if kind in TWO else {0})


@pytest.mark.parametrize("distance", [3.0, 4.0, 5.0])
def test_the_valley_between_two_gaussians(distance):
    x = np.linspace(0.0, distance, 2_001)
    density = norm.pdf(x) + norm.pdf(x - distance)
    expected = density.min() / density.max()
    assert make_shapes("two gaussians", separation=distance).saddle_ratio == pytest.approx(expected, abs=1e-3)


def test_valleys_at_the_limits():
    assert make_shapes("two gaussians", separation=1.0).saddle_ratio == 1.0
    assert make_shapes("two cubes", separation=1.5).saddle_ratio == 0.0
    assert math.isnan(make_shapes("moons").saddle_ratio)
    narrow = [make_shapes("two widths", 100, d, separation=4.0).saddle_ratio for d in (1, 5)]
    assert narrow[0] < narrow[1]  # in more columns the peak of the wide cluster is lower beside the narrow one


def test_shares_noise_and_seeds():
    shapes = make_shapes("two skewed", 200, share=0.1, noise=0.25, random_state=3)
    assert [int(np.sum(shapes.labels == k)) for k in (-1, 0, 1)] == [50, 135, 15]
    np.testing.assert_array_equal(shapes.X, make_shapes("two skewed", 200, share=0.1, noise=0.25, random_state=3).X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "star"}, "kind is one of gaussian"),
        ({"kind": "ring", "n_features": 1}, "needs at least 2 points and 2 column"),
        ({"share": 1.0}, "share lies between"),
        ({"noise": -0.1}, "noise from 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        make_shapes(**settings)

"""Error rates of the rule for clusters on generated shapes: one cluster split, two clusters joined."""

import numpy as np
import pytest

from bayesgrove import BHC
from bayesgrove.datasets import make_shapes

pytestmark = [pytest.mark.statistical, pytest.mark.slow]
N_SETS = 20


def numbers_of_clusters(kind, **settings):
    sets = (make_shapes(kind, 300, random_state=seed, **settings) for seed in range(N_SETS))
    return np.array([BHC(random_state=0).fit(shapes.X).n_clusters_ for shapes in sets])


@pytest.mark.parametrize("kind", ["gaussian", "uniform", "t3", "exponential", "banana"])
def test_one_cluster_is_rarely_split(kind):
    """With a true rate of 5 %, four splits or more of 20 have a probability of .016."""
    assert np.sum(numbers_of_clusters(kind) > 1) < 4


@pytest.mark.parametrize(("kind", "separation"), [("two gaussians", 6.0), ("two widths", 4.0), ("two cubes", 1.3)])
def test_two_clusters_with_a_deep_valley_are_rarely_joined(kind, separation):
    assert np.sum(numbers_of_clusters(kind, separation=separation) != 2) < 4

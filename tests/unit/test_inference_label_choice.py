"""Labels that another run would not choose are no statement to trust."""

import numpy as np
import pytest

from bayesgrove.inference.diagnostics import diagnose
from bayesgrove.inference.label_choice import chance_of_other_labels
from bayesgrove.inference.verdict import LABELS, Verdict, with_labels

pytestmark = pytest.mark.unit
N_ITEMS = 30


def two_partitions(share, rng, shape=(4, 250)):
    """Draws of two halves, and with probability `share` of one cluster; an item now and then goes astray."""
    labels = np.tile(np.arange(N_ITEMS) % 2, (*shape, 1))
    labels[rng.random(shape) < share] = 0
    astray = rng.random(labels.shape) < 0.02
    labels[astray] = 2
    return labels


@pytest.mark.parametrize(("share", "is_sure"), [(0.0, True), (0.25, True), (0.5, False), (0.75, True)])
def test_the_estimate_is_sure_unless_two_partitions_are_about_as_good(share, is_sure):
    chance = chance_of_other_labels(two_partitions(share, np.random.default_rng(0)), "vi")
    assert 0.0 <= chance <= 0.5
    assert (chance <= 0.05) == is_sure


def test_draws_that_never_move_are_sure():
    assert chance_of_other_labels(np.zeros((2, 10, N_ITEMS), np.int64), "vi") == 0.0


def test_longer_runs_are_surer():
    rng = np.random.default_rng(1)
    short, long = (chance_of_other_labels(two_partitions(0.44, rng, (4, n)), "vi") for n in (50, 1_000))
    assert long < 0.01 < short


def test_the_verdict_says_so():
    draws = two_partitions(0.5, np.random.default_rng(0))
    found = diagnose(draws, {}).verdict
    assert found.converged
    doubtful = with_labels(found, 0.4)
    assert doubtful.status == "partly trusted"
    assert doubtful.doubtful == (LABELS,)
    assert doubtful.trusted == found.trusted
    assert "not for the labels: another run would choose others with probability 0.40" in doubtful.sentence
    assert doubtful.n_more_draws is None
    assert with_labels(found, 0.1).n_more_draws == 600
    assert with_labels(found, 0.01) == Verdict(
        True, found.finding, found.n_draws, remark=found.remark, trusted=(*found.trusted, LABELS)
    )

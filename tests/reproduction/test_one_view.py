"""The one-view baselines of the papers' experiments."""

import numpy as np
import pytest
from papers.one_view import MOVES_OF_VIEWS, OneViewChain, OneViewTree

from bayesgrove.datasets import make_cross_table

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def table():
    """Two views that any search would part."""
    return make_cross_table(40, (6, 6), (3, 3), n_trials=1, random_state=0).X.astype(float)


def test_chains_never_propose_to_split_their_view(table):
    model = OneViewChain(
        "bernoulli", row_concentration=1.0, column_concentration=1.0, init="one_view", n_chains=1, n_tune=5, n_draws=5,
        random_state=0,
    ).fit(table)  # fmt: skip
    schedule = model._make_schedule()
    moves = {step.move for step in (*schedule.tune, *schedule.draw)}
    assert not moves & set(MOVES_OF_VIEWS)
    assert {"rows", "split-merge"} <= moves
    assert model.n_views_ == 1


def test_trees_have_one_view(table):
    model = OneViewTree("bernoulli", random_state=0).fit(table)
    np.testing.assert_array_equal(model.view_labels_, np.zeros(12))

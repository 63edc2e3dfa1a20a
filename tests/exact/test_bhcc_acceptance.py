"""The default search on fresh tables of Li and Shafto's section 8.1, as users call it."""

import time

import numpy as np
import pytest

from bayesgrove import BHCC
from bayesgrove.datasets import make_cross_table
from bayesgrove.likelihoods import Bernoulli, Binomial
from bayesgrove.models.cross.polish import Evaluator
from bayesgrove.models.cross.search import SearchSettings, search
from bayesgrove.stats.partitions import adjusted_rand
from reference.cross_tables import paper_case

pytestmark = pytest.mark.exact
QUICK, ALL = range(200, 202), range(200, 210)


def check_counts(seed):
    """Binomial(50): the four views, and all of them."""
    table = make_cross_table(random_state=seed)
    model = BHCC(Binomial(50, 0.5, 0.5), random_state=seed).fit(table.X)
    assert model.search_ == "multistart"
    assert adjusted_rand(model.view_labels_, table.view_labels) == 1.0
    assert [view.columns.size for view in model.views_] == [70, 50, 50, 30]


def check_yes_no(seed):
    """Bernoulli: nearly the true views, with a bound no lower than theirs."""
    table = make_cross_table(n_trials=1, random_state=seed)
    model = BHCC(Bernoulli(0.5, 0.5), random_state=seed).fit(table.X)
    problem, truth = paper_case(seed, 1, row_search="best")
    assert adjusted_rand(model.view_labels_, truth) >= 0.93
    assert model.result_.details["flat_bound"] >= Evaluator(problem).partition(truth).flat_bound - 1e-6
    assert model.log_evidence_ >= model.result_.details["flat_bound"] - 1e-9


@pytest.mark.parametrize("seed", QUICK)
def test_some_tables(seed):
    check_counts(seed)
    check_yes_no(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALL)
def test_ten_of_ten(seed):
    check_counts(seed)
    check_yes_no(seed)


@pytest.mark.slow
@pytest.mark.parametrize("n_trials", [50, 1])
def test_many_starts_are_quicker_and_no_worse(n_trials):
    """Eight times in processor time; no more than a nat below the exact search."""
    ratios, gaps = [], []
    for seed in range(300, 304):
        problem, _ = paper_case(seed, n_trials)
        took, bounds = {}, {}
        for method in ("multistart", "exact"):
            settings = SearchSettings(method=method, polish=False, seed=seed)
            start = time.process_time()
            bounds[method] = search(problem, settings).log_evidence_bound
            took[method] = time.process_time() - start
        ratios.append(took["exact"] / took["multistart"])
        gaps.append(bounds["multistart"] - bounds["exact"])
    assert np.median(ratios[1:]) >= 8.0  # the first may compile
    assert sum(gap >= -1.0 for gap in gaps) >= 3

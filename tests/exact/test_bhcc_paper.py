"""The four-view tables of Li and Shafto's section 8.1 on ten seeds: views found, bounds reached."""

import numpy as np
import pytest

from bayesgrove.models.cross.polish import Evaluator
from bayesgrove.models.cross.search import SearchSettings, search
from bayesgrove.stats.partitions import adjusted_rand
from reference.cross_tables import paper_case

pytestmark = [pytest.mark.exact, pytest.mark.slow]
SEEDS = range(10)


def results(n_trials, method, seeds=SEEDS, **options):
    """Agreement with the true views, and flat and tree bounds less the flat bound of the true views."""
    rows = []
    for seed in seeds:
        problem, truth = paper_case(seed, n_trials)
        fit = search(problem, SearchSettings(method=method, seed=seed, **options))
        true_bound = Evaluator(problem).partition(truth).flat_bound
        agreement = adjusted_rand(fit.view_labels, truth)
        rows.append((agreement, fit.flat_bound - true_bound, fit.log_evidence_bound - true_bound))
    return np.array(rows).T


@pytest.mark.parametrize("method", ["exact", "multistart"])
def test_counts(method):
    agreement, flat, _ = results(50, method)
    assert (agreement == 1.0).sum() >= 9
    assert (flat >= -1e-6).all()


def test_yes_no_from_many_starts():
    agreement, flat, tree = results(1, "multistart")
    assert (agreement >= 0.93).all()
    assert (flat >= -1e-6).all()
    assert (tree >= flat - 1e-9).all()


def test_yes_no_against_the_exact_search():
    _, _, many = results(1, "multistart")
    _, _, exact = results(1, "exact", polish=False)
    assert (many >= exact - 1.0).sum() >= 8

"""Polish: rounds never lower the bound, and its order of steps is no worse than the specification's."""

import numpy as np
import pytest

from bayesgrove.models.cross.polish import (
    MOST_ROUNDS,
    SMALLEST_RISE,
    Evaluator,
    best_moves,
    merge_views,
    move_scores,
    polish,
    polish_many,
    with_new_views,
)
from reference.cross_tables import paper_case, random_case

pytestmark = pytest.mark.exact


def specified_polish(evaluator, labels):
    """Section 5.4 word by word: views merge after every move of all columns, then the best column alone."""
    here = evaluator.partition(labels)
    for _ in range(MOST_ROUNDS):
        target, gain = best_moves(move_scores(evaluator, here), here.labels)
        single = np.where(np.arange(gain.size) == np.argmax(gain), target, here.labels)
        for moved in (target, single):
            found = merge_views(evaluator, evaluator.partition(with_new_views(moved)))
            if found.flat_bound > here.flat_bound + SMALLEST_RISE:
                here = found
                break
        else:
            break
    return here.flat_bound


def random_starts(seed, n_columns):
    """Views at random as the search takes them."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, min(size, n_columns), n_columns) for size in (10, 20, 5, 10)]


@pytest.mark.parametrize("seed", range(8))
def test_rounds_never_lower_the_bound(seed):
    problem, _, _ = random_case([81, seed], 12, 9)
    evaluator = Evaluator(problem)
    for labels in random_starts([82, seed], 9):
        found = polish(evaluator, labels)
        assert (np.diff(found.path) > 0.0).all()
        assert found.path[0] == evaluator.partition(labels).flat_bound
        assert found.best.flat_bound == found.path[-1]


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_no_worse_than_the_order_specified(seed):
    """Weak yes/no tables, best of four starts each."""
    problem, _ = paper_case(seed, 1, n_rows=60, view_columns=(9, 15, 15, 21))
    starts = random_starts([83, seed], 60)
    ours = polish_many(Evaluator(problem), starts)[0].best.flat_bound
    evaluator = Evaluator(problem)
    assert ours >= max(specified_polish(evaluator, labels) for labels in starts) - 1e-6


def test_threads_change_nothing():
    problem, _ = paper_case(14, 1, n_rows=40, view_columns=(9, 15, 15, 21))
    starts = random_starts(84, 60)
    results = []
    for n_threads in (1, 2, 4):
        evaluator = Evaluator(problem._replace(n_threads=n_threads))
        best, bounds = polish_many(evaluator, starts)
        results.append((best.best.labels.tolist(), best.path, bounds, evaluator.n_trees))
    assert results[0] == results[1] == results[2]

"""Tables of many rows: views from a sample of rows, their row trees over all rows, columns moved against them."""

from typing import Any

import numpy as np

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.models.cross.evidence import Problem
from bayesgrove.models.cross.fit import Fitted, fit_views, ordered, problem_of
from bayesgrove.models.cross.fixed_trees import column_scores
from bayesgrove.models.cross.polish import SMALLEST_RISE, Evaluator, Partition, best_moves, views_of, with_new_views
from bayesgrove.models.cross.refit import evidence_on, partition_on, refit_exactly, refit_sampled, sampled_tree
from bayesgrove.models.cross.search import CrossFit, SearchSettings, finished, tree_over
from bayesgrove.stats.partitions import relabel

ROWS_PATH = 0x20C5
MOST_ROUNDS = 4


def fit_large(
    bound: Bound, concentrations: tuple[Any, Any], settings: SearchSettings, n_sampled: int, **how: Any
) -> Fitted:
    """Views of a table of many rows.

    The views, the tree of columns and the numbers come from `n_sampled` rows; every view's row tree is then grown over
    all rows by samples, and columns move between views while the flat bound of all rows rises.
    """
    n_rows = bound.values.shape[0]
    rows = np.sort(generator(settings.seed, ROWS_PATH).choice(n_rows, min(n_sampled, n_rows), replace=False))
    sampled = fit_views(
        bound._replace(values=np.ascontiguousarray(bound.values[rows])), concentrations, settings, **how
    )
    bound = relearned(bound, sampled.numbers.prior)
    problem = problem_of(bound, sampled.numbers, **how)
    found, bounds = polish_sampled(problem, bound.prior, sampled.fit.view_labels, settings.seed)
    fit = with_views(sampled, found.labels, settings)
    return Fitted(bound, sampled.numbers, problem, ordered(refit_sampled(problem, fit, found, bounds)))


def more_rows(problem: Problem, prior: ColumnsPrior, fit: CrossFit, seed: int, *, exactly: bool) -> CrossFit:
    """The views and the tree of columns of a fit over a table with further rows."""
    if exactly:
        return refit_exactly(problem, fit)
    trees = [sampled_tree(problem, prior, view, seed) for view in fit.views]
    found = partition_on(problem, fit.view_labels, trees)
    return refit_sampled(problem, fit, found, {"all rows": found.flat_bound})


def with_views(sampled: Fitted, labels: np.ndarray, settings: SearchSettings) -> CrossFit:
    """The fit of the sampled rows, with a tree over other views where they have changed."""
    if np.array_equal(relabel(sampled.fit.view_labels), relabel(labels)):
        return sampled.fit
    evaluator = Evaluator(sampled.problem)
    here = evaluator.partition(labels)
    return finished(evaluator, tree_over(evaluator, here, settings), here, sampled.fit.method, {})


def polish_sampled(
    problem: Problem, prior: ColumnsPrior, labels: np.ndarray, seed: int
) -> tuple[Partition, dict[str, float]]:
    """Move columns to their best views against the row trees of all rows while the flat bound rises."""
    trees: dict[bytes, np.ndarray] = {}

    def partition(labels: np.ndarray) -> Partition:
        views = views_of(labels)
        for view in views:
            if view.tobytes() not in trees:
                trees[view.tobytes()] = sampled_tree(problem, prior, view, seed)
        return partition_on(problem, labels, [trees[view.tobytes()] for view in views])

    here = partition(labels)
    bounds = {"all rows": here.flat_bound}
    for done in range(MOST_ROUNDS):
        target, gain = best_moves(scores_on_all_rows(problem, here), here.labels)
        if not gain.any():
            break
        found = partition(relabel(with_new_views(target)))
        if found.flat_bound <= here.flat_bound + SMALLEST_RISE:
            break
        here = found
        bounds[f"moved {done + 1}"] = here.flat_bound
    return here, bounds


def scores_on_all_rows(problem: Problem, here: Partition) -> np.ndarray:
    """Conditional log score of each column in each view and, last, alone, on the best of the trees there are."""
    everything = np.arange(here.labels.size)
    sizes = np.bincount(here.labels)[np.newaxis] - (here.labels[:, np.newaxis] == np.arange(len(here.views)))
    alone = [max(evidence_on(problem, everything[j : j + 1], tree) for tree in here.row_children) for j in everything]
    with np.errstate(divide="ignore"):
        inside = np.log(sizes) + column_scores(problem, here.views, here.row_children, everything)
    return np.column_stack([inside, problem.log_columns + np.array(alone)])

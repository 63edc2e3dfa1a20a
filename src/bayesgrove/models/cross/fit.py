"""From a bound table to views: learn the numbers, search, cut, the largest view first."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.likelihoods import Bound, relearned
from bayesgrove.likelihoods.base import LOG_2
from bayesgrove.models.cross.dask_table import table_of
from bayesgrove.models.cross.evidence import Problem, flat_bound
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.learning import Numbers, Wanted, learn, new_space
from bayesgrove.models.cross.polish import Evaluator, Partition, polish, polish_many, views_of
from bayesgrove.models.cross.search import CrossFit, SearchSettings, search, starts
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees.cuts import find_front, labels_of_front


class Fitted(NamedTuple):
    """Views with the numbers they were found with."""

    bound: Bound
    numbers: Numbers
    problem: Problem
    fit: CrossFit


def problem_of(bound: Bound, numbers: Numbers, **how: Any) -> Problem:
    """The table of a bound likelihood under these numbers; log densities are in the data's own units.

    `how` are further fields of the problem: `evidence`, `n_threads`, `row_search`.
    """
    table = table_of(numbers.prior, bound.values, -LOG_2 * bound.encoding.exponent)
    return Problem(table, numbers.log_rows, numbers.log_columns, prior=numbers.prior, **how)


def first_numbers(bound: Bound, row_concentration: Any, column_concentration: Any) -> tuple[Numbers, Wanted]:
    """The numbers to start from, concentrations of "auto" at 1, and what is to be learned."""
    learned = [isinstance(given, str) for given in (row_concentration, column_concentration)]
    logs = [
        0.0 if is_learned else math.log(given)
        for given, is_learned in zip((row_concentration, column_concentration), learned, strict=True)
    ]
    return Numbers(bound.prior, *logs), Wanted(bound.free, *learned)


def fit_views(bound: Bound, concentrations: tuple[Any, Any], settings: SearchSettings, **how: Any) -> Fitted:
    """Search for views; numbers marked "auto" are learned from the flat bound of many starts first.

    `concentrations` of rows and columns are numbers or "auto"; `how` has `evidence`, `n_threads` and `row_search`.
    """
    numbers, wanted = first_numbers(bound, *concentrations)
    first = None
    if wanted.anything and bound.values.shape[0] > 1:
        numbers, found = learned_numbers(bound, numbers, wanted, settings, **{**how, "evidence": "bound"})
        bound, first = relearned(bound, numbers.prior), found.labels
    problem = problem_of(bound, numbers, **how)
    return Fitted(bound, numbers, problem, ordered(search(problem, settings, first)))


def learned_numbers(
    bound: Bound, numbers: Numbers, wanted: Wanted, settings: SearchSettings, **how: Any
) -> tuple[Numbers, Partition]:
    """Numbers that raise the flat bound, and the views they were found with."""

    def evaluator_of(numbers: Numbers) -> Evaluator:
        return Evaluator(problem_of(bound, numbers, **how))

    evaluator = evaluator_of(numbers)
    here = polish_many(evaluator, starts(evaluator, settings))[0].best
    space = new_space(numbers, wanted, evaluator.problem.row_search)
    return learn(space, bound.values, here, lambda moved, there: polish(evaluator_of(moved), there.labels).best)


def ordered(fit: CrossFit) -> CrossFit:
    """The same with the largest view first, ties by the first column."""
    order = sorted(range(len(fit.views)), key=lambda v: (-fit.views[v].size, int(fit.views[v].min())))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return replace(
        fit,
        view_labels=place[fit.view_labels],
        views=tuple(fit.views[v] for v in order),
        row_trees=tuple(fit.row_trees[v] for v in order),
        view_log_evidence=fit.view_log_evidence[order],
    )


def cut_again(problem: Problem, fit: CrossFit, rule: str | None, probability: float | None) -> CrossFit:
    """The views of another cut of the column tree, each with the row tree of its node."""
    tree = fit.column_tree
    front = find_front(tree, rule, probability)
    labels = relabel(labels_of_front(tree, front))
    views = views_of(labels)
    node_of = {int(labels[tree.leaf_order[tree.leaf_start[node]]]): int(node) for node in front}
    nodes = [node_of[v] for v in range(len(views))]
    evidence = tree.columns["log_evidence"][nodes]
    trees = tuple(row_tree(problem, view, fit.node_row_children[k]) for view, k in zip(views, nodes, strict=True))
    return ordered(
        replace(
            fit,
            view_labels=labels,
            views=views,
            row_trees=trees,
            view_log_evidence=evidence,
            flat_bound=flat_bound(problem, np.bincount(labels), evidence),
        )
    )

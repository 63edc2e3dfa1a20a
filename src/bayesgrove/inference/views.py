"""Results with several views: one of them as a result of its own, columns in order, which columns share a view."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bayesgrove.inference.cross_posterior import CrossPosterior
from bayesgrove.inference.description import SAMPLE_COLUMNS, describe_view, spread
from bayesgrove.inference.overview import MOST_PAIR_DRAWS, CountDistribution, pairs_of_places
from bayesgrove.inference.result import Result, View
from bayesgrove.stats.partitions import co_clustering
from bayesgrove.trees import Tree, cluster_count_law, neighbours_together


def largest_first(views: Sequence[np.ndarray]) -> list[int]:
    """Numbers of views (given by their columns) in the order in which models show them; ties by the first column."""
    return sorted(range(len(views)), key=lambda v: (-views[v].size, int(views[v].min())))


class ColumnPairs(NamedTuple):
    """How probable it is that two columns share a view, for columns in an order that shows it."""

    columns: np.ndarray
    probability: np.ndarray
    """(n, n), between 0 and 1."""
    is_sampled: bool
    """Whether from draws; else from the partitions that the column tree allows."""


def view_result(result: Result, number: int) -> Result:
    """One view as a result without views: its labels, its tree, its columns in the order of the column tree.

    Draws are the partitions of the rows in that view of each draw that has most of these columns.
    """
    view, columns = result.views[number], view_columns(result, number)
    described, posterior = result.description, result.posterior
    return replace(
        result,
        labels=view.labels,
        tree=replace(view.tree, leaf_labels=result.tree.leaf_labels),
        feature_names=tuple(result.feature_names[j] for j in columns),
        posterior=posterior.of_view(columns) if isinstance(posterior, CrossPosterior) else None,
        description=None if described is None else describe_view(described, view.tree, view.labels, columns),
        views=(),
        column_tree=None,
        exhibits=(),
    )


def column_order(result: Result) -> np.ndarray:
    """Numbers of the columns in the order of the column tree; without one, view by view."""
    if result.column_tree is not None:
        return result.column_tree.leaf_order
    return np.concatenate([view.columns for view in result.views])


def view_columns(result: Result, number: int) -> np.ndarray:
    """Numbers of the columns of a view, in the order of the column tree."""
    order = column_order(result)
    return order[np.isin(order, result.views[number].columns)]


def view_numbers(result: Result) -> np.ndarray:
    """The view of each column."""
    found = np.zeros(len(result.feature_names), np.int64)
    for number, view in enumerate(result.views):
        found[view.columns] = number
    return found


def view_order(result: Result) -> list[int]:
    """Numbers of the views, from left to right in the column tree."""
    in_order = view_numbers(result)[column_order(result)]
    return in_order[np.sort(np.unique(in_order, return_index=True)[1])].tolist()


def same_view_sample(result: Result, most: int) -> ColumnPairs | None:
    """Probabilities of sharing a view for all columns, or `most` of them, evenly spread; None where unknown."""
    order = column_order(result)
    places = spread(order.size, most)
    columns = order[places]
    if isinstance(result.posterior, CrossPosterior):
        draws = result.posterior.view_labels.reshape(-1, order.size)
        return ColumnPairs(columns, co_clustering(draws[spread(len(draws), MOST_PAIR_DRAWS)][:, columns]), True)
    tree = result.column_tree
    if tree is None or tree.log_merge_odds is None:
        return None
    return ColumnPairs(columns, pairs_of_places(neighbours_together(tree), places), False)


def view_count_law(result: Result) -> CountDistribution | None:
    """How probable each number of views is: in the draws, or among the partitions that the column tree allows."""
    if isinstance(result.posterior, CrossPosterior):
        counts, seen = np.unique(result.posterior.n_views, return_counts=True)
        return CountDistribution(counts, seen / seen.sum(), True)
    tree = result.column_tree
    if tree is None or tree.log_merge_odds is None:
        return None
    least, law = cluster_count_law(tree)
    return CountDistribution(np.arange(least, least + law.size), law, False)


def columns_to_draw(views: tuple[View, ...], column_tree: Tree | None, most: int = SAMPLE_COLUMNS) -> np.ndarray:
    """All columns, or `most` of them: of each view its share, at least one, evenly spread along the column tree.

    For `describe_rows`, so that every view of a wide table has columns to show; views beyond `most` have none.
    """
    order = np.concatenate([view.columns for view in views]) if column_tree is None else column_tree.leaf_order
    if order.size <= most:
        return np.sort(order)
    shares = [max(1, most * view.columns.size // order.size) for view in views[:most]]
    while sum(shares) > most:
        shares[int(np.argmax(shares))] -= 1
    own = [order[np.isin(order, view.columns)] for view in views[:most]]
    return np.sort(np.concatenate([part[spread(part.size, share)] for part, share in zip(own, shares, strict=True)]))

"""Polish: move columns between views while the flat bound rises; from many starts, keep the best.

With the row trees of the views fixed, the conditional log score of column j is exactly

view v:   log N_{v without j} + log p(X_j | X_v, T_v)        new view:   log alpha_c + F({j}).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.cross.evidence import (
    Grown,
    Problem,
    column_gains,
    flat_bound,
    grow_unions,
    grow_views,
    log_evidence,
    run_jobs,
    view_gains,
)
from bayesgrove.models.cross.fixed_trees import column_scores
from bayesgrove.models.cross.row_polish import polish_view
from bayesgrove.stats.partitions import relabel

SMALLEST_RISE = 1e-6
MOST_ROUNDS = 30
MOST_VIEWS_MERGED = 25
"""With more views their pairs are too many to try."""


class Partition(NamedTuple):
    """Views of all columns."""

    labels: np.ndarray
    views: tuple[np.ndarray, ...]
    evidence: np.ndarray
    row_children: tuple[np.ndarray, ...]
    flat_bound: float


class Polished(NamedTuple):
    """The best views found and the flat bound after each accepted round, the start first."""

    best: Partition
    path: tuple[float, ...]


class Evaluator:
    """Evidence and row trees of views, each set of columns grown once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.gains = column_gains(problem)
        self.known: dict[bytes, tuple[float, np.ndarray]] = {}
        self.scores: dict[bytes, np.ndarray] = {}
        self.sums: dict[bytes, np.ndarray] = {}
        """Gains of the views whose unions were looked at last."""
        self.is_polished: set[bytes] = set()
        """Views whose row trees have been polished."""
        self.n_trees = 0
        self.alone = np.empty(0)
        """Evidence of each column alone, once it was asked for."""

    def look_at_singles(self) -> np.ndarray:
        """Evidence of each column alone."""
        if not self.alone.size:
            everything = np.arange(self.problem.table.n_columns)
            self.alone, _ = self.look([everything[j : j + 1] for j in everything])
        return self.alone

    def look(self, views: Sequence[np.ndarray]) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """Evidence and merges of the rows for each view; columns are sorted."""
        missing = {view.tobytes(): view for view in views if view.tobytes() not in self.known}
        if missing:
            self.keep(missing, grow_views(self.problem, list(missing.values()), self.gains))
        found = [self.known[view.tobytes()] for view in views]
        return np.array([value for value, _ in found]), tuple(children for _, children in found)

    def look_at_unions(self, views: Sequence[np.ndarray], pairs: np.ndarray) -> np.ndarray:
        """Evidence of unions of two views each; their first scores are sums of two, whatever the number of columns."""
        keys = [np.sort(np.concatenate([views[a], views[b]])).tobytes() for a, b in pairs]
        missing = {key: k for k, key in enumerate(keys) if key not in self.known}
        if missing:
            gains = self.gains_of(views)
            self.keep(missing, grow_unions(self.problem, views, gains, pairs[list(missing.values())]))
        return np.array([self.known[key][0] for key in keys])

    def gains_of(self, views: Sequence[np.ndarray]) -> np.ndarray:
        """Gains of views; of those that stayed since the last time they are not summed again."""
        keys = [view.tobytes() for view in views]
        new = {key: view for key, view in zip(keys, views, strict=True) if key not in self.sums}
        gains = view_gains(self.problem, self.gains, list(new.values()), MOST_VIEWS_MERGED)
        found = {**self.sums, **dict(zip(new, gains, strict=True))}
        self.sums = {key: found[key] for key in keys}
        return np.array([self.sums[key] for key in keys])

    def keep(self, keys: Iterable[bytes], grown: Grown) -> None:
        """Keep the evidence and the merges of sets of columns."""
        evidence = log_evidence(self.problem, grown.log_q, grown.log_d)
        for key, value, children in zip(keys, evidence, grown.children, strict=True):
            self.known[key] = (float(value), children)
        self.n_trees += grown.n_trees

    def partition(self, labels: np.ndarray) -> Partition:
        """All that is known of a partition of the columns."""
        labels = relabel(labels)
        views = views_of(labels)
        evidence, row_children = self.look(views)
        bound = flat_bound(self.problem, np.bincount(labels), evidence)
        return Partition(labels, views, evidence, row_children, bound)

    def polish_rows(self, here: Partition) -> Partition:
        """The same views on polished row trees."""
        for view, evidence, row_children in zip(here.views, here.evidence, here.row_children, strict=True):
            self.polished(view, float(evidence), row_children)
        return self.partition(here.labels)

    def polished(self, view: np.ndarray, evidence: float, row_children: np.ndarray) -> tuple[float, np.ndarray]:
        """Evidence and merges of a view after polish of its row tree, which is done once."""
        key = view.tobytes()
        if key not in self.is_polished:
            self.known[key] = polish_view(self.problem, view, evidence, row_children)
            self.is_polished.add(key)
            self.scores.pop(key, None)
            self.alone = np.empty(0)
        return self.known[key]

    def twin(self, n_threads: int) -> "Evaluator":
        """Another one that knows as much and learns by itself."""
        other = copy(self)
        other.problem = self.problem._replace(n_threads=n_threads)
        other.known, other.scores, other.n_trees = dict(self.known), dict(self.scores), 0
        return other

    def take_in(self, other: "Evaluator") -> None:
        """Learn what a twin has learned."""
        self.known.update(other.known)
        self.n_trees += other.n_trees

    def scores_in(self, here: Partition) -> np.ndarray:
        """`column_scores` of all columns in the views of a partition; views that stayed are not scored again."""
        everything = np.arange(here.labels.size)
        new = [v for v, view in enumerate(here.views) if view.tobytes() not in self.scores]
        if new:
            views, trees = zip(*((here.views[v], here.row_children[v]) for v in new), strict=True)
            found = column_scores(self.problem, views, trees, everything)
            self.scores.update({view.tobytes(): found[:, k] for k, view in enumerate(views)})
        return np.column_stack([self.scores[view.tobytes()] for view in here.views])


def views_of(labels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Columns of each view, ascending."""
    return tuple(np.flatnonzero(labels == v) for v in range(int(labels.max()) + 1))


def move_scores(evaluator: Evaluator, here: Partition) -> np.ndarray:
    """Conditional log score of each column in each view and, last, in a new one; -inf: alone in this view."""
    sizes = np.bincount(here.labels)[np.newaxis] - (here.labels[:, np.newaxis] == np.arange(len(here.views)))
    with np.errstate(divide="ignore"):
        inside = np.log(sizes) + evaluator.scores_in(here)
    return np.column_stack([inside, evaluator.problem.log_columns + evaluator.look_at_singles()])


def best_moves(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best label of each column (NULL: a view of its own) and what moving there gains."""
    everything, n_views = np.arange(labels.size), scores.shape[1] - 1
    staying = np.maximum(scores[everything, labels], np.where(alone_in(labels), scores[:, -1], -np.inf))
    target = scores.argmax(axis=1)
    gain = scores[everything, target] - staying
    stays = (gain <= 0.0) | ((target == n_views) & alone_in(labels))
    return np.where(stays, labels, np.where(target == n_views, NULL, target)), np.where(stays, 0.0, gain)


def alone_in(labels: np.ndarray) -> np.ndarray:
    """Whether each column is alone in its view."""
    return np.bincount(labels)[labels] == 1


def with_new_views(labels: np.ndarray) -> np.ndarray:
    """The labels with a view of its own for every NULL."""
    new = labels == NULL
    return np.where(new, labels.max(initial=0) + np.cumsum(new), labels)


def merge_views(evaluator: Evaluator, here: Partition) -> Partition:
    """Merge the best pair of views while some pair raises the flat bound."""
    while 1 < len(here.views) <= MOST_VIEWS_MERGED:
        first, second = np.triu_indices(len(here.views), 1)
        evidence = evaluator.look_at_unions(here.views, np.column_stack([first, second]))
        sizes = np.bincount(here.labels)
        log_size = {size: math.lgamma(size) for size in {*sizes.tolist(), *(sizes[first] + sizes[second]).tolist()}}
        both, one, other = (
            np.array([log_size[size] for size in of_pairs.tolist()])
            for of_pairs in (sizes[first] + sizes[second], sizes[first], sizes[second])
        )
        prior = both - one - other
        rise = evidence - here.evidence[first] - here.evidence[second] + prior - evaluator.problem.log_columns
        best = int(np.argmax(rise))
        if rise[best] <= SMALLEST_RISE:
            break
        here = evaluator.partition(np.where(here.labels == second[best], first[best], here.labels))
    return here


def as_found(here: Partition) -> Partition:
    """The row trees as they were grown."""
    return here


def polish(evaluator: Evaluator, labels: np.ndarray, finish: Callable[[Partition], Partition] = as_found) -> Polished:
    """Raise the flat bound from some views; `finish` may better the row trees of every partition that is tried."""
    here = finish(evaluator.partition(labels))
    path = [here.flat_bound]
    for _ in range(MOST_ROUNDS):
        better = next_partition(evaluator, here, finish)
        if better is None:
            break
        here = better
        path.append(here.flat_bound)
    return Polished(here, tuple(path))


def next_partition(
    evaluator: Evaluator, here: Partition, finish: Callable[[Partition], Partition] = as_found
) -> Partition | None:
    """The first step that raises the bound: all columns to their best views, views merged, the best column alone.

    Views merged early are never parted again: from random views the bound of the true ones was reached in 27 of 40 runs
    on yes/no tables of the paper's generator when views were merged after every move, and in 40 of 40 when they merge
    only after moves have ceased to help, with 0.4 times the row trees.
    """
    target, gain = best_moves(move_scores(evaluator, here), here.labels)
    single = np.where(np.arange(gain.size) == np.argmax(gain), target, here.labels)
    for step in (
        lambda: evaluator.partition(with_new_views(target)),
        lambda: merge_views(evaluator, here),
        lambda: evaluator.partition(with_new_views(single)),
    ):
        found = finish(step())
        if found.flat_bound > here.flat_bound + SMALLEST_RISE:
            return found
    return None


def polish_many(evaluator: Evaluator, starts: Sequence[np.ndarray]) -> tuple[Polished, list[float]]:
    """The best result of several starts, the first of equals, and the flat bound each one reached.

    Starts run side by side and know nothing of each other, so that neither the result nor the number of row trees
    depends on the number of threads.
    """
    evaluator.look_at_singles()
    n_threads = min(evaluator.problem.n_threads, len(starts))
    alone = [evaluator.twin(evaluator.problem.n_threads // n_threads) for _ in starts]
    found = run_jobs([(polish, (twin, labels)) for twin, labels in zip(alone, starts, strict=True)], n_threads)
    for twin in alone:
        evaluator.take_in(twin)
    bounds = [result.best.flat_bound for result in found]
    return found[int(np.argmax(np.rint(np.array(bounds) / SMALLEST_RISE)))], bounds

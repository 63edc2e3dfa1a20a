"""Rebuilding the clusters of a stream: partition, hyperparameters and trees, from all rows seen so far.

Few rows are searched as `BHC` searches them. Of many rows, the present partition is improved: rows are reassigned,
clusters merged and reopened, the hyperparameters learned from the partition; trees inside clusters are made of blocks.
This costs about n K columns for K clusters, and n times the rows of a block, instead of n^2.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.blocks import block_trees
from bayesgrove.agglomeration.choose import is_fast
from bayesgrove.agglomeration.learn import Space, climb, joint_and_gradient, new_space
from bayesgrove.agglomeration.partition_moves import Rows, merged, reopened
from bayesgrove.agglomeration.randomized import half_cut, sets_of_labels
from bayesgrove.agglomeration.search import CLIMB_STEPS, PASSES, Clusters, search_tree
from bayesgrove.agglomeration.splits import Problem, Settings, halve_sets
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.parts import columns_in_use, with_columns
from bayesgrove.models.bhc.basis import Basis, prior_of_rows
from bayesgrove.models.bhc.fit import report_limits
from bayesgrove.stats.partitions import relabel

MOST_SEARCHED, MOST_SLOWLY_SEARCHED = 2_000, 500
"""Rows that are searched as a whole; fewer where scores are computed pair by pair."""
MOST_ROUNDS = 3
BLOCK = 256


class Rebuilt(NamedTuple):
    """Clusters and their trees, with the hyperparameters they were found with."""

    prior: Any
    log_concentration: float
    where: np.ndarray
    """Log factors of the hyperparameters that are learned."""
    pairs: np.ndarray
    """Merges inside the clusters, children before parents; merge t makes node n_rows + t."""


class Workspace:
    """The columns in use of some rows, and the space of priors over them."""

    def __init__(self, basis: Basis, values: np.ndarray, n_threads: int) -> None:
        n = values.shape[0]
        self.whole = prior_of_rows(basis, values)
        self.used = ~np.isnan(values).all(axis=0)
        part, rows = (self.whole, values) if self.used.all() else columns_in_use(self.whole, values, self.used)
        self.space: Space = new_space(
            part,
            basis.log_concentration,
            basis.free if n > 1 else (),
            learn_concentration=basis.learn_concentration and n > 1,
        )
        complete = not bool(np.isnan(rows).any())
        self.problem = Problem(part, rows, basis.log_concentration, complete, 0, n_threads, tempered=True)

    def prior_at(self, where: np.ndarray) -> tuple[Any, float]:
        """The prior of all columns, and the log concentration."""
        part, log_concentration = self.space.at(where)
        return part if self.used.all() else with_columns(self.whole, part, self.used), log_concentration

    def rows_at(self, where: np.ndarray) -> Rows:
        """All rows under the prior at a point."""
        prior, log_concentration = self.space.at(where)
        return Rows(prior, self.problem.values, log_concentration, complete=self.problem.complete)

    def problem_at(self, where: np.ndarray) -> Problem:
        """The same with the prior at a point."""
        prior, log_concentration = self.space.at(where)
        return self.problem._replace(prior=prior, log_concentration=log_concentration)


def rebuilt(
    basis: Basis, values: np.ndarray, labels: np.ndarray | None, where: np.ndarray | None, n_threads: int = 1
) -> Rebuilt:
    """New clusters of all encoded rows; the number of threads does not matter.

    `labels` are the present partition (None: it is searched for), `where` is where the hyperparameters were found last.
    """
    work = Workspace(basis, values, n_threads)
    if values.shape[0] == 1:
        return Rebuilt(*work.prior_at(work.space.origin), work.space.origin, np.empty((0, 2), np.int64))
    if labels is None or values.shape[0] <= most_searched(basis.prior, values):
        where, labels, children = searched(work)
    else:
        if where is None or where.size != work.space.origin.size:
            where = work.space.origin
        labels, where = improved(work, labels, where)
        children = trees_of_blocks(work.problem_at(where), labels)
    report_limits(work.space, where)
    return Rebuilt(*work.prior_at(where), where, merges_inside(children, labels))


def searched(work: Workspace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hyperparameters, clusters and merges of the best tree that a search of all rows finds."""
    found = search_tree(work.problem, work.space)
    labels, _ = half_cut(found.forest.children, found.forest.log_odds, work.problem.n_rows)
    return found.where, labels, found.forest.children


def most_searched(prior: Any, values: np.ndarray) -> int:
    """Rows that are searched as a whole."""
    used = ~np.isnan(values).all(axis=0)
    complete = not bool(np.isnan(values[:, used]).any())
    return MOST_SEARCHED if is_fast(prior, complete=complete) else MOST_SLOWLY_SEARCHED


def improved(work: Workspace, labels: np.ndarray, where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rounds of moves that raise the log joint of a partition, and of learning, until the partition stays."""
    labels = relabel(labels)
    for _ in range(MOST_ROUNDS):
        rows, before = work.rows_at(where), labels
        labels = relabel(merged(rows, reopened(rows, rows.settle(labels, PASSES))))
        where = climb(work.space, where, joint_and_gradient, clusters_of(rows, labels), CLIMB_STEPS)
        if np.array_equal(labels, before):
            break
    return work.rows_at(where).settle(labels, PASSES), where


def clusters_of(rows: Rows, labels: np.ndarray) -> Clusters:
    """The clusters of a partition."""
    return Clusters(*cluster_statistics(rows.prior, rows.values, labels, int(labels.max()) + 1))


def trees_of_blocks(problem: Problem, labels: np.ndarray) -> np.ndarray:
    """Merges of a tree in which the clusters of a partition stand, those inside clusters made of small blocks."""
    order, splits, sets = sets_of_labels(labels)
    halve_sets(problem, Settings(leaf_size=BLOCK), splits, order, sets)
    return block_trees(problem, order, splits.plan())[0].children


@kernel
def merges_inside(children, labels):
    """The merges of a tree that join rows of one cluster; merge t of them makes node n_rows + t."""
    n = labels.size
    own, new_id = np.full(n + children.shape[0], NULL), np.arange(n + children.shape[0])
    own[:n] = labels
    pairs, n_found = np.empty_like(children), 0
    for t in range(children.shape[0]):
        a, b = children[t, 0], children[t, 1]
        if own[a] != NULL and own[a] == own[b]:
            own[n + t], new_id[n + t] = own[a], n + n_found
            pairs[n_found, 0], pairs[n_found, 1] = new_id[a], new_id[b]
            n_found += 1
    return pairs[:n_found].copy()

"""The search for a tree and a prior of high evidence.

The bound q_root + lgamma(concentration) - lgamma(n + concentration) holds for any binary tree and any prior, so that
better pairs of them can be told without labels. The published greedy order chains in few dimensions, and a prior that
is learned from a chained tree confirms it. Instead:

1. a start tree in the size-tempered order under the default prior;
2. priors learned from the partitions of its last merges, 2, 4, 8, ... clusters; those of highest bound are kept;
3. from each, rounds of: the most probable cut, rows reassigned, the prior learned from the partition and from the
   tree, the tree regrown, while the bound rises; clusters that are clearly two are split, and two that are one merged;
4. the pair of highest bound.
"""

import logging
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.blocks import Forest
from bayesgrove.agglomeration.exact import Progress, agglomerate, atoms_of_rows
from bayesgrove.agglomeration.learn import (
    FixedTree,
    Space,
    bound_and_gradient,
    climb,
    evidence_bound,
    joint_and_gradient,
)
from bayesgrove.agglomeration.partition_moves import Rows, merged, reopened
from bayesgrove.agglomeration.reassign import reassigned
from bayesgrove.agglomeration.regrow import (
    Layout,
    atoms_at,
    forest_of,
    induced_merges,
    last_merges_undone,
    layout_of,
    most_probable_cut,
    weighed,
    with_top,
)
from bayesgrove.agglomeration.splits import Problem
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.blas import single_threaded_blas
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import merge

KEPT_TREES, KEPT_PARTITIONS = 2, 1
MOST_START_CLUSTERS = 512
CLIMB_STEPS, LEAST_RISE = 20, 1e-3
"""Of learning hyperparameters: at most so many steps, until one rises by less than this many nats."""
MOST_ROUNDS = 6
ACCEPTED_RISE, WORTH_A_ROUND = 1e-3, 0.5
PASSES = 2
SURELY_ONE = 30.0
"""Log odds of being split below which a tree is not looked into while learning."""


class Found(NamedTuple):
    """A tree, the point of the space of priors it was weighed at, and its bound."""

    where: np.ndarray
    forest: Forest
    bound: float


class Start(NamedTuple):
    """A partition, the point that was learned from it, and its log joint there."""

    where: np.ndarray
    labels: np.ndarray
    log_joint: float


class Clusters(NamedTuple):
    """Statistics and sizes of the clusters of a partition."""

    rows: np.ndarray
    sizes: np.ndarray


class Search:
    """What all steps of a search share: rows, space of priors, the start tree."""

    def __init__(self, problem: Problem, space: Space, start_children: np.ndarray) -> None:
        self.problem, self.space = problem, space
        self.values, self.complete, self.n = problem.values, problem.complete, problem.values.shape[0]
        self.start_children = start_children
        self.layout: Layout = layout_of(start_children, self.n)

    def weigh(self, where: np.ndarray, children: np.ndarray) -> Found:
        """A tree under the prior at a point."""
        prior, log_concentration = self.space.at(where)
        return self.found(where, forest_of(weighed(prior, self.values, children, log_concentration)))

    def found(self, where: np.ndarray, forest: Forest) -> Found:
        """A forest with its bound."""
        log_concentration = self.space.at(where)[1]
        log_q = float(forest.log_q[-1] if self.n > 1 else forest.leaf_log_q[0])
        return Found(where, forest, evidence_bound(log_q, self.n, log_concentration))

    def clusters(self, where: np.ndarray, labels: np.ndarray) -> Clusters:
        """The clusters of a partition."""
        return Clusters(*cluster_statistics(self.space.at(where)[0], self.values, labels, int(labels.max()) + 1))

    def learn_partition(self, where: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The point that the log joint of a partition climbs to."""
        return climb(self.space, where, joint_and_gradient, self.clusters(where, labels), CLIMB_STEPS, LEAST_RISE)

    def learn_tree(self, here: Found, least_rise: float = LEAST_RISE) -> Found:
        """The same tree at the point that its bound climbs to."""
        if not self.space.limits:
            return here
        tree = upper_tree(self.space.at(here.where)[0], self.values, here.forest)
        where = climb(self.space, here.where, bound_and_gradient, tree, CLIMB_STEPS, least_rise)
        moved = self.weigh(where, here.forest.children)
        return moved if moved.bound > here.bound else here

    def reassign(self, where: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Rows to the clusters that explain them best."""
        prior, log_concentration = self.space.at(where)
        return reassigned(prior, self.values, labels, log_concentration, complete=self.complete, n_passes=PASSES)

    def rows(self, where: np.ndarray) -> Rows:
        """All rows under the prior at a point."""
        prior, log_concentration = self.space.at(where)
        return Rows(prior, self.values, log_concentration, complete=self.complete)

    def start_partition(self, n_clusters: int) -> Start:
        """The last merges of the start tree undone, the prior learned from what is left, rows reassigned."""
        labels = last_merges_undone(self.start_children, self.n, n_clusters)
        where = self.learn_partition(self.space.origin, labels)
        labels = self.reassign(where, labels)
        return Start(where, labels, self.rows(where).log_joint(labels))

    def regrow(self, where: np.ndarray, labels: np.ndarray) -> Found:
        """A tree in which the clusters of a partition stand: the start tree inside them, a new one above."""
        prior, log_concentration = self.space.at(where)
        children, roots = induced_merges(self.layout, labels)
        inside = weighed(prior, self.values, children, log_concentration)
        atoms = atoms_at(inside, roots)
        forest = with_top(prior, forest_of(inside), roots, atoms, log_concentration, complete=self.complete)
        return self.found(where, forest)


def start_tree(problem: Problem, space: Space, scores: str = "light", progress: Progress | None = None) -> np.ndarray:
    """Merges of all rows in the size-tempered order, under the prior at the origin."""
    prior, log_concentration = space.at(space.origin)
    merges = agglomerate(
        prior,
        atoms_of_rows(prior, problem.values, log_concentration),
        log_concentration,
        complete=problem.complete,
        scores=scores,
        n_threads=problem.n_threads,
        progress=progress,
        tempered=True,
    )
    return merges.children


def search_tree(problem: Problem, space: Space, scores: str = "light", progress: Progress | None = None) -> Found:
    """The tree and the point of highest bound that the search finds; `scores` as in `agglomerate`."""
    search = Search(problem, space, start_tree(problem, space, scores, progress))
    if search.n == 1:
        return search.weigh(space.origin, search.start_children)
    with single_threaded_blas():
        candidates = [polish(search, start) for start in starts(search)]
        logging.getLogger("bayesgrove").debug("bounds of starts: %s", [round(found.bound, 3) for found in candidates])
        found = polish(search, max(candidates, key=lambda found: found.bound), reopen=True)
        return search.learn_tree(found, 0.0)


def cut_of(forest: Forest) -> np.ndarray:
    """Labels of the most probable partition consistent with a tree."""
    return most_probable_cut(forest.children, forest.log_odds, forest.log_q, forest.leaf_log_q)[0]


def starts(search: Search) -> list[Found]:
    """Where polishing begins: trees under priors learned from partitions of the start tree, and from itself.

    The last 1, 3, 7, ... merges are undone; a prior is learned from each partition. Kept are the priors under which the
    start tree has the highest bounds, and the partitions of highest log joint once their rows are reassigned.
    """
    tree = search.start_children
    if not search.space.limits:
        return [search.weigh(search.space.origin, tree)]
    partitions = [search.start_partition(n_clusters) for n_clusters in numbers_of_clusters(search.n)]
    by_bound = sorted((search.weigh(start.where, tree) for start in partitions), key=lambda found: -found.bound)
    by_joint = sorted(partitions, key=lambda start: -start.log_joint)
    return [
        *by_bound[:KEPT_TREES],
        *(search.regrow(start.where, start.labels) for start in by_joint[:KEPT_PARTITIONS]),
        search.learn_tree(search.weigh(search.space.origin, tree)),
    ]


def numbers_of_clusters(n: int) -> list[int]:
    """2, 4, 8, ... up to a third of the rows."""
    most = max(2, min(n // 3, MOST_START_CLUSTERS))
    return [2**power for power in range(1, most.bit_length()) if 2**power <= min(most, n)]


def polish(search: Search, here: Found, *, reopen: bool = False) -> Found:
    """Rounds of reassigning, learning and regrowing, while the bound rises; with `reopen`, clusters are split, too."""
    for _ in range(MOST_ROUNDS):
        moved = polish_once(search, here, reopen=reopen)
        risen = moved.bound - here.bound
        if risen > ACCEPTED_RISE:
            here = moved
        if risen < WORTH_A_ROUND:
            break
    return here


def polish_once(search: Search, here: Found, *, reopen: bool) -> Found:
    """One round from the most probable cut of a tree."""
    labels = search.reassign(here.where, cut_of(here.forest))
    rows = search.rows(here.where)
    labels = merged(rows, reopened(rows, labels) if reopen else labels)
    where = search.learn_partition(here.where, labels)
    labels = search.reassign(where, labels)
    return search.learn_tree(search.regrow(where, labels))


@kernel
def open_nodes(children, log_odds, n, negligible):
    """Nodes that carry weight: whether each is looked at, and whether it ends the tree that is looked at."""
    n_nodes = 2 * n - 1
    shown, is_end, log_open = np.zeros(n_nodes, np.bool_), np.ones(n_nodes, np.bool_), np.zeros(n_nodes)
    shown[n_nodes - 1] = True
    for node in range(n_nodes - 1, n - 1, -1):
        if shown[node]:
            odds = log_odds[node - n]
            log_split = log_open[node] - (np.log1p(np.exp(odds)) if odds < 30.0 else odds)
            if log_split > -negligible:
                is_end[node] = False
                for side in range(2):
                    child = children[node - n, side]
                    shown[child], log_open[child] = True, log_split
    return shown, is_end


def upper_tree(prior: Any, values: np.ndarray, forest: Forest) -> FixedTree:
    """The part of a tree that carries weight; what lies below is one cluster for certain and its nodes end the tree."""
    n = forest.leaf_log_q.size
    shown, is_end = open_nodes(forest.children, forest.log_odds, n, SURELY_ONE)
    nodes = np.flatnonzero(shown)
    number = np.full(2 * n - 1, NULL)
    number[nodes] = np.arange(nodes.size)
    inner = nodes[~is_end[nodes]]
    parent = np.full(nodes.size, NULL)
    for side in range(2):
        parent[number[forest.children[inner - n, side]]] = number[inner]
    labels = ends_of_rows(forest.children, shown & is_end, number, n)
    rows, sizes = cluster_statistics(prior, values, labels, nodes.size)
    merge_up(prior, parent, rows, sizes)
    return FixedTree(parent, is_end[nodes], sizes, rows)


@kernel
def ends_of_rows(children, is_end, number, n):
    """Number of the end that each row lies below."""
    owner = np.full(2 * n - 1, NULL)
    for node in range(2 * n - 2, -1, -1):
        if is_end[node]:
            owner[node] = number[node]
        if node >= n and owner[node] != NULL:
            owner[children[node - n, 0]] = owner[children[node - n, 1]] = owner[node]
    return owner[:n].copy()


@kernel
def merge_up(prior, parent, rows, sizes):
    """Statistics and sizes of all nodes from those of the ends."""
    for node in range(parent.size):
        above = parent[node]
        if above != NULL:
            merge(prior, rows[above], rows[above], rows[node])
            sizes[above] += sizes[node]

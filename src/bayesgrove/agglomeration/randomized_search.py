"""The search for a tree of high evidence over many rows.

The tree of a sample gives hyperparameters and first clusters. All rows go to the cluster that explains them best;
clusters that the sample has missed are found by looking into every cluster again. Rounds of reassigning rows, merging
clusters that are one and learning from the partition follow. Inside clusters the tree is made of small blocks, above
them it is a size-tempered tree over the clusters.
"""

import logging
import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.blocks import Forest, block_trees
from bayesgrove.agglomeration.choose import is_fast
from bayesgrove.agglomeration.exact import Atoms, Progress, agglomerate
from bayesgrove.agglomeration.filters import make_filter
from bayesgrove.agglomeration.learn import Space, climb, joint_and_gradient
from bayesgrove.agglomeration.precompile import precompile_searches
from bayesgrove.agglomeration.randomized import (
    MOST_ATOMS,
    Grown,
    Steps,
    assign_all,
    grow,
    reassign,
    sets_of_labels,
    with_new_top,
)
from bayesgrove.agglomeration.reopening import Partition, partition_of, reopened
from bayesgrove.agglomeration.search import CLIMB_STEPS, LEAST_RISE, WORTH_A_ROUND, Clusters, cut_of, search_tree
from bayesgrove.agglomeration.splits import Problem, Settings, halve_sets
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.blas import single_threaded_blas
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.contract import log_marginal
from bayesgrove.stats.partitions import relabel

SAMPLED_ROWS = 1_000
LARGER = 4
"""How many times as many rows a second sample has."""
LARGER_PATH = 0x1EA8
"""Keys its generator."""
MOST_ROUNDS = 3
FIRST_PASSES = 1
"""Passes that reassign rows before clusters are split; more of them would settle clusters that are yet to change."""
MOST_TEMPERED = 100_000
"""Rows of halved clusters up to which blocks are merged in the size-tempered order, which takes twice as long."""


class State(NamedTuple):
    """A partition of all rows, the point of the space of priors where it stands, and its log joint there."""

    where: np.ndarray
    partition: Partition
    log_joint: float = -math.inf
    depth: int = 0
    """Most rounds of one reopening in which clusters were split."""
    is_open: bool = True
    """Whether clusters are worth another look: some were split the last time."""


class Sampled(NamedTuple):
    """The point of the space of priors that a sample's search ends at, its rows and their clusters."""

    where: np.ndarray
    rows: np.ndarray
    labels: np.ndarray


class Grove(NamedTuple):
    """A finished tree and the point of the space of priors it was weighed at."""

    where: np.ndarray
    grown: Grown


def search_rows(
    problem: Problem, settings: Settings, space: Space, sample: np.ndarray, progress: Progress | None = None
) -> Grove:
    """The tree of all rows and the point of the space of priors that the search finds; `sample` are some rows."""
    steps = Steps(progress, 4)
    sampled = search_samples(problem, settings, space, sample)
    steps.done()
    here = at_point(problem, space, sampled.where)
    labels = spread_labels(here, sampled)
    labels, _ = reassign(here, labels, int(labels.max()) + 1, FIRST_PASSES)
    state = State(sampled.where, partition_of(here, labels))
    steps.done()
    state = climb_rounds(problem, space, settings, state)
    steps.done()
    grown = tree_of_partition(at_point(problem, space, state.where), settings, state)
    steps.done()
    return Grove(state.where, grown)


def climb_rounds(problem: Problem, space: Space, settings: Settings, state: State) -> State:
    """Rounds on a partition while its log joint rises."""
    for turn in range(MOST_ROUNDS):
        moved = one_round(problem, space, settings, state, turn)
        risen = moved.log_joint - state.log_joint
        state = moved if risen > 0.0 else state
        if risen < WORTH_A_ROUND:
            break
    return state


def first_sample_size(settings: Settings) -> int:
    """Rows of the first sample."""
    return SAMPLED_ROWS if settings.sample_size is None else settings.sample_size


def search_samples(problem: Problem, settings: Settings, space: Space, rows: np.ndarray) -> Sampled:
    """The clusters of a sample; where it is one cluster, those of a larger sample.

    A thousand rows of a thousand clusters are a row or two of each, which look like one cloud. A size that the user has
    given is kept, as is the first sample where pairs are scored one by one.
    """
    found = search_sample(problem, space, rows)
    is_worth_it = settings.sample_size is None and is_fast(problem.prior, complete=problem.complete)
    if found.labels.max() > 0 or not is_worth_it:
        return found
    n_rows = min(problem.n_rows, LARGER * rows.shape[0])
    chosen = np.sort(generator(problem.seed, LARGER_PATH).choice(problem.n_rows, n_rows, replace=False))
    return search_sample(problem, space, np.ascontiguousarray(problem.rows[chosen]))


def search_sample(problem: Problem, space: Space, rows: np.ndarray) -> Sampled:
    """Where the search among the trees of a sample ends, and the clusters there."""
    sample = problem._replace(values=rows, remote=None)
    precompile_searches([(sample, space)])
    found = search_tree(sample, space)
    return Sampled(found.where, rows, cut_of(found.forest))


def at_point(problem: Problem, space: Space, where: np.ndarray) -> Problem:
    """The problem with prior and concentration of a point."""
    prior, log_concentration = space.at(where)
    return problem._replace(prior=prior, log_concentration=log_concentration)


def spread_labels(problem: Problem, sampled: Sampled) -> np.ndarray:
    """The cluster of a sample, or a new one, that explains each row best."""
    n_clusters = int(sampled.labels.max()) + 1
    rows, sizes = cluster_statistics(problem.prior, sampled.rows, sampled.labels, n_clusters + 1)
    log_weight = np.append(np.log(sizes[:-1]), problem.log_concentration)
    density = make_filter(problem.prior, rows, complete=problem.complete)
    found = np.zeros(problem.n_rows, np.int64)
    assign_all(problem, density, log_weight, np.arange(n_clusters + 2), found)
    return found


def one_round(problem: Problem, space: Space, settings: Settings, state: State, turn: int) -> State:
    """Clusters split, rows reassigned, clusters merged, hyperparameters learned."""
    here, partition, n_rounds = at_point(problem, space, state.where), state.partition, 0
    if state.is_open:
        partition, n_rounds = reopened(here, rows_looked_at(here, settings), partition, turn)
    known = (partition.rows, partition.sizes)
    labels, _ = reassign(here, partition.labels, partition.sizes.size, known=known)
    stays = np.array_equal(labels, partition.labels)
    partition = merged(here, partition if stays else partition_of(here, labels))
    clusters = Clusters(partition.rows, partition.sizes)
    with single_threaded_blas():
        where = climb(space, state.where, joint_and_gradient, clusters, CLIMB_STEPS, LEAST_RISE)
    prior, log_concentration = space.at(where)
    log_joint = joint_and_gradient(prior, clusters, log_concentration, np.empty(space.variable.size))
    return State(where, partition, float(log_joint), max(state.depth, n_rounds), n_rounds > 0)


def rows_looked_at(problem: Problem, settings: Settings) -> int:
    """Rows of a cluster's sample: half of the first one, or a quarter where pairs are scored one by one."""
    share = 2 if is_fast(problem.prior, complete=problem.complete) else 4
    return max(2, first_sample_size(settings) // share)


@kernel
def cluster_weights(prior, rows, sizes, log_concentration):
    """Log concentration + lgamma(size) + log marginal of each cluster."""
    out = np.empty(sizes.size)
    for k in range(sizes.size):
        out[k] = log_concentration + math.lgamma(sizes[k]) + log_marginal(prior, rows[k])
    return out


def merged(problem: Problem, partition: Partition) -> Partition:
    """The partition after clusters were merged greedily while the log joint rises; as it is where they are many."""
    k = partition.sizes.size
    if k == 1 or k > MOST_ATOMS:
        return partition
    log_q = cluster_weights(problem.prior, partition.rows, partition.sizes, problem.log_concentration)
    atoms = Atoms(partition.rows, partition.sizes, log_q, problem.log_concentration + gammaln(partition.sizes))
    found = agglomerate(
        problem.prior, atoms, problem.log_concentration, complete=problem.complete, n_threads=problem.n_threads
    )
    n_merges = int(np.argmax(np.append(found.log_odds[k:] <= 0.0, True)))  # those before the first that is worse
    if n_merges == 0:
        return partition
    root = np.arange(k + n_merges)
    for t in range(n_merges - 1, -1, -1):
        root[found.children[t]] = root[k + t]
    return partition_of(problem, relabel(root[:k])[partition.labels])


def tree_of_partition(problem: Problem, settings: Settings, state: State) -> Grown:
    """A tree in which the clusters stand: blocks inside them, a size-tempered tree above."""
    partition = state.partition
    if partition.sizes.size > MOST_ATOMS:
        logging.getLogger("bayesgrove").warning(
            "%d clusters are too many for a tree over them (%d at most): rows are divided by samples instead",
            partition.sizes.size,
            MOST_ATOMS,
        )
        return grow(problem, settings)
    forest, heads, atoms = trees_inside(problem, settings, partition)
    top = agglomerate(
        problem.prior,
        atoms,
        problem.log_concentration,
        complete=problem.complete,
        n_threads=problem.n_threads,
        tempered=True,
    )
    forest = with_new_top(forest, heads, top.children, top.log_odds, top.log_q, top.log_d)
    log_q = float(forest.log_q[-1])
    return Grown(forest, log_q, 1 + state.depth, {"search": log_q})


def trees_inside(problem: Problem, settings: Settings, partition: Partition) -> tuple[Forest, np.ndarray, Atoms]:
    """Trees of the blocks of all clusters, joined in any order; the head of each cluster, and the heads as atoms."""
    order, splits, sets = sets_of_labels(partition.labels)
    nodes = [here.node for here in sets]
    if settings.inner == "truncate":
        splits.truncated = set(nodes)
    else:
        halve_sets(problem, settings, splits, order, sets)
    n_halved = partition.sizes[partition.sizes >= settings.leaf_size].sum()
    tempered = bool(n_halved <= MOST_TEMPERED)
    forest, pieces = block_trees(problem._replace(tempered=tempered), order, splits.plan())
    at = splits.pieces()[nodes]
    return forest, pieces.node[at], Atoms(pieces.rows[at], pieces.sizes[at], pieces.log_q[at], pieces.log_d[at])

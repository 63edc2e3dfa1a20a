"""Splitting a set of rows: by a sample's clusters, or in halves where it is one cluster.

A split tree has one node per set, parents before children; sets without children are blocks for exact BHC. Rows stand
in one array `order`, every set is a range of it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.agglomeration.filters import assign, make_filter
from bayesgrove.agglomeration.halving import halve
from bayesgrove.agglomeration.statistics import node_statistics
from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.gaussian_full import GaussianFullPrior
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import front_by_count
from bayesgrove.trees.weights import node_log_weights

ROWS_PER_CHUNK = 65_536
SMALLEST_SHARE = 1e-3
SMALLEST_SAMPLE, LARGEST_SAMPLE, SAMPLE_FACTOR = 512, 4096, 8


LEAF_SIZE, FULL_LEAF_SIZE = 256, 32
"""Rows of sets that are clustered exactly; fewer with full covariances, whose pairs cost more by far to score."""


class Settings(NamedTuple):
    """How sets are split."""

    leaf_size: int = LEAF_SIZE
    sample_size: int | None = None
    max_depth: int = 18
    split: str = "cut"
    fanout: int = 64
    filter_rule: str = "normalised"
    filter_nodes: int | None = 4
    inner: str = "halve"


def default_leaf_size(prior: Any) -> int:
    """Rows of sets that are clustered exactly unless a user says otherwise."""
    return FULL_LEAF_SIZE if isinstance(prior, GaussianFullPrior) else LEAF_SIZE


class Problem(NamedTuple):
    """Data and prior of a randomized tree."""

    prior: Any
    values: np.ndarray
    log_concentration: float
    complete: bool
    seed: int
    n_threads: int
    remote: Any = None
    """The rows on the workers of a Dask cluster (`DaskRows`), or None where `values` has them."""
    tempered: bool = False
    """Whether blocks of rows are merged in the size-tempered order instead of by log odds."""

    @property
    def rows(self) -> Any:
        """The rows, wherever they stand."""
        return self.values if self.remote is None else self.remote

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])


class OpenSet(NamedTuple):
    """A set of rows still to be split: its node in the split tree, its range, where it came from."""

    node: int
    low: int
    high: int
    depth: int
    path: tuple[int, ...]


class Groups(NamedTuple):
    """How a sample divides a set: a binary tree over groups, and the clusters that attract the other rows."""

    tree: Tree
    """The sample's own tree."""
    front: np.ndarray
    """Its nodes that head the groups, one per group."""
    log_weight: np.ndarray
    group_start: np.ndarray
    filter: Any
    residual: bool


class Chooser(NamedTuple):
    """Groups of clusters that rows choose from."""

    filter: Any
    log_weight: np.ndarray
    group_start: np.ndarray


class Plan(NamedTuple):
    """Blocks of rows and how to join them; pieces are the blocks, then the joins."""

    starts: np.ndarray
    """Block s has rows order[starts[s]:starts[s + 1]]."""
    truncated: np.ndarray
    """Whether a block is taken as one cluster without a look inside."""
    left: np.ndarray
    right: np.ndarray


class SplitTree:
    """The sets made so far."""

    def __init__(self, n_rows: int) -> None:
        self.left, self.right, self.low, self.high = [NULL], [NULL], [0], [n_rows]
        self.depth = 0
        self.truncated: set[int] = set()

    def new_node(self) -> int:
        """A node whose range and children are still open."""
        for column in (self.left, self.right, self.low, self.high):
            column.append(NULL)
        return len(self.left) - 1

    def set_children(self, node: int, left: int, right: int) -> None:
        """Make `node` the join of two sets."""
        self.left[node], self.right[node] = left, right

    def pieces(self) -> np.ndarray:
        """The piece each node becomes: blocks in order of their rows, then joins, children before parents."""
        is_block = np.array(self.left) == NULL
        blocks, joins = np.flatnonzero(is_block), np.flatnonzero(~is_block)[::-1]
        blocks = blocks[np.argsort(np.array(self.low)[blocks], kind="stable")]
        piece = np.empty(is_block.size, np.int64)
        piece[blocks], piece[joins] = np.arange(blocks.size), blocks.size + np.arange(joins.size)
        return piece

    def edges(self) -> np.ndarray:
        """Where the sets without children begin, ascending, and the number of rows."""
        is_block = np.array(self.left) == NULL
        return np.append(np.sort(np.array(self.low)[is_block]), self.high[0])

    def plan(self) -> Plan:
        """What to build and in which order."""
        left, right, low, piece = np.array(self.left), np.array(self.right), np.array(self.low), self.pieces()
        node_of_piece = np.argsort(piece)
        n_blocks = int(np.count_nonzero(left == NULL))
        blocks, joins = node_of_piece[:n_blocks], node_of_piece[n_blocks:]
        truncated = np.isin(blocks, list(self.truncated))
        return Plan(np.append(low[blocks], self.high[0]), truncated, piece[left[joins]], piece[right[joins]])


def sample_size(n: int, settings: Settings) -> int:
    """Rows to sample of a set of n: s^2 scores then cost about as much as filtering n rows."""
    if settings.sample_size is not None:
        return min(n, settings.sample_size)
    return min(n, int(np.clip(SAMPLE_FACTOR * math.sqrt(n), SMALLEST_SAMPLE, LARGEST_SAMPLE)))


def sample_groups(problem: Problem, settings: Settings, sample: np.ndarray) -> Groups | None:
    """The groups a sample shows; None when it is one cluster."""
    return groups_of_values(problem, settings, problem.values[sample])


def groups_of_values(problem: Problem, settings: Settings, values: np.ndarray) -> Groups | None:
    """The groups that the rows of a sample show; None when they are one cluster."""
    atoms = atoms_of_rows(problem.prior, values, problem.log_concentration)
    merges = agglomerate(problem.prior, atoms, problem.log_concentration, complete=problem.complete)
    tree = Tree.from_merges(
        merges.children, log_merge_odds=merges.log_odds, columns={"log_q": merges.log_q, "log_d": merges.log_d}
    )
    front = group_front(tree, settings)
    if len(front) == 1:
        return None
    residual = settings.split == "cut" and settings.filter_rule != "paper"
    nodes, log_weight, group_start = attractors(tree, front, problem.log_concentration, settings)
    rows = node_statistics(problem.prior, values, tree, nodes)
    if residual:  # a new cluster attracts like a group with an empty cluster
        rows = np.vstack([rows, np.zeros((1, rows.shape[1]))])
        log_weight = np.append(log_weight, problem.log_concentration)
        group_start = np.append(group_start, group_start[-1] + 1)
    density = make_filter(problem.prior, rows, complete=problem.complete)
    return Groups(tree, front, log_weight, group_start, density, residual)


def group_front(tree: Tree, settings: Settings) -> np.ndarray:
    """Nodes of the sample's tree that head the groups."""
    if settings.split == "root":
        return np.array(tree.children(tree.root))
    n_groups = min(settings.fanout, tree.n_leaves)
    if settings.split == "cut":
        n_groups = min(n_groups, 1 + n_openable(tree.parent, tree.columns["log_merge_odds"]))
    return front_by_count(tree, n_groups)


@kernel
def n_openable(parent, log_odds):
    """Number of nodes with negative log odds all of whose ancestors have them too."""
    is_open = np.zeros(parent.size, np.bool_)
    total = 0
    for k in range(parent.size - 1, -1, -1):
        if log_odds[k] < 0.0 and (parent[k] == NULL or is_open[parent[k]]):
            is_open[k] = True
            total += 1
    return total


def attractors(
    tree: Tree, front: np.ndarray, log_concentration: float, settings: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each group its nodes of largest omega * n (at most `filter_nodes`), with their log weights."""
    log_omega = node_log_weights(tree)
    odds = tree.columns["log_merge_odds"]
    nodes, log_weight, group_start = [], [], [0]
    for head in front:
        below = descendants(tree, int(head))
        # normalised inside the group: as if all ancestors of its head were split
        log_open = log_omega[head] + np.logaddexp(0.0, -odds[head])
        weight = log_omega[below] - log_open + np.log(tree.size[below])
        best = np.argsort(-weight, kind="stable")
        if settings.filter_nodes is not None:
            kept = weight[best] >= math.log(SMALLEST_SHARE * tree.size[head])
            best = best[kept][: settings.filter_nodes]
        nodes.append(below[best])
        log_weight.append(weight[best])
        if settings.filter_rule == "paper":  # pi_l sum_k omega_k m(x | k)
            log_pi = log_concentration + math.lgamma(tree.size[head]) - tree.columns["log_d"][head]
            log_weight[-1] = weight[best] - np.log(tree.size[below[best]]) + log_pi
        group_start.append(group_start[-1] + best.size)
    return np.concatenate(nodes), np.concatenate(log_weight), np.array(group_start)


def descendants(tree: Tree, head: int) -> np.ndarray:
    """All nodes at or below `head`, the head first."""
    start, end = tree.leaf_start[head], tree.leaf_start[head] + tree.size[head]
    inside = (tree.leaf_start >= start) & (tree.leaf_start + tree.size <= end) & (tree.size <= tree.size[head])
    return np.flatnonzero(inside)[::-1]


def group_labels(problem: Problem, groups: Groups, order: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Group of each row of `order`; the sample's rows keep the group they have in its tree."""
    labels = np.full(order.size, NULL)
    jobs = range(0, order.size, ROWS_PER_CHUNK)
    Parallel(n_jobs=problem.n_threads, require="sharedmem")(
        delayed(assign)(
            groups.filter,
            groups.log_weight,
            groups.group_start,
            problem.values,
            order,
            first,
            min(first + ROWS_PER_CHUNK, order.size),
            labels,
        )
        for first in jobs
    )
    keep_sample(groups, order, sample, labels)
    return labels


def keep_sample(groups: Groups, order: np.ndarray, sample: np.ndarray, labels: np.ndarray) -> None:
    """Give the rows of the sample the group they have in its tree."""
    places = np.searchsorted(order, sample)
    for group, head in enumerate(groups.front):
        labels[places[groups.tree.items_below(int(head))]] = group


class Division(NamedTuple):
    """What a sample proposes for a set: its rows (ascending), the groups, each row's group."""

    rows: np.ndarray
    groups: Groups
    labels: np.ndarray


def divide(problem: Problem, settings: Settings, rows: np.ndarray, path: tuple[int, ...]) -> Division | None:
    """Divide a set of rows (ascending) by a sample of it; None when the sample is one cluster."""
    return divide_by(problem, settings, rows, draw_sample(problem.seed, settings, rows, path))


def draw_sample(seed: int, settings: Settings, rows: np.ndarray, path: tuple[int, ...]) -> np.ndarray:
    """The sample of a set of rows, ascending; its generator is keyed by where the set came from."""
    return np.sort(generator(seed, *path).choice(rows, sample_size(rows.size, settings), replace=False))


def divide_by(problem: Problem, settings: Settings, rows: np.ndarray, sample: np.ndarray) -> Division | None:
    """Divide a set of rows by the sample given."""
    groups = sample_groups(problem, settings, sample)
    if groups is None:
        return None
    return Division(rows, groups, group_labels(problem, groups, rows, sample))


def apply_division(splits: SplitTree, order: np.ndarray, here: OpenSet, division: Division) -> list[OpenSet]:
    """Enter a division into the split tree; the new sets, in order."""
    groups, labels = division.groups, division.labels
    splits.depth = max(splits.depth, here.depth + 1)
    sizes = np.bincount(labels, minlength=len(groups.front) + groups.residual)
    order[here.low : here.high] = division.rows[places_by_label(labels, sizes.size)]
    starts = here.low + np.concatenate([[0], np.cumsum(sizes)])
    found = []
    for group, node in enumerate(
        add_group_nodes(splits, here.node, groups, has_residual=groups.residual and sizes[-1] > 0)
    ):
        low, high = int(starts[group]), int(starts[group + 1])
        splits.low[node], splits.high[node] = low, high
        found.append(OpenSet(node, low, high, here.depth + 1, (*here.path, group)))
    return found


def places_by_label(labels: np.ndarray, n_labels: int) -> np.ndarray:
    """Places of rows sorted by label, those of one label in their order; numpy sorts short integers by counting."""
    return np.argsort(labels.astype(np.min_scalar_type(n_labels)), kind="stable")


def add_group_nodes(splits: SplitTree, node: int, groups: Groups, *, has_residual: bool) -> list[int]:
    """Nodes of the split tree for all groups, joined like the sample's tree, the residual last; one per group."""
    tree, nodes = groups.tree, dict.fromkeys(groups.front.tolist(), NULL)
    top, residual = node, []
    if has_residual:
        top, residual = splits.new_node(), [splits.new_node()]
        splits.set_children(node, top, residual[0])
    queue = [(tree.root, top)]
    for head, here in queue:
        if head in nodes:
            nodes[head] = here
            continue
        a, b = tree.children(head)
        left, right = splits.new_node(), splits.new_node()
        splits.set_children(here, left, right)
        queue += [(a, left), (b, right)]
    return [nodes[head] for head in groups.front.tolist()] + residual


def halve_sets(problem: Problem, settings: Settings, splits: SplitTree, order: np.ndarray, sets: list[OpenSet]) -> None:
    """Halve homogeneous sets, in parallel; their parts enter the split tree in the order of the sets."""
    if problem.remote is None:
        key = np.empty(order.size)
        parts = Parallel(n_jobs=problem.n_threads, require="sharedmem")(
            delayed(halve)(problem.values, order, key, here.low, here.high, settings.leaf_size) for here in sets
        )
    else:
        parts = problem.remote.halve(
            order, [(here.low, here.high) for here in sets], splits.edges(), settings.leaf_size
        )
    for here, (left, right, low, high) in zip(sets, parts, strict=True):
        ids = [here.node] + [splits.new_node() for _ in range(left.size - 1)]
        for k, node in enumerate(ids):
            splits.low[node], splits.high[node] = int(low[k]), int(high[k])
            if left[k] != NULL:
                splits.set_children(node, ids[left[k]], ids[right[k]])


def split_rows(problem: Problem, settings: Settings) -> tuple[np.ndarray, SplitTree]:
    """Split all rows into blocks: the rows' order and the tree of sets. One round per depth, sets in parallel."""
    n = problem.n_rows
    order, splits = np.arange(n), SplitTree(n)
    open_sets, homogeneous = [OpenSet(0, 0, n, 0, ())], []
    while open_sets := [here for here in open_sets if here.high - here.low >= settings.leaf_size]:
        if open_sets[0].depth >= settings.max_depth:
            homogeneous += open_sets
            break
        divisions = divide_all(problem, settings, order, open_sets)
        next_sets = []
        for here, division in zip(open_sets, divisions, strict=True):
            if division is None:
                homogeneous.append(here)
            else:
                next_sets += apply_division(splits, order, here, division)
        open_sets = next_sets
    if settings.inner == "truncate":
        splits.truncated = {here.node for here in homogeneous}
    else:
        halve_sets(problem, settings, splits, order, homogeneous)
    return order, splits


def divide_all(problem: Problem, settings: Settings, order: np.ndarray, sets: list[OpenSet]) -> list[Division | None]:
    """Divisions of several sets; threads share the sets, or the rows when there is one set only."""
    if problem.remote is not None:
        return problem.remote.divide_all(problem, settings, order, sets)
    inner = problem._replace(n_threads=1) if len(sets) > 1 else problem
    return Parallel(n_jobs=problem.n_threads if len(sets) > 1 else 1, require="sharedmem")(
        delayed(divide)(inner, settings, np.sort(order[here.low : here.high]), here.path) for here in sets
    )

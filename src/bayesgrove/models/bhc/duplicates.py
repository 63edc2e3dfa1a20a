"""Identical rows merged first: each group of them by balanced halving, then it enters as one cluster."""

import numpy as np

from bayesgrove.agglomeration.blocks import Forest, block_trees
from bayesgrove.agglomeration.exact import Atoms, Progress, agglomerate
from bayesgrove.agglomeration.randomized import with_new_top
from bayesgrove.agglomeration.splits import OpenSet, Problem, SplitTree


def merge_duplicates_first(problem: Problem, *, memory_limit: float, progress: Progress | None) -> Forest:
    """A tree in which identical rows (missing cells included) stand together; its bound is valid as any tree's."""
    groups = row_groups(problem.values)
    order = np.argsort(groups, kind="stable")
    edges = np.append(np.flatnonzero(np.diff(groups[order], prepend=-1)), groups.size)
    splits, heads = halved_groups(edges)
    forest, pieces = block_trees(problem, order, splits.plan())
    roots = splits.pieces()[heads]
    atoms = Atoms(pieces.rows[roots], pieces.sizes[roots], pieces.log_q[roots], pieces.log_d[roots])
    top = agglomerate(
        problem.prior,
        atoms,
        problem.log_concentration,
        complete=problem.complete,
        memory_limit=memory_limit,
        n_threads=problem.n_threads,
        progress=progress,
    )
    return with_new_top(forest, pieces.node[roots], top.children, top.log_odds, top.log_q, top.log_d)


def row_groups(values: np.ndarray) -> np.ndarray:
    """A number per row, equal for rows with the same bits, numbered by first appearance."""
    keys = np.ascontiguousarray(values + 0.0)  # one zero, not two
    keys[np.isnan(keys)] = np.nan
    whole = keys.view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[inverse]


def halved_groups(edges: np.ndarray) -> tuple[SplitTree, list[int]]:
    """A split tree down to single rows: groups in a chain, each halved; and the node of each group."""
    splits, node, heads = SplitTree(int(edges[-1])), 0, []
    for k in range(edges.size - 1):
        here = node
        if k < edges.size - 2:
            here, rest = splits.new_node(), splits.new_node()
            splits.set_children(node, here, rest)
            node = rest
        heads.append(here)
        halve_to_rows(splits, OpenSet(here, int(edges[k]), int(edges[k + 1]), 0, ()))
    return splits, heads


def halve_to_rows(splits: SplitTree, group: OpenSet) -> None:
    """Halve a range until every part is a single row."""
    queue = [(group.node, group.low, group.high)]
    for node, low, high in queue:
        splits.low[node], splits.high[node] = low, high
        if high - low > 1:
            middle = (low + high) // 2
            left, right = splits.new_node(), splits.new_node()
            splits.set_children(node, left, right)
            queue += [(left, low, middle), (right, middle, high)]

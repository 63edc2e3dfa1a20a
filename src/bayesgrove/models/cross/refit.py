"""Row trees on a given tree of columns: for more rows than it was found with, exactly or by samples.

The bound is valid for any tree of columns and any trees of rows, so a tree of columns found on some rows serves all:
only the evidence of its nodes is computed anew. The exact way grows a row tree for every node. The randomized way grows
one tree per view by samples; nodes inside a view stand on the view's tree, nodes above on the best of theirs.
"""

from collections.abc import Sequence

import numpy as np

from bayesgrove.agglomeration.randomized import grow
from bayesgrove.agglomeration.splits import Problem as RowProblem
from bayesgrove.agglomeration.splits import Settings as RowSettings
from bayesgrove.core.constants import NULL
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.parts import part_of_prior
from bayesgrove.models.cross.column_trees import Node, union_node, whole_node
from bayesgrove.models.cross.dask_table import ClusterTable
from bayesgrove.models.cross.evidence import Problem, flat_bound, grow_views, log_evidence
from bayesgrove.models.cross.fixed_trees import root_logs
from bayesgrove.models.cross.polish import Partition, views_of
from bayesgrove.models.cross.row_polish import can_polish, polish_view
from bayesgrove.models.cross.search import CrossFit, assembled
from bayesgrove.trees import Tree

MOST_EXACT_ROWS = 2_000
"""Rows up to which every view's tree is grown exactly; the work is quadratic."""
LEAF_SIZE = 64
"""Rows of a block: mixed columns are scored pair by pair, so blocks are smaller than those of `RandomizedBHC`."""


def evidence_on(problem: Problem, columns: np.ndarray, row_children: np.ndarray) -> float:
    """Log evidence of a set of columns on a given tree of the rows."""
    log_q, log_d = root_logs(problem, columns, row_children)
    return float(log_evidence(problem, np.array([log_q]), np.array([log_d]))[0])


def sampled_tree(
    problem: Problem, prior: ColumnsPrior, columns: np.ndarray, seed: int, settings: RowSettings | None = None
) -> np.ndarray:
    """Merges of a randomized tree of all rows in a view."""
    if isinstance(problem.table, ClusterTable):
        remote = problem.table.rows.select(columns)
        values, complete = np.empty((0, columns.size)), remote.is_complete
    else:
        remote, values = None, np.ascontiguousarray(problem.table.values[columns].T)
        complete = not bool(np.isnan(values).any())
    own = part_of_prior(prior, columns)
    tempered = problem.row_search == "best"
    rows = RowProblem(own, values, problem.log_rows, complete, seed, problem.n_threads, remote, tempered)
    return grow(rows, settings or RowSettings(leaf_size=LEAF_SIZE)).forest.children.astype(np.int32)


def partition_on(problem: Problem, labels: np.ndarray, row_children: Sequence[np.ndarray]) -> Partition:
    """Views on given row trees."""
    views = views_of(labels)
    evidence = np.array([evidence_on(problem, view, tree) for view, tree in zip(views, row_children, strict=True)])
    return Partition(labels, views, evidence, tuple(row_children), flat_bound(problem, np.bincount(labels), evidence))


def columns_below(tree: Tree) -> list[np.ndarray]:
    """Columns of each node of a column tree, ascending."""
    ends = tree.leaf_start + tree.size
    return [np.sort(tree.leaf_order[low:high]) for low, high in zip(tree.leaf_start, ends, strict=True)]


def nodes_of(problem: Problem, tree: Tree, evidence: Sequence[float], row_children: Sequence[np.ndarray]) -> list[Node]:
    """The nodes of a column tree with new evidence; q, d and odds follow upwards."""
    nodes: list[Node] = []
    for k, columns in enumerate(columns_below(tree)):
        children = () if tree.item[k] != NULL else tuple(int(child) for child in tree.children(k))
        if len(children) == 2:
            node = union_node(problem, nodes, children, evidence[k], row_children[k])
        else:  # a column, or several taken for one view
            node = whole_node(problem, columns, evidence[k], row_children[k])
        nodes.append(node._replace(columns=columns))
    return nodes


def on_best_trees(problem: Problem, tree: Tree, found: Partition) -> tuple[list[float], list[np.ndarray]]:
    """Evidence and row tree of each node of a column tree, on the trees of the views it meets."""
    evidence, chosen = [], []
    for columns in columns_below(tree):
        met = np.unique(found.labels[columns])
        if met.size == 1 and columns.size == found.views[met[0]].size:
            best, value = int(met[0]), float(found.evidence[met[0]])
        else:
            values = [evidence_on(problem, columns, found.row_children[v]) for v in met]
            best, value = int(met[np.argmax(values)]), max(values)
        evidence.append(value)
        chosen.append(found.row_children[best])
    return evidence, chosen


def refit_sampled(problem: Problem, fit: CrossFit, found: Partition, bounds: dict[str, float]) -> CrossFit:
    """The column tree of a fit over other rows, on the row trees of the views found."""
    nodes = nodes_of(problem, fit.column_tree, *on_best_trees(problem, fit.column_tree, found))
    singles = nodes[: found.labels.size]
    return assembled(problem, nodes, singles, found, fit.method, bounds, fit.n_row_trees + len(found.views))


def refit_exactly(problem: Problem, fit: CrossFit) -> CrossFit:
    """The column tree and views of a fit over other rows, with a row tree of its own for every node."""
    sets = columns_below(fit.column_tree)
    grown = grow_views(problem, sets)
    evidence, children = log_evidence(problem, grown.log_q, grown.log_d), list(grown.children)
    if can_polish(problem):
        for k, columns in enumerate(sets):
            evidence[k], children[k] = polish_view(problem, columns, float(evidence[k]), children[k])
    nodes = nodes_of(problem, fit.column_tree, evidence.tolist(), children)
    place = {columns.tobytes(): k for k, columns in enumerate(sets)}
    at = [place[view.tobytes()] for view in fit.views]
    bound = flat_bound(problem, np.bincount(fit.view_labels), evidence[at])
    found = Partition(fit.view_labels, fit.views, evidence[at], tuple(children[k] for k in at), bound)
    return assembled(problem, nodes, nodes[: found.labels.size], found, fit.method, {"refitted": bound}, grown.n_trees)

"""Trees of columns while they are built: nodes, their evidence and row trees; joined, grafted, handed out."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.models.cross.evidence import Grown, Problem, log_evidence
from bayesgrove.trees import Tree


class Node(NamedTuple):
    """A set of columns, how it came about and what is known of it."""

    columns: np.ndarray
    children: tuple[int, ...]
    """Numbers of other nodes of the same list; none at a leaf, more than two at a set taken for one view."""
    log_odds: float
    log_q: float
    log_d: float
    evidence: float
    row_children: np.ndarray
    """(n_rows - 1, 2) merges of the row tree."""


def whole_nodes(problem: Problem, views: Sequence[np.ndarray], grown: Grown) -> list[Node]:
    """Each view as one for certain: a column, or a truncated leaf of several."""
    evidence = log_evidence(problem, grown.log_q, grown.log_d)
    return [whole_node(problem, *known) for known in zip(views, evidence, grown.children, strict=True)]


def whole_node(problem: Problem, columns: np.ndarray, evidence: float, row_children: np.ndarray) -> Node:
    """One view for certain: q = g."""
    log_prior = problem.log_columns + math.lgamma(columns.size)
    return Node(columns, (), math.inf, log_prior + float(evidence), log_prior, float(evidence), row_children)


def union_node(
    problem: Problem, nodes: Sequence[Node], children: tuple[int, ...], evidence: float, row_children: np.ndarray
) -> Node:
    """Two nodes merged: one view or two."""
    a, b = (nodes[child] for child in children)
    columns = np.concatenate([a.columns, b.columns])
    log_prior = problem.log_columns + math.lgamma(columns.size)
    log_one, apart = log_prior + float(evidence), a.log_q + b.log_q
    log_q, log_d = float(np.logaddexp(log_one, apart)), float(np.logaddexp(log_prior, a.log_d + b.log_d))
    return Node(columns, children, log_one - apart, log_q, log_d, float(evidence), row_children)


def with_rows(problem: Problem, nodes: Sequence[Node], node: Node, evidence: float, row_children: np.ndarray) -> Node:
    """A node of a tree on another tree of the rows."""
    if node.children:
        return union_node(problem, nodes, node.children, evidence, row_children)
    return whole_node(problem, node.columns, evidence, row_children)


def shifted(nodes: Sequence[Node], by: int) -> list[Node]:
    """The nodes as they stand behind `by` others."""
    return [node._replace(children=tuple(child + by for child in node.children)) for node in nodes]


def grafted(top: Sequence[Node], below: Sequence[Sequence[Node]]) -> list[Node]:
    """The tree `top`, whose first leaves are replaced by whole trees; a tree's root is its last node."""
    nodes: list[Node] = []
    place = []
    for tree in below:
        nodes.extend(shifted(tree, len(nodes)))
        place.append(len(nodes) - 1)
    for node in top[len(below) :]:
        nodes.append(node._replace(children=tuple(place[child] for child in node.children)))
        place.append(len(nodes) - 1)
    return nodes


class ColumnTree(NamedTuple):
    """A tree of columns as results hold it."""

    tree: Tree
    """Columns log_merge_odds, log_q, log_d, log_evidence; items are the columns' numbers."""
    row_children: tuple[np.ndarray, ...]
    """Merges of the row tree of every node."""


def column_tree(
    nodes: Sequence[Node], singles: Sequence[Node], leaf_labels: tuple[str, ...] | None = None
) -> ColumnTree:
    """The house's tree: the columns are nodes 0, 1, ...; a truncated set has its columns as children.

    `singles` gives the node of each column alone, in the order of the columns.
    """
    ordered = list(singles)
    parent = [NULL] * len(singles)
    place = []
    for node in nodes:
        if node.columns.size == 1:
            place.append(int(node.columns[0]))
            continue
        children = [place[child] for child in node.children] or node.columns.tolist()
        for child in children:
            parent[child] = len(ordered)
        place.append(len(ordered))
        ordered.append(node)
        parent.append(NULL)
    item = [j if j < len(singles) else NULL for j in range(len(ordered))]
    fields = {"log_merge_odds": "log_odds", "log_q": "log_q", "log_d": "log_d", "log_evidence": "evidence"}
    columns = {name: [getattr(node, field) for node in ordered] for name, field in fields.items()}
    tree = Tree.from_parents(parent, item=item, columns=columns, leaf_labels=leaf_labels)
    return ColumnTree(tree, tuple(node.row_children for node in ordered))

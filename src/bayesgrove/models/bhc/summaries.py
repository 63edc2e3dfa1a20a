"""What sets the two children of a node apart, column by column."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.likelihoods.contract import log_marginal, n_stats
from bayesgrove.trees import Tree

MOST_NODES = 64
MOST_FEATURES = 5


class NodeSummary(NamedTuple):
    """A node above the cut: how large, how probably one cluster, and which columns keep its children apart."""

    node: int
    size: int
    probability: float
    children: tuple[int, int]
    child_sizes: tuple[int, int]
    features: tuple[tuple[str, float], ...]
    """Names of columns with the log Bayes factor for two clusters against one, the strongest first."""


def summarise_nodes(
    prior: Any, tree: Tree, front: np.ndarray, names: tuple[str, ...], node_rows: Callable
) -> list[NodeSummary]:
    """Summaries of the largest nodes above the cut, from the root down.

    `node_rows(nodes)` gives the statistics of `summary_nodes`.
    """
    nodes, children = summary_nodes(tree, front)
    rows = node_rows(np.concatenate([nodes, children[:, 0], children[:, 1]]))
    starts = column_starts(prior, len(names))
    probability = 1.0 / (1.0 + np.exp(-np.clip(tree.columns["log_merge_odds"][nodes], -700.0, 700.0)))
    summaries = []
    for i, node in enumerate(nodes):
        apart: np.ndarray = np.empty(0) if starts is None else column_factors(prior, starts, rows[i :: nodes.size])
        strongest = np.argsort(apart)[::-1][:MOST_FEATURES]
        features = tuple((names[j], float(apart[j])) for j in strongest if apart[j] > 0.0)
        a, b = (int(child) for child in children[i])
        sizes = (int(tree.size[a]), int(tree.size[b]))
        summaries.append(NodeSummary(int(node), int(tree.size[node]), float(probability[i]), (a, b), sizes, features))
    return summaries


def summary_nodes(tree: Tree, front: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nodes to summarise and their children."""
    nodes = above_front(tree, front)
    children = np.flatnonzero(np.isin(tree.parent, nodes))  # quicker than the links of all nodes
    return nodes, children[np.argsort(-tree.parent[children], kind="stable")].reshape(-1, 2)


def above_front(tree: Tree, front: np.ndarray) -> np.ndarray:
    """The largest nodes strictly above the cut, ids descending."""
    above = np.zeros(tree.n_nodes, np.bool_)
    parents = np.unique(tree.parent[front])
    while (parents := parents[parents != NULL]).size:
        above[parents] = True
        parents = np.unique(tree.parent[parents])
        parents = parents[(parents == NULL) | ~above[parents]]
    nodes = np.flatnonzero(above)
    largest = nodes[np.argsort(-tree.size[nodes], kind="stable")][:MOST_NODES]
    return np.sort(largest)[::-1]


def column_starts(prior: Any, n_columns: int) -> np.ndarray | None:
    """Where the statistics of each column start; None when columns are not independent given the cluster."""
    if hasattr(prior, "start"):
        return prior.start
    width = n_stats(prior)
    return np.arange(0, width + 1, width // n_columns) if width % n_columns == 0 else None


def column_factors(prior: Any, starts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Log Bayes factor of each column for two clusters against one; rows: the node and its two children."""
    return split_evidence(prior, starts, np.ascontiguousarray(rows))


@kernel
def split_evidence(prior, starts, rows):
    """A row with all other columns empty has the log marginal of the one that is left."""
    only = np.zeros(rows.shape[1])
    factors = np.zeros(starts.size - 1)
    for j in range(starts.size - 1):
        for k in range(3):
            for at in range(starts[j], starts[j + 1]):
                only[at] = rows[k, at]
            factors[j] += log_marginal(prior, only) * (-1.0 if k == 0 else 1.0)
            for at in range(starts[j], starts[j + 1]):
                only[at] = 0.0
    return factors

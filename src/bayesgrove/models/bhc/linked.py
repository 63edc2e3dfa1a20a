"""Trees under constraints: items are clustered, and items of several rows hang below as subtrees that are one cluster.

q of a node is the sum over the partitions of its rows that are consistent with the tree and meet the constraints: the
rows of an item are never split, a node with a forbidden pair is never one cluster. The bound at the root is one on the
log probability of the data *and* of the event that the constraints are met.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from bayesgrove.agglomeration.blocks import Forest
from bayesgrove.agglomeration.regrow import Weighed, weighed
from bayesgrove.agglomeration.splits import Problem
from bayesgrove.core.constants import NULL
from bayesgrove.likelihoods.linked import FORBIDDEN, LinkedPrior, link_rows
from bayesgrove.stats.links import Links
from bayesgrove.trees import Tree


def linked_problem(problem: Problem, links: Links) -> Problem:
    """The same with items instead of rows."""
    log_gamma = np.concatenate([[0.0], gammaln(np.arange(1.0, links.item.size + 2.0))])
    prior, items = link_rows(problem.prior, problem.values, links, log_gamma, log_gamma)
    return problem._replace(prior=prior, values=items, complete=True)


def forest_of_rows(problem: Problem, forest: Forest, links: Links) -> Forest:
    """A tree over rows from one over items; `problem` has the numbers the tree was weighed with."""
    linked: LinkedPrior = problem.prior
    children, roots = merges_of_items(links)
    inside = weighed(linked.prior, linked.values, children, problem.log_concentration)
    n, n_inside = links.item.size, len(children)
    log_odds, log_q, log_d = whole_clusters(inside, problem.log_concentration)
    ids = np.concatenate([roots, n + n_inside + np.arange(len(forest.children))])
    is_forbidden = forest.log_odds < -0.5 * FORBIDDEN
    top_d = log_prior_weights(forest.children, is_forbidden, np.bincount(links.item), problem.log_concentration)
    return Forest(
        np.concatenate([children, np.sort(ids[forest.children], axis=1)]),
        np.concatenate([log_odds[n:], np.where(is_forbidden, -np.inf, forest.log_odds)]),
        np.concatenate([log_q[n:], forest.log_q]),
        np.concatenate([log_d[n:], top_d]),
        log_q[:n],
    )


def without_forbidden(tree: Tree, links: Links) -> Tree:
    """A binary tree whose nodes with a forbidden pair are no clusters, weighed anew."""
    odds, log_q, log_d = (tree.columns[name].copy() for name in ("log_merge_odds", "log_q", "log_d"))
    is_forbidden = np.zeros(tree.n_nodes, np.bool_)
    for one, two in links.first_rows[links.apart].tolist():
        node = tree.lca(one, two)
        while node != NULL and not is_forbidden[node]:
            is_forbidden[node], node = True, int(tree.parent[node])
    for node in np.flatnonzero(is_forbidden).tolist():
        children = [tree.first_child[node], tree.next_sibling[tree.first_child[node]]]
        odds[node], log_q[node], log_d[node] = -np.inf, log_q[children].sum(), log_d[children].sum()
    return replace(tree, columns={**tree.columns, "log_merge_odds": odds, "log_q": log_q, "log_d": log_d})


def merges_of_items(links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Merges that join the rows of each item, neighbours first, and the root of each item."""
    merges: list[tuple[int, int]] = []
    n, roots = links.item.size, np.empty(links.n_items, np.int64)
    order, stops = np.argsort(links.item, kind="stable"), np.cumsum(np.bincount(links.item))
    for item, nodes in enumerate(np.split(order, stops[:-1])):
        left = nodes.tolist()
        while len(left) > 1:
            pairs = list(zip(left[::2], left[1::2], strict=False))
            made = [n + len(merges) + k for k in range(len(pairs))]
            merges += pairs
            left = made + left[2 * len(pairs) :]
        roots[item] = left[0]
    return np.sort(np.array(merges, np.int64).reshape(-1, 2), axis=1), roots


def whole_clusters(inside: Weighed, log_concentration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log odds, q and d by node where every node is one cluster for certain."""
    log_one = inside.log_q - np.logaddexp(0.0, -inside.log_odds)
    return np.full(log_one.size, np.inf), log_one, log_concentration + gammaln(inside.sizes)


def log_prior_weights(
    children: np.ndarray, is_forbidden: np.ndarray, sizes: np.ndarray, log_concentration: float
) -> np.ndarray:
    """Log d of merges over items of several rows: nodes with a forbidden pair are never one cluster."""
    n_rows, log_d = sizes.tolist(), (log_concentration + gammaln(sizes)).tolist()
    for (a, b), forbidden in zip(children.tolist(), is_forbidden.tolist(), strict=True):
        n_rows.append(n_rows[a] + n_rows[b])
        one, apart = log_concentration + math.lgamma(n_rows[-1]), log_d[a] + log_d[b]
        log_d.append(apart if forbidden else float(np.logaddexp(one, apart)))
    return np.array(log_d[sizes.size :])

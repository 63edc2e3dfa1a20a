"""How surely the two sides of a branch are two clusters: components are drawn anew and united by the rule each time.

Rows belong to the components of a tree in shares. Each draw puts every row into one of them at random, by these shares,
and unites the components that it then has. In a draw a component of the tree is in the cluster that most of its rows
are in. P(apart) of a branch is the share of draws in which a component on its left and one on its right are in
different clusters, the mean over such pairs, weighted by sizes. It is conditional on the components of the one fit, the
shares and the hyperparameters: how far these are from the truth it does not tell.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.draw_unions import clusters_of_draws
from bayesgrove.agglomeration.overlaps import left_out_predictives
from bayesgrove.agglomeration.soft_components import GAUSSIAN_PRIORS, shares_of_rows, soft_components
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.core.blas import single_threaded_blas
from bayesgrove.core.constants import NULL
from bayesgrove.core.rng import fixed_sample, generator
from bayesgrove.likelihoods.parts import columns_in_use
from bayesgrove.models.bhc.united import MOST_ROWS, Rows
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import node_labels

APART_PATH = 0xA9A7
MOST_DRAWS, FEWEST_DRAWS, MOST_WORK = 50, 20, 200_000
"""As many draws as keep the rows of all of them below the last number."""
MOST_OVERLAPPING = 30
"""Components of discrete and mixed tables; overlaps of more of them take too long to compare in every draw."""


class Shared(NamedTuple):
    """Rows that belong to components in shares: those of the table, or a sample of a large one."""

    prior: Any
    values: np.ndarray
    labels: np.ndarray
    """(n_rows,) component of the partition."""
    shares: np.ndarray
    """(n_rows, n_components) for Gaussian columns without the components that lost all their rows."""


def rows_in_shares(rows: Rows, components: np.ndarray) -> Shared | None:
    """Shares of rows in the components of a partition; None where overlaps of too many would have to be compared."""
    chosen = np.union1d(fixed_sample(components.size, MOST_ROWS), np.unique(components, return_index=True)[1])
    labels, values = components[chosen], np.ascontiguousarray(rows.values[chosen])
    prior, values = columns_in_use(rows.prior, values, ~np.isnan(values).all(axis=0))
    if isinstance(prior, GAUSSIAN_PRIORS):
        with single_threaded_blas():
            return Shared(prior, values, labels, shares_of_rows(soft_components(prior, values, labels)[0], values))
    k = int(labels.max()) + 1
    if k > MOST_OVERLAPPING:
        return None
    statistics, sizes = cluster_statistics(prior, values, labels, k)
    log_weight = left_out_predictives(prior, values, statistics, labels) + np.log(sizes)
    return Shared(prior, values, labels, np.exp(log_weight - np.logaddexp.reduce(log_weight, axis=1, keepdims=True)))


def with_apart(tree: Tree, components: np.ndarray, shared: Shared, seed: int) -> Tree:
    """The tree with P(apart) of all branches above its components in the column `apart`, 0 within components."""
    n_draws = min(MOST_DRAWS, max(FEWEST_DRAWS, MOST_WORK // shared.labels.size))
    drawn = drawn_components(generator(seed, APART_PATH), shared.shares, n_draws)
    together = together_in(clusters_of_draws(lambda _: shared.prior, shared.values, drawn), shared.labels)
    sizes = np.bincount(components).astype(float)
    apart = apart_at_branches(tree, node_labels(tree, components), together, sizes)
    return replace(tree, columns={**tree.columns, "apart": apart})


def drawn_components(rng: np.random.Generator, shares: np.ndarray, n_draws: int) -> np.ndarray:
    """Components of rows, drawn by their shares, (n_draws, n_rows)."""
    ends = shares.cumsum(axis=1)[:, :-1]
    return np.stack([(rng.random((len(ends), 1)) >= ends).sum(axis=1) for _ in range(n_draws)])


def together_in(draws: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Share of draws of clusters in which most rows of two components are in the same one, for all pairs.

    With half a draw for each answer added: some draws that agree are no certainty.
    """
    k, together = int(labels.max()) + 1, 0.5
    for draw in draws:
        width = int(draw.max()) + 1
        home = np.bincount(labels * width + draw, minlength=k * width).reshape(k, width).argmax(axis=1)
        together = together + np.equal.outer(home, home)
    return np.asarray(together / (len(draws) + 1))


def apart_at_branches(tree: Tree, owner: np.ndarray, together: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Mean over pairs of components, one on each side of a branch, of how often they are apart; 0 within components.

    Parameters
    ----------
    tree : Tree
    owner : int array of shape (n_nodes,)
        Component each node lies in, NULL above them.
    together : ndarray of shape (n_components, n_components)
        Share of draws in which two components are in one cluster.
    sizes : ndarray of shape (n_components,)
        Numbers of rows.
    """
    together, sizes, place = together * np.outer(sizes, sizes), sizes.copy(), owner.copy()
    apart = np.zeros(tree.n_nodes)
    for node in np.flatnonzero(owner == NULL):  # children come before parents
        a, b = (place[child] for child in tree.children(int(node)))
        apart[node] = 1.0 - together[a, b] / (sizes[a] * sizes[b])
        together[a] += together[b]
        together[:, a] += together[:, b]
        sizes[a] += sizes[b]
        place[node] = a
    return apart

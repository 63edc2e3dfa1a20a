"""Results made by hand: a tree, labels and a table, without fitting anything."""

import numpy as np

from bayesgrove.core.table import Table
from bayesgrove.inference.description import describe_rows
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.result import Result
from bayesgrove.trees import Tree


def chain_merges(groups):
    """Merges of the items of each group one after another, then of the groups; and how many of them are inside."""
    n = sum(map(len, groups))
    merges, tops = [], []
    for group in groups:
        top = group[0]
        for item in group[1:]:
            merges.append(sorted((top, item)))
            top = n + len(merges) - 1
        tops.append(top)
    n_inside = len(merges)
    top = tops[0]
    for other in tops[1:]:
        merges.append(sorted((top, other)))
        top = n + len(merges) - 1
    return merges, n_inside


def grouped_tree(labels, odds_inside=4.0, odds_above=-5.0, names=None):
    """A tree whose branches are the clusters of some labels."""
    labels = np.asarray(labels)
    groups = [np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1)]
    merges, n_inside = chain_merges(groups)
    rng = np.random.default_rng(labels.size)
    odds = [odds_inside + rng.random()] * n_inside + [odds_above - k for k in range(len(merges) - n_inside)]
    if not merges:
        return Tree.from_parents([-1], columns={"log_merge_odds": np.array([np.inf])}, leaf_labels=names)
    return Tree.from_merges(merges, odds, leaf_labels=names)


def table_of(values, names=None, kinds=None, categories=None):
    """A table of floats."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    n_columns = values.shape[1]
    names = tuple(f"x{j}" for j in range(n_columns)) if names is None else tuple(names)
    kinds = ("float",) * n_columns if kinds is None else tuple(kinds)
    return Table(values, names, kinds, categories or {})


def make_result(table, labels, tree=None, posterior=None, views=(), diagnostics=None, model="BHC"):
    """A result of a table, described as an estimator would."""
    labels = np.asarray(labels, np.int64)
    tree = grouped_tree(labels) if tree is None else tree
    return Result(
        model=model,
        labels=labels,
        tree=tree,
        log_evidence=None,
        likelihood=None,
        feature_names=table.names,
        provenance={},
        posterior=posterior,
        diagnostics=diagnostics,
        description=describe_rows(table.take, table.n_columns, tree, labels),
        views=tuple(views),
    )


def blobs(seed=0, n=40, n_columns=5, n_clusters=3):
    """A table of shifted normal columns in quite different units, and its labels."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(n_clusters), rng.integers(0, n_clusters, n - n_clusters)])
    centres = rng.normal(0.0, 3.0, (n_clusters, n_columns))
    values = (centres[labels] + rng.normal(size=(n, n_columns))) * 10.0 ** np.arange(n_columns)
    return table_of(values), labels


def noisy_posterior(seed, labels, n_chains=3, n_draws=60):
    """Draws around some labels: every draw moves a few items."""
    rng = np.random.default_rng(seed)
    draws = np.tile(labels, (n_chains, n_draws, 1))
    moved = rng.random(draws.shape) < 0.08
    draws[moved] = rng.integers(0, labels.max() + 2, moved.sum())
    return Posterior(draws, {"log_joint": rng.normal(-100.0, 3.0, (n_chains, n_draws))})

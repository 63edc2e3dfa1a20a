"""The tree above the components, rearranged so that every cluster, a union of components, is one of its nodes."""

from typing import Any, NamedTuple

import numpy as np

from bayesgrove.agglomeration.exact import Atoms, Merges, agglomerate
from bayesgrove.agglomeration.learn_scale import with_dependence
from bayesgrove.agglomeration.overlaps import clusters_by_overlap
from bayesgrove.agglomeration.soft_components import GAUSSIAN_PRIORS, soft_components
from bayesgrove.agglomeration.statistics import merge_upwards, node_statistics
from bayesgrove.agglomeration.unions import unite
from bayesgrove.core.blas import single_threaded_blas
from bayesgrove.core.constants import NULL
from bayesgrove.core.rng import fixed_sample
from bayesgrove.likelihoods.columns import ColumnsPrior
from bayesgrove.likelihoods.families import FAMILIES
from bayesgrove.likelihoods.parts import columns_in_use
from bayesgrove.stats.links import Links
from bayesgrove.stats.partitions import relabel
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import find_front, labels_of_front, node_labels

MOST_ROWS = 10_000
"""Rows from which the densities of components are computed."""
FEWEST_ROWS = 50
"""With fewer rows no valley can be told from sampling noise, and components are left as they are."""
MOST_COMPONENTS, MOST_COLUMNS, MOST_OVERLAPPING = 1_000, 100, 300
"""Beyond this components are left as they are: pairs of them are compared, by matrices of the columns or by rows."""


class Rows(NamedTuple):
    """Encoded rows, an array or on a Dask cluster, with their prior."""

    values: Any
    prior: Any
    log_concentration: float
    complete: bool
    """Whether no cell in use is missing."""


class United(NamedTuple):
    """A tree, and those of its nodes that are clusters."""

    tree: Tree
    front: np.ndarray


def has_rule(prior: Any, n_components: int) -> bool:
    """Whether a rule tells which of so many components under this prior belong together: valleys or overlaps."""
    if isinstance(prior, GAUSSIAN_PRIORS):
        return prior.mean.size <= MOST_COLUMNS and n_components <= MOST_COMPONENTS
    by_columns = (ColumnsPrior, *(family.prior for family in FAMILIES))
    return isinstance(prior, by_columns) and n_components <= MOST_OVERLAPPING


def united_tree(tree: Tree, rows: Rows, links: Links | None = None) -> United | None:
    """The tree with its clusters as nodes; None where no rule tells which components belong together.

    Under constraints components that are to be apart are not united.
    """
    front = find_front(tree, "map")
    if not has_rule(rows.prior, front.size) or tree.n_leaves < FEWEST_ROWS:
        return None
    if front.size == 1:
        return United(tree, front)
    components = labels_of_front(tree, front)
    cluster = clusters_of_components(rows, components)
    if links is not None:
        cluster = relabel(links.parted(components, cluster[components])[np.unique(components, return_index=True)[1]])
    if int(cluster.max()) + 1 == front.size:
        return United(tree, front)
    owner = node_labels(tree, components)
    heads = np.empty(front.size, np.int64)
    heads[owner[front]] = front
    return rearranged(tree, rows, owner, heads, cluster)


def clusters_of_components(rows: Rows, components: np.ndarray) -> np.ndarray:
    """Cluster of each component; by valleys, the one that most rows are in when they belong to components in shares."""
    n, k = components.size, int(components.max()) + 1
    chosen = np.arange(n)
    if n > MOST_ROWS:
        first = np.unique(components, return_index=True)[1]  # no component is missed
        chosen = np.union1d(fixed_sample(n, MOST_ROWS), first)
    values, labels = np.ascontiguousarray(rows.values[chosen]), components[chosen]
    prior, values = columns_in_use(rows.prior, values, ~np.isnan(values).all(axis=0))
    if not isinstance(prior, GAUSSIAN_PRIORS):
        return clusters_by_overlap(prior, values, labels)
    with single_threaded_blas():
        soft, home = soft_components(with_dependence(prior, values, labels), values, labels)
        complete = filled(values, soft.means[home])
        found = unite(soft, complete, home).cluster[home]
    votes = np.zeros((k, int(found.max()) + 1))
    np.add.at(votes, (labels, found), 1.0)
    return relabel(votes.argmax(axis=1))


def filled(values: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Rows with their missing cells at the means of their components."""
    return np.where(np.isnan(values), means, values)


class Growing:
    """Merges of a tree that is built from the bottom up, and what is known of its nodes."""

    def __init__(self, log_q: np.ndarray, log_d: np.ndarray) -> None:
        self.n, self.children = log_q.size, [np.empty((0, 2), np.int64)]
        self.log_q, self.log_d, self.log_odds = [log_q], [log_d], [np.full(log_q.size, np.inf)]
        self.n_nodes = self.n

    def add(self, children: np.ndarray, log_odds: np.ndarray, log_q: np.ndarray, log_d: np.ndarray) -> int:
        """Further merges; gives the id of the last."""
        self.children.append(children)
        self.log_odds.append(log_odds)
        self.log_q.append(log_q)
        self.log_d.append(log_d)
        self.n_nodes += len(children)
        return self.n_nodes - 1

    def add_merges(self, ids: np.ndarray, merges: Merges) -> int:
        """A tree over nodes of these ids; gives the id of its root."""
        k = ids.size
        every = np.concatenate([ids, self.n_nodes + np.arange(k - 1)])
        if k == 1:
            return int(ids[0])
        return self.add(np.sort(every[merges.children], axis=1), *(part[k:] for part in merges[1:4]))

    def tree(self) -> Tree:
        """The finished tree."""
        columns = {"log_q": np.concatenate(self.log_q), "log_d": np.concatenate(self.log_d)}
        return Tree.from_merges(
            np.concatenate(self.children), log_merge_odds=np.concatenate(self.log_odds), columns=columns
        )


def rearranged(tree: Tree, rows: Rows, owner: np.ndarray, heads: np.ndarray, cluster: np.ndarray) -> United:
    """Trees inside components as they are, above them trees inside clusters, above these one over all clusters."""
    n, k, n_clusters = tree.n_leaves, heads.size, int(cluster.max()) + 1
    odds, log_q, log_d = (tree.columns[name] for name in ("log_merge_odds", "log_q", "log_d"))
    growing = Growing(log_q[:n], log_d[:n])
    pairs = np.argsort(tree.parent[:-1], kind="stable").reshape(-1, 2)
    inside = n + np.flatnonzero(owner[n:] != NULL)
    new_id = np.full(tree.n_nodes, NULL)
    new_id[:n], new_id[inside] = np.arange(n), n + np.arange(inside.size)
    growing.add(new_id[pairs[inside - n]], odds[inside], log_q[inside], log_d[inside])

    statistics = node_statistics(rows.prior, rows.values, tree, heads)
    parts = Atoms(statistics, tree.size[heads].astype(float), log_q[heads], log_d[heads])
    roots = np.empty(n_clusters, np.int64)
    tops = []
    for c in range(n_clusters):
        members = np.flatnonzero(cluster == c)
        merges = merged(rows, Atoms(*(part[members] for part in parts)))
        roots[c] = growing.add_merges(new_id[heads[members]], merges)
        tops.append((merges.log_q[-1], merges.log_d[-1]))
    statistics = np.vstack([statistics, np.zeros((n_clusters, statistics.shape[1]))])
    merge_upwards(rows.prior, np.arange(k), np.append(k + cluster, np.full(n_clusters, NULL)), statistics)
    sizes = np.bincount(cluster, parts.sizes)
    whole = Atoms(statistics[k:], sizes, *np.array(tops).T)
    growing.add_merges(roots, merged(rows, whole))
    return United(growing.tree(), np.sort(roots))


def merged(rows: Rows, atoms: Atoms) -> Merges:
    """The size-tempered tree over some nodes."""
    atoms = Atoms(*(np.ascontiguousarray(part) for part in atoms))
    return agglomerate(rows.prior, atoms, rows.log_concentration, complete=rows.complete, tempered=True)

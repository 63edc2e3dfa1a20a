"""Slow, clear twins of the distributions of anchors (docs/theory/nrm-mixtures.md, Anchors-first moves)."""

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from reference.enumerate_moves import Choose
from reference.nrm import Cluster, LogPhi, Partition, blocks_of
from reference.nrm_moves import (
    AnchorLaw,
    PickRule,
    TreeOf,
    draw_clusters,
    log_merge_choice,
    log_split_choice,
    pick,
    pick_by,
)
from reference.nrm_trees import Tree, ancestors, common_ancestor, cut_law, internal_nodes, potentials


def no_term(first, second, rest, i, j) -> float:
    """Log m - log s of a law that does not look at the partition."""
    return 0.0


def uniform_law() -> AnchorLaw:
    """All pairs alike."""
    return AnchorLaw(
        lambda partition, choose: pick(itertools.combinations(range(len(partition)), 2), choose),
        no_term,
    )


def below_children(tree: Tree, node: Cluster, choose: Choose) -> tuple[int, int]:
    """A uniform point below each child."""
    first, second = (pick(sorted(child), choose) for child in tree.children[node])
    return first, second


def node_law(guide: Tree, law: dict[Cluster, float]) -> AnchorLaw:
    """A node of the guide with its probability, one anchor below each of its children."""
    return AnchorLaw(lambda partition, choose: below_children(guide, pick_by(law, choose), choose), no_term)


def tree_law(guide: Tree, log_phi: LogPhi) -> AnchorLaw:
    """Nodes by weight d/(1+d) + 0.001/n."""
    return node_law(guide, cut_law(guide, log_phi, leaves=False))


def near_even_law(guide: Tree, log_phi: LogPhi) -> AnchorLaw:
    """Nodes by weight 1/(1+|log d|): those whose two sides are neither clearly one cluster nor clearly two."""
    found = potentials(guide, log_phi)
    weights = {node: 1 / (1 + abs(found[node].log_d)) for node in internal_nodes(guide)}
    total = math.fsum(weights.values())
    return node_law(guide, {node: weight / total for node, weight in weights.items()})


def ancestor_law(guide: Tree) -> AnchorLaw:
    """A uniform point, a uniform ancestor of it, a uniform point below the ancestor's other child."""

    def draw(partition: Partition, choose: Choose) -> tuple[int, int]:
        i = pick(range(len(partition)), choose)
        children = guide.children[pick(ancestors(guide, frozenset([i])), choose)]
        return i, pick(sorted(children[1] if i in children[0] else children[0]), choose)

    return AnchorLaw(draw, no_term)


def balanced_law() -> AnchorLaw:
    """A uniform point, then a fair coin: a uniform other point of its cluster, or a uniform one outside."""

    def draw(partition: Partition, choose: Choose) -> tuple[int, int] | None:
        i = pick(range(len(partition)), choose)
        inside = [j for j, label in enumerate(partition) if label == partition[i] and j != i]
        outside = [j for j, label in enumerate(partition) if label != partition[i]]
        candidates = (inside, outside)[choose([0.5, 0.5])]
        return (i, pick(candidates, choose)) if candidates else None

    def log_ratio(first, second, rest, i, j) -> float:
        m = len(first) + len(second)
        n = m + sum(map(len, rest))
        return math.log(0.5 * (m - 1) * (1 / (n - len(first)) + 1 / (n - len(second))))

    return AnchorLaw(draw, log_ratio)


class Cut(NamedTuple):
    """The tree of a union and the probability of each of its nodes to be cut."""

    tree: Tree
    law: dict[Cluster, float]


def log_cut_pair(cut: Cut, i: int, j: int) -> float:
    """Log probability that the cut of a tree gives these anchors."""
    node = common_ancestor(cut.tree, i, j)
    return math.log(cut.law[node]) - sum(math.log(len(child)) for child in cut.tree.children[node])


def no_choice(probabilities):
    """Stands in for `choose` where a tree is drawn without choices."""
    raise AssertionError("the tree of a union must not be random here: its law would have to enter the ratio")


def cluster_law(
    log_phi: LogPhi,
    rule: PickRule,
    tree_of: TreeOf,
    *,
    log_cut: Callable[..., float] = log_cut_pair,
    log_merge: Callable[..., float] = log_merge_choice,
) -> AnchorLaw:
    """V1's choice of clusters, then anchors below the children of a cut node, or one from each cluster."""

    @cache
    def cut_of(union: Cluster) -> Cut:
        tree = tree_of(union, no_choice)
        return Cut(tree, cut_law(tree, log_phi, leaves=False))

    def draw(partition: Partition, choose: Choose) -> tuple[int, int] | None:
        cluster, partner = draw_clusters(partition, rule, choose)
        if partner is not None:
            return pick(sorted(cluster), choose), pick(sorted(partner), choose)
        if len(cluster) == 1:
            return None
        cut = cut_of(cluster)
        return below_children(cut.tree, pick_by(cut.law, choose), choose)

    def log_ratio(first, second, rest, i, j) -> float:
        union = first | second
        log_m = log_merge(rule, first, second, rest) - math.log(len(first) * len(second))
        log_s = log_split_choice(rule, union, rest) + log_cut(cut_of(union), i, j)
        return log_m - log_s

    return AnchorLaw(draw, log_ratio)


def own_cluster_law(odds: float) -> AnchorLaw:
    """A planted error: the second anchor prefers the first one's cluster by these odds, and no ratio says so."""

    def draw(partition: Partition, choose: Choose) -> tuple[int, int]:
        i = pick(range(len(partition)), choose)
        weights = {j: odds if blocks_of(partition)[partition[i]] >= {j} else 1.0 for j in range(len(partition))}
        del weights[i]
        total = sum(weights.values())
        return i, pick_by({j: weight / total for j, weight in weights.items()}, choose)

    return AnchorLaw(draw, no_term)

"""Slow, clear twins of the exact sampler's moves: Gibbs, and every split-merge of two clusters.

A move is a function of a partition that draws only by `choose(probabilities) -> index` (see `enumerate_moves`) and
gives the next partition. `propose_...` gives the proposal with its log ratio and the auxiliary draw, so that a test
can find the way back.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from reference.enumerate_moves import Choose
from reference.nrm import (
    Cluster,
    LogPhi,
    Partition,
    blocks_of,
    gibbs_probabilities,
    log_sum,
    normalised,
    partition_of,
)
from reference.nrm_trees import Tree, Walk, cut_law, restrict, siblings_up, walk_by_tree

Sides = tuple[Cluster, Cluster]
Launch = Callable[[Cluster, int, int, Choose], Sides]
TreeOf = Callable[[Cluster, Choose], Tree]
Place = Callable[[list[float], Choose], int]


def pick(items: Iterable, choose: Choose):
    """One of the items, all alike."""
    items = list(items)
    return items[choose([1 / len(items)] * len(items))]


def pick_by(law: dict, choose: Choose):
    """A key with its probability."""
    return list(law)[choose(list(law.values()))]


class Proposal(NamedTuple):
    """Where a move wants to go, the log of its acceptance ratio, and what it drew that the way back draws too."""

    partition: Partition
    log_ratio: float
    auxiliary: frozenset


def accept(partition: Partition, proposal: Proposal | None, choose: Choose) -> Partition:
    """The proposal with probability min(1, ratio); no proposal means no change."""
    if proposal is None:
        return partition
    chance = math.exp(min(0.0, proposal.log_ratio))
    return proposal.partition if choose([chance, 1 - chance]) == 0 else partition


# Gibbs (docs/theory/nrm-mixtures.md, Gibbs weights)


def gibbs_point(partition: Partition, log_phi: LogPhi, point: int, choose: Choose) -> Partition:
    """Take one point out and put it back by its conditional law."""
    others, probabilities = gibbs_probabilities(partition, point, log_phi)
    home = choose(probabilities)
    if home == len(others):
        return partition_of((*others, frozenset([point])))
    return partition_of(block | {point} if k == home else block for k, block in enumerate(others))


def gibbs_scan(partition: Partition, log_phi: LogPhi, order: Sequence[int], choose: Choose) -> Partition:
    """Points in the given order."""
    for point in order:
        partition = gibbs_point(partition, log_phi, point, choose)
    return partition


def random_gibbs_scan(partition: Partition, log_phi: LogPhi, choose: Choose) -> Partition:
    """All points in an order drawn uniformly."""
    return gibbs_scan(partition, log_phi, pick(itertools.permutations(range(len(partition))), choose), choose)


# Launch states: what a split and its merge both draw from the same law


def place_at_random(gains: list[float], choose: Choose) -> int:
    """A side in proportion to the exponential of its gain."""
    return choose(normalised(gains))


def place_at_best(gains: list[float], choose: Choose) -> int:
    """The side of larger gain, ties to the first."""
    return 0 if gains[0] >= gains[1] else 1


def side_gains(sides: Sides, block: Cluster, log_phi: LogPhi) -> list[float]:
    """Log of phi(side and block) / phi(side)."""
    return [log_phi(side | block) - log_phi(side) for side in sides]


def put(sides: Sides, block: Cluster, k: int) -> Sides:
    """The sides with a block added to the k-th."""
    return (sides[0] | block, sides[1]) if k == 0 else (sides[0], sides[1] | block)


class Scan(NamedTuple):
    """The sides after a restricted scan and the log probability of its outcomes."""

    sides: Sides
    log_q: float


def restricted_scan(
    sides: Sides, order: Iterable[int], log_phi: LogPhi, choose: Choose, forced: Sides | None = None
) -> Scan:
    """Each point in turn is taken out and goes to a side; `forced` sides fix the outcomes, not their probabilities."""
    log_q = 0.0
    for point in order:
        sides = (sides[0] - {point}, sides[1] - {point})
        gains = side_gains(sides, frozenset([point]), log_phi)
        k = choose(normalised(gains)) if forced is None else int(point in forced[1])
        log_q += gains[k] - log_sum(gains)
        sides = put(sides, frozenset([point]), k)
    return Scan(sides, log_q)


def place_blocks(walk: Walk, log_phi: LogPhi, place: Place, choose: Choose) -> Sides:
    """The two sides of a walk with every sibling block put to one of them."""
    sides = (walk.first, walk.second)
    for block in walk.blocks:
        sides = put(sides, block, place(side_gains(sides, block, log_phi), choose))
    return sides


def free_points(union: Cluster, anchors: Iterable[int], pos: dict[int, int] | None = None) -> list[int]:
    """Points besides the anchors, by leaf position or index."""
    return sorted(union - set(anchors), key=(lambda point: point) if pos is None else pos.__getitem__)


def tree_launch(
    guide: Tree, pos: dict[int, int], log_phi: LogPhi, place: Place = place_at_random, n_scans: int = 0
) -> Launch:
    """Launch by the guide: children of the anchors' common ancestor, then sibling blocks, then scans."""

    def launch(union: Cluster, i: int, j: int, choose: Choose) -> Sides:
        sides = place_blocks(walk_by_tree(restrict(guide, union), i, j), log_phi, place, choose)
        for _ in range(n_scans):
            sides = restricted_scan(sides, free_points(union, (i, j), pos), log_phi, choose).sides
        return sides

    return launch


def coin_launch(log_phi: LogPhi, n_scans: int) -> Launch:
    """Launch of Jain and Neal: fair coins, then restricted scans."""

    def launch(union: Cluster, i: int, j: int, choose: Choose) -> Sides:
        sides = (frozenset([i]), frozenset([j]))
        free = free_points(union, (i, j))
        for point in free:
            sides = put(sides, frozenset([point]), choose([0.5, 0.5]))
        for _ in range(n_scans):
            sides = restricted_scan(sides, free, log_phi, choose).sides
        return sides

    return launch


# Anchors first (docs/theory/nrm-mixtures.md); Jain and Neal's move is the same with their launch and uniform anchors


class AnchorLaw(NamedTuple):
    """How anchors are drawn from a partition (None: end), and log m - log s of parts A with i, B with j, and rest."""

    draw: Callable[[Partition, Choose], tuple[int, int] | None]
    log_ratio: Callable[[Cluster, Cluster, tuple[Cluster, ...], int, int], float]


def propose_anchored(
    partition: Partition,
    log_phi: LogPhi,
    law: AnchorLaw,
    launch: Launch,
    choose: Choose,
    *,
    pos: dict[int, int] | None = None,
    scan: Callable[..., Scan] = restricted_scan,
) -> Proposal | None:
    """Split or merge the clusters of two anchors; the recorded scan runs by `pos`, or by index."""
    anchors = law.draw(partition, choose)
    if anchors is None:
        return None
    blocks = blocks_of(partition)
    own, other = (blocks[partition[anchor]] for anchor in anchors)
    union, rest = own | other, tuple(block for block in blocks if block not in (own, other))
    start = launch(union, *anchors, choose)
    forced = None if own == other else (own, other)
    sides, log_q = scan(start, free_points(union, anchors, pos), log_phi, choose, forced)
    split = sum(map(log_phi, sides)) - log_phi(union) + law.log_ratio(*sides, rest, *anchors) - log_q
    auxiliary = frozenset(zip(anchors, start, strict=True))
    if forced is None:
        return Proposal(partition_of((*rest, *sides)), split, auxiliary)
    return Proposal(partition_of((*rest, union)), -split, auxiliary)


def anchored(partition: Partition, log_phi: LogPhi, law: AnchorLaw, launch: Launch, choose: Choose, **options):
    """One anchors-first split-merge move."""
    return accept(partition, propose_anchored(partition, log_phi, law, launch, choose, **options), choose)


# Clusters first: V1


def log_d0(a: Cluster, b: Cluster, log_phi: LogPhi) -> float:
    """Tree-free dissimilarity of two clusters."""
    return log_phi(a) + log_phi(b) - log_phi(a | b)


class PickRule(NamedTuple):
    """Log probability to split a picked cluster among others, and to merge it with a given one of them."""

    log_split: Callable[[Cluster, tuple[Cluster, ...]], float]
    log_partner: Callable[[Cluster, Cluster, tuple[Cluster, ...]], float]


def fixed_rule(log_phi: LogPhi, p_split: float) -> PickRule:
    """Split with a fixed probability (1 where there is no other cluster), partner by weight 1/d0."""

    def log_partner(cluster, partner, others):
        total = log_sum(-log_d0(cluster, other, log_phi) for other in others)
        return math.log1p(-p_split) - log_d0(cluster, partner, log_phi) - total

    return PickRule(lambda cluster, others: math.log(p_split) if others else 0.0, log_partner)


def scaled_rule(log_phi: LogPhi) -> PickRule:
    """Split with weight 1 against weights 1/d0 of the partners."""

    def log_split(cluster, others):
        return -log_sum([0.0, *(-log_d0(cluster, other, log_phi) for other in others)])

    return PickRule(
        log_split,
        lambda cluster, partner, others: log_split(cluster, others) - log_d0(cluster, partner, log_phi),
    )


def draw_clusters(partition: Partition, rule: PickRule, choose: Choose) -> tuple[Cluster, Cluster | None]:
    """A cluster and the partner to merge it with, or None to split it."""
    cluster = pick(blocks_of(partition), choose)
    others = tuple(block for block in blocks_of(partition) if block != cluster)
    law = {None: math.exp(rule.log_split(cluster, others))}
    law |= {other: math.exp(rule.log_partner(cluster, other, others)) for other in others}
    return cluster, pick_by(law, choose)


def log_split_choice(rule: PickRule, union: Cluster, rest: tuple[Cluster, ...]) -> float:
    """Log s: the union is picked and split."""
    return -math.log(1 + len(rest)) + rule.log_split(union, rest)


def log_merge_choice(rule: PickRule, a: Cluster, b: Cluster, rest: tuple[Cluster, ...]) -> float:
    """Log m: either part is picked and the other is its partner."""
    both = log_sum([rule.log_partner(a, b, (*rest, b)), rule.log_partner(b, a, (*rest, a))])
    return -math.log(2 + len(rest)) + both


class CutLaunch(NamedTuple):
    """A launch state and the anchors it keeps apart."""

    sides: Sides
    anchors: tuple[int, int]


def cut_launch(log_phi: LogPhi, tree_of: TreeOf, n_scans: int = 0) -> Callable[[Cluster, Choose], CutLaunch]:
    """Launch of V1: tree of the union, cut node by weight, smallest points as anchors, blocks at random, scans."""

    def launch(union: Cluster, choose: Choose) -> CutLaunch:
        tree = tree_of(union, choose)
        node = pick_by(cut_law(tree, log_phi, leaves=False), choose)
        first, second = tree.children[node]
        anchors = (min(first), min(second))
        sides = place_blocks(Walk(first, second, siblings_up(tree, node)), log_phi, place_at_random, choose)
        for _ in range(n_scans):
            sides = restricted_scan(sides, free_points(union, anchors), log_phi, choose).sides
        return CutLaunch(sides, anchors)

    return launch


def propose_v1(
    partition: Partition,
    log_phi: LogPhi,
    rule: PickRule,
    launch: Callable[[Cluster, Choose], CutLaunch],
    choose: Choose,
    *,
    log_merge: Callable[..., float] = log_merge_choice,
) -> Proposal | None:
    """Split a picked cluster or merge it with a partner; a merge whose anchors share a cluster is refused."""
    cluster, partner = draw_clusters(partition, rule, choose)
    union = cluster | (partner or frozenset())
    if len(union) == 1:
        return None
    rest = tuple(block for block in blocks_of(partition) if block not in (cluster, partner))
    start, anchors = launch(union, choose)
    forced = None
    if partner is not None:
        forced = (cluster, partner) if anchors[0] in cluster else (partner, cluster)
        if anchors[1] not in forced[1]:
            return None
    sides, log_q = restricted_scan(start, free_points(union, anchors), log_phi, choose, forced)
    split = sum(map(log_phi, sides)) - log_phi(union) - log_q
    split += log_merge(rule, *sides, rest) - log_split_choice(rule, union, rest)
    auxiliary = frozenset(zip(anchors, start, strict=True))
    if partner is None:
        return Proposal(partition_of((*rest, *sides)), split, auxiliary)
    return Proposal(partition_of((*rest, union)), -split, auxiliary)


def v1(partition: Partition, log_phi: LogPhi, rule: PickRule, launch, choose: Choose, **options) -> Partition:
    """One two-way split-merge move with the union chosen first."""
    return accept(partition, propose_v1(partition, log_phi, rule, launch, choose, **options), choose)

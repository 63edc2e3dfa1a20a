"""Slow, clear twins of the optional moves: V2 (multiway, section 7.2), L2 and L3 (local, section 7.3)."""

import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

from reference.enumerate_moves import Choose
from reference.nrm import Cluster, LogPhi, Partition, blocks_of, log_sum, normalised, partition_of
from reference.nrm_moves import (
    Proposal,
    TreeOf,
    accept,
    gibbs_point,
    gibbs_scan,
    log_d0,
    log_not_rho,
    log_rho,
    pick,
    pick_by,
)
from reference.nrm_trees import Tree, cut_law, siblings_up, subtree


class Path(NamedTuple):
    """Parts made by cutting a tree at a node and placing the blocks above it, with their log probability."""

    parts: tuple[Cluster, ...]
    log_q: float


def block_logs(parts: list[Cluster], block: Cluster, log_phi: LogPhi) -> list[float]:
    """Log weights of joining each part, last of becoming a new one."""
    return [*(-log_d0(part, block, log_phi) for part in parts), 0.0]


def follow(tree: Tree, node: Cluster, log_phi: LogPhi, decide: Callable[[list[Cluster], Cluster, list[float]], int]):
    """The path from a cut node to the root, `decide` giving the part of every block."""
    parts, log_q = list(tree.children[node]), math.log(cut_law(tree, log_phi, leaves=False)[node])
    for block in siblings_up(tree, node):
        logs = block_logs(parts, block, log_phi)
        k = decide(parts, block, logs)
        log_q += logs[k] - log_sum(logs)
        parts[k:] = [(parts[k] if k < len(parts) else frozenset()) | block, *parts[k + 1 :]]
    return Path(tuple(parts), log_q)


def draw_path(tree: Tree, log_phi: LogPhi, choose: Choose) -> Path:
    """A cut node by weight and blocks by their weights."""
    node = pick_by(cut_law(tree, log_phi, leaves=False), choose)
    return follow(tree, node, log_phi, lambda parts, block, logs: choose(normalised(logs)))


def only_path(tree: Tree, goal: tuple[Cluster, ...], log_phi: LogPhi) -> Path | None:
    """The one path that makes these parts, or None: one impure node with pure children, pure blocks above it."""

    def is_pure(block: Cluster) -> bool:
        return any(block <= part for part in goal)

    nodes = [node for node, pair in tree.children.items() if not is_pure(node) and all(map(is_pure, pair))]
    if len(nodes) != 1 or not all(map(is_pure, siblings_up(tree, nodes[0]))):
        return None

    def decide(parts: list[Cluster], block: Cluster, logs: list[float]) -> int:
        home = next(part for part in goal if block <= part)
        return next((k for k, part in enumerate(parts) if part <= home), len(parts))

    return follow(tree, nodes[0], log_phi, decide)


def log_choose_split(union: Cluster, rest: tuple[Cluster, ...], log_phi: LogPhi) -> float:
    """Log qS: the union is picked and no other cluster joins it."""
    return -math.log(1 + len(rest)) + sum(log_not_rho(union, other, log_phi) for other in rest)


def log_choose_merge(parts: tuple[Cluster, ...], rest: tuple[Cluster, ...], log_phi: LogPhi) -> float:
    """Log qM: any part is picked, all others of them join it and nothing of the rest does."""
    pickers = [
        sum(log_rho(part, other, log_phi) for other in parts if other != part)
        + sum(log_not_rho(part, other, log_phi) for other in rest)
        for part in parts
    ]
    return -math.log(len(parts) + len(rest)) + log_sum(pickers)


def draw_joiners(partition: Partition, log_phi: LogPhi, choose: Choose) -> tuple[Cluster, tuple[Cluster, ...]]:
    """A uniform cluster, and those that join it independently with probability 1/(1+d0)."""
    cluster = pick(blocks_of(partition), choose)
    joiners = []
    for other in blocks_of(partition):
        if other != cluster:
            chance = math.exp(log_rho(cluster, other, log_phi))
            joiners += [other] if choose([chance, 1 - chance]) == 0 else []
    return cluster, tuple(joiners)


def propose_v2(
    partition: Partition,
    log_phi: LogPhi,
    tree_of: TreeOf,
    choose: Choose,
    *,
    log_merge: Callable[..., float] = log_choose_merge,
) -> Proposal | None:
    """Split a cluster into two or more parts, or merge two or more clusters."""
    cluster, joiners = draw_joiners(partition, log_phi, choose)
    touched = (cluster, *joiners)
    union = frozenset().union(*touched)
    if len(union) == 1:
        return None
    rest = tuple(block for block in blocks_of(partition) if block not in touched)
    tree = tree_of(union, choose)
    path = only_path(tree, touched, log_phi) if joiners else draw_path(tree, log_phi, choose)
    if path is None:
        return None
    split = sum(map(log_phi, path.parts)) - log_phi(union) - path.log_q
    split += log_merge(path.parts, rest, log_phi) - log_choose_split(union, rest, log_phi)
    auxiliary = frozenset(tree.children)
    if joiners:
        return Proposal(partition_of((*rest, union)), -split, auxiliary)
    return Proposal(partition_of((*rest, *path.parts)), split, auxiliary)


def v2(partition: Partition, log_phi: LogPhi, tree_of: TreeOf, choose: Choose, **options) -> Partition:
    """One multiway split-merge move."""
    return accept(partition, propose_v2(partition, log_phi, tree_of, choose, **options), choose)


# Local moves


def sample_sub(tree: Tree, log_phi: LogPhi, depth: int, choose: Choose) -> Cluster:
    """A node by weight, leaves included, then again inside its subtree, `depth` times."""
    floor_tree = tree
    for _ in range(depth):
        law = cut_law(floor_tree, log_phi, leaves=True)
        floor_tree = subtree(tree, pick_by(law, choose))
    return floor_tree.root


def l2(
    partition: Partition,
    log_phi: LogPhi,
    guide: Tree,
    choose: Choose,
    *,
    depth: int = 2,
    cap: int | None = None,
    node_of: Callable[..., Cluster] = sample_sub,
) -> Partition:
    """Gibbs in increasing index on the points below a node of the guide, on a uniform subset where they are many."""
    points = sorted(node_of(guide, log_phi, depth, choose))
    if cap is not None and len(points) > cap:
        points = pick(itertools.combinations(points, cap), choose)
    return gibbs_scan(partition, log_phi, points, choose)


def log_point_choice(partition: Partition, point: int, log_phi: LogPhi, tree_of: TreeOf, choose: Choose) -> float:
    """Log s_i: a uniform cluster, a node of its tree by weight, a uniform point below it."""
    cluster = blocks_of(partition)[partition[point]]
    law = cut_law(tree_of(cluster, choose), log_phi, leaves=True)
    chance = math.fsum(probability / len(node) for node, probability in law.items() if point in node)
    return math.log(chance) - math.log(max(partition) + 1)


def l3(
    partition: Partition,
    log_phi: LogPhi,
    tree_of: TreeOf,
    choose: Choose,
    *,
    log_choice: Callable[..., float] = log_point_choice,
) -> Partition:
    """Gibbs on a point chosen through the trees of the present clusters, with the correction that makes it exact."""
    cluster = pick(blocks_of(partition), choose)
    node = sample_sub(tree_of(cluster, choose), log_phi, 1, choose)
    point = pick(sorted(node), choose)
    proposed = gibbs_point(partition, log_phi, point, choose)
    before, after = (log_choice(state, point, log_phi, tree_of, choose) for state in (partition, proposed))
    return accept(partition, Proposal(proposed, after - before, frozenset()), choose)

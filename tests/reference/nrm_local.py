"""Slow, clear twin of the local move (docs/theory/nrm-mixtures.md, Local moves)."""

import itertools
from collections.abc import Callable

from reference.enumerate_moves import Choose
from reference.nrm import Cluster, LogPhi, Partition
from reference.nrm_moves import (
    gibbs_scan,
    pick,
    pick_by,
)
from reference.nrm_trees import Tree, cut_law, subtree


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

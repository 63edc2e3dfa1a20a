"""Slow, clear twins of trees over points: a tree is its set of leaf sets, so nothing recurses.

Potentials (docs/theory/nrm-mixtures.md, Tree potentials), greedy Bayesian hierarchical clustering and the guide tree's
`order`, `pos`, `adj` with the induced tree of a set by keys.
"""

import itertools
import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from reference.nrm import Cluster, LogPhi, sigmoid, softplus

FLOOR = 0.001


class Tree(NamedTuple):
    """Leaf set of the root, and the two child sets of every internal node's leaf set (smaller minimum first)."""

    root: Cluster
    children: dict[Cluster, tuple[Cluster, Cluster]]


class Potential(NamedTuple):
    """Of one node: potential of one cluster, sum over tree-consistent partitions, dissimilarity; all logs."""

    log_phi: float
    log_t: float
    log_d: float


def leaf(point: int) -> Tree:
    """The tree of one point."""
    return Tree(frozenset([point]), {})


def join(a: Tree, b: Tree) -> Tree:
    """A new root above two trees."""
    left, right = sorted((a.root, b.root), key=min)
    return Tree(left | right, {**a.children, **b.children, left | right: (left, right)})


def parse(text: str) -> Tree:
    """A tree from nested pairs such as ((0,1),2)."""
    stack: list[Tree] = []
    for token in re.findall(r"\d+|\)", text):
        if token == ")":
            right, left = stack.pop(), stack.pop()
            stack.append(join(left, right))
        else:
            stack.append(leaf(int(token)))
    (tree,) = stack
    return tree


def node_texts(tree: Tree) -> dict[Cluster, str]:
    """The nested pairs below every node."""
    texts = {frozenset([point]): str(point) for point in tree.root}
    for node in internal_nodes(tree):
        left, right = tree.children[node]
        texts[node] = f"({texts[left]},{texts[right]})"
    return texts


def internal_nodes(tree: Tree) -> list[Cluster]:
    """Leaf sets of the internal nodes, children before parents."""
    return sorted(tree.children, key=lambda node: (len(node), sorted(node)))


def all_nodes(tree: Tree) -> list[Cluster]:
    """Leaf sets of all nodes, leaves first."""
    return [frozenset([point]) for point in sorted(tree.root)] + internal_nodes(tree)


def subtree(tree: Tree, node: Cluster) -> Tree:
    """The tree below a node."""
    return Tree(node, {own: pair for own, pair in tree.children.items() if own <= node})


def restrict(tree: Tree, union: Cluster) -> Tree:
    """The tree on a subset of its points: nodes that keep points on both sides."""
    children = {}
    for node, (left, right) in tree.children.items():
        if left & union and right & union:
            children[node & union] = tuple(sorted((left & union, right & union), key=min))
    return Tree(union, children)


def common_ancestor(tree: Tree, i: int, j: int) -> Cluster:
    """The smallest node that holds both points."""
    return min((node for node in tree.children if {i, j} <= node), key=len)


def ancestors(tree: Tree, node: Cluster) -> list[Cluster]:
    """Nodes strictly above, nearest first."""
    return sorted((own for own in tree.children if own > node), key=len)


def siblings_up(tree: Tree, node: Cluster) -> list[Cluster]:
    """The sibling blocks met from a node to the root."""
    path = [node, *ancestors(tree, node)]
    return [above - below for below, above in itertools.pairwise(path)]


def pair_log_d(left: Potential, right: Potential, log_phi_both: float) -> float:
    """Dissimilarity of two trees from their potentials and that of their union."""
    return left.log_t + right.log_t - log_phi_both


def potentials(tree: Tree, log_phi: LogPhi) -> dict[Cluster, Potential]:
    """Potentials of all nodes by leaf set."""
    found = {node: Potential(log_phi(node), log_phi(node), -math.inf) for node in all_nodes(tree) if len(node) == 1}
    for node in internal_nodes(tree):
        left, right = tree.children[node]
        log_d = pair_log_d(found[left], found[right], log_phi(node))
        found[node] = Potential(log_phi(node), log_phi(node) + softplus(log_d), log_d)
    return found


def consistent_partitions(tree: Tree) -> list[tuple[Cluster, ...]]:
    """Every way to cut the tree into clusters."""
    fronts = {node: [(node,)] for node in all_nodes(tree)}
    for node in internal_nodes(tree):
        left, right = tree.children[node]
        fronts[node] += [a + b for a, b in itertools.product(fronts[left], fronts[right])]
    return fronts[tree.root]


def greedy_bhc(points: Iterable[int], log_phi: LogPhi, log_d_stop: float = math.inf) -> list[Tree]:
    """Merge the pair of roots of least log d while it is below the stop; 0 gives a forest, no stop one tree."""
    roots = [leaf(point) for point in sorted(points)]
    while len(roots) > 1:
        tops = [potentials(tree, log_phi)[tree.root] for tree in roots]
        pairs = itertools.combinations(range(len(roots)), 2)
        scored = [(pair_log_d(tops[a], tops[b], log_phi(roots[a].root | roots[b].root)), a, b) for a, b in pairs]
        least, a, b = min(scored)
        if least >= log_d_stop:
            break
        roots[a] = join(roots[a], roots.pop(b))
    return sorted(roots, key=lambda tree: min(tree.root))


def cut_law(tree: Tree, log_phi: LogPhi, *, leaves: bool) -> dict[Cluster, float]:
    """Probability of each internal node, or of each node, by weight d/(1+d) + 0.001/size of the tree; d of a leaf 0."""
    found = potentials(tree, log_phi)
    nodes = all_nodes(tree) if leaves else internal_nodes(tree)
    weights = {node: sigmoid(found[node].log_d) + FLOOR / len(tree.root) for node in nodes}
    total = math.fsum(weights.values())
    return {node: weight / total for node, weight in weights.items()}


class LeafOrder(NamedTuple):
    """A guide tree as kernels keep it: leaves in order, position of each, merge step joining neighbours."""

    order: list[int]
    pos: dict[int, int]
    adj: list[int]


def leaf_order(tree: Tree) -> LeafOrder:
    """Order, positions and merge steps; steps number the nodes so that parents come after children."""
    order, stack = [], [tree.root]
    while stack:
        node = stack.pop()
        if len(node) == 1:
            order += node
        else:
            stack += reversed(tree.children[node])
    steps = {node: step for step, node in enumerate(internal_nodes(tree))}
    adj = [steps[common_ancestor(tree, i, j)] for i, j in itertools.pairwise(order)]
    return LeafOrder(order, {point: t for t, point in enumerate(order)}, adj)


def keys_of(guide: LeafOrder, union: Cluster) -> tuple[list[int], list[int]]:
    """Members in leaf order and the largest step between neighbours."""
    members = sorted(union, key=guide.pos.__getitem__)
    keys = [max(guide.adj[guide.pos[a] : guide.pos[b]]) for a, b in itertools.pairwise(members)]
    return members, keys


def induced_tree(guide: LeafOrder, union: Cluster) -> Tree:
    """The guide restricted to a set: neighbours joined in increasing key."""
    members, keys = keys_of(guide, union)
    owner = [leaf(point) for point in members]
    for q in sorted(range(len(keys)), key=keys.__getitem__):
        joined = join(owner[q], owner[q + 1])
        owner = [joined if own.root <= joined.root else own for own in owner]
    return owner[0]


class Walk(NamedTuple):
    """Leaves below the two children of the common ancestor of two anchors, and the blocks met going up."""

    first: Cluster
    second: Cluster
    blocks: list[Cluster]


def grow(keys: list[int], low: int, high: int, below: int) -> tuple[int, int]:
    """Widen the range of members low .. high while the keys at its ends are less than `below`."""
    while low > 0 and keys[low - 1] < below:
        low -= 1
    while high < len(keys) and keys[high] < below:
        high += 1
    return low, high


def walk_by_keys(guide: LeafOrder, union: Cluster, i: int, j: int) -> Walk:
    """The walk of a launch without a tree object: ranges of members that grow by keys."""
    members, keys = keys_of(guide, union)
    ends = sorted((members.index(i), members.index(j)))
    top = max(range(*ends), key=keys.__getitem__)
    low, high = grow(keys, *ends, keys[top])
    halves = [frozenset(members[low : top + 1]), frozenset(members[top + 1 : high + 1])]
    first, second = halves if i in halves[0] else reversed(halves)
    blocks = []
    while high - low + 1 < len(members):
        sides = [keys[low - 1] if low > 0 else math.inf, keys[high] if high < len(keys) else math.inf]
        wide = (low - 1, high) if sides[0] < sides[1] else (low, high + 1)
        wide = grow(keys, *wide, min(sides))
        blocks.append(frozenset(members[wide[0] : wide[1] + 1]) - frozenset(members[low : high + 1]))
        low, high = wide
    return Walk(first, second, blocks)


def walk_by_tree(tree: Tree, i: int, j: int) -> Walk:
    """The same walk on a tree of the union."""
    node = common_ancestor(tree, i, j)
    first, second = tree.children[node] if i in tree.children[node][0] else reversed(tree.children[node])
    return Walk(first, second, siblings_up(tree, node))

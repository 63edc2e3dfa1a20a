"""Slow, clear twin of insertion into trees: immutable nodes, lists of roots, a list as queue.

Trees are described as in the golden file: nested pairs of items, the child of the smaller smallest item first.
"""

import itertools
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from reference.bhc import evidence_of, partitions


class Node(NamedTuple):
    """A tree: its items ascending, its children (none at a leaf) and its potentials."""

    text: str
    items: tuple[int, ...]
    children: tuple[Any, ...]
    log_phi: float
    log_tree: float
    log_d: float


TIE_SCALE = 2.0**30


def rank(log_d):
    """A log d as comparisons see it: ties are not decided by rounding."""
    return float(np.rint(log_d * TIE_SCALE))


def softplus(x):
    return float(np.logaddexp(0.0, x))


def dp_log_kappa(alpha):
    return lambda m: math.log(alpha) + math.lgamma(m)


def nggp_log_kappa(alpha, sigma, u):
    constant = math.log(alpha) + math.log(sigma) - math.lgamma(1 - sigma)
    return lambda m: constant + math.lgamma(m - sigma) - (m - sigma) * math.log1p(u)


class Potentials:
    """phi of any set of items, and trees made of it."""

    def __init__(self, evidence, log_kappa):
        self.log_phi = cache(lambda items: log_kappa(len(items)) + evidence(frozenset(items)))
        self.join = cache(self._join)
        self.leaf = cache(self._leaf)

    def _leaf(self, i):
        log_phi = self.log_phi((i,))
        return Node(str(i), (i,), (), log_phi, log_phi, -math.inf)

    def union(self, a, b):
        return self.log_phi(tuple(sorted(a.items + b.items)))

    def log_d(self, a, b):
        return a.log_tree + b.log_tree - self.union(a, b)

    def _join(self, a, b):
        a, b = sorted((a, b), key=lambda node: node.items)
        log_phi, log_d = self.union(a, b), self.log_d(a, b)
        items = tuple(sorted(a.items + b.items))
        return Node(f"({a.text},{b.text})", items, (a, b), log_phi, log_phi + softplus(log_d), log_d)


def golden_potentials(inputs, prior, u=None):
    """Data of the golden file under its Gaussian and one of its processes."""
    values = np.array(inputs["X"], float)
    d = values.shape[1]
    gaussian = GaussianKnownVariancePrior(
        np.full(d, inputs["s2"]), np.array(inputs["mu0"], float), np.full(d, inputs["t2"])
    )
    if prior["kind"] == "dp":
        log_kappa = dp_log_kappa(prior["alpha"])
    else:
        log_kappa = nggp_log_kappa(prior["alpha"], prior["sigma"], u)
    table = np.array([0.0] + [log_kappa(m) for m in range(1, len(values) + 1)])
    return Potentials(evidence_of("gaussian-known-variance", gaussian, values), log_kappa), gaussian, values, table


def nodes_of(tree):
    """Root first, children before grandchildren, left before right."""
    found = [tree]
    for node in found:
        found.extend(node.children)
    return found


def descend(potentials, tree, x):
    """The pair that takes the place of a node of `tree`, and the siblings of the path to it, nearest first."""
    if not tree.children and x.children:
        tree, x = x, tree
    siblings, node = [], tree
    while node.children:
        to_first, to_second = (rank(potentials.log_d(child, x)) for child in node.children)
        if rank(node.log_d) < to_first and rank(node.log_d) < to_second:
            break
        chosen = 0 if to_first < to_second else 1
        siblings.insert(0, node.children[1 - chosen])
        node = node.children[chosen]
    return potentials.join(node, x), siblings


def seq_insert(potentials, tree, x):
    """SeqInsert: the tree with x in it."""
    node, siblings = descend(potentials, tree, x)
    for sibling in siblings:
        node = potentials.join(node, sibling)
    return node


def insert_and_split(potentials, tree, x, *, splits=True):
    """SeqInsert, split where an ancestor gets log d > 0: the pair made, the new root, what goes back to the queue."""
    pair, siblings = descend(potentials, tree, x)
    node = pair
    for place, sibling in enumerate(siblings):
        above = potentials.join(node, sibling)
        if splits and rank(above.log_d) > 0.0:
            return pair, node, siblings[place:]
        node = above
    return pair, node, []


def place_all(potentials, queue, roots=(), *, noisy=False, most_pops=math.inf):
    """IBHC of a queue of trees: the roots by smallest item, and the events."""
    queue, roots, events = list(queue), list(roots), []
    for n_pops in itertools.count():
        if not queue:
            return sorted(roots, key=lambda root: root.items), events
        x = queue.pop(0)
        nearest = min(roots, key=lambda root: (rank(potentials.log_d(root, x)), root.items), default=None)
        if nearest is None or rank(potentials.log_d(nearest, x)) > 0.0:
            roots.append(x)
            events.append(["root", x.text])
            continue
        roots.remove(nearest)
        if noisy:
            pair, top, back = potentials.join(nearest, x), potentials.join(nearest, x), []
        else:
            pair, top, back = insert_and_split(potentials, nearest, x, splits=n_pops < most_pops)
        roots.append(top)
        queue.extend(back)
        events.append(["insert", x.text, nearest.text, pair.text, [tree.text for tree in back]])


def insert_by_weight(potentials, items, roots=(), *, noisy=False):
    """Single items, each into the root of largest kappa(m + 1) / kappa(m) p(x | root) or a new one, without splits."""
    roots = list(roots)
    for x in map(potentials.leaf, items):
        best = max(roots, key=lambda root: (join_weight(potentials, root, x), -root.items[0]), default=None)
        if best is None or rank(x.log_phi) > join_weight(potentials, best, x):
            roots.append(x)
            continue
        roots.remove(best)
        roots.append(potentials.join(best, x) if noisy else seq_insert(potentials, best, x))
    return sorted(roots, key=lambda root: root.items)


def join_weight(potentials, root, x):
    """Log weight of a root for an item, as comparisons see it."""
    return rank(potentials.union(root, x) - root.log_phi)


def join_greedily(potentials, roots):
    """One tree: the pair of least log d first."""
    roots = list(roots)
    while len(roots) > 1:
        a, b = min(itertools.combinations(roots, 2), key=lambda pair: rank(potentials.log_d(*pair)))
        roots = [root for root in roots if root not in (a, b)] + [potentials.join(a, b)]
    return roots[0]


def consistent_log_joints(potentials, roots, n):
    """log of the product of phi, for each partition whose clusters are nodes of the forest."""
    sets = {node.items for root in roots for node in nodes_of(root)}
    tuples = ([tuple(sorted(block)) for block in blocks] for blocks in partitions(n))
    return [math.fsum(map(potentials.log_phi, blocks)) for blocks in tuples if sets.issuperset(blocks)]


def all_log_joints(potentials, n):
    """log of the product of phi, for each partition."""
    return [math.fsum(potentials.log_phi(tuple(sorted(block))) for block in blocks) for blocks in partitions(n)]

"""The guide tree by order, positions and keys equals the plain tree restricted to a set, for every set."""

import itertools

import numpy as np
import pytest

from reference import nrm_trees
from reference.trees import random_merges

pytestmark = pytest.mark.exact


def random_tree(seed, n_leaves):
    trees = [nrm_trees.leaf(i) for i in range(n_leaves)]
    for a, b in random_merges(np.random.default_rng(seed), n_leaves):
        trees.append(nrm_trees.join(trees[a], trees[b]))
    return trees[-1]


def subsets(n, smallest):
    for size in range(smallest, n + 1):
        yield from map(frozenset, itertools.combinations(range(n), size))


def test_text_and_tree_are_one_another():
    tree = nrm_trees.parse("(((4,3),0),(2,1))")
    assert nrm_trees.node_texts(tree)[tree.root] == "((0,(3,4)),(1,2))"
    assert nrm_trees.parse("((0,(3,4)),(1,2))") == tree
    assert nrm_trees.siblings_up(tree, frozenset([3])) == [{4}, {0}, {1, 2}]
    assert nrm_trees.subtree(tree, frozenset([0, 3, 4])) == nrm_trees.parse("(0,(3,4))")


def test_leaf_order_of_a_known_tree():
    guide = nrm_trees.leaf_order(nrm_trees.parse("((0,3),((1,4),2))"))
    assert guide.order == [0, 3, 1, 4, 2]
    assert guide.pos == {0: 0, 3: 1, 1: 2, 4: 3, 2: 4}
    assert guide.adj == [0, 3, 1, 2]  # steps: (0,3), (1,4), ((1,4),2), root


def test_restriction_of_a_known_tree():
    tree = nrm_trees.parse("(((0,1),2),((3,4),5))")
    assert nrm_trees.restrict(tree, frozenset([1, 2, 5])) == nrm_trees.parse("((1,2),5)")
    assert nrm_trees.restrict(tree, frozenset([4])) == nrm_trees.leaf(4)


@pytest.mark.parametrize("seed", range(12))
def test_tree_by_keys_is_the_restricted_tree(seed):
    tree = random_tree(seed, 7)
    guide = nrm_trees.leaf_order(tree)
    assert nrm_trees.induced_tree(guide, tree.root) == tree
    for union in subsets(7, 1):
        assert nrm_trees.induced_tree(guide, union) == nrm_trees.restrict(tree, union)


@pytest.mark.parametrize("seed", range(12))
def test_walk_by_keys_is_the_walk_on_the_restricted_tree(seed):
    tree = random_tree(100 + seed, 7)
    guide = nrm_trees.leaf_order(tree)
    for union in subsets(7, 2):
        induced = nrm_trees.restrict(tree, union)
        for i, j in itertools.permutations(sorted(union), 2):
            walk = nrm_trees.walk_by_keys(guide, union, i, j)
            assert walk == nrm_trees.walk_by_tree(induced, i, j)
            assert i in walk.first
            assert j in walk.second

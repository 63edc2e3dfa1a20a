"""A hierarchy over the components of a mixture of tree models, and its cuts."""

import copy

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.component_tree import (
    ComponentsTree,
    build_components_tree,
    clusters_before_gap,
)
from bayesgrove.models.tree_hmm.engine import expected_counts, log_likelihoods
from bayesgrove.models.tree_hmm.links import part_of_links, unique_links
from bayesgrove.models.tree_hmm.parameters import random_parameters
from reference.tree_learning import random_forest, small_prior

pytestmark = pytest.mark.unit


def make_tree(log_ratios, n_trees=100.0):
    """A chain of merges: 0 and 1, then 2 to these, ..."""
    n = len(log_ratios) + 1
    merges = [[0, 1]] + [[n + t - 1, t + 1] for t in range(1, n - 1)]
    sizes = np.full(2 * n - 1, n_trees)
    return ComponentsTree.from_merges(merges[: n - 1], log_merge_odds=log_ratios, columns={"n_trees": sizes})


@pytest.fixture
def three_kinds():
    """Trees of three vocabularies; four components, of which two are halves of one kind."""
    labels = [[0, 1, 1]] * 40 + [[2, 3, 3]] * 40 + [[4, 4, 5, 5]] * 80
    parents = [[-1, 0, 0]] * 80 + [[-1, 0, 1, 2]] * 80
    forest = TreeData.from_parents(labels, parents, n_labels=6, max_outdegree=2).forest
    return forest, np.repeat([0, 1, 2, 3], 40)


def test_halves_of_one_kind_are_merged_first(three_kinds):
    forest, labels = three_kinds
    links, prior = unique_links(forest), small_prior(forest)
    shares = (labels == np.arange(4)[:, None]).astype(float)
    counts = expected_counts(links, random_parameters(generator(1), prior, 4).tables, prior.mode, shares)
    done = []
    tree = build_components_tree(links, prior, counts, shares, progress=lambda *part: done.append(part))
    assert isinstance(tree, ComponentsTree)
    assert tree.cut(3).tolist() == [0, 1, 2, 2]
    assert tree.log_ratios[0] > 0 > tree.log_ratios[1]
    assert tree.cut().tolist() == tree.cut("sign").tolist() == [0, 1, 2, 2]
    assert tree.cut(1).tolist() == [0] * 4
    assert tree.cut(n_clusters=4).tolist() == [0, 1, 2, 3]
    assert tree.columns["n_trees"].tolist()[:4] == [40.0] * 4
    assert tree.columns["n_trees"][-1] == 160.0
    assert done == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_a_sparse_prior_does_not_keep_halves_apart(three_kinds):
    forest, labels = three_kinds
    links, prior = unique_links(forest), small_prior(forest, strength=0.05)
    shares = (labels == np.arange(4)[:, None]).astype(float)
    counts = expected_counts(links, random_parameters(generator(1), prior, 4).tables, prior.mode, shares)
    assert build_components_tree(links, prior, counts, shares).cut().tolist() == [0, 1, 2, 2]


def test_one_component_is_a_tree():
    forest = random_forest(generator(2), "bottom")
    prior, shares = small_prior(forest, "bottom"), np.ones((1, forest.n_trees))
    links = unique_links(forest)
    counts = expected_counts(links, random_parameters(generator(1), prior, 1).tables, prior.mode, shares)
    tree = build_components_tree(links, prior, counts, shares)
    assert tree.n_leaves == 1
    assert tree.cut("gap").tolist() == tree.cut().tolist() == [0]


def test_cut_by_number_undoes_the_last_merges():
    tree = make_tree([-5.0, -1.0, -20.0])  # odds are not monotone: a plain tree would open another node
    assert tree.cut(2).tolist() == [0, 0, 0, 1]
    assert tree.cut(3).tolist() == [0, 0, 1, 2]
    assert tree.cut(probability=0.5).tolist() == [0, 1, 2, 3]
    assert tree.log_ratios.tolist() == [-5.0, -1.0, -20.0]


def test_gap_is_the_largest_factor_between_losses():
    assert clusters_before_gap(np.array([1034, -164, -321, -1605, -1842, -10578, -30057, -46239, -75840.0]), 4820) == 5
    assert clusters_before_gap(np.array([4647, 4231, 3873, 2893, 2430, -5760, -23122, -38200, -64848.0]), 4820) == 5
    assert clusters_before_gap(np.array([-1291, -526, -9773, -29894, -45159, -79168.0]), 4820) == 5
    assert clusters_before_gap(np.array([245, -1466, -5617.0]), 600) == 3
    assert clusters_before_gap(np.array([-1466, -5617.0]), 600) == 3
    assert clusters_before_gap(np.array([3.0, 2.0]), 10) == 1
    assert clusters_before_gap(np.array([]), 10) == 1


def test_trees_travel_as_such():
    tree = make_tree([2.0, -30.0])
    for again in (copy.deepcopy(tree), ComponentsTree.from_json(tree.to_json())):
        assert isinstance(again, ComponentsTree)
        assert again.cut("gap").tolist() == [0, 0, 1]


def test_wrong_cuts_are_refused():
    tree = make_tree([2.0, -30.0])
    with pytest.raises(
        InvalidSettingError, match=r"n_clusters lies between 1 and the number of components \(3\), got 4"
    ):
        tree.cut(4)
    with pytest.raises(InvalidSettingError, match="a cut takes one rule, got 2 of them"):
        tree.cut("gap", n_clusters=2)
    for rule in ("largest", "map", 0.5):
        with pytest.raises(InvalidSettingError, match='of them, "gap", "sign" or "half", got'):
            tree.cut(rule)


def test_part_of_links_gives_the_same_likelihoods():
    rng = generator(3)
    forest = random_forest(rng, "bottom_prior", n_trees=9)
    links = unique_links(forest)
    tables = random_parameters(rng, small_prior(forest), 1).tables
    chosen = np.array([7, 2, 2, 5])
    part = part_of_links(links, chosen)
    assert part.labels.size < links.labels.size
    np.testing.assert_array_equal(log_likelihoods(part, tables, 0), log_likelihoods(links, tables, 0)[:, chosen])

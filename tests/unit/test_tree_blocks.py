"""Passes over trees in blocks give what one pass over all gives."""

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.datasets import make_asymmetric_trees
from bayesgrove.models.tree_hmm import engine
from bayesgrove.models.tree_hmm.links import in_blocks, plain_links, unique_links
from bayesgrove.models.tree_hmm.tables import BOTTOM_PRIOR, Shape, Strengths, draw_tables, zero_counts

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def forest():
    return make_asymmetric_trees(8, random_state=0).forest


@pytest.mark.parametrize("n_nodes", [1, 70, 400, 10**6])
def test_blocks_are_whole_trees_and_all_of_them(forest, n_nodes):
    links = plain_links(forest)
    blocks = list(in_blocks(links, n_nodes))
    assert [trees.start for trees, _ in blocks] == [0, *(trees.stop for trees, _ in blocks[:-1])]
    assert blocks[-1][0].stop == forest.n_trees
    for trees, block in blocks:
        assert block.labels.size == forest.sizes[trees].sum()
        assert trees.stop - trees.start == 1 or block.labels.size <= n_nodes
        assert block.child_ids.size == 0 or (block.child_ids.min() >= 0 and block.child_ids.max() < block.labels.size)


def test_shared_subtrees_stay_together(forest):
    links = unique_links(forest)
    assert [block is links for _, block in in_blocks(links, 1)] == [True]


@pytest.mark.parametrize("n_nodes", [1, 400])
def test_counts_do_not_depend_on_blocks(forest, n_nodes, monkeypatch):
    links, rng = plain_links(forest), generator(1)
    shape = Shape(forest.max_outdegree, 3, forest.n_labels, BOTTOM_PRIOR)
    tables = draw_tables(rng, zero_counts(2, shape), Strengths(), BOTTOM_PRIOR)
    weights = rng.random((2, forest.n_trees))
    scores, counts = engine.likelihoods_and_counts(links, tables, BOTTOM_PRIOR, weights)
    monkeypatch.setattr(engine, "BLOCK_NODES", n_nodes)
    again, blocked = engine.likelihoods_and_counts(links, tables, BOTTOM_PRIOR, weights)
    assert np.array_equal(scores, again)
    assert np.array_equal(scores, engine.log_likelihoods(links, tables, BOTTOM_PRIOR))
    for whole, parts in zip(counts, blocked, strict=True):
        np.testing.assert_allclose(parts, whole, rtol=1e-10, atol=1e-9)

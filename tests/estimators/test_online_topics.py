"""`OnlineTopics`: labels of the last batch, and topic numbers that keep their meaning."""

import numpy as np
import pytest
from sklearn.base import clone

import bayesgrove as bg
from bayesgrove.topics import OnlineTopics, handed_on

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("known", "labels", "expected"),
    [
        ([], [], [0, 1, 2]),
        ([0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 0, 2], [1, 0, 2]),  # renumbered by size
        ([0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 2]),  # 1 was split, cluster 2 is new
        ([0, 0, 1, 2, 2, 2], [0, 0, 0, 1, 1, 1], [0, 2, 3]),  # 0 and 1 were united, 1 ends and is not used again
        ([0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0], [1, 0, 2]),  # most rows keep their topic, not each by itself
    ],
)
def test_topics_are_handed_on(known, labels, expected):
    n_topics = max(known, default=-1) + 1
    assert handed_on(np.array(known, int), np.array(labels, int), 3, n_topics).tolist() == expected


def test_batches_keep_their_topics():
    rng = np.random.default_rng(0)
    kinds = np.concatenate([np.repeat([0, 1], [40, 20]), rng.permutation(np.repeat([1, 2], [90, 30]))])
    X = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])[kinds] + rng.normal(size=(180, 2))
    model = OnlineTopics(bg.IncrementalBHC(likelihood="gaussian", random_state=0))
    for batch, expected in zip(np.split(X, [60, 120]), np.split(kinds, [60, 120]), strict=True):
        assert model.partial_fit(batch).labels_.tolist() == expected.tolist()
        assert model.probabilities_.shape == model.labels_.shape
        assert model.predict(batch).tolist() == expected.tolist()
    assert model.seen_labels_.tolist() == kinds.tolist()
    assert np.bincount(model.estimator_.labels_).tolist() == [110, 40, 30]  # which numbers by size
    again = clone(model).fit(X[60:])
    assert np.unique(again.labels_).tolist() == [0, 1]
    assert not hasattr(model.estimator, "labels_")
    assert again.fit(X[:60]).seen_labels_.size == 60


def test_cluster_linkage_refuses_labels_that_are_no_nodes():
    tree = bg.Tree.from_merges([[0, 1], [2, 3], [4, 5]], log_merge_odds=[4.0, 3.0, -5.0])
    assert tree.cluster_linkage(np.zeros(4, int)).shape == (0, 4)
    with pytest.raises(ValueError, match="every cluster must be a node of the tree"):
        tree.cluster_linkage(np.array([0, 1, 0, 2]))

"""What a report says of documents: paths that set clusters apart, outliers."""

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.estimators.tree_reports import outliers, telling_paths

pytestmark = pytest.mark.unit


def documents():
    """Names at the top in the first cluster, below an author in the second; keys of their own make many labels."""
    top = [f'{{"name": 1, "own{k}": 2}}' for k in range(20)]
    below = [f'{{"author": {{"name": 1}}, "own{k + 20}": 2}}' for k in range(20)]
    return bg.TreeData.from_json(top + below), np.repeat([0, 1], 20)


def test_paths_that_set_clusters_apart_come_first():
    data, labels = documents()
    (exhibit,) = telling_paths(data, labels)
    first = {row[0]: row for row in reversed(exhibit.rows)}
    assert first[0] == (0, "object/name:number", 1.0, 0.0)
    assert first[1] == (1, "object/author:object", 1.0, 0.0)
    assert (1, "object/author:object/name:number", 1.0, 0.0) in exhibit.rows


def test_paths_need_two_clusters_and_many_labels():
    data, labels = documents()
    assert telling_paths(data, np.zeros_like(labels)) == []
    assert telling_paths(data[:5].with_own_vocabulary(), labels[[0, 0, 0, 20, 20]]) == []


def test_outliers_have_the_lowest_score_per_node_in_their_own_cluster():
    scores = np.array([[-2.0, -30.0, -9.0], [-50.0, -10.0, -1.0]])
    exhibit = outliers(("a", "b", "c"), np.array([2, 20, 3]), np.array([0, 1, 0]), scores)
    assert exhibit.rows == [("c", 0, 3, -3.0), ("a", 0, 2, -1.0), ("b", 1, 20, -0.5)]

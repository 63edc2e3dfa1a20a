"""Scores of hierarchies: the golden numbers, the definitions written out, and what is refused."""

import itertools

import numpy as np
import pytest

from bayesgrove import metrics
from bayesgrove.stats.paths import number_paths, path_nodes

pytestmark = pytest.mark.unit


@pytest.fixture
def scores(golden):
    return golden("bhmc")["scores"]


def golden_levels(scores):
    return np.array([[int(code) for code in level] for level in scores["inputs"]["levels"]]).T


def test_golden_scores(scores):
    levels, rows = golden_levels(scores), np.array(scores["inputs"]["X"])
    assert metrics.aid(rows, levels) == pytest.approx(scores["AID_merged"], abs=1e-10)
    assert metrics.aid(rows, levels, tree="full") == pytest.approx(scores["AID_full"], abs=1e-10)
    assert metrics.aod(rows, levels) == pytest.approx(scores["AOD"], abs=1e-10)
    np.testing.assert_allclose(
        metrics.level_f_measure(levels, scores["inputs"]["labels"]), scores["F_by_level"], atol=1e-10
    )


def test_golden_display_nodes(scores):
    nodes = path_nodes(golden_levels(scores))
    found = [np.flatnonzero(nodes.node[:, nodes.level[z] - 1] == z).tolist() for z in np.flatnonzero(nodes.has_sibling)]
    assert sorted(found) == sorted(items for _, items in scores["merged_nodes"])


def plain_scores(rows, levels):
    """AID of both kinds and AOD, by loops over sets of items."""
    prefixes = sorted({tuple(path[: depth + 1]) for path in levels for depth in range(len(path))})
    items = {p: [i for i, path in enumerate(levels) if tuple(path[: len(p)]) == p] for p in prefixes}
    siblings = {p: [q for q in prefixes if q[:-1] == p[:-1] and q != p] for p in prefixes}

    def inner(prefix):
        pairs = itertools.combinations(items[prefix], 2)
        return np.mean([np.sum((rows[i] - rows[j]) ** 2) for i, j in pairs])

    def centre(prefix):
        return rows[items[prefix]].mean(axis=0)

    large = [p for p in prefixes if len(items[p]) > 1]
    apart = [np.sum((centre(p) - centre(q)) ** 2) for p in prefixes for q in siblings[p] if p < q]
    merged = [inner(p) for p in large if siblings[p]]
    return np.mean(merged), np.mean([inner(p) for p in large]), np.mean(apart)


@pytest.mark.parametrize("seed", range(5))
def test_scores_equal_the_definitions(seed):
    rng = np.random.default_rng(seed)
    levels, rows = rng.integers(0, 2, (14, 3)), rng.normal(size=(14, 2)) + 1e4
    merged, full, apart = plain_scores(rows, levels.tolist())
    assert metrics.aid(rows, levels) == pytest.approx(merged)
    assert metrics.aid(rows, levels, tree="full") == pytest.approx(full)
    assert metrics.aod(rows, levels) == pytest.approx(apart)


def test_a_tree_without_siblings_has_no_distances():
    rows, levels = np.arange(6.0).reshape(3, 2), np.zeros((3, 2), int)
    assert np.isnan(metrics.aid(rows, levels))
    assert np.isnan(metrics.aod(rows, levels))
    assert metrics.aid(rows, levels, tree="full") > 0.0


def test_ids_count_within_their_parent():
    again = [[0, 0], [1, 0], [1, 1], [0, 0]]
    assert number_paths(again).tolist() == [[0, 0], [1, 1], [1, 2], [0, 0]]
    assert path_nodes(again).parent.tolist() == [-1, 0, 0, 1, 2, 2]
    assert path_nodes(again).size.tolist() == [4, 2, 2, 2, 1, 1]


def test_partitions_are_compared_there_too():
    assert metrics.adjusted_rand([0, 0, 1], [1, 1, 0]) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.aid([[1.0], [2.0]], [[0], [0]], tree="best"), '"merged" or "full"'),
        (lambda: metrics.aid([[1.0], [2.0]], [0, 0]), "shape \\(item, level\\)"),
        (lambda: metrics.aid([[1.0], [2.0]], [[0.5], [0.0]]), "ids of nodes are integers"),
        (lambda: metrics.aod([[1.0]], [[0], [0]]), "one row for each row of levels"),
        (lambda: metrics.aod([[1.0], [np.nan]], [[0], [0]]), "finite numbers"),
        (lambda: metrics.level_f_measure([[0], [0]], [1]), "one per row of levels"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()

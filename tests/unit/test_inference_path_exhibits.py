"""What hierarchies of fixed depth add to a report."""

import numpy as np
import pytest

from bayesgrove import metrics
from bayesgrove.inference.path_exhibits import (
    class_bars,
    hierarchy_exhibits,
    level_scores,
    node_grid,
)
from bayesgrove.report.exhibits import exhibit_document
from reference.hierarchies import LEVELS, NAMES, hierarchy_result

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def result():
    return hierarchy_result()


def test_levels_nodes_and_scores_are_shown(result):
    found = hierarchy_exhibits(result.posterior, result.tree, LEVELS)
    assert [exhibit.title for exhibit in found] == ["Levels", "Nodes of the hierarchy", "CDL by draw", "RCDL by draw"]
    levels, nodes, cdl, _ = found
    assert [row[:2] for row in levels.rows] == [(1, 3), (2, 5)]
    assert levels.rows[0][2] == pytest.approx((result.posterior.paths[..., 0].max(axis=2) + 1).mean(), abs=0.01)
    assert sorted(row[1] for row in nodes.rows) == [1, 2, 2, 2, 3, 3, 4]  # siblings only, a row alone among them
    assert any(row[3] == "hen, ibis, jay" for row in nodes.rows)
    np.testing.assert_array_equal(cdl.series["chain 0"], result.posterior.scalars["cdl"][0])
    for exhibit in found:
        assert exhibit_document(exhibit)["title"] == exhibit.title


def test_long_lists_are_counted(monkeypatch, result):
    monkeypatch.setattr("bayesgrove.inference.path_exhibits.MOST_NODES", 3)
    monkeypatch.setattr("bayesgrove.inference.path_exhibits.MOST_MEMBERS", 2)
    grid = node_grid(result.tree)
    assert len(grid.rows) == 3
    assert "The 4 further nodes are not listed." in grid.note
    assert any(row[3].endswith("and 1 more") for row in grid.rows)


def test_classes_are_compared_draw_by_draw(result):
    classes = ["a"] * 3 + ["b"] * 4 + ["c"] * 3
    scores = level_scores(result.posterior, classes)
    draws = result.posterior.paths.reshape(-1, *LEVELS.shape)
    np.testing.assert_allclose(scores[7], metrics.level_f_measure(draws[7], classes))
    bars = class_bars(result.posterior, classes)
    np.testing.assert_allclose(bars.values, scores.mean(axis=0))
    assert np.all(bars.low <= bars.values)
    assert list(bars.names) == ["level 1", "level 2"]
    assert len(NAMES) == len(classes)

"""Constraints as users give them: what is refused, and by which name. What they do is tested in tests/exact."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.lazy import lazy_import
from bayesgrove.estimators.constraints import looks_partial, nearest_draw, read_links
from bayesgrove.estimators.registry import MODELS
from bayesgrove.impute import BHCCImputer
from bayesgrove.stats.links import make_links

TAKING = {"must_link": (bg.BHC, bg.NRMMixture), "cannot_link": (bg.BHC, bg.NRMMixture)} | {
    "sample_weight": (bg.TreeHMM, bg.TreeHMMMixture)
}
EVERY = [lazy_import(f"{model.module}:{model.name}") for model in MODELS.values()]
X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize("name", ["must_link", "cannot_link", "sample_weight"])
@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_other_models_refuse_by_name(kind, name):
    if kind in TAKING[name]:
        assert name in inspect.signature(kind.fit).parameters
        return
    for method in ("fit", "score"):
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\.{method} takes no {name}\. \w"):
            getattr(kind(), method)(X, **{name: [(0, 1)]})


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
def test_imputers_refuse_by_name(method):
    with pytest.raises(TypeError, match=rf"^BHCCImputer\.{method} takes no sample_weight"):
        getattr(BHCCImputer(), method)(X, sample_weight=np.ones(6))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"must_link": [(0, 1), (1, 2)], "cannot_link": [(2, 0)]}, "rows 2 and 0 are a pair of cannot_link"),
        ({"cannot_link": [(3, 3)]}, "rows 3 and 3 are a pair of cannot_link"),
        ({"must_link": [(1, 4)], "labels": [-1, 0, -1, -1, 1, -1]}, "rows 1 and 4 have the labels 0 and 1"),
        ({"must_link": [(0, 6)]}, "must_link names rows from 0 to 5"),
        ({"cannot_link": [(0, -1)]}, "cannot_link names rows from 0 to 5"),
        ({"cannot_link": [(0, 1, 2)]}, "cannot_link must be pairs"),
        ({"must_link": [("a", "b")]}, "must_link must hold groups of row numbers"),
        ({"labels": [0, 1]}, "one label for each of the 6 rows"),
        ({"labels": [0, 1, -1, -2, 0, 1]}, "whole numbers from 0, or -1"),
        ({"labels": ["a", "b", "a", "b", "a", "b"]}, "whole numbers from 0, or -1"),
        ({"labels": [0.5, 1, 1, 0, 0, 1]}, "whole numbers from 0, or -1"),
    ],
)
def test_what_cannot_be_met_is_refused(given, words):
    with pytest.raises(InvalidSettingError, match=words):
        make_links(6, **given)


@pytest.mark.parametrize(
    ("estimator", "given", "words"),
    [
        (bg.BHC(partial_labels=True), {}, "partial_labels=True needs y"),
        (bg.BHC("gaussian", "auto"), {"cannot_link": [(0, 1)]}, "takes no concentration='auto'. Give a number"),
        (bg.BHC(search="greedy", refine=1), {"must_link": [(0, 1)]}, "takes no refine=1"),
        (bg.BHC(search="greedy", duplicates="merge_first"), {"must_link": [(0, 1)]}, "takes no duplicates"),
        (bg.NRMMixture(sampler="paper"), {"must_link": [(0, 1)]}, "sampler='paper' takes no constraints"),
    ],
)
def test_settings_without_constraints(estimator, given, words):
    with pytest.raises(InvalidSettingError, match=words):
        clone(estimator).fit(X, **given)


def test_nothing_known_is_no_constraint():
    assert make_links(3) is None
    assert make_links(3, must_link=[(1,), (2, 2)], cannot_link=[], labels=[-1, 7, -1]) is None


def test_groups_are_joined_and_classes_are_apart():
    links = make_links(6, [(5, 1), (1, 3)], [(0, 5)], np.array([-1, -1, 2, -1, 0, 2]))
    assert links.item.tolist() == [0, 1, 1, 1, 2, 1]
    assert links.apart.tolist() == [[0, 1], [1, 2]]
    assert links.allows(np.array([0, 1, 1, 1, 2, 1]))
    assert links.allows(np.array([0, 1, 1, 1, 0, 1]))
    assert not links.allows(np.array([0, 1, 1, 1, 1, 1]))
    assert not links.allows(np.array([0, 1, 2, 1, 3, 1]))


def test_unions_that_break_a_constraint_are_left_in_their_parts():
    links = make_links(6, [(0, 1)], [(0, 3)])
    parts = np.array([0, 0, 1, 2, 3, 4])
    assert links.parted(parts, np.array([0, 0, 0, 0, 1, 1])).tolist() == [0, 0, 1, 2, 3, 3]
    assert links.parted(parts, np.array([0, 0, 0, 1, 1, 1])).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("seed", range(5))
def test_a_partition_is_changed_until_it_meets_all(seed):
    rng = np.random.default_rng(seed)
    links = make_links(12, [rng.choice(6, 2), (8, 9, 10)], [(6, 7), (7, 8), (0, 11), (6, 11), (11, 7)])
    met = links.met_by(rng.integers(0, 3, 12))
    assert links.allows(met)
    assert np.array_equal(links.met_by(met), met)


def test_labels_count_only_where_they_are_asked_for():
    y = np.array([0, -1, 1, 0, -1, -1])
    assert read_links(bg.BHC(partial_labels=True), 6, y, None, None).item.tolist() == [0, 1, 2, 0, 3, 4]
    with pytest.warns(UserWarning, match="BHC ignores y, .* Set partial_labels=True"):
        assert read_links(bg.BHC(), 6, y, None, None) is None
    for classes in (None, [0, 1, 2], [-1, 1, 1], [0.5, -1.0, 2.0], ["a", "b", "c"]):  # -1 and 1 are two known classes
        assert not looks_partial(classes)


def test_the_best_draw_is_one_of_the_draws():
    draws = np.array([[[0, 0, 1, 1], [0, 0, 1, 2], [0, 0, 1, 1]], [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1]]])
    assert nearest_draw(draws, "vi", 1).tolist() == [0, 0, 1, 1]
    assert nearest_draw(draws, "binder", 1).tolist() == [0, 0, 1, 1]


def test_metadata_routing():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = bg.NRMMixture().set_fit_request(must_link=True, cannot_link=False)
        assert model.get_metadata_routing().fit.requests == {"must_link": True, "cannot_link": False}
        piped = make_pipeline(StandardScaler(), bg.BHC().set_fit_request(must_link=True))
        with pytest.raises(InvalidSettingError, match="must_link names rows from 0 to 5"):  # it came through
            piped.fit(X, must_link=[(0, 6)])
        with pytest.raises(UnsetMetadataPassedError, match="cannot_link"):
            piped.fit(X, cannot_link=[(0, 1)])

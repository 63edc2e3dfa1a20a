"""Draws of trees of fixed depth: summaries against definitions written out, parts, export, refusals."""

import numpy as np
import pytest

from bayesgrove.inference import path_summaries
from bayesgrove.inference.path_posterior import DrawPlace, PathPosterior
from bayesgrove.stats.paths import number_paths, path_nodes
from bayesgrove.trees.levels import display_tree

pytestmark = pytest.mark.unit


def random_paths(seed, n_chains=2, n_draws=6, n_items=9, n_levels=3):
    rng = np.random.default_rng(seed)
    raw = rng.integers(0, 2, (n_chains, n_draws, n_items, n_levels))
    return np.array([[number_paths(draw) for draw in chain] for chain in raw])


def overlaps(paths):
    """Nodes that two paths share, (draw, item, item)."""
    draws = paths.reshape(-1, *paths.shape[2:])
    return np.array([[[np.sum(v == w) for w in draw] for v in draw] for draw in draws], float)


def node_sets(levels):
    prefixes = {tuple(path[: depth + 1]) for path in levels for depth in range(len(path))}
    return {frozenset(i for i, path in enumerate(levels) if tuple(path[: len(p)]) == p) for p in prefixes}


@pytest.mark.parametrize("seed", range(4))
def test_the_central_draw_has_the_least_mean_squared_distance(seed):
    paths = random_paths(seed)
    shared = overlaps(paths)
    mean = np.array([np.mean(np.sum((shared - own) ** 2, axis=(1, 2))) for own in shared])
    place = PathPosterior.from_paths(paths).central_draw()
    assert mean[place.chain * 6 + place.draw] == pytest.approx(mean.min())
    np.testing.assert_allclose(PathPosterior.from_paths(paths).path_overlap(), shared.mean(axis=0))


def test_large_tables_are_compared_by_a_sample(monkeypatch):
    paths = random_paths(3, n_items=40)
    monkeypatch.setattr(path_summaries, "MOST_COMPARED_ITEMS", 10)
    sampled = paths[:, :, np.arange(10) * 4]
    assert PathPosterior.from_paths(paths).central_draw() == PathPosterior.from_paths(sampled).central_draw()


def test_fewer_draws_are_candidates_where_all_would_take_long(monkeypatch):
    paths = random_paths(3, n_chains=1, n_draws=200)
    monkeypatch.setattr(path_summaries, "MOST_STEPS", 0.0)
    assert PathPosterior.from_paths(paths).central_draw().draw % 4 == 0  # 50 of 200


@pytest.mark.parametrize("seed", range(4))
def test_credibility_is_the_share_of_draws_with_that_set_of_items(seed):
    paths = random_paths(seed, n_items=5)
    posterior = PathPosterior.from_paths(paths)
    levels = posterior.at((0, 0))
    nodes = path_nodes(levels)
    sets = [node_sets(draw.tolist()) for draw in posterior._path_draws]
    expected = [1.0]
    for node in range(1, nodes.parent.size):
        items = frozenset(np.flatnonzero(nodes.node[:, nodes.level[node] - 1] == node).tolist())
        expected.append(np.mean([items in own for own in sets]))
    np.testing.assert_allclose(posterior.node_credibility(levels), expected)


def test_the_most_frequent_tree():
    one, two = [[0, 0], [0, 1], [1, 2]], [[0, 0], [0, 0], [1, 1]]
    found = PathPosterior.from_paths([[one, two, two, one, two]]).frequent_tree()
    assert found.draw == 1
    assert found.share == pytest.approx(0.6)


def test_the_best_draw_is_that_of_the_largest_score():
    posterior = PathPosterior.from_paths(random_paths(0), {"cdl": np.arange(12.0).reshape(2, 6) % 7})
    assert posterior.best_draw() == DrawPlace(1, 0)


def test_levels_are_posteriors_of_their_own():
    paths = random_paths(1)
    posterior = PathPosterior.from_paths(paths)
    np.testing.assert_array_equal(posterior.of_level(1).labels, paths[..., 0])
    np.testing.assert_array_equal(posterior.labels, paths[..., 2])
    total = sum(posterior.of_level(level).similarity() for level in (1, 2, 3))
    np.testing.assert_allclose(total, posterior.path_overlap())


def test_the_consensus_refines_itself_and_follows_equal_draws():
    paths = random_paths(2, n_items=12)
    found = PathPosterior.from_paths(paths).consensus_paths(random_state=0)
    np.testing.assert_array_equal(found, number_paths(found))
    same = np.repeat(paths[:1, :1], 5, axis=1)
    np.testing.assert_array_equal(PathPosterior.from_paths(same).consensus_paths(random_state=0), same[0, 0])


def test_the_consensus_tree_links_by_path_overlap():
    posterior = PathPosterior.from_paths(random_paths(5))
    tree = posterior.consensus_tree()
    assert tree.height[tree.root] <= 1.0
    i, j = 0, 1
    lowest = tree.lca(i, j)
    assert tree.columns["together"][lowest] <= posterior.path_overlap()[i, j] / 3 + 1e-12


def test_subset_keeps_paths_labels_and_scalars_together():
    posterior = PathPosterior.from_paths(random_paths(1), {"cdl": np.arange(12.0).reshape(2, 6)})
    part = posterior.thin(2).subset(chains=[1])
    np.testing.assert_array_equal(part.paths, posterior.paths[1:, ::2])
    np.testing.assert_array_equal(part.labels, part.paths[..., -1])
    assert part.scalars["cdl"].tolist() == [[6.0, 8.0, 10.0]]
    assert "n_levels=3" in repr(part)


def test_arviz_has_items_and_levels(tmp_path):
    xarray = pytest.importorskip("xarray")
    paths = random_paths(1)
    extra = {"components": paths[:, :, :, 0]}
    posterior = PathPosterior.from_paths(paths, {"cdl": np.zeros((2, 6))}, extra, {"model": "BHMC"})
    found = posterior.to_arviz()["posterior"]["paths"]
    assert posterior.to_arviz()["posterior"]["components"].dims == ("chain", "draw", "item")
    assert found.dims == ("chain", "draw", "item", "level")
    assert found.coords["level"].values.tolist() == [1, 2, 3]
    posterior.to_netcdf(tmp_path / "draws.nc")
    read = xarray.open_datatree(tmp_path / "draws.nc", engine="h5netcdf")
    np.testing.assert_array_equal(read["posterior"]["paths"], posterior.paths)
    read.close()


@pytest.mark.parametrize("seed", range(6))
def test_the_display_tree_has_the_nodes_with_siblings(seed):
    levels = random_paths(seed, n_items=7)[0, 0]
    nodes = path_nodes(levels)
    tree, origin = display_tree(nodes)
    shown = {frozenset(tree.items_below(node).tolist()) for node in range(7, tree.n_nodes)}
    with_siblings = {
        frozenset(np.flatnonzero(nodes.node[:, nodes.level[z] - 1] == z).tolist())
        for z in np.flatnonzero(nodes.has_sibling)
    }
    alone = {frozenset([i]) for i in np.flatnonzero(origin[:7] >= 0).tolist()}
    assert shown | alone == with_siblings | {frozenset(range(7))}
    for node in range(7, tree.n_nodes):
        assert nodes.size[origin[node]] == tree.size[node]
        assert len(tree.children(node)) != 1


def test_one_path_is_a_root_with_all_items_and_one_item_is_a_leaf():
    assert display_tree(path_nodes([[0, 0]] * 3)).tree.parent.tolist() == [3, 3, 3, -1]
    assert display_tree(path_nodes([[0, 0]])).tree.parent.tolist() == [-1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: PathPosterior.from_paths(p.paths[0]), "shape \\(chain, draw, item, level\\)"),
        (lambda p: PathPosterior.from_paths(p.paths.astype(float)), "paths are integers"),
        (lambda p: PathPosterior(p.labels[:1], paths=p.paths), "same chains, draws and items"),
        (lambda p: p.of_level(4), "levels are 1 .. 3"),
        (lambda p: p.best_draw("rcdl"), "score is one of \\['cdl'\\]"),
        (lambda p: p.node_credibility([[0], [1]]), "one path per item"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(PathPosterior.from_paths(random_paths(0), {"cdl": np.zeros((2, 6))}))

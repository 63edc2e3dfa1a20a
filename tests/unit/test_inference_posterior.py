"""`Posterior`: what it refuses, keeps, gives out and writes."""

import pickle
import sys

import numpy as np
import pytest
import xarray

from bayesgrove.core.errors import (
    InvalidFileError,
    InvalidInputError,
    InvalidSettingError,
    MemoryLimitError,
    MissingExtraError,
)
from bayesgrove.core.rng import generator
from bayesgrove.inference.posterior import Posterior
from bayesgrove.inference.similarity import cohesion
from bayesgrove.stats.partitions import relabel_draws

pytestmark = pytest.mark.unit


def example(dtype=np.int64):
    rng = np.random.default_rng(0)
    return Posterior(
        rng.integers(0, 3, (2, 5, 6)).astype(dtype),
        {"log_joint": rng.normal(size=(2, 5))},
        {"paths": rng.integers(0, 9, (2, 5, 6, 3))},
        {"model": "NRMMixture", "seed": 7, "settings": {"process": "dp"}, "exact": True},
    )


def test_sizes_and_names():
    posterior = example()
    assert (posterior.n_chains, posterior.n_draws, posterior.n_items) == (2, 5, 6)
    assert posterior.paths is posterior.extra["paths"]
    assert repr(posterior) == ("Posterior(n_chains=2, n_draws=5, n_items=6, scalars=['log_joint'], extra=['paths'])")
    with pytest.raises(AttributeError, match=r"no attribute 'views'; its extra draws are \['paths'\]"):
        posterior.views  # noqa: B018


def test_draws_cannot_be_changed():
    posterior = example()
    for array in (posterior.labels, posterior.scalars["log_joint"], posterior.paths, posterior.similarity()):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 0
    with pytest.raises(TypeError, match="does not support item assignment"):
        posterior.scalars["other"] = np.zeros((2, 5))


def test_the_givers_arrays_stay_writable():
    labels = np.zeros((1, 2, 3), np.int64)
    Posterior(labels)
    labels[0, 0, 0] = 1
    assert labels[0, 0, 0] == 1


def test_pickling_keeps_all():
    posterior = example()
    again = pickle.loads(pickle.dumps(posterior))
    np.testing.assert_array_equal(again.labels, posterior.labels)
    np.testing.assert_array_equal(again.paths, posterior.paths)
    assert dict(again.attributes) == dict(posterior.attributes)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_any_integer_type_gives_the_same_answers(dtype):
    posterior, other = example(), example(dtype)
    assert other.labels.dtype == dtype
    np.testing.assert_array_equal(other.similarity(), posterior.similarity())
    estimates = [each.point_estimate(random_state=0).labels.tolist() for each in (posterior, other)]
    assert estimates[0] == estimates[1]


@pytest.mark.parametrize("offset", [-(2**62), -5, 2**40])
def test_labels_far_from_0_are_only_names(offset):
    labels = example().labels
    np.testing.assert_array_equal(relabel_draws(labels + offset), relabel_draws(labels))
    spread = np.where(labels == 2, offset, labels)
    np.testing.assert_array_equal(relabel_draws(spread), relabel_draws(labels))


def test_labels_at_the_ends_of_their_types_are_only_names():
    labels = example().labels.astype(np.uint64)
    np.testing.assert_array_equal(relabel_draws(labels + np.uint64(2**64 - 3)), relabel_draws(labels))
    wide = np.array([[[-128, 127, -128, 0]]], np.int8)
    assert relabel_draws(wide).tolist() == [[0, 1, 0, 2]]


def test_similarity_is_kept_and_may_be_of_some_items():
    posterior = example()
    flat = posterior.labels.reshape(10, 6)
    wanted = (flat[:, :, None] == flat[:, None, :]).mean(axis=0)
    np.testing.assert_allclose(posterior.similarity(), wanted, atol=1e-15)
    assert posterior.similarity() is posterior.similarity()
    np.testing.assert_allclose(posterior.similarity([4, 1]), wanted[np.ix_([4, 1], [4, 1])], atol=1e-15)


@pytest.mark.parametrize("n_items", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("n_draws", [1, 64, 65, 200])
def test_similarity_at_the_edges_of_blocks(n_items, n_draws):
    labels = np.random.default_rng(n_items).integers(0, 4, (1, n_draws, n_items))
    wanted = sum((row[:, None] == row).astype(float) for row in labels[0]) / n_draws
    np.testing.assert_allclose(Posterior(labels).similarity(), wanted, atol=1e-15)


def test_more_than_20000_items_need_a_sample():
    posterior = Posterior(np.zeros((1, 2, 20_001), np.int8))
    with pytest.raises(MemoryLimitError, match=r"matrix of 20001 items needs 3\.2 GB, the limit is 20000 items"):
        posterior.similarity()
    assert posterior.similarity(np.array([0, 20_000])).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert posterior.point_estimate(random_state=0, n_starts=1).n_clusters == 1
    assert posterior.consensus_tree().n_leaves == 20_001
    assert posterior.diagnostics().converged is False


def test_subsets_and_thinning_take_all_draws_along():
    posterior = example()
    part = posterior.subset(chains=[1], draws=slice(1, 4))
    np.testing.assert_array_equal(part.labels, posterior.labels[1:, 1:4])
    np.testing.assert_array_equal(part.scalars["log_joint"], posterior.scalars["log_joint"][1:, 1:4])
    np.testing.assert_array_equal(part.paths, posterior.paths[1:, 1:4])
    assert part.attributes == posterior.attributes
    np.testing.assert_array_equal(posterior.thin(2).labels, posterior.labels[:, ::2])
    assert posterior.subset(chains=0, draws=-1).labels.shape == (1, 1, 6)


def test_consensus_tree_of_all_or_some_items():
    posterior = example()
    assert posterior.consensus_tree(("a", "b", "c", "d", "e", "f")).leaf_labels == ("a", "b", "c", "d", "e", "f")
    tree = posterior.consensus_tree(items=[5, 0])
    assert tree.columns["together"][-1] == pytest.approx(posterior.similarity()[5, 0])


def test_arviz_tree_has_all_draws():
    tree = example().to_arviz()
    group = tree["posterior"]
    assert group["labels"].dims == ("chain", "draw", "item")
    assert group["log_joint"].dims == ("chain", "draw")
    assert group["paths"].shape == (2, 5, 6, 3)
    np.testing.assert_array_equal(group["labels"].values, example().labels)
    assert tree.attrs == {
        "model": "NRMMixture",
        "seed": 7,
        "settings": '{"process": "dp"}',
        "exact": "true",
    }


@pytest.mark.parametrize("dtype", [np.int16, np.int64])
def test_netcdf_round_trip(tmp_path, dtype):
    posterior = example(dtype)
    path = tmp_path / "draws.nc"
    posterior.to_netcdf(path)
    with xarray.open_datatree(path, engine="h5netcdf") as tree:
        group = tree["posterior"]
        assert group["labels"].dtype == dtype
        np.testing.assert_array_equal(group["labels"].values, posterior.labels)
        np.testing.assert_array_equal(group["log_joint"].values, posterior.scalars["log_joint"])
        np.testing.assert_array_equal(group["paths"].values, posterior.paths)
        assert tree.attrs["model"] == "NRMMixture"
    assert [found.name for found in tmp_path.iterdir()] == ["draws.nc"]


def test_netcdf_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "draws.nc"
    path.write_bytes(b"old")
    with pytest.raises(InvalidFileError, match="exists already; choose another name or allow overwriting"):
        example().to_netcdf(path, overwrite=False)

    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xarray.DataTree, "to_netcdf", fail)
    with pytest.raises(InvalidFileError, match=r"cannot write .*draws.nc: No space left on device"):
        example().to_netcdf(path)
    assert path.read_bytes() == b"old"
    assert [found.name for found in tmp_path.iterdir()] == ["draws.nc"]


def test_missing_extras_say_how_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5netcdf", None)
    with pytest.raises(MissingExtraError, match=r"needs h5netcdf and h5py; pip install 'bayesgrove\[bayes\]'"):
        example().to_netcdf(tmp_path / "draws.nc")
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(MissingExtraError, match=r"needs arviz-base and xarray; pip install 'bayesgrove\[bayes\]'"):
        example().to_arviz()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            np.zeros((2, 3), int),
            r"\(chain, draw, item\), none of them 0, got \(2, 3\). For one chain give labels",
        ),
        (np.zeros((2, 0, 3), int), r"none of them 0, got \(2, 0, 3\)"),
        (np.zeros((2, 2, 3)), "labels are integers, got an array of float64. Convert them"),
        (np.zeros((2, 2, 3), bool), "labels are integers, got an array of bool"),
    ],
)
def test_bad_labels_are_named(labels, message):
    with pytest.raises(InvalidInputError, match=message):
        Posterior(labels)


def test_bad_companions_are_named():
    labels = np.zeros((2, 5, 3), int)
    with pytest.raises(InvalidInputError, match=r"'u' must have the shape \(chain, draw\) .* \(2, 5\), got \(2, 4\)"):
        Posterior(labels, {"u": np.zeros((2, 4))})
    with pytest.raises(InvalidInputError, match=r"'p' must have the shape \(chain, draw, ...\) .* got \(2,\)"):
        Posterior(labels, extra={"p": np.zeros(2)})
    with pytest.raises(InvalidInputError, match=r"a name of its own, got \['a', 'labels'\] twice. Rename them"):
        Posterior(labels, {"a": np.zeros((2, 5)), "labels": np.zeros((2, 5))}, {"a": np.zeros((2, 5))})


def test_bad_items_and_steps_are_named():
    posterior = example()
    for items in ([[0, 1]], [], [0.5], [True, False]):
        with pytest.raises(InvalidInputError, match=r"items are a vector of at least one whole number, .*flatnonzero"):
            posterior.similarity(items)
    for items in ([-1, 2], [6]):
        with pytest.raises(InvalidInputError, match=r"items lie between 0 and 5, got .* Ask for these only"):
            posterior.consensus_tree(items=items)
    with pytest.raises(InvalidSettingError, match=r"every must be at least 1, got 0\. 1 keeps all"):
        posterior.thin(0)


def test_draws_without_integers_are_named():
    with pytest.raises(InvalidInputError, match="labels of draws are integers, got an array of float64"):
        relabel_draws([[0.0, 1.5]])


def test_cohesion_is_the_mean_similarity_inside_a_cluster():
    rng = generator(4)
    draws = rng.integers(0, 3, (50, 12)).astype(np.uint8)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4])
    similarity = Posterior(draws[None]).similarity()
    found = cohesion(draws, labels)
    for cluster in range(4):
        inside = np.flatnonzero(labels == cluster)
        pairs = similarity[np.ix_(inside, inside)][np.triu_indices(inside.size, 1)]
        assert found[cluster] == pytest.approx(pairs.mean(), abs=1e-12)
    assert found[4] == 1.0

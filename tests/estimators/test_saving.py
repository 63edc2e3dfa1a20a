"""Saved models come back to the bit; files whose parts do not fit together are refused, never read by a kernel."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone

from bayesgrove import BHC, IncrementalBHC, NRMMixture, RandomizedBHC, load
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.core.table import Table
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.likelihoods import Categorical, Columns, GaussianDiagonal

pytestmark = pytest.mark.unit


def assert_same_draws(model, other):
    np.testing.assert_array_equal(model.posterior_.labels, other.posterior_.labels)
    assert model.posterior_.scalars.keys() == other.posterior_.scalars.keys()
    for name, values in model.posterior_.scalars.items():
        np.testing.assert_array_equal(values, other.posterior_.scalars[name])
    for name in ("sigma_", "acceptance_", "converged_"):
        assert getattr(model, name) == getattr(other, name)
    assert model.diagnostics_.verdict.sentence == other.diagnostics_.verdict.sentence


def assert_same_answers(model, other, X):
    """Equal bits everywhere a user can look."""
    for name in ("predict", "predict_proba", "score_samples"):
        np.testing.assert_array_equal(getattr(model, name)(X), getattr(other, name)(X))
    np.testing.assert_array_equal(model.sample(5, random_state=3), other.sample(5, random_state=3))
    np.testing.assert_array_equal(model.sample(5), other.sample(5))
    np.testing.assert_array_equal(model.labels_, other.labels_)
    for name in ("parent", "item", "height", "leaf_labels"):
        np.testing.assert_array_equal(getattr(model.tree_, name), getattr(other.tree_, name))
    for name, column in model.tree_.columns.items():
        np.testing.assert_array_equal(column, other.tree_.columns[name])
    for name in ("concentration_", "likelihood_", "n_clusters_", "n_features_in_"):
        assert getattr(model, name) == getattr(other, name)
    if isinstance(model, NRMMixture):
        assert_same_draws(model, other)
    else:
        assert model.log_evidence_ == other.log_evidence_
        assert model._summaries == other._summaries
    assert dict(model.result_.details) == dict(other.result_.details)
    for name in ("depth_", "n_rows_seen_"):
        assert getattr(model, name, None) == getattr(other, name, None)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"likelihood": "gaussian", "concentration": 0.3, "cut": "map"},
        pytest.param({"likelihood": "gaussian-full"}, marks=pytest.mark.slow),
        {"likelihood": GaussianDiagonal(strength=0.2), "concentration": "auto", "random_state": np.int64(3)},
    ],
    ids=str,
)
def test_round_trip_of_numbers(estimator, X, settings, tmp_path):
    if getattr(estimator, "func", None) is NRMMixture:
        settings = {name: value for name, value in settings.items() if name != "cut"}
    model = estimator(**{"random_state": 0, **settings}).fit(X)
    model.save(tmp_path / "model.bg")
    loaded = load(tmp_path / "model.bg")
    assert type(loaded) is type(model)
    assert_same_answers(model, loaded, X + 0.1)
    loaded.save(tmp_path / "again.bg")
    assert (tmp_path / "again.bg").read_bytes() == (tmp_path / "model.bg").read_bytes()
    assert clone(loaded).fit(X).n_clusters_ == model.n_clusters_


def test_round_trip_of_a_tree_grown_by_samples(tmp_path):
    rng = generator(7)
    X = np.vstack([rng.normal(centre, 1, (150, 2)) for centre in (0, 9, 18)])
    model = RandomizedBHC(leaf_size=32, sample_size=40, random_state=1).fit(X)
    assert model.depth_ > 0
    model.save(tmp_path / "model.bg")
    assert_same_answers(model, load(tmp_path / "model.bg"), X)


def test_round_trip_of_mixed_columns_names_and_categories(estimator, frame, tmp_path):
    likelihood = Columns(
        {
            **dict.fromkeys(frame.columns, "auto"),
            "grade": Categorical(),
            "colour": Categorical(unseen="reserve"),
        }
    )
    model = estimator(likelihood=likelihood, random_state=0).fit(frame)
    model.save(tmp_path / "model.bg")
    loaded = load(tmp_path / "model.bg")
    assert_same_answers(model, loaded, frame)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    new = frame.assign(colour="violet")
    np.testing.assert_array_equal(model.score_samples(new), loaded.score_samples(new))
    with pytest.raises(ValueError, match="column 'grade' holds 'new'"):
        loaded.predict(frame.assign(grade="new"))


def test_round_trip_of_leaf_labels(estimator, X, tmp_path):
    from dataclasses import replace

    model = estimator(random_state=0).fit(X)
    model.tree_ = replace(model.tree_, leaf_labels=tuple(f"wine ü {i}" for i in range(40)))
    model.save(tmp_path / "model.bg")
    assert load(tmp_path / "model.bg").tree_.leaf_labels[39] == "wine ü 39"


def test_pickle_deepcopy_and_clone(estimator, frame):
    model = estimator(random_state=0).fit(frame)
    assert_same_answers(model, pickle.loads(pickle.dumps(model)), frame)
    assert_same_answers(model, copy.deepcopy(model), frame)
    fresh = clone(model)
    assert not hasattr(fresh, "tree_")
    assert_same_answers(model, fresh.fit(frame), frame)


def test_an_old_file_survives_a_failed_save(estimator, X, tmp_path):
    path = tmp_path / "model.bg"
    estimator(random_state=0).fit(X).save(path)
    before = path.read_bytes()
    cells = np.ascontiguousarray(X[:, :1] > 4, dtype=float)
    odd = estimator(random_state=0).fit(Table(cells, ("t",), ("category",), {0: (b"x", b"y")}))
    with pytest.raises(InvalidSettingError, match="JSON's types only, got bytes"):
        odd.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.bg"]
    with pytest.raises(InvalidFileError, match=r"cannot write|no folder|No such"):
        estimator(random_state=0).fit(X).save(tmp_path / "absent" / "model.bg")


# ---------------------------------------------------------------- consistent containers, hostile content


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Files of small models, by name."""
    folder = tmp_path_factory.mktemp("saved")
    rng = generator(8)
    # undecided merges, so that nodes above the cut carry weight
    X = np.vstack([rng.normal(centre, 1, (12, 2)) for centre in (0, 2.5)])
    codes = (X > 1).astype(float)
    table = Table(np.column_stack([X[:, 0], codes[:, 0]]), ("a", "b"), ("float", "category"), {1: ("x", "y")})
    models = {
        "gaussian": BHC(likelihood="gaussian").fit(X),
        "randomized": RandomizedBHC(likelihood="gaussian", leaf_size=6, sample_size=8, random_state=0).fit(X),
        "mixed": BHC(likelihood=Columns([GaussianDiagonal(), Categorical()])).fit(table),
        "categorical": BHC(likelihood="categorical").fit(codes),
        "incremental": IncrementalBHC(likelihood="gaussian", random_state=0).fit(X),
        "mixture": NRMMixture(
            process="nggp", n_chains=2, n_tune=5, n_draws=8, init=np.arange(24) % 3, random_state=0
        ).fit(X),
        "stream": IncrementalBHC(likelihood=Columns([GaussianDiagonal(), Categorical()])).fit(table),
    }
    for name, model in models.items():
        model.save(folder / name)
    assert models["gaussian"]._predictive.above_low.size > 0
    return {name: read_model(folder / name) for name in models}


def load_changed(saved, name, tmp_path, change):
    """Load a file whose document and arrays went through `change`."""
    file = saved[name]
    document = copy.deepcopy(file.document)
    arrays = {key: array.copy() for key, array in file.arrays.items()}
    change(document, arrays)
    write_model(tmp_path / "changed.bg", file.kind, document, arrays)
    return load(tmp_path / "changed.bg")


def test_the_unchanged_container_is_read(saved, tmp_path):
    for name, file in saved.items():
        assert type(load_changed(saved, name, tmp_path, lambda document, arrays: None)).__name__ == file.kind


ARRAYS = (
    "labels",
    "template",
    "tree_parent",
    "tree_item",
    "tree_height",
    "tree_column_log_merge_odds",
    "tree_column_log_q",
    "tree_column_log_d",
    *(
        f"predictive_{name}"
        for name in (
            "rows",
            "log_weight",
            "cluster_start",
            "above_low",
            "above_high",
            "above_order",
            "cluster_rows",
            "cluster_sizes",
        )
    ),
)
DAMAGES = {
    "absent": None,
    "shorter": lambda array: array[:-1],
    "longer": lambda array: np.concatenate([array, array[-1:]]),
    "empty": lambda array: array[:0],
    "flat": lambda array: array.reshape(-1, 1) if array.ndim == 1 else array.ravel(),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("array", ARRAYS)
def test_arrays_of_another_shape(saved, tmp_path, array, damage):
    def change(document, arrays):
        if damage == "absent":
            del arrays[array]
        else:
            arrays[array] = DAMAGES[damage](arrays[array])

    with pytest.raises(InvalidFileError):
        load_changed(saved, "gaussian", tmp_path, change)


@pytest.mark.parametrize("dtype", [bool, np.float32, np.int32])
@pytest.mark.parametrize("array", [name for name in ARRAYS if not name.startswith("tree")])
def test_arrays_of_another_type(saved, tmp_path, array, dtype):
    def change(document, arrays):
        arrays[array] = arrays[array].astype(dtype)

    with pytest.raises(InvalidFileError):
        load_changed(saved, "gaussian", tmp_path, change)


@pytest.mark.parametrize("value", [-1, -(2**62), 10**6, 2**62])
@pytest.mark.parametrize(
    "array",
    [
        "labels",
        "tree_parent",
        "tree_item",
        *(f"predictive_{name}" for name in ("cluster_start", "above_low", "above_high", "above_order")),
    ],
)
@pytest.mark.parametrize("place", [0, -1])
def test_whole_numbers_out_of_range(saved, tmp_path, array, place, value):
    def change(document, arrays):
        arrays[array][place] = value
        if array.startswith("tree") and place == -1:  # -1 is right at the root
            arrays[array][0] = value

    with pytest.raises(InvalidFileError):
        load_changed(saved, "gaussian", tmp_path, change)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    "array",
    ["tree_height", *(f"predictive_{name}" for name in ("rows", "log_weight", "cluster_rows", "cluster_sizes"))],
)
def test_numbers_that_are_none(saved, tmp_path, array, value):
    def change(document, arrays):
        arrays[array][(-1,) * arrays[array].ndim] = value

    with pytest.raises(InvalidFileError):
        load_changed(saved, "gaussian", tmp_path, change)


@pytest.mark.parametrize(
    ("name", "array", "change"),
    [
        ("incremental", "stream_values", lambda values: values[:-1]),
        ("incremental", "stream_values", lambda values: values.astype(np.float32)),
        ("incremental", "stream_values", lambda values: np.full_like(values, np.inf)),
        ("incremental", "stream_values", lambda values: np.full_like(values, 1e200)),
        ("stream", "stream_values", lambda values: np.column_stack([values[:, 0], np.full(len(values), 1e9)])),
        ("stream", "stream_values", lambda values: np.column_stack([values[:, 0], np.full(len(values), -1.0)])),
        ("stream", "stream_values", lambda values: np.column_stack([values[:, 0], np.full(len(values), 0.5)])),
        ("incremental", "stream_pairs", lambda pairs: pairs + 10**6),
        ("incremental", "stream_pairs", lambda pairs: pairs - 10**6),
        ("incremental", "stream_pairs", lambda pairs: np.zeros_like(pairs)),
        ("incremental", "stream_pairs", lambda pairs: pairs.ravel()),
        ("incremental", "stream_pairs", lambda pairs: pairs.astype(float)),
        ("incremental", "stream_pairs", lambda pairs: np.concatenate([pairs] * 3)),
    ],
)
def test_streams_that_do_not_fit(saved, tmp_path, name, array, change):
    def spoil(document, arrays):
        arrays[array] = change(arrays[array])

    with pytest.raises(InvalidFileError, match="not consistent"):
        load_changed(saved, name, tmp_path, spoil)


@pytest.mark.parametrize("array", ["stream_values", "stream_pairs"])
def test_streams_that_are_absent(saved, tmp_path, array):
    with pytest.raises(InvalidFileError, match="not consistent"):
        load_changed(saved, "incremental", tmp_path, lambda document, arrays: arrays.pop(array))


def set_document(*path, value):
    def change(document, arrays):
        here = document
        for step in path[:-1]:
            here = here[step]
        here[path[-1]] = value

    return change


MIXTURE_ARRAYS = (
    *(name for name in ARRAYS[:6]),
    *(f"kept_{name}" for name in ("start", "rows", "log_weight", "log_new", "log_factors", "share")),
    "draws",
    *(f"scalar_{k}" for k in range(5)),
)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("array", MIXTURE_ARRAYS)
def test_arrays_of_a_mixture_of_another_shape(saved, tmp_path, array, damage):
    def change(document, arrays):
        if damage == "absent":
            del arrays[array]
        else:
            arrays[array] = DAMAGES[damage](arrays[array])

    with pytest.raises(InvalidFileError, match="not consistent"):
        load_changed(saved, "mixture", tmp_path, change)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("array", [name for name in MIXTURE_ARRAYS[7:] if name != "draws"])
def test_numbers_of_a_mixture_that_are_none(saved, tmp_path, array, value):
    def change(document, arrays):
        arrays[array][(-1,) * arrays[array].ndim] = value

    if saved["mixture"].arrays[array].size == 0:
        pytest.fail(f"{array} is empty: this file tests nothing")
    with pytest.raises(InvalidFileError, match="not consistent: a number is not finite"):
        load_changed(saved, "mixture", tmp_path, change)


@pytest.mark.parametrize("value", [-1, 24, 10**6])
@pytest.mark.parametrize("array", ["draws", "kept_start", "kept_share"])
def test_numbers_of_a_mixture_out_of_range(saved, tmp_path, array, value):
    def change(document, arrays):
        if array == "draws":
            arrays[array] = arrays[array].astype(np.int64)
        arrays[array][(-1,) * arrays[array].ndim] = value

    with pytest.raises(InvalidFileError, match="not consistent"):
        load_changed(saved, "mixture", tmp_path, change)


def test_first_labels_that_do_not_fit(saved, tmp_path):
    def change(document, arrays):
        arrays["init"] = arrays["init"][:-1]

    with pytest.raises(InvalidFileError, match="first labels do not fit"):
        load_changed(saved, "mixture", tmp_path, change)


@pytest.mark.parametrize(
    "change",
    [
        set_document("process", value=[1.0]),
        set_document("process", value=[7.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.5, 1.5]),
        set_document("process", value=[1.0, float("inf"), 0.5, 1.0, 1.0, 1.0, 1.0, 1.5, 1.5]),
        set_document("process", value=[1.0, 1.0, 1.5, 1.0, 1.0, 1.0, 1.0, 1.5, 1.5]),
        set_document("process", value="x"),
        set_document("sigma", value="nan"),
        set_document("scalars", value=["log_joint"]),
        set_document("scalars", value=3),
        set_document("acceptance", value=[1]),
        set_document("acceptance", value={"anchors": {"splits": "many"}}),
        set_document("likelihood", "free", value=["no such number"]),
        set_document("parameters", value={"no_such": 1}),
    ],
)
def test_documents_of_a_mixture_that_do_not_fit(saved, tmp_path, change):
    with pytest.raises(InvalidFileError, match=r"not consistent|no description of a likelihood"):
        load_changed(saved, "mixture", tmp_path, change)


def test_labels_and_sizes_must_agree(saved, tmp_path):
    def swap(document, arrays):
        arrays["labels"] = arrays["labels"].max() - arrays["labels"]
        arrays["labels"][0] = arrays["labels"][-1]

    with pytest.raises(InvalidFileError, match="not consistent: cluster sizes are not the labels'"):
        load_changed(saved, "gaussian", tmp_path, swap)


PRIOR = ("likelihood", "prior", "fields")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("gaussian", set_document("parameters", value={"no_such": 1})),
        ("gaussian", set_document("parameters", "refine", value=-1)),
        ("gaussian", set_document("parameters", value=[1])),
        ("gaussian", set_document("seed", value=float("inf"))),
        ("gaussian", set_document("seed", value="x")),
        ("gaussian", set_document("names", value=["a"])),
        ("gaussian", set_document("names", value=3)),
        ("gaussian", set_document("log_evidence", value="nan")),
        ("gaussian", set_document("log_evidence", value="0x1p99999")),
        ("gaussian", set_document("concentration", value="-0x1p0")),
        ("gaussian", set_document("log_concentration", value="inf")),
        ("gaussian", set_document("leaf_labels", value=["only one"])),
        ("gaussian", set_document("summaries", value=[{"node": 1}])),
        ("gaussian", set_document("summaries", value={"node": 1})),
        ("gaussian", set_document("likelihood", value={})),
        ("gaussian", set_document("likelihood", "prior", "class", value="Popen")),
        ("gaussian", set_document(*PRIOR, "rate", "data", value=[float("nan")] * 2)),
        ("gaussian", set_document(*PRIOR, "rate", "data", value=[-1.0, 1.0])),
        ("gaussian", set_document(*PRIOR, "rate", "shape", value=[1, 2])),
        ("gaussian", set_document(*PRIOR, "rate", "shape", value=[2**40])),
        ("gaussian", set_document("likelihood", "encoding", "fields", "shift", "data", value=[0.0])),
        ("categorical", set_document(*PRIOR, "start", "data", value=[0, 2, 10**9])),
        ("categorical", set_document(*PRIOR, "start", "data", value=[0, -2, 4])),
        ("categorical", set_document(*PRIOR, "start", "data", value=[2, 4, 6])),
        ("categorical", set_document(*PRIOR, "start", "data", value=[0, 3, 4])),
        ("categorical", set_document("likelihood", "likelihood", "fields", "n_categories", value=9)),
        ("mixed", set_document(*PRIOR, "family", "data", value=[99, 4])),
        ("mixed", set_document(*PRIOR, "family", "data", value=[-1, 4])),
        ("mixed", set_document(*PRIOR, "family", "data", value=[4, 1])),
        ("mixed", set_document(*PRIOR, "start", "data", value=[0, 4, 5])),
        ("mixed", set_document("categories", value={"1": [["x"], ["y"]]})),
        ("mixed", set_document("categories", value={"1": ["x", "x"]})),
        ("mixed", set_document("categories", value={"one": ["x", "y"]})),
        ("randomized", set_document("details", value={})),
    ],
)
def test_documents_that_do_not_fit(saved, tmp_path, name, change):
    with pytest.raises(InvalidFileError, match=r"not consistent|no description of a likelihood|do not fit"):
        load_changed(saved, name, tmp_path, change)


def test_other_kinds_are_named(tmp_path):
    write_model(tmp_path / "other.bg", "Popen", {}, {})
    with pytest.raises(InvalidFileError, match=r"holds a 'Popen'; this version knows \['BHC', .*'TreeHMMMixture'\]"):
        load(tmp_path / "other.bg")

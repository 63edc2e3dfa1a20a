"""Generators tell the truth about what they make; loaders find files or say where to put them."""

import doctest
import gzip
import inspect
import io
import lzma
from pathlib import Path

import numpy as np
import pytest

from bayesgrove import datasets
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.datasets.home import FILES, is_present
from bayesgrove.datasets.nested import draw_components, draw_paths
from bayesgrove.stats.paths import number_paths

pytestmark = pytest.mark.unit

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def test_blobs_tree_levels_are_nested():
    X, labels, levels = datasets.make_blobs_tree(270, depth=3, branching=3, n_features=4, random_state=0)
    assert X.shape == (270, 4)
    np.testing.assert_array_equal(np.bincount(labels), np.full(27, 10))
    np.testing.assert_array_equal(levels[:, 2], labels)
    for fine in range(27):
        assert len({tuple(row) for row in levels[labels == fine]}) == 1
    np.testing.assert_array_equal(levels[:, 0], levels[:, 2] // 9)


def test_blobs_tree_points_lie_near_their_centres():
    X, labels, _ = datasets.make_blobs_tree(4000, depth=2, branching=2, noise=0.5, random_state=3)
    within = [X[labels == k].std(axis=0) for k in range(4)]
    # 1,000 points each: standard error .011; 5 of them on 8 numbers, false alarm below 1e-5
    np.testing.assert_allclose(within, 0.5, atol=0.06)


def test_generators_repeat_and_differ_by_seed():
    first = datasets.make_benchmark_blobs("skewed", 100, random_state=1)
    np.testing.assert_array_equal(first.X, datasets.make_benchmark_blobs("skewed", 100, random_state=1).X)
    assert not np.array_equal(first.X, datasets.make_benchmark_blobs("skewed", 100, random_state=2).X)


@pytest.mark.parametrize(
    ("kind", "n_clusters"),
    [("separated", 40), ("outliers", 40), ("skewed", 60), ("nested", 30), ("overlapping", 20)],
)
def test_benchmark_blobs_have_the_stated_clusters(kind, n_clusters):
    X, labels = datasets.make_benchmark_blobs(kind, 20_000, d=3, random_state=0)
    assert X.shape == (20_000, 3)
    assert X.dtype == np.float64
    assert len(np.unique(labels[labels >= 0])) == n_clusters
    assert np.sum(labels == -1) == (200 if kind == "outliers" else 0)


def test_skewed_sizes_follow_their_law():
    labels = datasets.make_benchmark_blobs("skewed", 50_000, d=1, random_state=0).labels
    weights = np.arange(1, 61) ** -1.5
    expected = 50_000 * weights / weights.sum()
    chi_square = np.sum((np.bincount(labels, minlength=60) - expected) ** 2 / expected)
    assert chi_square < 130  # 59 degrees of freedom: false alarm 3e-7


def test_cross_table_is_the_specified_generator():
    n_rows, N = 12, 5  # the loop of the specification, word for word
    rng = np.random.default_rng(4)
    columns, view = [], np.repeat([0, 1], [3, 6])
    for d, k in zip((3, 6), (2, 4), strict=True):
        z = np.concatenate([np.arange(k), rng.integers(0, k, n_rows - k)])
        rng.shuffle(z)
        theta = rng.beta(0.5, 0.5, size=(k, d))
        columns.append(rng.binomial(N, theta[z]))
    X = np.concatenate(columns, axis=1)
    p = rng.permutation(X.shape[1])
    table = datasets.make_cross_table(n_rows, (3, 6), (2, 4), n_trials=N, random_state=4)
    np.testing.assert_array_equal(table.X, X[:, p])
    np.testing.assert_array_equal(table.view_labels, view[p])
    assert table.row_labels.shape == (2, n_rows)


@pytest.mark.parametrize("n_components", [None, 3], ids=["infinite", "finite"])
def test_nested_tables_follow_the_law_of_the_model(n_components):
    """Two rows: chance of one path, of one component given the levels shared. False alarm below 1e-5 (|z| <= 5)."""
    alpha, gamma, gamma0, n = 0.7, 1.3, 0.9, 6_000
    rng = np.random.default_rng(0)
    shared, same = np.zeros(n, int), np.zeros(n, bool)
    for draw in range(n):
        levels = draw_paths(rng, 2, 2, alpha)
        components = draw_components(rng, levels, gamma, gamma0, n_components)
        shared[draw], same[draw] = np.sum(levels[0] == levels[1]), components[0] == components[1]
    one = 1.0 / (1.0 + alpha)
    root = (1.0 + gamma0 / (n_components or np.inf)) / (1.0 + gamma0)
    first = (1.0 + gamma * root) / (1.0 + gamma)
    together = [root, first, (1.0 + gamma * first) / (1.0 + gamma)]
    for n_shared, law in enumerate([1.0 - one, one * (1.0 - one), one**2]):
        own = shared == n_shared
        assert abs(own.mean() - law) < 5.0 * np.sqrt(law * (1.0 - law) / n)
        expected = together[n_shared]
        assert abs(same[own].mean() - expected) < 5.0 * np.sqrt(expected * (1.0 - expected) / own.sum())


def test_nested_tables_have_the_stated_variances_and_repeat():
    made = datasets.sample_bhmc(3_000, 2, component_variance=0.25, base_variance=9.0, random_state=2)
    rest = made.X - made.means[made.components]
    assert rest.std() == pytest.approx(0.5, abs=0.03)  # standard error .0046
    np.testing.assert_array_equal(made.levels, number_paths(made.levels))
    np.testing.assert_array_equal(
        made.X, datasets.sample_bhmc(3_000, 2, component_variance=0.25, base_variance=9.0, random_state=2).X
    )


def test_finitely_many_components_are_never_exceeded():
    made = datasets.sample_bhmc(400, 2, gamma=50.0, gamma0=30.0, n_components=4, random_state=0)
    assert np.unique(made.components).tolist() == [0, 1, 2, 3]
    with pytest.raises(InvalidSettingError, match=r"n_components are at least 1.*10, 5, 3, 0 and"):
        datasets.sample_bhmc(10, n_components=0)


def test_the_balanced_part_of_the_fashion_sample():
    if not is_present("fashion_sample", SHARED_DATA):
        pytest.skip("research data fashion_sample are not in the folder shared beside the project")
    found = datasets.load_fashion_sample(SHARED_DATA, n_rows=100)
    assert found.data.shape == (100, 784)
    assert np.unique(found.target, return_counts=True)[1].tolist() == [10] * 10


def test_bad_settings_are_refused():
    with pytest.raises(InvalidSettingError, match="all other numbers positive"):
        datasets.sample_bhmc(10, gamma=0.0)
    with pytest.raises(InvalidSettingError, match="n_rows is 100 or 1000, got 7"):
        datasets.load_fashion_sample(SHARED_DATA, n_rows=7)
    with pytest.raises(InvalidSettingError, match="must be at least 1, got 10, 0, 3, 2"):
        datasets.make_blobs_tree(10, depth=0)
    with pytest.raises(InvalidSettingError, match=r"kind is one of separated, outliers.*got 'round'"):
        datasets.make_benchmark_blobs("round", 10)
    with pytest.raises(InvalidSettingError, match="n and d must be at least 1, got 0 and 10"):
        datasets.make_benchmark_blobs("nested", 0)
    with pytest.raises(InvalidSettingError, match="one number for each view, got 2 and 1"):
        datasets.make_cross_table(10, (1, 2), (3,))
    with pytest.raises(InvalidSettingError, match="clusters at most n_rows = 3"):
        datasets.make_cross_table(3, (2,), (4,))


def test_data_home_order(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BAYESGROVE_DATA", raising=False)
    assert datasets.data_home() == tmp_path / "cache" / "bayesgrove"
    monkeypatch.setenv("BAYESGROVE_DATA", str(tmp_path / "variable"))
    assert datasets.data_home() == tmp_path / "variable"
    assert datasets.data_home(tmp_path / "argument") == tmp_path / "argument"


@pytest.mark.parametrize("name", sorted(FILES))
def test_missing_files_say_where_to_put_them(name, tmp_path):
    assert not is_present(name, tmp_path)
    with pytest.raises(InvalidFileError, match=f"'{name}' is not here: put its file at .*BAYESGROVE_DATA"):
        getattr(datasets, f"load_{name}")(tmp_path)


@pytest.mark.parametrize("name", ["sonar", "isolet", "toy1300"])
def test_damaged_files_are_named(name, tmp_path):
    for relative in FILES[name]:
        path = tmp_path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x1f\x8b rubbish")
    with pytest.raises(InvalidFileError, match=r"is damaged \(.*copy it again"):
        getattr(datasets, f"load_{name}")(tmp_path)


def other_table(suffix):
    """Bytes of a whole file that holds a small table of another kind."""
    archive = io.BytesIO()
    np.savez(archive, X=np.zeros((2, 3)), y=np.zeros(2))
    row = b"7 8\n"
    return {".npz": archive.getvalue(), ".gz": gzip.compress(row), ".xz": lzma.compress(row)}.get(suffix, row)


@pytest.mark.parametrize("name", sorted(set(FILES) - {"inex05", "synthetic_trees"}))
def test_files_that_hold_another_table_are_named(name, tmp_path):
    for relative in FILES[name]:
        path = tmp_path / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(other_table(path.suffix))
    with pytest.raises(InvalidFileError, match=r"is damaged \(.*\bnot\b.*copy it again"):
        getattr(datasets, f"load_{name}")(tmp_path)


@pytest.mark.parametrize(
    ("name", "shape", "class_sizes"),
    [
        ("animals", (33, 102), [2, 2, 2, 4, 4, 5, 5, 9]),
        ("zoo", (101, 16), [4, 5, 8, 10, 13, 20, 41]),
        ("sonar", (208, 60), [97, 111]),
        ("musk1", (476, 166), [207, 269]),
        ("isolet", (1560, 617), [60] * 26),
        ("arcene", (200, 10_000), [88, 112]),
        ("toy1300", (1300, 2), [100] * 13),
        ("fashion_sample", (1000, 784), [100] * 10),
        ("nips", (1500, 7605), None),
    ],
)
def test_loaded_data_have_the_documented_shape(name, shape, class_sizes):
    if not is_present(name, SHARED_DATA):
        pytest.skip(f"research data {name} are not in the folder shared beside the project")
    found = getattr(datasets, f"load_{name}")(SHARED_DATA)
    assert found.data.shape == shape
    assert len(found.feature_names) == shape[1]
    assert found.row_names is None or len(found.row_names) == shape[0]
    if class_sizes is None:
        assert found.target is None
        assert found.data.sum() == 1_870_706
    else:
        assert sorted(np.unique(found.target, return_counts=True)[1]) == class_sizes
        assert np.isfinite(found.data).all()


def test_the_larger_toy_has_119_clusters():
    if not is_present("toy10k", SHARED_DATA):
        pytest.skip("research data toy10k are not in the folder shared beside the project")
    found = datasets.load_toy10k(SHARED_DATA)
    sizes = np.unique(found.target, return_counts=True)[1]
    assert (found.data.shape, sizes.size, sizes.max()) == ((10_000, 6), 119, 412)


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_example_of_a_loader_is_true(name, monkeypatch):
    """Doctests skip the lines that need research data, which few have: they are run here."""
    if not is_present(name, SHARED_DATA):
        pytest.skip(f"research data {name} are not in the folder shared beside the project")
    monkeypatch.setenv("BAYESGROVE_DATA", str(SHARED_DATA))
    text = inspect.getdoc(getattr(datasets, f"load_{name}")).replace("# doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert len(example.examples) == 3
    said = []
    found = doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert found.failed == 0, "".join(said)

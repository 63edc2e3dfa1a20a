"""The loaders of trees give what the papers describe, and the generator the same law."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bayesgrove import datasets, metrics
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError
from bayesgrove.datasets.home import FILES, is_present

pytestmark = pytest.mark.unit

SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def loaded(name, part):
    if not is_present(name, SHARED_DATA):
        pytest.skip(f"research data {name} are not in the folder shared beside the project")
    return getattr(datasets, f"load_{name}")(SHARED_DATA, part)


def test_inex05_training_part(golden):
    data, target, *_ = loaded("inex05", "train")
    facts = golden("htmm")["inex05"]["train"]
    wanted = (
        "trees nodes size_min size_median size_max max_depth max_position distinct_labels unique_subtrees unique_trees"
    )
    assert data.summary() == tuple(facts[name] for name in wanted.split())
    assert np.bincount(target)[1:].tolist() == list(facts["class_counts"].values())
    assert (data.n_labels, data.max_outdegree) == (366, 32)


def test_inex05_test_part():
    data, target, *_ = loaded("inex05", "test")
    assert data.summary() == (4811, 122_780, 4, 14, 87, 3, 32, 352, 7561, 2615)
    assert np.bincount(target)[1:].tolist() == [593, 485, 700, 172, 436, 230, 262, 768, 333, 386, 446]
    assert (data.n_labels, data.max_outdegree) == (366, 32)


def test_labels_of_the_test_part_that_training_lacks():
    train, test = (loaded("inex05", part).data for part in ("train", "test"))
    lacking = np.isin(test.forest.labels, train.forest.labels, invert=True)
    assert (np.unique(test.forest.labels[lacking]).size, np.count_nonzero(lacking)) == (12, 24)


def test_synthetic_trees(golden):
    data, target, *_ = loaded("synthetic_trees", "train")
    facts = golden("htmm")["synthetic"]
    found = data.summary()
    assert (found.n_trees, found.n_nodes) == (facts["trees"], facts["nodes"])
    assert (found.n_unique_subtrees, found.n_unique_trees) == (facts["unique_subtrees"], facts["unique_trees"])
    assert (data.n_labels, data.max_outdegree) == (facts["M"], facts["L"])
    assert np.bincount(target).tolist() == [0, 200, 200, 200]
    for tree in data:  # a label is the number of children
        np.testing.assert_array_equal(np.bincount(tree.parents[1:], minlength=tree.labels.size), tree.labels)
    assert len(loaded("synthetic_trees", "test").data) == 180


def test_a_part_is_train_or_test():
    for name in ("inex05", "synthetic_trees"):
        with pytest.raises(InvalidSettingError, match='part is "train" or "test", got \'all\''):
            loaded(name, "all")


# gzip writes the time of day into its header: without names, the processes of a test run would not agree on the test's.
@pytest.mark.parametrize(
    "content", [b"rubbish", gzip.compress(json.dumps({"L": 3}).encode())], ids=["rubbish", "no trees"]
)
def test_damaged_files_are_named(content, tmp_path):
    path = tmp_path / FILES["synthetic_trees"][0]
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"is damaged \(.*copy it again"):
        datasets.load_synthetic_trees(tmp_path)


RATES = [[0.909, 0.304, 0.093], [0.598, 0.597, 0.602], [0.103, 0.304, 0.904]]
"""Share of expanded nodes with a child at each position, by class: the specification, section 11."""


def position_rates(data):
    """The same share; nodes before the last one with children got all of theirs."""
    found = []
    for own in range(3):
        trees = [data[int(tree)] for tree in np.flatnonzero(data.targets == own)]
        n_expanded = sum(int(tree.parents.max()) for tree in trees)
        children = sum(np.bincount(t.positions[t.parents < t.parents.max()], minlength=4)[1:] for t in trees)
        found.append(children / n_expanded)
    return np.array(found)


@pytest.mark.parametrize("seed", range(5))
def test_generated_trees_are_like_the_original(seed):
    """Standard deviations are up to 0.008 for rates, 0.006 and 0.011 for silhouettes."""
    train, test = (datasets.make_asymmetric_trees(n, random_state=10 * seed + n) for n in (200, 60))
    np.testing.assert_allclose(position_rates(train), RATES, atol=0.02)
    assert metrics.tree_silhouette(train, train.targets, "paper") == pytest.approx(0.507, abs=0.015)
    assert metrics.tree_silhouette(test, test.targets, "paper") == pytest.approx(0.515, abs=0.03)


def test_generated_trees_have_sizes_labels_and_classes():
    data = datasets.make_asymmetric_trees(40, random_state=1)
    assert data.targets.tolist() == [0] * 40 + [1] * 40 + [2] * 40
    assert (data.max_outdegree, data.n_labels) == (3, 4)
    by_class = data.forest.sizes.reshape(3, 40)
    assert (by_class.min(axis=1) >= [20, 50, 80]).all()
    assert (by_class.max(axis=1) <= [25, 60, 100]).all()
    assert len(np.unique(by_class[0])) == 6
    for tree in data:
        np.testing.assert_array_equal(np.bincount(tree.parents[1:], minlength=tree.labels.size), tree.labels)
        assert (np.diff(tree.parents) >= 0).all()  # breadth first


def test_generated_trees_by_seed():
    labels = [datasets.make_asymmetric_trees(3, random_state=seed).forest.labels.tolist() for seed in (4, 4, 5)]
    assert labels[0] == labels[1] != labels[2]


def test_generated_trees_of_other_shapes():
    data = datasets.make_asymmetric_trees(2, [(1.0, 1.0), (0.0, 1.0)], [(1, 1), (4, 4)], random_state=2)
    assert data.forest.sizes.tolist() == [1, 1, 4, 4]
    assert data[2].positions.tolist() == [0, 2, 2, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "n_per_class is at least 1"),
        ((1, [(0.5, 1.5)], [(1, 2)]), "probabilities are from 0 to 1"),
        (
            (1, [(0.5,), (0.5, 0.5)], [(1, 2)] * 2),
            r"as many child probabilities as the others, got 2 ranges and \[1, 2\]",
        ),
        ((1, [(0.5,)], [(1, 2)] * 2), "got 2 ranges"),
        ((1, [(0.5,)], [(3, 2)]), r"sizes go from at least 1 upwards, got \[\(3, 2\)\]"),
        ((1, [(0.0, 0.1)], [(50, 50)]), "trees of 50 nodes hardly ever grow"),
    ],
)
def test_trees_that_cannot_be_generated(arguments, message):
    with pytest.raises(InvalidSettingError, match=message):
        datasets.make_asymmetric_trees(*arguments, random_state=0)

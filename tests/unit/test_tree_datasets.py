"""The loaders of trees give what the papers describe."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bayesgrove import datasets
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


@pytest.mark.parametrize("content", [b"rubbish", gzip.compress(json.dumps({"L": 3}).encode())])
def test_damaged_files_are_named(content, tmp_path):
    path = tmp_path / FILES["synthetic_trees"][0]
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match=r"is damaged \(.*copy it again"):
        datasets.load_synthetic_trees(tmp_path)

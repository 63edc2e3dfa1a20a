"""`InfiniteTreeHMMMixture` on documents: shared positions, the start by labels, files."""

import gzip
import json

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm.positions import choose_positions

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def documents():
    rng, texts = generator(5), []
    for kind in np.repeat(np.arange(3), 8):
        keys = [f"k{kind}_{key}" for key in np.flatnonzero(rng.random(12) < 0.6)] + ["name"]
        texts.append("{" + ", ".join(f'"{key}": 1' for key in keys) + "}")
    return bg.TreeData.from_json(texts)


def test_documents_share_positions_and_keep_them_in_files(documents, tmp_path):
    model = bg.InfiniteTreeHMMMixture(n_chains=1, n_tune=5, n_draws=10, random_state=0).fit(documents)
    assert model.positions_ == "shared"
    assert model.labels_.tolist() == np.repeat(np.arange(3), 8).tolist()
    assert "positions: shared, by" in model.result_.details["positions"]
    model.save(tmp_path / "model.bg")
    read = bg.load(tmp_path / "model.bg")
    assert read.positions_ == "shared"
    assert read.prepare(documents).max_outdegree == 1
    np.testing.assert_array_equal(read.predict(documents), model.predict(documents))


def test_unknown_positions_are_refused(documents):
    with pytest.raises(InvalidSettingError, match="positions must be one of"):
        bg.InfiniteTreeHMMMixture(positions="none").fit(documents)


def test_positions_of_inex_are_their_own_and_those_of_json_are_shared(shared_file):
    """On smaller samples of INEX05 than are compared, the tables by position would not pay."""
    inex = bg.read_trees(shared_file("data/trees/inex05.train.elastic.tree.gz"))
    with gzip.open(shared_file("data/documents/schemastore.jsonl.gz"), "rt", encoding="utf-8") as lines:
        files = bg.TreeData.from_json([json.loads(line)["text"] for line in lines])
    chosen = [choose_positions(generator(0), data.forest, "auto", "bottom_prior") for data in (inex, files)]
    assert [choice.is_shared for choice in chosen] == [False, True]

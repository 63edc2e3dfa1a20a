"""Model files of models of views: every bit of every prediction, and hostile files."""

import numpy as np
import pandas as pd
import pytest

from bayesgrove import BHCC, RandomizedBHCC, load
from bayesgrove.core.errors import InvalidFileError
from bayesgrove.core.rng import generator
from bayesgrove.io.model_file import read_model, write_model
from bayesgrove.likelihoods import Categorical, Columns, GaussianDiagonal, Poisson

pytestmark = pytest.mark.unit
N = 30


def frame():
    """Two views, measurements, counts and categories, cells missing."""
    rng = generator(21)
    first, second = rng.integers(0, 2, (2, N))
    made = pd.DataFrame(
        {
            "a": rng.normal(5.0 * first, 1.0),
            "b": rng.poisson(1.0 + 6.0 * first).astype(float),
            "c": pd.Categorical(np.array(["u", "v"])[second]),
            "d": rng.normal(5.0 * second, 1.0),
        }
    )
    made.iloc[2, 0] = np.nan
    made.iloc[3, 2] = None
    return made


LIKELIHOOD = Columns([GaussianDiagonal("auto"), Poisson(), Categorical(), GaussianDiagonal("auto")])
CASES = {
    "exact": BHCC(LIKELIHOOD, row_concentration="auto", random_state=0),
    "map": BHCC(LIKELIHOOD, cut="map", evidence="tree", random_state=1),
    "polished": BHCC(LIKELIHOOD, search="polish", unseen="reserve", random_state=0),
    "randomized": RandomizedBHCC(LIKELIHOOD, random_state=0),
    "sampled rows": RandomizedBHCC(LIKELIHOOD, row_method="randomized", row_sample=20, random_state=0),
}


@pytest.fixture(scope="module", params=CASES)
def model(request):
    """Fitted in turn."""
    return CASES[request.param].fit(frame())


def test_every_bit_comes_back(model, tmp_path):
    table = frame()
    path = tmp_path / "model.bg"
    model.save(path)
    again = load(path)
    assert type(again) is type(model)
    pd.testing.assert_frame_equal(again.impute(), model.impute(), check_exact=True)
    pd.testing.assert_frame_equal(again.impute(table), model.impute(table), check_exact=True)
    y = np.arange(N, dtype=float)
    for ask in (
        lambda m: m.score_samples(table),
        lambda m: m.predict_proba(table, view=m.n_views_ - 1),
        lambda m: m.surprisal(),
        lambda m: m.column_log_density(y),
        lambda m: m.same_view_probability_,
        lambda m: m.row_similarity(),
        lambda m: m.sample(3),
        lambda m: m.simulate(3, given={"c": "u"})["d"].to_numpy(),
        lambda m: m.labels_,
        lambda m: m.view_labels_,
        lambda m: m.log_evidence_,
        lambda m: m.column_tree_.columns["log_q"],
        lambda m: m.with_rows(table.iloc[:4]).score_samples(table),
    ):
        np.testing.assert_array_equal(ask(again), ask(model))
    assert again.likelihood_ == model.likelihood_
    assert again.search_ == model.search_
    assert (again.row_concentration_, again.column_concentration_) == (
        model.row_concentration_,
        model.column_concentration_,
    )
    assert len(again.result_.views) == again.n_views_
    assert again.result_.details == model.result_.details
    again.save(tmp_path / "again.bg")
    np.testing.assert_array_equal(load(tmp_path / "again.bg").score_samples(table), model.score_samples(table))


def spoiled(path, arrays=None, **document):
    """Write the model file anew with other parts."""
    file = read_model(path)
    write_model(path, file.kind, {**file.document, **document}, {**file.arrays, **(arrays or {})})
    return path


def hostile_parts(file):
    """What a hostile file may hold, and why it is refused."""
    cells, merges = file.arrays["cells"].copy(), file.arrays["row_trees"].copy()
    cells[0, 2] = 9.0
    endless = file.arrays["cells"].copy()
    endless[1, 0] = np.inf
    twice = merges.copy()
    twice[0, 1, 0] = twice[0, 0, 0]
    beyond = merges.copy()
    beyond[0, 0, 1] = 10**6
    labels = file.arrays["view_labels"]
    return [
        ({"cells": cells}, {}, "one of the n_categories = 2"),
        ({"cells": endless}, {}, "a cell is infinite"),
        ({"cells": cells[:, :3].copy()}, {}, "cells do not fit"),
        ({"row_trees": twice}, {}, "merges a node twice"),
        ({"row_trees": beyond}, {}, "merges what is not there"),
        ({"row_trees": merges[:, :-1].copy()}, {}, "trees of rows do not fit"),
        ({"node_row_tree": file.arrays["node_row_tree"] + 99}, {}, "a tree of rows is missing"),
        ({"view_labels": labels + 1}, {}, "views are not 0, 1"),
        ({"view_labels": labels.astype(float)}, {}, "views do not fit the columns"),
        ({"view_labels": np.array([0, 1, 0, 1])}, {}, "no branch of the tree of columns"),
        ({"labels": np.roll(file.arrays["labels"], 1)}, {}, "labels are not those of the cut"),
        ({}, {"kinds": ["float"] * 3}, "kinds of columns are unknown"),
        ({}, {"given_as": "matrix"}, "given as something unknown"),
        ({}, {"column_concentration": "-0x1p+0"}, "a number is not finite"),
        ({}, {"log_concentrations": ["nan", "0x0p+0"]}, "not finite"),
        ({}, {"flat_bound": "inf"}, "a number is not finite"),
        ({"column_tree_item": file.arrays["column_tree_item"][::-1].copy()}, {}, "not consistent"),
    ]


def test_hostile_files_are_refused(tmp_path):
    path = tmp_path / "model.bg"
    model = BHCC(LIKELIHOOD, random_state=0).fit(frame())
    model.save(path)
    assert model.view_labels_.tolist() == [0, 0, 1, 1]
    for arrays, document, message in hostile_parts(read_model(path)):
        model.save(path)
        with pytest.raises(InvalidFileError, match=message):
            load(spoiled(path, arrays, **document))

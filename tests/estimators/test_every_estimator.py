"""What every public estimator must stand: other numbers of jobs, saving and loading, damaged files, damaged logs.

`SUITES` says which test holds which estimators to what; the estimators are found from the package, so that a new one
that is in no table fails here. Kills are in tests/statistical/test_every_kill.py.
"""

import inspect
import random
import shutil

import numpy as np
import pandas as pd
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidFileError, RunStoppedError
from bayesgrove.estimators.registry import MODELS
from reference.damage import damaged
from reference.estimators import CASES, CHOICES, chain_estimators, data_for, make, public_estimators, same_draws
from statistical import test_every_kill

pytestmark = pytest.mark.unit

ALL, CHAINS = tuple(public_estimators()), tuple(chain_estimators())
every_estimator = pytest.mark.parametrize("name", ALL)
every_chain = pytest.mark.parametrize("name", CHAINS)
every_of_rows = pytest.mark.parametrize("name", [name for name in ALL if not MODELS[name].takes_trees])


@pytest.fixture(scope="module")
def fitted():
    """Each estimator fitted once, when first asked for."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = make(name, n_jobs=1).fit(data_for(name))
        return made[name]

    return of


def bytes_of(model, folder):
    """All that is kept of a model, without the number of jobs and what tells of the moment."""
    model.n_jobs = None
    model.result_.provenance.clear()
    model.save(folder / "bytes.bg")
    return (folder / "bytes.bg").read_bytes()


@every_estimator
def test_two_jobs_give_the_bits_of_one(name, fitted, tmp_path):
    two = make(name, n_jobs=2).fit(data_for(name))
    assert bytes_of(two, tmp_path) == bytes_of(fitted(name), tmp_path)


@every_estimator
def test_another_seed_is_told_apart(name, fitted, tmp_path):
    """So that equal bytes mean something: the seed at least stands in them."""
    other = make(name, random_state=4, n_jobs=1).fit(data_for(name))
    assert bytes_of(other, tmp_path) != bytes_of(fitted(name), tmp_path)


@every_estimator
def test_a_loaded_model_has_all_bits_of_the_saved_one(name, fitted, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "model.bg")
    loaded = bg.load(tmp_path / "model.bg")
    loaded.save(tmp_path / "again.bg")
    assert (tmp_path / "again.bg").read_bytes() == (tmp_path / "model.bg").read_bytes()
    assert loaded.predict(data_for(name)).tobytes() == model.predict(data_for(name)).tobytes()
    assert loaded.score_samples(data_for(name)).tobytes() == model.score_samples(data_for(name)).tobytes()


@every_estimator
def test_a_notebook_shows_the_answers_and_the_tree(name, fitted):
    model = fitted(name)
    shown = model._repr_html_()
    assert "<svg" in shown
    assert f" in {model.n_clusters_} cluster" in shown
    if hasattr(model, "views_"):
        assert f"{len(model.view_labels_)} columns in {model.n_views_} view" in shown


@every_chain
def test_a_notebook_shows_the_draws(name, fitted):
    posterior = fitted(name).posterior_
    shown = posterior._repr_html_()
    counted = ("column", "view") if hasattr(posterior, "view_labels") else ("item", "cluster")
    assert f"{posterior.n_items:,} {counted[0]}s" in shown
    assert f"<th>{counted[1]}s</th>" in shown
    assert repr(posterior).startswith(f"{type(posterior).__name__}(n_chains=")


@every_of_rows
def test_a_frame_without_rows_has_answers_without_rows(name, fitted):
    """As a filter leaves one, or a part of a larger table."""
    model, nothing = fitted(name), pd.DataFrame(np.empty((0, 3)))
    assert model.predict(nothing).shape == (0,)
    assert model.predict_proba(nothing).shape == (0, model.n_clusters_ + 1)
    assert model.score_samples(nothing).shape == (0,)


@every_of_rows
def test_the_index_of_a_frame_names_the_rows(name, tmp_path):
    names = tuple(f"gene {i}" for i in range(40))
    model = make(name, n_jobs=1).fit(pd.DataFrame(data_for(name), index=names))
    model.save(tmp_path / "named.bg")
    for found in (model, bg.load(tmp_path / "named.bg")):
        assert found.tree_.leaf_labels == found.result_.tree.leaf_labels == names
        for view in getattr(found, "views_", ()):
            assert view.tree_.leaf_labels == names
    assert "gene 17" in model.report(tmp_path / "named.html").read_text(encoding="utf-8")
    assert model.fit(pd.DataFrame(data_for(name))).tree_.leaf_labels is None


@every_estimator
def test_a_damaged_model_file_is_refused_or_harmless(name, fitted, tmp_path):
    path, again = tmp_path / "model.bg", tmp_path / "again.bg"
    fitted(name).save(path)
    whole, moments, n_refused = path.read_bytes(), random.Random(name), 0
    for _ in range(40):
        path.write_bytes(damaged(whole, moments))
        try:
            loaded = bg.load(path)
        except InvalidFileError:
            n_refused += 1
        else:
            loaded.save(again)
            assert again.read_bytes() == whole
    assert n_refused >= 30


@every_chain
def test_a_damaged_run_is_refused_or_goes_on_to_the_same_draws(name, fitted, tmp_path):
    whole, moments, n_refused = tmp_path / "whole", random.Random(name), 0
    make(name, n_jobs=1, run_dir=whole).fit(data_for(name))
    files = sorted(path.name for path in whole.iterdir() if path.suffix in (".log", ".json"))
    assert files == ["chain-0.log", "chain-1.log", "run.json"]
    for turn in range(9):
        copy = tmp_path / f"copy-{turn}"
        shutil.copytree(whole, copy)
        path = copy / files[turn % len(files)]
        path.write_bytes(damaged(path.read_bytes(), moments))
        try:
            model = make(name, n_jobs=1, run_dir=copy, resume=True).fit(data_for(name))
        except (InvalidFileError, RunStoppedError):
            n_refused += 1
        else:
            assert same_draws(model, fitted(name))
    assert n_refused >= 2


SUITES = {
    test_two_jobs_give_the_bits_of_one: ALL,
    test_another_seed_is_told_apart: ALL,
    test_a_loaded_model_has_all_bits_of_the_saved_one: ALL,
    test_a_damaged_model_file_is_refused_or_harmless: ALL,
    test_a_damaged_run_is_refused_or_goes_on_to_the_same_draws: CHAINS,
    test_every_kill.test_killed_saves_leave_whole_files_or_none: ALL,
    test_every_kill.test_killed_chains_end_with_the_same_draws: CHAINS,
}
"""Which estimators each suite holds; on Dask clusters all that run chains are compared in test_dask.py."""


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.__name__)
def test_the_suite_holds_all_it_should(suite):
    (names,) = [mark.args[1] for mark in suite.pytestmark if mark.name == "parametrize" and mark.args[0] == "name"]
    assert tuple(names) == SUITES[suite]


def test_every_estimator_is_in_the_tables():
    assert set(CASES) == set(ALL)
    assert set(CHOICES) == set(CHAINS)
    assert {name for name in ALL if "n_chains" in inspect.signature(getattr(bg, name)).parameters} == set(CHAINS)

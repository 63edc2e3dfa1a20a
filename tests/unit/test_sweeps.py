"""Sweeps: what is planned is done once, kept, gone on with after a stop, and told in a tidy table."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidFileError, InvalidSettingError, InvalidTableError, RunStoppedError
from bayesgrove.core.table import table_from_array
from bayesgrove.inference import dask_cluster
from bayesgrove.sweeps import fitting
from bayesgrove.sweeps.fitting import Failure
from bayesgrove.sweeps.page import mean_words, page_html, write_page
from bayesgrove.sweeps.plan import check_settings, expand_grid, fit_key, plan_fits
from bayesgrove.sweeps.records import FITS, RUNS
from bayesgrove.sweeps.run import refuse_failures
from bayesgrove.sweeps.table import Sweep, uniform

pytestmark = pytest.mark.unit

CLASSES = np.repeat([0, 1], 12)
X = np.random.default_rng(0).normal(size=(24, 2)) + 8.0 * CLASSES[:, None]
GRID = {"concentration": [0.5, 2], "cut": ["half", 1]}
TIMELESS = ("concentration", "cut", "repeat", "seed", "n_clusters", "log_evidence", "ari")


def model() -> bg.BHC:
    return bg.BHC(likelihood=bg.likelihoods.GaussianDiagonal())


def without_times(found: Sweep) -> dict:
    return {name: found.columns[name] for name in TIMELESS}


@pytest.fixture(scope="module")
def whole() -> Sweep:
    return bg.sweep(model(), X, GRID, n_repeats=2, y=CLASSES)


def test_a_grid_gives_every_combination_and_a_list_itself():
    assert expand_grid(GRID)[1] == {"concentration": 0.5, "cut": 1}
    assert len(expand_grid(GRID)) == 4
    assert expand_grid([{"cut": 3}]) == [{"cut": 3}]


def test_repeats_have_the_same_seeds_under_every_setting():
    fits = plan_fits(expand_grid(GRID), 3, 10)
    assert [fit.seed for fit in fits] == [10, 11, 12] * 4
    assert len({fit.key for fit in fits}) == 12
    assert fit_key({"b": 1, "a": 2}, 0) == fit_key({"a": 2, "b": 1}, 0) != fit_key({"a": 2, "b": 1}, 1)


@pytest.mark.parametrize(
    ("grid", "n_repeats", "message"),
    [
        ([], 1, "at least one setting, got an empty list"),
        ({"cut": []}, 1, r"list of values for each key, cut has \[\]"),
        ({"cut": "half"}, 1, "list of values for each key, cut has 'half'"),
        ({"cut": [2]}, 0, "n_repeats must be a whole number of at least 1, got 0"),
        ([{"cut": 2}, {"cut": 2}], 1, "two settings of a sweep are equal"),
        ({"cut": [2]}, 200_000, "at most 100,000 fits"),
        ({"cat": [2]}, 1, "BHC has no setting 'cat'; it has clusters, concentration, cut"),
        ({"random_state": [2]}, 1, "random_state is set by the sweep itself"),
    ],
)
def test_bad_plans_are_refused_before_any_fit(grid, n_repeats, message, tmp_path):
    with pytest.raises(InvalidSettingError, match=message):
        bg.sweep(model(), X, grid, n_repeats=n_repeats, folder=tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_bad_metrics_and_classes_are_refused():
    with pytest.raises(InvalidSettingError, match="metrics are ari, binder, nmi, vi, got 'f1'"):
        bg.sweep(model(), X, GRID, y=CLASSES, metrics=["f1"])
    with pytest.raises(InvalidTableError, match=r"one class per row, shape \(24,\), got shape \(3,\)"):
        bg.sweep(model(), X, GRID, y=[1, 2, 3])


def test_whole_numbers_become_floats_where_the_estimator_has_floats():
    assert check_settings(model(), [{"concentration": 2}]) == [{"concentration": 2.0}]


def test_the_table_is_tidy_and_equals_single_fits(whole):
    assert list(whole.columns)[:4] == ["concentration", "cut", "repeat", "seed"]
    assert whole.settings == ("concentration", "cut")
    assert "n_views" not in whole.measures
    assert "converged" not in whole.measures
    assert whole.n_fits == 8
    alone = model().set_params(concentration=2.0, cut=1).fit(X)
    row = whole.columns["concentration"].index(2.0) + 2
    assert whole.columns["cut"][row] == 1
    assert whole.columns["n_clusters"][row] == alone.n_clusters_
    assert whole.columns["log_evidence"][row] == alone.log_evidence_
    assert whole.columns["ari"][0] == 1.0


def test_a_sweep_goes_on_after_a_stop_and_does_nothing_twice(whole, tmp_path, monkeypatch):
    folder, done = tmp_path / "sweep", []

    def stop_after_three(n_done, total):
        if n_done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bg.sweep(model(), X, GRID, n_repeats=2, y=CLASSES, folder=folder, progress=stop_after_three)
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / FITS).iterdir()}
    assert len(kept) == 3
    summarise = fitting.summarise
    monkeypatch.setattr(fitting, "summarise", lambda *given: done.append(1) or summarise(*given))
    found = bg.sweep(model(), X, GRID, n_repeats=2, y=CLASSES, folder=folder)
    assert len(done) == 5
    assert without_times(found) == without_times(whole)
    assert kept.items() <= {path.name: path.stat().st_mtime_ns for path in (folder / FITS).iterdir()}.items()
    assert list((folder / RUNS).iterdir()) == []


def test_trees_are_swept_and_told_apart(tmp_path):
    """A sweep of trees goes on in its folder; other trees, or another name of a label, are refused there."""
    texts = 3 * ["((a,b)c,d)e;", "((a,b)c)e;", "(x,(y,y)x,x)z;", "(x,(y,y)x)z;"]
    trees, classes = bg.TreeData.from_newick(texts), 3 * [0, 0, 1, 1]
    estimator, grid = bg.TreeHMMMixture(n_clusters=2, n_init=2), {"n_states": [1, 2]}
    found = bg.sweep(estimator, trees, grid, y=classes, folder=tmp_path / "sweep")
    assert found.columns["n_clusters"] == [2, 2]
    alone = bg.TreeHMMMixture(n_clusters=2, n_init=2, n_states=2, random_state=0).fit(trees)
    assert found.columns["ari"][1] == fitting.METRICS["ari"](classes, alone.labels_)
    again = bg.sweep(estimator, trees, grid, y=classes, folder=tmp_path / "sweep")
    assert again.columns == found.columns  # times too: nothing was fitted again
    for other in (trees[::-1], bg.TreeData.from_newick([text.replace("y", "w") for text in texts])):
        with pytest.raises(InvalidFileError, match=r"holds another sweep: it differs in (data|columns)"):
            bg.sweep(estimator, other, grid, y=classes, folder=tmp_path / "sweep")


def test_hierarchies_are_measured_level_by_level():
    """Where depths differ the table has the levels of the deepest, and none where a fit has fewer."""
    estimator = bg.BHMC(n_chains=1, n_tune=2, n_draws=4)
    found = bg.sweep(estimator, X, {"depth": [2, 3]}, y=CLASSES)
    assert {"cdl", "rcdl", "aid", "aod", "f_level_1", "f_level_2", "f_level_3"} <= set(found.measures)
    alone = bg.BHMC(depth=2, n_chains=1, n_tune=2, n_draws=4, random_state=0, n_jobs=1).fit(X)
    assert found.columns["cdl"][0] == alone.scores_["cdl"]
    assert found.columns["f_level_2"][0] == bg.metrics.level_f_measure(alone.level_labels_, CLASSES)[1]
    assert found.columns["f_level_3"][0] is None
    assert found.columns["f_level_3"][1] is not None


def test_a_damaged_record_is_made_again(whole, tmp_path):
    folder = tmp_path / "sweep"
    bg.sweep(model(), X, GRID, n_repeats=2, y=CLASSES, folder=folder)
    next((folder / FITS).iterdir()).write_text("{")
    found = bg.sweep(model(), X, GRID, n_repeats=2, y=CLASSES, folder=folder)
    assert without_times(found) == without_times(whole)


def test_a_folder_of_another_sweep_is_refused(tmp_path):
    folder = tmp_path / "sweep"
    bg.sweep(model(), X, {"concentration": [1.0]}, folder=folder)
    with pytest.raises(InvalidFileError, match="holds another sweep: it differs in data"):
        bg.sweep(model(), X + 1.0, {"concentration": [1.0]}, folder=folder)
    with pytest.raises(InvalidFileError, match="differs in settings"):
        bg.sweep(model().set_params(cut=0.2), X, {"concentration": [1.0]}, folder=folder)
    (folder / "sweep.json").write_text("[]")
    with pytest.raises(InvalidFileError, match=r"sweep.json is damaged: it is no JSON object"):
        bg.sweep(model(), X, {"concentration": [1.0]}, folder=folder)
    (folder / "sweep.json").write_text("{")
    with pytest.raises(InvalidFileError, match=r"sweep.json is damaged: it is not JSON"):
        bg.sweep(model(), X, {"concentration": [1.0]}, folder=folder)


def test_settings_that_are_refused_cost_no_other_fit(tmp_path):
    folder = tmp_path / "sweep"
    message = "1 of 3 fits could not be done. The other 2 are safe in .*concentration=-1.0: concentration must be pos"
    with pytest.raises(InvalidSettingError, match=message):
        bg.sweep(model(), X, {"concentration": [1, -1, 2]}, folder=folder)
    assert len(list((folder / FITS).iterdir())) == 2
    assert bg.sweep(model(), X, {"concentration": [1, 2]}, folder=folder).n_fits == 2


def test_failures_of_ours_are_told_apart():
    fits = plan_fits([{"cut": 2}], 1, 0)
    with pytest.raises(RunStoppedError, match=r"1 of 1 fits could not be done. The first, cut=2: no score is finite"):
        refuse_failures([Failure(fits[0].key, "no score is finite", is_users=False)], fits, None)


def test_tables_and_frames_give_the_same(whole):
    found = bg.sweep(model(), table_from_array(X), [{"concentration": 0.5, "cut": "half"}], y=CLASSES.astype(str))
    assert found.columns["log_evidence"] == whole.columns["log_evidence"][:1]
    assert found.to_pandas().shape == (1, len(found.columns))


def test_csv_and_parquet_hold_the_same(whole, tmp_path):
    with whole.to_csv(tmp_path / "results.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    kept = pq.read_table(whole.to_parquet(tmp_path / "results.parquet")).to_pydict()
    assert [float(row["log_evidence"]) for row in rows] == kept["log_evidence"] == whole.columns["log_evidence"]
    assert [row["cut"] for row in rows] == kept["cut"] == ["half", "half", "1", "1"] * 2


def test_columns_of_parquet_have_one_type():
    assert uniform([1, 2.5, None]) == [1.0, 2.5, None]
    assert uniform([True, None]) == [True, None]
    assert uniform([1, "auto"]) == ["1", "auto"]


def test_means_over_two_settings(whole):
    means = whole.mean_by("n_clusters", "concentration", "cut")
    assert means.tolist() == [[2.0, 24.0], [2.0, 24.0]]  # no merge is certain
    assert whole.varied == ("concentration", "cut")
    assert whole.mean_by("n_clusters", "cut").tolist() == [[2.0], [24.0]]


def test_the_page_shows_maps_and_lets_nothing_in(whole, tmp_path):
    text = write_page(whole, tmp_path / "sweep.html").read_text()
    assert text.count("<img ") == len(whole.measures)
    assert "default-src 'none'" in text
    assert "<script" not in text
    hostile = Sweep("<b>", ("cut",), ("n_clusters",), {"cut": ["<script>", "b"], "seed": [0, 0], "n_clusters": [1, 2]})
    text = page_html(hostile, "<script>")
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([-1234.215, -1234.075, None], "-1234.145 ± 0.099"),
        ([3, 6], "4.5 ± 2.1"),
        ([5000.0, 9000.0], "7000 ± 2828"),
        ([3, 3], "3 ± 0"),
        ([0.1234567], "0.123457"),
        ([1e-9, 3e-9], "2e-09 ± 1.4e-09"),
        ([True, False, True], "2 of 3"),
        ([None, None], ""),
    ],
)
def test_means_are_shown_to_two_digits_of_their_spread(cells, words):
    assert mean_words(cells, range(len(cells))) == words


def test_a_task_that_kills_its_workers_is_given_up(caplog):
    with pytest.raises(RunStoppedError, match=r"workers of task 3 died 11 times over. Look at their logs"):
        dask_cluster.refuse_deadly(3, 11, RuntimeError())
    assert "the workers of task 3 died" in caplog.text

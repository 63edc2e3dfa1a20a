"""RandomizedBHCC of a table that stands on a cluster: the same bits as of one array, and no table in this process."""

import pickle

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.agglomeration.splits import SMALLEST_SAMPLE
from bayesgrove.core.rng import generator
from bayesgrove.estimators import dask_input
from bayesgrove.likelihoods import Bernoulli, Columns, GaussianDiagonal, Poisson, base
from bayesgrove.models.cross.dask_table import CrossRows
from reference.fake_dask import FakeClient, source_of

pytestmark = pytest.mark.exact
SETTINGS = {"row_method": "randomized", "row_sample": 60, "random_state": 0, "n_jobs": 1}
N = 240


def long_table(n_rows=N):
    """Two views of measurements, yes/no columns and counts; a tenth of the cells is missing."""
    rng = generator(11)
    labels = rng.integers(0, 3, (2, n_rows))
    columns = [rng.normal(4.0 * rng.normal(size=3)[labels[j % 2]], 1.0) for j in range(4)]
    columns += [rng.random(n_rows) < rng.beta(0.3, 0.3, 3)[labels[j % 2]] for j in range(4)]
    columns += [rng.poisson(np.array([1.0, 9.0, 30.0])[labels[j % 2]]) for j in range(2)]
    X = np.column_stack(columns).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 0] = np.nan_to_num(X[:, 0])
    return X


LIKELIHOOD = Columns([GaussianDiagonal()] * 4 + [Bernoulli()] * 4 + [Poisson()] * 2)


@pytest.fixture(scope="module", params=["given", "auto"])
def models(request):
    """From one array, and from parts."""
    likelihood = LIKELIHOOD if request.param == "given" else "auto"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "SUM_ROWS", 60)
        one = bg.RandomizedBHCC(likelihood, **SETTINGS).fit(long_table())
        return one, bg.RandomizedBHCC(likelihood, **SETTINGS)._fit_on_cluster(source_of(long_table(), 60))


def same_trees(one, other):
    assert np.array_equal(one.parent, other.parent)
    assert one.columns.keys() == other.columns.keys()
    return all(np.array_equal(column, other.columns[name]) for name, column in one.columns.items())


def test_views_and_trees_are_the_same(models):
    one, other = models
    assert one.log_evidence_ == other.log_evidence_
    assert repr(one.likelihood_) == repr(other.likelihood_)
    assert one.result_.details == other.result_.details
    assert np.array_equal(one.view_labels_, other.view_labels_)
    assert same_trees(one.column_tree_, other.column_tree_)
    for mine, view in zip(one.views_, other.views_, strict=True):
        assert np.array_equal(mine.labels_, view.labels_)
        assert same_trees(mine.tree_, view.tree_)


def test_answers_are_the_same(models):
    one, other = models
    rows = long_table(N + 20)[N:]
    assert np.array_equal(one.score_samples(rows), other.score_samples(rows))
    assert np.array_equal(one.predict(rows), other.predict(rows))
    assert np.array_equal(one.impute(), other.impute())
    assert np.array_equal(one.surprisal([3, 100], [0, 5]), other.surprisal([3, 100], [0, 5]))
    assert np.array_equal(one.result_.description.rows, other.result_.description.rows)
    assert one.with_rows(rows).log_evidence_ == other.with_rows(rows).log_evidence_


def test_new_rows_need_no_cluster(models, monkeypatch):
    one, other = models
    rows = long_table(N + 20)[N:]
    monkeypatch.setattr(FakeClient, "submit", lambda *_, **__: pytest.fail("the cluster was asked"))
    assert np.array_equal(one.score_samples(rows), other.score_samples(rows))
    assert np.array_equal(one.predict(rows, view=1), other.predict(rows, view=1))


def test_files_and_copies_have_the_cells(models, tmp_path):
    one, other = models
    other.save(tmp_path / "model.npz")
    assert np.array_equal(bg.load(tmp_path / "model.npz").impute(), one.impute())
    assert np.array_equal(pickle.loads(pickle.dumps(other._values)), one._values, equal_nan=True)


def test_a_search_fetches_no_more_than_samples(monkeypatch):
    monkeypatch.setattr(base, "SUM_ROWS", 500)
    monkeypatch.setattr(CrossRows, "__array__", lambda *_: pytest.fail("the table was fetched"))
    taken, take = [], CrossRows.take
    monkeypatch.setattr(CrossRows, "take", lambda self, rows: taken.append(rows.size) or take(self, rows))
    source = source_of(long_table(3000), 500)
    bound, rows = dask_input.bind_on_cluster(source, LIKELIHOOD, "fixed")
    assert rows.complete.tolist() == [True] + 9 * [False]
    model = bg.RandomizedBHCC(LIKELIHOOD, **SETTINGS)
    model._seed = 0
    fitted = model._build(bound._replace(values=CrossRows(rows.client, rows.values, rows.edges, rows.complete)), 1)
    assert fitted.fit.row_trees[0].n_leaves == 3000
    assert taken[0] == SETTINGS["row_sample"]
    assert max(taken) <= 4 * SMALLEST_SAMPLE < 3000  # the samples of all sets of a round come together


def test_cells_are_found_by_row_and_column():
    X = long_table()
    _, rows = dask_input.bind_on_cluster(source_of(X, 60), Columns([GaussianDiagonal()] * 10), "fixed")
    cells = CrossRows(rows.client, rows.values, rows.edges, rows.complete)
    whole = np.asarray(cells)
    assert len(cells) == N
    assert np.array_equal(cells[:, 3], whole[:, 3], equal_nan=True)
    assert np.array_equal(cells[np.ix_([5, 200], [1, 4])], whole[np.ix_([5, 200], [1, 4])], equal_nan=True)
    assert np.array_equal(cells[:, [2, 0]], whole[:, [2, 0]], equal_nan=True)
    assert np.array_equal(np.asarray(cells.select(np.array([7, 1]))), whole[:, [7, 1]], equal_nan=True)

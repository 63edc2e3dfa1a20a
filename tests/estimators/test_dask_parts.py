"""RandomizedBHC of rows in parts: the same bits as of one array, for every likelihood and setting."""

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.agglomeration import dask_parts as parts
from bayesgrove.agglomeration import dask_tasks as tasks
from bayesgrove.agglomeration.dask_rows import DaskRows, part_edges
from bayesgrove.agglomeration.halving import halve, halving_shape
from bayesgrove.agglomeration.splits import Settings
from bayesgrove.core.errors import InvalidTableError
from bayesgrove.estimators import dask_input
from bayesgrove.estimators.clusterer import typical_row
from bayesgrove.likelihoods import GaussianFull, base, bind, brief
from bayesgrove.models.bhc.fit_randomized import fit_randomized, fit_randomized_best
from reference.fake_dask import FakeClient, source_of

pytestmark = pytest.mark.exact


def rows(n=1500, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) + 12.0 * rng.normal(size=(5, 3))[rng.integers(0, 5, n)]


def with_gaps(X):
    return np.where(np.random.default_rng(2).random(X.shape) < 0.02, np.nan, X)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(base, "SUM_ROWS", 250)


def check_same(one, other):
    assert one.log_evidence_ == other.log_evidence_
    assert repr(one.likelihood_) == repr(other.likelihood_)
    assert np.array_equal(one.labels_, other.labels_)
    assert np.array_equal(one.tree_.parent, other.tree_.parent)
    for name, column in one.tree_.columns.items():
        assert np.array_equal(column, other.tree_.columns[name]), name
    for name, part in one._predictive._asdict().items():
        assert np.array_equal(part, other._predictive._asdict()[name]), name
    assert np.array_equal(one._template, other._template, equal_nan=True)
    assert np.array_equal(one.result_.description.rows, other.result_.description.rows)
    assert one._summaries == other._summaries
    assert one.n_features_in_ == other.n_features_in_
    assert hasattr(one, "feature_names_in_") == hasattr(other, "feature_names_in_")


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"inner": "truncate"},
        {"leaf_size": 20, "sample_size": 100},
        {"sample_size": 2000},
        {"concentration": "auto", "sample_size": 300},
        {"search": "greedy"},
        {"search": "greedy", "inner": "truncate"},
        {"search": "greedy", "leaf_size": 20, "sample_size": 100},
        {"refine": 0, "regraft": False},
        {"split": "root", "filter_rule": "paper", "leaf_size": 30},
    ],
    ids=str,
)
def test_every_setting_gives_the_same_tree(settings):
    X = rows()
    one = bg.RandomizedBHC("gaussian", random_state=0, n_jobs=1, **settings).fit(X)
    other = bg.RandomizedBHC("gaussian", random_state=0, n_jobs=1, **settings)._fit_on_cluster(source_of(X, 500))
    check_same(one, other)


@pytest.mark.parametrize("search", ["best", "greedy"])
@pytest.mark.parametrize("part_rows", [250, 1000])
def test_parts_may_be_of_any_length_and_cells_missing(part_rows, search):
    X, settings = with_gaps(rows(900)), {"search": search, "sample_size": 300, "random_state": 0}
    one = bg.RandomizedBHC("gaussian", n_jobs=1, **settings).fit(X)
    check_same(one, bg.RandomizedBHC("gaussian", **settings)._fit_on_cluster(source_of(X, part_rows)))


@pytest.mark.parametrize("likelihood", ["gaussian", "auto"])
def test_columns_without_information_are_left_out_on_a_cluster_too(likelihood):
    X = np.column_stack([rows(900), np.full(900, 7.0), np.full(900, np.nan)])[:, [0, 3, 1, 4, 2]]
    settings = {"sample_size": 200, "random_state": 0}
    one = bg.RandomizedBHC(likelihood, **settings).fit(X)
    check_same(one, bg.RandomizedBHC(likelihood, **settings)._fit_on_cluster(source_of(X, 250)))
    assert np.array_equal(one.labels_, bg.RandomizedBHC(likelihood, **settings).fit(rows(900)).labels_)


@pytest.mark.parametrize("n", [600, 2500])  # all rows are compared, or a sample
def test_covariances_are_chosen_on_a_cluster_too(n):
    tilt = np.array([[1.0, 0.9, 0.0], [0.0, 0.4, 0.0], [0.0, 0.3, 1.0]])
    X, settings = np.column_stack([rows(n) @ tilt, np.full(n, 7.0)]), {"random_state": 0, "n_jobs": 1}
    one = bg.RandomizedBHC(**settings).fit(X)
    assert isinstance(one.likelihood_, GaussianFull)
    check_same(one, bg.RandomizedBHC(**settings)._fit_on_cluster(source_of(X, 500)))


def test_only_samples_of_rows_come_to_the_first_process(monkeypatch):
    X, taken = rows(3000), []
    take = DaskRows.take
    monkeypatch.setattr(DaskRows, "take", lambda self, some: taken.append(some.size) or take(self, some))
    bound, parts = dask_input.bind_on_cluster(source_of(X, 1500), "gaussian", "fixed")
    fit_randomized(bound, 1.0, Settings(sample_size=60), 0, 1, None, regraft=True, refine=1, remote=parts)
    assert 60 <= sum(taken) < 1000
    taken.clear()
    fit_randomized_best(bound, 1.0, Settings(sample_size=60), 0, 1, None, remote=parts)
    assert 60 <= sum(taken) < 1000


def families():
    rng = np.random.default_rng(3)
    yes, counts = (rng.random((700, 3)) < 0.3).astype(float), rng.poisson(2.0, (700, 3)).astype(float)
    mixed = np.column_stack([rows(700), yes[:, 0]])
    return {
        "auto": (rows(700), "auto"),
        "binary": (yes, "auto"),
        "mixed": (with_gaps(mixed), "auto"),
        "full": (rows(700), "gaussian-full"),
        "known": (rows(700), "gaussian-known-variance"),
        "poisson": (counts, "poisson"),
        "categorical": (counts, "categorical"),
        "multinomial": (counts, "multinomial"),
        "numbers": (rows(700), bg.likelihoods.GaussianDiagonal(mean=1.0, rate=2.0)),
    }


@pytest.mark.parametrize("name", families())
def test_a_likelihood_is_bound_to_parts_as_to_one_table(name):
    X, likelihood = families()[name]
    whole = bind(likelihood, X)
    bound, parts = dask_input.bind_on_cluster(source_of(X, 250), likelihood, "auto")
    assert repr(bound.likelihood) == repr(whole.likelihood)
    assert bound.free == whole.free
    assert bound.log_measure == whole.log_measure
    for mine, other in zip(bound.prior, whole.prior, strict=True):
        assert np.array_equal(mine, other)
    assert np.array_equal(parts[np.arange(len(X))], whole.values, equal_nan=True)


def test_a_median_outside_its_bracket_is_found_all_the_same():
    X = np.concatenate([np.zeros(300), np.ones(301)])[:, None]
    short = brief.brief_of(np.concatenate([X[:5], X[-5:]]), 10)
    odd = brief.brief_of(X, 10)._replace(sample=np.full((20, 1), 0.5) + np.arange(20)[:, None] / 100)
    assert np.isnan(brief.lower_medians(odd, [brief.middle_cells(X, brief.bracket(odd))])[0])
    assert dask_input.medians(source_of(X, 250), odd)[0] == 1.0
    assert short.is_binary.all()


def test_cells_that_cannot_be_are_refused_with_their_place():
    X = rows(600)
    X[555, 1] = np.inf
    with pytest.raises(InvalidTableError, match=r"row 55, column 'x1' holds inf.*counted from row 500 of the table"):
        bg.RandomizedBHC("gaussian")._fit_on_cluster(source_of(X, 250))


def test_empty_tables_are_refused():
    nothing = brief.joined([brief.brief_of(np.empty((0, 2)), 5)])
    with pytest.raises(InvalidTableError, match="at least one row and one column, got 0 x 2"):
        brief.understand_brief("auto", nothing, ("a", "b"), ("float", "float"))


@pytest.mark.parametrize(("low", "high", "leaf_size"), [(0, 1000, 64), (37, 900, 10), (5, 6, 2), (3, 40, 50)])
def test_the_shape_of_halves_needs_no_data(low, high, leaf_size):
    X = rows(1000)
    halved = halve(X, np.arange(1000), np.empty(1000), low, high, leaf_size)
    for mine, other in zip(halving_shape(low, high, leaf_size), halved, strict=True):
        assert np.array_equal(mine, other)


def test_parts_end_at_cuts():
    assert part_edges(np.array([0, 3, 5, 9, 10]), 5).tolist() == [0, 5, 10]
    assert part_edges(np.array([0, 30, 31]), 5).tolist() == [0, 30, 31]
    assert part_edges(np.arange(8), 3).tolist() == [0, 3, 6, 7]


class KilledWorker(Exception):
    """Named as Dask's."""


class DeadlyClient(FakeClient):
    """The first gathers fail."""

    def __init__(self, n_losses, error=KilledWorker):
        super().__init__()
        self.n_losses, self.error, self.retried = n_losses, error, []

    def gather(self, futures, direct):
        if self.n_losses > 0:
            self.n_losses -= 1
            raise self.error
        return super().gather(futures, direct)

    def retry(self, futures):
        self.retried.append(futures)


def test_calls_that_dask_gave_up_are_made_again():
    client = DeadlyClient(tasks.MOST_LOSSES)
    future = tasks.submit(client, abs, -3)
    assert tasks.gather(client, [future]) == [3]
    assert client.retried == tasks.MOST_LOSSES * [[future]]


@pytest.mark.parametrize(("n_losses", "error"), [(tasks.MOST_LOSSES + 1, KilledWorker), (1, ZeroDivisionError)])
def test_deadly_calls_and_other_errors_are_raised(n_losses, error):
    client = DeadlyClient(n_losses, error)
    with pytest.raises(error):
        tasks.gather(client, [tasks.submit(client, abs, -3)])
    assert len(client.retried) == n_losses - 1


def test_a_typical_row_has_the_middle_total():
    X = rows(501)
    totals = X.sum(axis=1)
    assert typical_row(X).sum() == pytest.approx(np.sort(totals)[250])
    assert np.isnan(typical_row(np.full((3, 2), np.nan))).all()


def test_scaling_is_ldexp():
    rng = np.random.default_rng(5)
    values = np.ldexp(rng.normal(size=(500, 4)), rng.integers(-1074, 1023, (500, 4)))
    for exponent in (np.array([0, 505, -505, 3]), np.array([1022, -1022, 1, -1]), np.array([1100, -1100, 0, 2])):
        with np.errstate(all="ignore"):
            assert np.array_equal(base.scaled(values, exponent), np.ldexp(values, exponent))


@pytest.mark.parametrize(("n_labels", "width"), [(0, 1), (1, 1), (128, 1), (129, 2), (32_768, 2), (32_769, 4)])
def test_labels_travel_in_few_bytes(n_labels, width):
    labels = np.array([-1, max(n_labels - 1, 0)])
    assert np.array_equal(parts.narrow(labels, n_labels), labels)
    assert parts.narrow(labels, n_labels).itemsize == width

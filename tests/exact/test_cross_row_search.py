"""Row trees of views by the search "best": chains avoided, polish, views of one to three columns, null data."""

import numpy as np
import pytest

from bayesgrove import BHCC, RandomizedBHCC
from bayesgrove.core.errors import InvalidLikelihoodError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import Columns, GaussianDiagonal, bind
from bayesgrove.models.cross.evidence import Problem, grow_views, log_evidence, tree_bound
from bayesgrove.models.cross.polish import Evaluator
from bayesgrove.models.cross.refit import evidence_on
from bayesgrove.models.cross.row_polish import can_polish, polish_view, polished_merges, rows_of
from bayesgrove.models.cross.search import SearchSettings, search
from bayesgrove.models.cross.view_table import view_table
from bayesgrove.stats.partitions import adjusted_rand
from reference import cross
from reference.cross_tables import random_case, random_table

pytestmark = pytest.mark.exact
VIEWS = ((2, 5), (3, 8), (1, 3))
"""Columns and clusters of each view."""
N_ROWS = 600
LEAST_GAP = 5.0
"""Least distance of two centres, in standard deviations."""
QUICK, ALL = (0, 1), range(10)


def separated_centres(rng, n_clusters, n_columns):
    """Centres from N(0, 5^2), none nearer to another than LEAST_GAP."""
    while True:
        centres = rng.normal(0.0, 5.0, (n_clusters, n_columns))
        gaps = np.linalg.norm(centres[:, np.newaxis] - centres, axis=2)[np.triu_indices(n_clusters, 1)]
        if gaps.min() >= LEAST_GAP:
            return centres


def three_views(seed):
    """Cells, the clusters of the rows in each view, and the view of each column."""
    rng = generator(20, seed)
    clusters = [rng.integers(0, n_clusters, N_ROWS) for _, n_clusters in VIEWS]
    cells = [
        rng.normal(separated_centres(rng, n_clusters, n_columns)[own], 1.0)
        for own, (n_columns, n_clusters) in zip(clusters, VIEWS, strict=True)
    ]
    return np.concatenate(cells, axis=1), clusters, np.repeat(np.arange(3), [n_columns for n_columns, _ in VIEWS])


def check_three_views(estimator, seed):
    """Views exactly, rows nearly."""
    X, clusters, truth = three_views(seed)
    model = estimator(random_state=0).fit(X)
    assert adjusted_rand(model.view_labels_, truth) == 1.0
    for own, first in zip(clusters, (0, 2, 5), strict=True):
        assert adjusted_rand(model.views_[model.view_labels_[first]].labels_, own) >= 0.95


@pytest.mark.parametrize("estimator", [BHCC, RandomizedBHCC])
@pytest.mark.parametrize("seed", QUICK)
def test_views_of_few_columns(estimator, seed):
    check_three_views(estimator, seed)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [BHCC, RandomizedBHCC])
@pytest.mark.parametrize("seed", ALL)
def test_views_of_few_columns_ten_of_ten(estimator, seed):
    check_three_views(estimator, seed)


@pytest.mark.parametrize("seed", range(3))
def test_noise_is_one_cluster(seed):
    X = generator(21, seed).normal(size=(300, 4))
    model = BHCC(random_state=0).fit(X)
    assert [view.n_clusters_ for view in model.views_] == [1] * model.n_views_


def polishable(seed, n_rows, n_columns, row_search="best"):
    """A random table of all families whose row trees can be polished, and its twin."""
    problem, twin, _ = random_case(seed, n_rows, n_columns, row_search)
    prior, values = random_table(np.random.default_rng(seed), n_rows, n_columns)
    np.testing.assert_array_equal(values.T, problem.table.values)
    return problem._replace(prior=prior), twin


def test_polish_never_lowers_the_evidence():
    """Evidence is that of the tree handed out, by the twin; polish raises it in at least a third of the tables."""
    n_raised = 0
    for seed in range(30):
        problem, twin = polishable([22, seed], 25, 4)
        columns = np.arange(4)
        grown = grow_views(problem, [columns])
        before = float(log_evidence(problem, grown.log_q, grown.log_d)[0])
        after, children = polish_view(problem, columns, before, grown.children[0])
        assert after >= before
        assert np.array_equal(np.sort(children, axis=None), np.arange(48))
        constant = cross.bhc.log_crp_constant(25, twin.log_rows)
        expected = cross.row_tree(twin, frozenset(range(4)), children.tolist()).log_q[-1] + constant
        assert after == pytest.approx(expected, abs=1e-8)
        n_raised += after > before + 1e-3
    assert n_raised >= 10


def test_polished_bounds_stay_below_the_evidence():
    gaps = []
    for seed in range(60):
        rng = np.random.default_rng([23, seed])
        problem, twin = polishable([24, seed], int(rng.integers(2, 5)), int(rng.integers(1, 5)))
        exact = cross.exact_evidence(twin)
        for method in ("exact", "multistart", "screen", "randomized"):
            fit = search(problem, SearchSettings(method=method))
            assert fit.log_evidence_bound >= fit.flat_bound - 1e-9
            gaps.append(exact - fit.log_evidence_bound)
    assert min(gaps) >= -1e-10
    assert np.mean(gaps) < 2.0


@pytest.mark.parametrize("method", ["exact", "screen", "randomized", "multistart"])
def test_polished_results_are_whole(method):
    """Evidence of views and nodes is that of their row trees, and at least that of trees that are not polished."""
    for seed in range(4):
        problem, _ = polishable([25, seed], 20, 8)
        fit = search(problem, SearchSettings(method=method, seed=seed, n_starts=3))
        plain = search(problem._replace(prior=None), SearchSettings(method=method, seed=seed, n_starts=3))
        assert fit.flat_bound >= plain.flat_bound - 1e-9
        assert fit.bounds["rows"] >= plain.flat_bound - 1e-9
        tree = fit.column_tree
        for node, children in enumerate(fit.node_row_children):
            columns = np.sort(tree.items_below(node))
            expected = evidence_on(problem, columns, children)
            assert tree.columns["log_evidence"][node] == pytest.approx(expected, abs=1e-8)
        for view, own, value in zip(fit.views, fit.row_trees, fit.view_log_evidence, strict=True):
            constant = cross.bhc.log_crp_constant(20, problem.log_rows)
            assert value == pytest.approx(own.columns["log_q"][-1] + constant, abs=1e-8)
            assert value >= Evaluator(problem).look([view])[0][0] - 1e-9
        root = tree.columns["log_q"][-1]
        assert fit.log_evidence_bound == pytest.approx(tree_bound(problem, root, 8), abs=1e-9)


@pytest.mark.parametrize("method", ["exact", "multistart", "randomized"])
def test_threads_change_nothing(method):
    problem, _ = polishable(26, 30, 9)
    one, two = (search(problem._replace(n_threads=n), SearchSettings(method=method, seed=3)) for n in (1, 2))
    np.testing.assert_array_equal(one.view_labels, two.view_labels)
    assert one.bounds == two.bounds
    for own, other in zip(one.node_row_children, two.node_row_children, strict=True):
        np.testing.assert_array_equal(own, other)


def test_only_the_search_best_polishes():
    problem, _ = polishable(27, 6, 3)
    assert can_polish(problem)
    assert not can_polish(problem._replace(row_search="greedy"))
    assert not can_polish(problem._replace(prior=None))
    assert "rows" not in search(problem._replace(row_search="greedy")).bounds


def chain_of(rows, first_id):
    """Merges of some rows one after another; ids of the merges begin at `first_id`."""
    seconds = [int(rows[0]), *range(first_id, first_id + rows.size - 2)]
    return [sorted(pair) for pair in zip(seconds, rows[1:].tolist(), strict=True)]


def test_polish_puts_misplaced_rows_right():
    """Two far groups, four rows of each in the chain of the other."""
    rng, n = generator(28), 60
    X = np.concatenate([rng.normal(0.0, 1.0, n), rng.normal(30.0, 1.0, n)])[:, np.newaxis]
    bound = bind(Columns([GaussianDiagonal()]), X, hyper="fixed")
    problem = Problem(view_table(bound.prior, bound.values), 0.0, 0.0, row_search="best", prior=bound.prior)
    first, second = np.r_[4:n, n : n + 4], np.r_[n + 4 : 2 * n, 0:4]
    merges = [*chain_of(first, 2 * n), *chain_of(second, 3 * n - 1), [3 * n - 2, 4 * n - 3]]
    column = np.array([0])
    best = evidence_on(problem, column, grow_views(problem, [column]).children[0])
    assert evidence_on(problem, column, np.array(merges)) < best - 10.0
    polished = polished_merges(rows_of(problem, bound.prior, column), np.array(merges))
    assert evidence_on(problem, column, polished) >= best - 1.0


def test_further_rows_keep_the_search():
    """The row trees over all rows are polished as in a fit."""
    X, clusters, _ = three_views(2)
    model = BHCC(random_state=0).fit(X[:500])
    more = model.with_rows(X[500:])
    for own, first in zip(clusters, (0, 2, 5), strict=True):
        assert adjusted_rand(more.views_[more.view_labels_[first]].labels_, own) >= 0.95


def test_grain_is_refused():
    for likelihood in (GaussianDiagonal(grain=0.5), Columns([GaussianDiagonal(grain=0.5)])):
        with pytest.raises(InvalidLikelihoodError, match=r"takes cells as exact, got grain=0.5 for column 0"):
            BHCC(likelihood).fit(np.arange(6.0)[:, np.newaxis])

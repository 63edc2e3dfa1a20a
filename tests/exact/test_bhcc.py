"""Trees of views by exact search against golden numbers, the slow twin and enumeration."""

import math

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidLikelihoodError, InvalidSettingError, NumericalError
from bayesgrove.likelihoods import bind
from bayesgrove.models.cross import row_trees
from bayesgrove.models.cross import view_table as view_tables
from bayesgrove.models.cross.column_trees import column_tree
from bayesgrove.models.cross.evidence import (
    ROW_SEARCHES,
    Problem,
    check_problem,
    column_gains,
    grow_views,
    tree_bound,
)
from bayesgrove.models.cross.fixed_trees import row_tree
from bayesgrove.models.cross.search_exact import search_exact
from bayesgrove.models.cross.view_table import view_table
from bayesgrove.trees import expected_clusters, same_cluster_matrix
from reference import cross
from reference.cross_tables import golden_case, random_case, random_table
from reference.trees import labels_by_size

pytestmark = pytest.mark.exact
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")
TOLERANCE = {"rtol": 0.0, "atol": 1e-8}


def leaves_of(nodes):
    """Nodes of single columns, by column."""
    return sorted((node for node in nodes if node.columns.size == 1), key=lambda node: int(node.columns[0]))


def merges_of(nodes):
    """Children, log odds, q and d of the inner nodes."""
    inner = [node for node in nodes if node.children]
    return [list(node.children) for node in inner], np.array(
        [[node.log_odds, node.log_q, node.log_d] for node in inner]
    )


@pytest.mark.parametrize("kind", ["bound", "tree"])
@pytest.mark.parametrize("name", TABLES)
def test_golden_column_trees(golden, name, kind):
    problem, _, numbers = golden_case(golden("bhcc")["tables"][name], evidence=kind)
    expected = numbers[f"bhcc_{kind}"]
    nodes, _ = search_exact(problem)
    n = problem.table.n_columns
    children, found = merges_of(nodes)
    assert children == [[merge["a"], merge["b"]] for merge in expected["merges"]]
    for field, values in zip(("log_odds", "q", "log_d"), found.T, strict=True):
        np.testing.assert_allclose(values, [merge[field] for merge in expected["merges"]], **TOLERANCE)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-found[:, 0])), expected["r"], **TOLERANCE)
    assert tree_bound(problem, nodes[-1].log_q, n) == pytest.approx(expected["log_lower_bound"], abs=1e-8)
    assert nodes[-1].log_q - nodes[-1].log_d == pytest.approx(expected["log_p_tree"], abs=1e-8)
    tree, row_children = column_tree(nodes, leaves_of(nodes))
    assert tree.cut("half").tolist() == labels_by_size(expected["cut05"], n).tolist()
    assert expected_clusters(tree) == pytest.approx(expected["expected_views"], abs=1e-8)
    np.testing.assert_allclose(same_cluster_matrix(tree), expected["p_same_view"], **TOLERANCE)
    assert len(row_children) == tree.n_nodes


def test_the_evidence_of_trees_is_no_bound(golden):
    problem, _, numbers = golden_case(golden("bhcc")["tables"]["nig_5x3"], evidence="tree")
    nodes, _ = search_exact(problem)
    assert tree_bound(problem, nodes[-1].log_q, 3) == pytest.approx(-31.784173447, abs=1e-8)
    assert tree_bound(problem, nodes[-1].log_q, 3) > numbers["log_cdpm_exact"] + 2.0


@pytest.mark.parametrize("row_search", ROW_SEARCHES)
@pytest.mark.parametrize(
    ("squares", "line", "stored"),
    [(1 << 19, 1 << 20, 1024), (1, 1 << 20, 1024), (1, 1, 1024), (1 << 19, 1 << 20, 0)],
    ids=["squares", "lines", "sums", "scores computed again"],
)
def test_row_trees_are_those_of_the_twin(monkeypatch, squares, line, stored, row_search):
    """All families, missing cells, from every kind of table of log marginals."""
    monkeypatch.setattr(row_trees, "LARGEST_STORED", stored)
    monkeypatch.setattr(view_tables, "LARGEST_SQUARES", squares)
    monkeypatch.setattr(view_tables, "LARGEST_LINE", line)
    for seed in range(40):
        rng = np.random.default_rng([61, seed])
        problem, twin, _ = random_case([62, seed], int(rng.integers(2, 14)), int(rng.integers(1, 7)), row_search)
        everything = np.arange(problem.table.n_columns)
        expected = cross.row_tree(twin, frozenset(everything.tolist()))
        got = row_tree(problem, everything, grow_views(problem, [everything]).children[0])
        n = problem.table.n_rows
        assert [got.children(node) for node in range(n, 2 * n - 1)] == expected.children.tolist()
        np.testing.assert_allclose(got.columns["log_merge_odds"][n:], expected.log_odds[n:], rtol=0, atol=1e-9)
        np.testing.assert_allclose(got.columns["log_q"], expected.log_q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(got.columns["log_d"], expected.log_d, rtol=0, atol=1e-9)


@pytest.mark.parametrize("row_search", ROW_SEARCHES)
@pytest.mark.parametrize("evidence", ["bound", "tree"])
def test_column_trees_are_those_of_the_twin(evidence, row_search):
    for seed in range(12):
        problem, twin, _ = random_case([63, seed], 5, 6, row_search, evidence=evidence)
        nodes, _ = search_exact(problem)
        expected = cross.column_tree(twin, evidence)
        children, found = merges_of(nodes)
        assert children == expected.children.tolist()
        np.testing.assert_allclose(found[:, 1], expected.log_q[6:], rtol=0, atol=1e-9)


@pytest.mark.parametrize("row_search", ROW_SEARCHES)
def test_no_bound_exceeds_the_enumerated_evidence(row_search):
    gaps = []
    for seed in range(120):
        rng = np.random.default_rng([64, seed])
        problem, twin, _ = random_case([65, seed], int(rng.integers(2, 5)), int(rng.integers(1, 5)), row_search)
        nodes, _ = search_exact(problem)
        gaps.append(cross.exact_evidence(twin) - tree_bound(problem, nodes[-1].log_q, problem.table.n_columns))
    assert min(gaps) >= -1e-10
    assert np.mean(gaps) < 2.0  # a bound of minus infinity would pass the rest


@pytest.mark.parametrize("row_search", ROW_SEARCHES)
@pytest.mark.parametrize("n_rows", [40, 70])
def test_larger_trees_close_their_holes(n_rows, row_search):
    problem, twin, _ = random_case([69, n_rows], n_rows, 3, row_search)
    expected = cross.row_tree(twin, frozenset(range(3)))
    for share in (False, True):
        shared = problem._replace(share=share)
        got = grow_views(shared, [np.arange(3)], column_gains(shared))
        assert got.children[0].tolist() == expected.children.tolist()
        assert got.log_q[0] == pytest.approx(expected.log_q[-1], abs=1e-8)


def test_number_of_row_trees():
    for n_columns in (1, 2, 5, 9):
        problem, _, _ = random_case([66, n_columns], 6, n_columns, share=False)
        assert search_exact(problem)[1] == (n_columns - 1) ** 2 + n_columns


def doubled(seed):
    """A table in which every column stands twice."""
    rng = np.random.default_rng(seed)
    prior, values = random_table(rng, 7, 4)
    twice = np.repeat(np.arange(4), 2)
    starts = np.concatenate([[0], np.cumsum(np.diff(prior.start)[twice])])
    prior = prior._replace(family=prior.family[twice], params=prior.params[twice], start=starts)
    return view_table(prior, values[:, twice])


@pytest.mark.parametrize("row_search", ROW_SEARCHES)
def test_sharing_changes_nothing_but_the_work(row_search):
    for seed in range(10):
        table = doubled([67, seed])
        (plain, n_plain), (shared, n_shared) = (
            search_exact(Problem(table, 0.0, 0.0, share=on, row_search=row_search)) for on in (False, True)
        )
        assert merges_of(plain)[0] == merges_of(shared)[0]
        np.testing.assert_allclose(merges_of(plain)[1], merges_of(shared)[1], rtol=0, atol=1e-9)
        assert n_plain == 7**2 + 8
        assert n_shared < n_plain


@pytest.mark.parametrize("row_search", ROW_SEARCHES)
def test_threads_change_nothing(row_search):
    for seed in range(3):
        problem, _, _ = random_case([68, seed], 12, 8, row_search)
        one, two = (search_exact(problem._replace(n_threads=n))[0] for n in (1, 2))
        assert merges_of(one)[0] == merges_of(two)[0]
        np.testing.assert_array_equal(merges_of(one)[1], merges_of(two)[1])


def test_one_row_and_missing_columns():
    prior, _ = random_table(np.random.default_rng(3), 4, 3)
    one = search_exact(Problem(view_table(prior, np.full((1, 3), np.nan)), 0.0, 0.0))[0]
    assert one[-1].evidence == pytest.approx(0.0, abs=1e-12)
    empty = search_exact(Problem(view_table(prior, np.full((4, 3), np.nan)), 0.0, 0.0))[0]
    assert empty[-1].evidence <= 1e-12


def test_refusals():
    problem, _, _ = random_case(0, 3, 2)
    with pytest.raises(InvalidSettingError, match='evidence is "bound" or "tree", got \'flat\''):
        check_problem(problem._replace(evidence="flat"))
    with pytest.raises(InvalidSettingError, match='row_search is "best" or "greedy", got \'exact\''):
        check_problem(problem._replace(row_search="exact"))
    with pytest.raises(InvalidSettingError, match="concentrations of rows and columns must be positive"):
        check_problem(problem._replace(log_rows=-math.inf))
    with pytest.raises(InvalidSettingError, match="n_threads must be at least 1, got 0"):
        check_problem(problem._replace(n_threads=0))
    whole = bind("bernoulli", np.eye(3))
    with pytest.raises(InvalidLikelihoodError, match="one likelihood per column, independent given the cluster"):
        view_table(whole.prior, whole.values)
    prior, values = random_table(np.random.default_rng(1), 4, 3, missing=0.0)
    bad = prior._replace(params=np.full((3, 4), np.nan))
    with pytest.raises(NumericalError, match="log odds that are not finite"):
        grow_views(Problem(view_table(bad, values), 0.0, 0.0), [np.arange(3)])

"""The slow twin of cross-clustering against golden numbers: truth for everything the library computes."""

import numpy as np
import pytest

from bayesgrove.likelihoods import bind
from bayesgrove.trees import Tree, expected_clusters, same_cluster_matrix
from reference import cross
from reference.golden import golden_table
from reference.trees import labels_by_size

pytestmark = pytest.mark.exact
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")
TOLERANCE = {"rtol": 0.0, "atol": 1e-8}


@pytest.fixture(params=TABLES)
def case(request, golden):
    """The twin's table and the golden numbers."""
    values, likelihood, concentration, numbers = golden_table(golden("bhcc")["tables"][request.param], as_columns=True)
    bound = bind(likelihood, values, hyper="fixed")
    measure = ~np.isnan(values) * (-np.log(2.0) * bound.encoding.exponent)
    return cross.table_of(bound.prior, bound.values, concentration, numbers["alpha_cols"], measure), numbers


@pytest.mark.parametrize("kind", ["bound", "tree", "exact"])
def test_golden_column_trees(case, kind):
    table, numbers = case
    expected = numbers[f"bhcc_{kind}"]
    got = cross.column_tree(table, kind)
    n = table.n_columns
    assert got.children.tolist() == [[merge["a"], merge["b"]] for merge in expected["merges"]]
    for field, values in (("log_odds", got.log_odds), ("q", got.log_q), ("log_d", got.log_d)):
        np.testing.assert_allclose(values[n:], [merge[field] for merge in expected["merges"]], **TOLERANCE)
    np.testing.assert_allclose(1.0 / (1.0 + np.exp(-got.log_odds[n:])), expected["r"], **TOLERANCE)
    assert cross.tree_bound(table, got) == pytest.approx(expected["log_lower_bound"], abs=1e-8)
    assert got.log_q[-1] - got.log_d[-1] == pytest.approx(expected["log_p_tree"], abs=1e-8)
    tree = Tree.from_merges(got.children, log_merge_odds=got.log_odds)
    assert tree.cut("half").tolist() == labels_by_size(expected["cut05"], n).tolist()
    assert expected_clusters(tree) == pytest.approx(expected["expected_views"], abs=1e-8)
    np.testing.assert_allclose(same_cluster_matrix(tree), expected["p_same_view"], **TOLERANCE)


def test_golden_exact_evidence(case):
    table, numbers = case
    assert cross.exact_evidence(table) == pytest.approx(numbers["log_cdpm_exact"], abs=1e-8)


def test_golden_screening(case):
    table, numbers = case
    expected = numbers["screening"]
    one, other = frozenset(expected["view_a"]), frozenset(expected["view_b"])
    for name, view in (("a", one), ("b", other), ("greedy", one | other)):
        field = "q_union_greedy" if name == "greedy" else f"q_union_on_tree_{name}"
        children = cross.row_tree(table, view).children
        assert cross.log_q_on(table, children, one | other) == pytest.approx(expected[field], abs=1e-8)


def test_golden_polish(case):
    table, numbers = case
    expected = numbers["polish"]
    views = [frozenset(view) for view in expected["views"]]
    scores = [[-np.inf if cell is None else cell for cell in row] for row in expected["scores"]]
    np.testing.assert_allclose(cross.move_scores(table, views), scores, **TOLERANCE)
    assert cross.flat_bound(table, views) == pytest.approx(expected["flat_bound"], abs=1e-8)


@pytest.mark.parametrize(("rule", "suffix"), [("mass", ""), ("paper", "_paper")])
def test_golden_filter(case, rule, suffix):
    table, numbers = case
    for expected in numbers["randomized_cols_filter"]:
        (one, score_one), (other, score_other) = cross.filter_scores(
            table, expected["sample"], expected["column"], rule
        )
        assert (sorted(one), sorted(other)) == (expected["side_a"], expected["side_b"])
        assert score_one == pytest.approx(expected[f"score_a{suffix}"], abs=1e-8)
        assert score_other == pytest.approx(expected[f"score_b{suffix}"], abs=1e-8)

"""Trees as sparse tables of labels, edges and paths."""

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.table import SparseTable

pytestmark = pytest.mark.unit


@pytest.fixture
def trees():
    return bg.TreeData.from_newick(["((a,b)c,(a)c)r;", "(b,b,b)r;", "((a)b)c;"])


def counts_by_hand(tree, by):
    """Names and counts of one tree, node by node."""
    found: dict[str, int] = {}
    paths = []
    for label, parent in zip(tree.labels, tree.parents.tolist(), strict=True):
        above = None if parent < 0 else tree.labels[parent]
        paths.append(label if parent < 0 else f"{paths[parent]}/{label}")
        name = {"labels": label, "edges": f"{above or '(root)'} > {label}", "paths": paths[-1]}[by]
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize("by", ["labels", "edges", "paths"])
def test_counts_are_those_found_node_by_node(trees, by):
    table = trees.to_table(by)
    assert len(set(table.names)) == len(table.names) == table.shape[1]
    for number, row in enumerate(table.toarray()):
        found = {name: count for name, count in zip(table.names, row.tolist(), strict=True) if count}
        assert found == counts_by_hand(trees[number], by)


def test_rare_columns_become_one(trees):
    table = trees.to_table("paths", min_count=2)
    assert table.names[-1] == "<rare>"
    assert table.counts.sum() == trees.n_nodes
    assert np.all(table.toarray()[:, :-1].sum(axis=0) >= 2)


def test_unknown_labels_are_not_counted_and_end_a_path():
    data = bg.TreeData.from_parents([["r", None, "a"]], [[-1, 0, 1]])
    assert dict(zip(data.to_table("labels").names, data.to_table("labels").toarray()[0].tolist(), strict=True)) == {
        "a": 1,
        "r": 1,
    }
    assert sorted(data.to_table("paths").names) == ["a", "r"]
    assert sorted(data.to_table("edges").names) == ["(root) > a", "(root) > r"]


def test_codes_are_named_by_their_numbers():
    data = bg.TreeData.from_parents([[1, 0]], [[-1, 0]])
    assert data.to_table("edges").names == ("(root) > 1", "1 > 0")


def test_rows_may_be_chosen(trees):
    table = trees.to_table("labels")
    assert isinstance(table[1:], SparseTable)
    np.testing.assert_array_equal(table[np.array([True, False, True])].toarray(), table.toarray()[[0, 2]])
    assert len(table[:1]) == 1


def test_dense_tables_hold_counts_or_presence(trees):
    table = trees.to_table("labels")
    assert table.to_dense().kinds[0] == "integer"
    np.testing.assert_array_equal(table.to_dense().values, table.toarray())
    np.testing.assert_array_equal(table.to_dense(presence=True).values, table.toarray() > 0)


def test_what_cannot_be_counted_is_refused(trees):
    with pytest.raises(InvalidSettingError, match="one of labels, edges, paths, got 'words'"):
        trees.to_table("words")
    with pytest.raises(InvalidSettingError, match="min_count must be a whole number"):
        trees.to_table("labels", min_count=0)
    with pytest.raises(InvalidSettingError, match="cannot be counted"):
        bg.TreeData.from_parents([[1.0, 2.0]], [[-1, 0]]).to_table()


@pytest.mark.parametrize("likelihood", ["multinomial", "bernoulli"])
def test_models_of_tables_take_them(likelihood):
    data = bg.TreeData.from_newick(5 * ["(a,a,b)r;", "(x,y)z;"])
    table = data.to_table("edges")
    model = bg.BHC(likelihood=likelihood).fit(table)
    assert model.labels_.tolist() == 5 * [0, 1]
    assert tuple(model.feature_names_in_) == table.names
    assert model.predict(table[:2]).tolist() == [0, 1]

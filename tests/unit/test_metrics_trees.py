"""Distances between trees and silhouettes of their clusters: golden numbers, the definitions written out, refusals."""

import functools
import math
import time
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_samples

from bayesgrove import TreeData, datasets, metrics
from bayesgrove.core.errors import MemoryLimitError
from bayesgrove.stats import ruzicka
from conftest import find_shared_file
from reference import ruzicka as plain
from reference.tree_hmm_engine import tree_data
from reference.tree_sets import random_forest

pytestmark = pytest.mark.unit

ROOTS, DEFINITIONS = ("own", "drop"), ("paper", "rousseeuw")
BLOCKS = {5: [0, 1, 2, 2, 3, 3, 4, 5, 4, 5, 4, 4], 4: [0, 1, 1, 1, 3, 3, 4, 5, 4, 5, 4, 4]}
"""Number of blocks -> block of each class of INEX05; classes count from 1."""


def random_trees(seed, n_trees=40):
    trees = random_forest(np.random.default_rng(seed), n_trees)
    return trees, tree_data(trees, 3, 3)


@functools.cache
def research_data(name, part="train"):
    find_shared_file("data/trees")
    return getattr(datasets, f"load_{name}")(find_shared_file("data"), part)


@pytest.mark.parametrize("root", ROOTS)
def test_golden_distances_and_silhouettes(golden, root):
    case = golden("htmm")["ruzicka"]
    fields = [[np.array(tree[name]) for tree in case["trees"]] for name in ("label", "parent", "pos")]
    trees = TreeData.from_parents(*fields)
    np.testing.assert_allclose(metrics.ruzicka_distances(trees, root), case[f"distance_root_{root}"], atol=1e-12)
    for definition in DEFINITIONS:
        wanted = case[f"silhouette_{definition}_root_{root}"]
        values = metrics.tree_silhouette_samples(trees, case["assignment"], definition, root)
        np.testing.assert_allclose(values, wanted["values"], atol=1e-12)
        mean = metrics.tree_silhouette(trees, case["assignment"], definition, root)
        assert mean == pytest.approx(wanted["mean"], abs=1e-12)


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("seed", range(3))
def test_definitions_written_out(seed, root):
    plain_trees, trees = random_trees(seed)
    distances = plain.ruzicka_distances([plain.label_table(t.labels, t.positions, root) for t in plain_trees])
    np.testing.assert_allclose(metrics.ruzicka_distances(trees, root), distances, atol=1e-14)
    clusters = np.random.default_rng(seed).integers(0, 6, len(plain_trees))
    clusters[0] = 17
    for definition in DEFINITIONS:
        found = metrics.tree_silhouette_samples(trees, clusters, definition, root)
        np.testing.assert_allclose(found, plain.silhouettes(distances, clusters, definition), atol=1e-12)


def test_rousseeuws_is_that_of_scikit_learn():
    _, trees = random_trees(5)
    clusters = np.random.default_rng(5).choice(["x", "y", "z"], len(trees))
    wanted = silhouette_samples(metrics.ruzicka_distances(trees), clusters, metric="precomputed")
    np.testing.assert_allclose(metrics.tree_silhouette_samples(trees, clusters), wanted, atol=1e-12)


def test_trees_with_one_table_are_one_table_of_all():
    plain_trees, trees = random_trees(6)
    tables = metrics._label_tables([trees], "drop")
    different = {frozenset(plain.label_table(t.labels, t.positions, "drop").items()) for t in plain_trees}
    assert tables.totals.size == len(different) < len(plain_trees)
    assert tables.totals[tables.table_of].tolist() == [len(tree.labels) - 1 for tree in plain_trees]


def test_labels_are_compared_by_their_texts():
    trees = TreeData.from_newick(["(a,b)r;", "(x,b)r;"])
    others = TreeData.from_newick(["(b,x)r;", "(a,b)r;", "(y,b)r;"])
    assert trees.vocabulary != others.vocabulary
    found = metrics.ruzicka_distances(trees, others=others)
    np.testing.assert_allclose(found, [[0.8, 0.0, 0.5], [0.8, 0.5, 0.5]])


def test_other_trees_with_codes():
    _, trees = random_trees(7)
    whole = metrics.ruzicka_distances(trees)
    np.testing.assert_array_equal(metrics.ruzicka_distances(trees[:15], others=trees[15:]), whole[:15, 15:])


def test_unknown_labels_are_one_label():
    trees = TreeData.from_parents([[0, -1, -1], [0, -1, 1]], [[-1, 0, 0]] * 2)
    assert metrics.ruzicka_distances(trees)[0, 1] == 0.5


def test_single_nodes_without_roots_are_all_alike():
    trees = TreeData.from_parents([[0], [1], [2, 0]], [[-1], [-1], [-1, 0]])
    np.testing.assert_array_equal(metrics.ruzicka_distances(trees, "drop"), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert metrics.tree_silhouette_samples(trees, [0, 1, 1], "paper", "drop").tolist() == [1.0, -1.0, 0.5]
    for definition in DEFINITIONS:  # a singleton that equals another one is as near to both: 0, not 1
        alone = metrics.tree_silhouette_samples(trees, [0, 1, 2], definition, "drop").tolist()
        assert alone == [0.0, 0.0, float(definition == "paper")]


@pytest.mark.parametrize("labels", [[3, 3, 3], ["a", "a", "a"]])
def test_fewer_than_two_clusters_have_no_silhouette(labels):
    trees = TreeData.from_newick(["(a,b)r;", "(a,c)r;", "d;"])
    assert np.isnan(metrics.tree_silhouette(trees, labels))
    assert np.isnan(metrics.tree_silhouette_samples(trees, labels)).all()
    assert np.isnan(metrics.tree_silhouette(trees[:0], []))


def test_synthetic_trees(golden):
    data, target, *_ = research_data("synthetic_trees")
    for root in ROOTS:
        wanted = golden("htmm")["synthetic"][f"truth_root_{root}"]
        distances = metrics.ruzicka_distances(data, root)
        found = {
            "silhouette_paper": metrics.tree_silhouette(data, target, "paper", root),
            "silhouette_rousseeuw": metrics.tree_silhouette(data, target, "rousseeuw", root),
            "d_0_1": distances[0, 1],
            "d_0_last": distances[0, -1],
        }
        assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("root", ["own", pytest.param("drop", marks=pytest.mark.slow)])
def test_inex05_silhouettes(golden, root):
    facts = golden("htmm")["inex05"]["train"]
    data, target, *_ = research_data("inex05")
    for definition in DEFINITIONS:
        for name, labels in (("classes", target), *((f"blocks{n}", np.array(b)[target]) for n, b in BLOCKS.items())):
            found = metrics.tree_silhouette(data, labels, definition, root)
            assert found == pytest.approx(facts[f"silhouette_{name}_{definition}_root_{root}"], abs=1e-6)


def test_inex05_similarities_of_classes(golden):
    facts = golden("htmm")["inex05"]["train"]
    data, target, *_ = research_data("inex05")
    distances = metrics.ruzicka_distances(data)
    assert (distances[0, 1], distances[0, -1]) == pytest.approx((facts["d_0_1"], facts["d_0_last"]), abs=1e-12)
    members = np.eye(12)[target][:, 1:] / np.bincount(target)[1:]
    np.testing.assert_allclose(1.0 - members.T @ (distances @ members), facts["class_similarity"], atol=1e-5)


def test_inex05_test_part_in_ten_seconds():
    """Also equal to the numbers of the specification's section 12."""
    data, target, *_ = research_data("inex05", "test")
    start = time.process_time()
    metrics.ruzicka_distances(data)
    found = [metrics.tree_silhouette(data, target, definition) for definition in DEFINITIONS]
    blocks = [metrics.tree_silhouette(data, np.array(own)[target], "paper") for own in BLOCKS.values()]
    assert time.process_time() - start < 10.0
    np.testing.assert_allclose([*found, *blocks], [0.1975, 0.1957, 0.3051, 0.2738], atol=5e-5)


def test_a_chain_of_a_million_nodes():
    n_nodes = 1_000_000
    labels = np.random.default_rng(1).integers(0, 50, n_nodes)
    trees = TreeData.from_parents([labels, labels[: n_nodes // 2]], [np.arange(n) - 1 for n in (n_nodes, n_nodes // 2)])
    assert metrics.ruzicka_distances(trees)[0, 1] == 0.5


def peak_bytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_one_matrix_at_most():
    data = datasets.make_asymmetric_trees(300, random_state=0)
    matrix = 8 * len(data) ** 2
    metrics.tree_silhouette(data, data.targets)  # compiled before memory is measured
    assert metrics._label_tables([data], "own").totals.size > 0.8 * len(data)
    assert peak_bytes(lambda: metrics.ruzicka_distances(data)) < 1.5 * matrix
    assert peak_bytes(lambda: metrics.tree_silhouette(data, data.targets)) < 0.8 * matrix


def test_confusion_table():
    table = metrics.confusion_table([2, 0, 2, 2], ["x", "y", "y", "x"])
    assert table.counts.tolist() == [[0, 1], [2, 1]]
    assert (table.clusters.tolist(), table.classes.tolist()) == ([0, 2], ["x", "y"])


@pytest.mark.parametrize(
    ("classes", "names", "counts"),
    [
        (["x", None, math.nan, "a"], ["a", "x", "missing"], [[0, 1, 2], [1, 0, 0]]),
        (pd.array([10, pd.NA, 2, 2], dtype="Int64"), [2, 10, "missing"], [[1, 1, 1], [1, 0, 0]]),
        ([1, "b", 1, "b"], ["1", "b"], [[2, 1], [0, 1]]),
        (np.array([1, "b", 1, "b"], dtype=object), [1, "b"], [[2, 1], [0, 1]]),
    ],
)
def test_classes_that_are_missing_or_of_several_types(classes, names, counts):
    table = metrics.confusion_table([0, 0, 0, 1], classes)
    assert (table.classes.tolist(), table.counts.tolist()) == (names, counts)


TWO = TreeData.from_newick(["(a,b)r;", "(a,c)r;"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ruzicka_distances(TWO, "keep"), 'root is "own" or "drop", got \'keep\''),
        (lambda: metrics.tree_silhouette(TWO, [0, 1], "best"), 'definition is "rousseeuw" or "paper", got \'best\''),
        (lambda: metrics.tree_silhouette(TWO, [0]), "one per tree, got 1 for 2 trees"),
        (lambda: metrics.confusion_table([0], [0, 1]), "one per item, got 1 and 2"),
        (
            lambda: metrics.ruzicka_distances(TreeData.from_parents([[0.5, 1.0]], [[-1, 0]])),
            "compare labels as symbols, got trees whose labels are numbers",
        ),
        (
            lambda: metrics.ruzicka_distances(TWO, others=TreeData.from_parents([[0, 1]], [[-1, 0]])),
            "both sets are texts or of both codes",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_matrix_beyond_memory_is_refused():
    many = TWO[np.zeros(20_001, int)]
    with pytest.raises(MemoryLimitError, match=r"20001 by 20001 trees needs 3\.2 GB.*sample of the trees"):
        metrics.ruzicka_distances(many)


def test_postings_turn_the_tables_round():
    tables = ruzicka.label_tables(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1]), 3)
    assert tables.table_of.tolist() == [0, 0, 1]
    found = ruzicka.postings(tables)
    assert (found.start.tolist(), found.tables.tolist()) == ([0, 1, 2], [0, 0])

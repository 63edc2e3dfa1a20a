"""The parts of randomized BHC, each against a slow and plain version of itself."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC
from bayesgrove.agglomeration.blocks import block_trees
from bayesgrove.agglomeration.exact import agglomerate, atoms_of_rows
from bayesgrove.agglomeration.halving import halve
from bayesgrove.agglomeration.randomized import default_max_depth, grow, half_cut, reassign, regrafted
from bayesgrove.agglomeration.splits import Problem, Settings, SplitTree, sample_size
from bayesgrove.agglomeration.statistics import cluster_statistics, node_statistics
from bayesgrove.core.constants import NULL
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import bind
from bayesgrove.likelihoods.bind import cluster_log_marginal
from bayesgrove.likelihoods.contract import add, log_marginal, n_stats
from bayesgrove.models.bhc.duplicates import halved_groups, merge_duplicates_first, row_groups
from bayesgrove.models.bhc.summaries import above_front
from bayesgrove.trees import Tree

pytestmark = pytest.mark.exact


def random_tree(rng, n):
    """A random binary tree over n leaves."""
    live, children = list(range(n)), []
    for t in range(n - 1):
        a, b = rng.choice(len(live), 2, replace=False)
        children.append(sorted((live[a], live[b])))
        live = [node for k, node in enumerate(live) if k not in (a, b)] + [n + t]
    return Tree.from_merges(children, log_merge_odds=rng.normal(size=n - 1))


def caterpillar(n):
    """Every merge adds one leaf: the deepest tree."""
    return Tree.from_merges([[0, 1]] + [[k, n + k - 2] for k in range(2, n)], log_merge_odds=np.zeros(n - 1))


def new_problem(values, family="gaussian", seed=0):
    bound = bind(family, values, "fixed")
    return Problem(bound.prior, bound.values, 0.0, not np.isnan(bound.values).any(), seed, 1)


def test_node_statistics_are_sums_over_leaves(example):
    values = example.data(3, 40, missing=0.1)
    tree = random_tree(generator(4), 40)
    nodes = np.array([tree.root, 3, 41, 60, 77])
    found = node_statistics(example.prior, values, tree, nodes)
    for node, row in zip(nodes, found, strict=True):
        direct = np.zeros(n_stats(example.prior))
        for item in tree.items_below(int(node)):
            add(example.prior, direct, values[item])
        assert log_marginal(example.prior, row) == pytest.approx(log_marginal(example.prior, direct), abs=1e-9)
        np.testing.assert_allclose(row, direct, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n", "leaf_size"), [(1, 2), (2, 2), (3, 2), (100, 7), (1000, 16), (255, 256), (256, 256)])
def test_halves_are_balanced_blocks(n, leaf_size):
    rng = generator(5)
    values = rng.normal(size=(n + 10, 3)) * [1.0, 5.0, 2.0]
    values[rng.random(values.shape) < 0.05] = np.nan
    order = rng.permutation(n + 10)
    before = order.copy()
    left, right, low, high = halve(values, order, np.empty(n + 10), 5, 5 + n, leaf_size)
    np.testing.assert_array_equal(order[:5], before[:5])
    np.testing.assert_array_equal(order[5 + n :], before[5 + n :])
    assert sorted(order[5 : 5 + n]) == sorted(before[5 : 5 + n])
    blocks = left == NULL
    sizes = high - low
    assert (sizes[blocks] < max(leaf_size, 2)).all()
    assert sizes[blocks].sum() == n
    for k in np.flatnonzero(~blocks):
        a, b = left[k], right[k]
        assert (low[a], high[a], high[b]) == (low[k], low[b], high[k])
        assert 0 <= sizes[b] - sizes[a] <= 1


def test_the_first_halving_is_at_the_median_of_the_widest_column():
    values = generator(6).normal(size=(101, 3)) * [1.0, 5.0, 2.0]
    order = np.arange(101)
    left, _, low, high = halve(values, order, np.empty(101), 0, 101, 101)
    lower = order[low[left[0]] : high[left[0]]]
    assert set(lower) == set(np.argsort(values[:, 1])[:50])


def test_plan_of_a_split_tree():
    splits = SplitTree(10)
    a, b = splits.new_node(), splits.new_node()
    splits.set_children(0, a, b)
    c, d = splits.new_node(), splits.new_node()
    splits.set_children(a, c, d)
    for node, low, high in ((b, 0, 3), (c, 3, 8), (d, 8, 10)):
        splits.low[node], splits.high[node] = low, high
    splits.truncated = {c}
    plan = splits.plan()
    assert plan.starts.tolist() == [0, 3, 8, 10]  # blocks in the order of their rows: b, c, d
    assert plan.truncated.tolist() == [False, True, False]
    assert (plan.left.tolist(), plan.right.tolist()) == ([1, 3], [2, 0])  # first c + d, then that + b


def test_a_truncated_block_is_one_cluster_for_certain():
    values = generator(7).normal(size=(30, 2))
    problem = new_problem(values)
    splits = SplitTree(30)
    splits.truncated = {0}
    forest, pieces = block_trees(problem, np.arange(30), splits.plan())
    whole = cluster_log_marginal(problem.prior, problem.values)
    log_prior = float(np.sum(np.log(np.arange(1, 30))))  # lgamma(30), concentration 1
    assert pieces.log_d[0] == pytest.approx(log_prior, abs=1e-9)
    assert pieces.log_q[0] == pytest.approx(log_prior + whole, abs=1e-9)
    assert np.isposinf(forest.log_odds).all()
    Tree.from_merges(forest.children, log_merge_odds=forest.log_odds)  # its constructor checks


def test_samples_grow_like_the_root():
    settings = Settings()
    assert [sample_size(n, settings) for n in (100, 4_096, 10_000, 1_000_000)] == [100, 512, 800, 4_096]
    assert sample_size(10**9, settings) == 4_096
    assert sample_size(50, Settings(sample_size=80)) == 50
    assert [default_max_depth(n, 256) for n in (10, 256, 257, 1_000_000)] == [4, 4, 6, 28]


def test_row_groups_tell_rows_by_their_bits():
    nan = np.nan
    rows = np.array([[1.0, nan], [0.0, 2.0], [1.0, -nan], [-0.0, 2.0], [1.0, 1.0], [0.0, 2.0]])
    assert row_groups(rows).tolist() == [0, 1, 0, 1, 2, 1]
    splits, heads = halved_groups(np.array([0, 2, 5, 6]))
    plan = splits.plan()
    assert plan.starts.tolist() == list(range(7))
    assert [(splits.low[head], splits.high[head]) for head in heads] == [(0, 2), (2, 5), (5, 6)]


@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_duplicates_merged_first(family):
    rng = generator(8)
    rates = np.repeat([5, 60, 300], 15)[:, None]
    spread = rng.integers(-1, 2, (45, 3)) if family == "poisson" else rng.normal(size=(45, 3))
    distinct = rates + spread
    values = rng.permutation(np.repeat(distinct, 10, axis=0)).astype(float)
    problem = new_problem(values, family)
    forest = merge_duplicates_first(problem, memory_limit=2.0**30, progress=None)
    tree = Tree.from_merges(forest.children, log_merge_odds=forest.log_odds)
    groups = row_groups(values)
    for group in range(groups.max() + 1):  # each group is the leaves of one node
        members = set(np.flatnonzero(groups == group).tolist())
        nodes = np.flatnonzero(tree.size == len(members))
        assert any(set(tree.items_below(int(node)).tolist()) == members for node in nodes)
    first, greedy = (
        BHC(likelihood=family, search="greedy", duplicates=how).fit(values) for how in ("merge_first", "exact")
    )
    assert adjusted_rand_score(first.labels_, greedy.labels_) == 1.0


def test_duplicates_merged_first_take_fewer_scores(monkeypatch):
    from bayesgrove.models.bhc import duplicates

    evaluations = []

    def counting(*arguments, **settings):
        merges = agglomerate(*arguments, **settings)
        evaluations.append(merges.n_evaluations)
        return merges

    monkeypatch.setattr(duplicates, "agglomerate", counting)
    problem = new_problem(np.repeat(generator(9).normal(size=(40, 2)), 10, axis=0))
    merge_duplicates_first(problem, memory_limit=2.0**30, progress=None)
    exact = agglomerate(
        problem.prior, atoms_of_rows(problem.prior, problem.values, 0.0), 0.0, complete=problem.complete
    )
    assert evaluations[0] * 50 < exact.n_evaluations


def test_cluster_statistics_pass_over_rows_without_a_cluster():
    values = generator(10).normal(size=(20, 2))
    problem = new_problem(values)
    labels = np.arange(20) % 3 - 1
    rows, sizes = cluster_statistics(problem.prior, problem.values, labels, 2)
    assert sizes.tolist() == [7.0, 6.0]
    expected = cluster_log_marginal(problem.prior, problem.values[labels == 1])
    assert log_marginal(problem.prior, rows[1]) == pytest.approx(expected, abs=1e-12)


def test_reassignment_repairs_a_spoiled_partition():
    rng = generator(11)
    truth = np.repeat([0, 1], 200)
    problem = new_problem(rng.normal(size=(400, 2)) + 8.0 * truth[:, None])
    spoiled = truth.copy()
    spoiled[::10] = 1 - spoiled[::10]
    labels, many_moved = reassign(problem, spoiled, 2)
    assert many_moved
    assert adjusted_rand_score(truth, labels) == 1.0
    again, many_moved = reassign(problem, labels, int(labels.max()) + 1)
    assert not many_moved
    assert adjusted_rand_score(truth, again) == 1.0


def test_half_cut_and_regraft_unite_what_a_split_tore_apart():
    rng = generator(12)
    problem = new_problem(np.vstack([rng.normal(centre, 1, (40, 2)) for centre in (0, 30)]))
    order = np.concatenate([np.arange(0, 80, 2), np.arange(1, 80, 2)])  # both blocks hold rows of both clusters
    splits = SplitTree(80)
    a, b = splits.new_node(), splits.new_node()
    splits.set_children(0, a, b)
    splits.low[a], splits.high[a], splits.low[b], splits.high[b] = 0, 40, 40, 80
    forest, _ = block_trees(problem, order, splits.plan())
    labels, heads = half_cut(forest.children, forest.log_odds, 80)
    tree = Tree.from_merges(forest.children, log_merge_odds=forest.log_odds)
    assert adjusted_rand_score(tree.cut(probability=0.5), labels) == 1.0
    assert heads.size == 4
    better = regrafted(problem, forest)
    united = Tree.from_merges(better.children, log_merge_odds=better.log_odds)
    assert united.cut(probability=0.5).max() == 1
    assert better.log_q[-1] > forest.log_q[-1]


def test_a_lonely_first_row_is_an_atom_like_any_other():
    values = np.vstack([[[500.0, -500.0]], generator(14).normal(size=(60, 2)), [[-800.0, 900.0]]])
    problem = new_problem(values)
    grown = grow(problem, Settings(leaf_size=8, sample_size=10))
    labels, heads = half_cut(grown.forest.children, grown.forest.log_odds, 62)
    assert {0, 61} <= set(heads.tolist())
    assert np.count_nonzero(labels == labels[0]) == 1


def test_nodes_above_the_cut():
    tree = Tree.from_merges([[0, 1], [2, 3], [4, 5], [6, 7]], log_merge_odds=[3.0, 3.0, -1.0, -2.0])
    front = np.array([5, 6, 4])
    assert sorted(above_front(tree, front).tolist()) == sorted(
        {int(p) for node in front for p in ancestors(tree, node)}
    )
    assert above_front(tree, np.array([tree.root])).size == 0


def ancestors(tree, node):
    while (node := tree.parent[node]) != NULL:
        yield node


@pytest.mark.parametrize("kind", ["gaussian", "bernoulli", "mixed"])
def test_the_column_that_differs_is_named_first(kind):
    rng = generator(13)
    group = np.repeat([0, 1], 60)
    noise = rng.normal(size=(120, 4))
    if kind == "bernoulli":
        X = (rng.random((120, 4)) < 0.5).astype(float)
        X[:, 2] = rng.random(120) < np.where(group, 0.99, 0.01)
        X[:, 1] = rng.random(120) < np.where(group, 0.95, 0.05)
    else:
        X = noise
        X[:, 2] += 14.0 * group
        if kind == "mixed":
            X[:, 0] = rng.random(120) < 0.5
    summary = BHC(likelihood="auto" if kind == "mixed" else kind, search="greedy").fit(X)._summaries[0]
    assert summary.size == 120
    assert sum(summary.child_sizes) == 120
    assert summary.probability < 0.5
    name, strength = summary.features[0]
    assert name == "x2"
    assert strength > 10.0
    assert [value for _, value in summary.features] == sorted((value for _, value in summary.features), reverse=True)

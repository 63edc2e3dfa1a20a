"""The search among trees of many rows: what it finds, step by step, and that storage and threads change no bit."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from bayesgrove import BHC, RandomizedBHC
from bayesgrove.agglomeration import randomized_search, reopening
from bayesgrove.agglomeration.learn import evidence_bound, new_space
from bayesgrove.agglomeration.partition_moves import LEAST_SEPARATION
from bayesgrove.agglomeration.randomized_search import merged, search_rows, tree_of_partition
from bayesgrove.agglomeration.reassign import partition_log_joint
from bayesgrove.agglomeration.reopening import merge_near, partition_of, reopened
from bayesgrove.agglomeration.splits import Problem, Settings
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import GaussianDiagonal, bind
from bayesgrove.trees import Tree

pytestmark = pytest.mark.exact


def problem_of(values, family="gaussian", **more):
    bound = bind(family, values, "fixed")
    return Problem(bound.prior, bound.values, 0.0, not np.isnan(bound.values).any(), 0, 1, **more)


def blobs(n, n_clusters, n_columns=2, seed=1, spread=40.0):
    rng = generator(seed)
    truth = rng.integers(0, n_clusters, n)
    return rng.uniform(-spread, spread, (n_clusters, n_columns))[truth] + rng.normal(size=(n, n_columns)), truth


def log_joint(problem, partition):
    return partition_log_joint(problem.prior, partition.rows, partition.sizes, problem.log_concentration)


# ---------------------------------------------------------------- planted traps


def with_a_small_cluster():
    """Three large clusters and one of 60 rows near the second: a sample of 30 rows of 6,060 misses it."""
    rng = generator(3)
    truth = np.repeat([0, 1, 2, 3], [2000, 2000, 2000, 60])
    centres = np.array([[0.0, 0.0], [60.0, 0.0], [0.0, 60.0], [60.0, 9.0]])
    order = rng.permutation(truth.size)
    return centres[truth[order]] + rng.normal(size=(truth.size, 2)), truth[order]


def test_a_cluster_that_the_sample_missed_is_found_in_its_neighbour():
    X, truth = with_a_small_cluster()
    problem = problem_of(X)
    coarse = partition_of(problem, np.where(truth == 3, 1, truth))
    found, n_rounds = reopened(problem, 500, coarse, 0)
    assert n_rounds == 1
    assert adjusted_rand_score(truth, found.labels) == 1.0
    rows, sizes = partition_of(problem, found.labels)[1:]
    np.testing.assert_allclose(found.rows, rows, rtol=1e-9)
    np.testing.assert_array_equal(found.sizes, sizes)


def test_without_reopening_many_clusters_are_missed(monkeypatch):
    X, truth = blobs(10_000, 200, n_columns=5, seed=5)
    settings = {
        "likelihood": GaussianDiagonal.learned(),
        "sample_size": 100,
        "clusters": "components",
        "random_state": 0,
    }
    model = RandomizedBHC(**settings).fit(X)
    assert model.n_clusters_ == 200
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    monkeypatch.setattr(randomized_search, "reopened", lambda problem, n, partition, turn: (partition, 0))
    assert adjusted_rand_score(truth, RandomizedBHC(**settings).fit(X).labels_) < 0.95


def test_a_sample_with_a_row_or_two_of_each_cluster_is_followed_by_a_larger_one(monkeypatch):
    X, truth = blobs(5_000, 150, n_columns=5, seed=5)
    monkeypatch.setattr(randomized_search, "SAMPLED_ROWS", 150)
    model = RandomizedBHC(random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    monkeypatch.setattr(randomized_search, "LARGER", 1)
    assert RandomizedBHC(random_state=0).fit(X).n_clusters_ == 1


def test_flat_round_and_long_tailed_clusters_are_not_split():
    rng = generator(6)
    for X in (rng.random((3_000, 2)), rng.standard_t(4, (3_000, 2)), rng.normal(size=(3_000, 3))):
        problem = problem_of(X)
        found, n_rounds = reopened(problem, 500, partition_of(problem, np.zeros(3_000, np.int64)), 0)
        assert (found.sizes.size, n_rounds) == (1, 0)


def test_parts_of_a_sample_that_all_rows_do_not_bear_out_are_merged_again(monkeypatch):
    X = generator(7).normal(size=(2_000, 2))
    problem = problem_of(X)
    whole = partition_of(problem, np.zeros(2_000, np.int64))
    monkeypatch.setattr(reopening, "find_parts", lambda problem, samples, members: [rows % 3 for rows in members])
    found, n_rounds = reopened(problem, 500, whole, 0)
    assert (found.sizes.size, n_rounds) == (1, 0)


# ---------------------------------------------------------------- steps against plain versions


def plain_merge_near(problem, rows_of, least):
    """Sets of rows; the pair that is least apart is merged until all are `least` apart."""
    sets = [list(rows) for rows in rows_of]

    def weight(rows):
        own = partition_of(problem, np.where(np.isin(np.arange(len(problem.values)), rows), 0, 1))
        return log_joint(problem, own._replace(rows=own.rows[:1], sizes=own.sizes[:1]))

    while len(sets) > 1:
        pairs = {}
        for b in range(len(sets)):
            for a in range(b):
                gain = weight(sets[a]) + weight(sets[b]) - weight(sets[a] + sets[b])
                n_a, n_b = len(sets[a]), len(sets[b])
                pairs[a, b] = gain * (n_a + n_b) / (2.0 * n_a * n_b)
        a, b = min(pairs, key=pairs.get)
        if pairs[a, b] >= least:
            break
        sets[a] += sets.pop(b)
    return {frozenset(rows) for rows in sets}


@pytest.mark.parametrize("seed", range(5))
def test_near_parts_are_merged_as_by_the_plain_version(seed):
    rng = generator(seed, 8)
    X = rng.normal(size=(80, 2)) + rng.choice([0.0, 3.0, 6.0, 12.0], (80, 1))
    problem, labels = problem_of(X), rng.integers(0, 7, 80)
    labels = np.where(rng.random(80) < 0.7, np.searchsorted([1.5, 4.5, 9.0], X[:, 0]), labels)
    partition = partition_of(problem, labels)
    near = merge_near(problem.prior, partition.rows, partition.sizes, 0.0, LEAST_SEPARATION)
    members = [np.flatnonzero(partition.labels == k).tolist() for k in range(partition.sizes.size)]
    found = {frozenset(np.flatnonzero(near[partition.labels] == k).tolist()) for k in range(near.max() + 1)}
    assert found == plain_merge_near(problem, members, LEAST_SEPARATION)


def test_merging_raises_the_log_joint_and_unites_torn_clusters():
    X, truth = blobs(600, 5, seed=9)
    problem = problem_of(X)
    torn = partition_of(problem, 3 * truth + generator(10).integers(0, 3, 600))
    united = merged(problem, torn)
    assert adjusted_rand_score(truth, united.labels) == 1.0
    assert log_joint(problem, united) > log_joint(problem, torn)
    assert merged(problem, united) is united


@pytest.mark.parametrize("inner", ["halve", "truncate"])
@pytest.mark.parametrize("most_tempered", [0, 10_000])
def test_clusters_stand_in_the_tree(monkeypatch, inner, most_tempered):
    X, truth = blobs(900, 6, seed=11)
    problem = problem_of(X)
    monkeypatch.setattr(randomized_search, "MOST_TEMPERED", most_tempered)
    state = randomized_search.State(np.empty(0), partition_of(problem, truth))
    grown = tree_of_partition(problem, Settings(leaf_size=32, inner=inner), state)
    tree = Tree.from_merges(grown.forest.children, log_merge_odds=grown.forest.log_odds)  # checks the merges
    sets = {frozenset(tree.items_below(node).tolist()) for node in range(tree.n_nodes) if tree.size[node] > 50}
    assert {frozenset(np.flatnonzero(truth == k).tolist()) for k in range(6)} <= sets


def test_too_many_clusters_fall_back_to_dividing_by_samples(monkeypatch, caplog):
    X, truth = blobs(700, 6, seed=12)
    monkeypatch.setattr(randomized_search, "MOST_ATOMS", 3)
    model = RandomizedBHC("gaussian", sample_size=200, random_state=0).fit(X)
    assert "6 clusters are too many for a tree over them (3 at most)" in caplog.text
    assert adjusted_rand_score(truth, model.labels_) == 1.0


def test_the_bound_is_near_that_of_the_exact_search():
    X, _ = blobs(700, 6, seed=13)
    problem = problem_of(X)
    space = new_space(problem.prior, 0.0, (), learn_concentration=False)
    grown = search_rows(problem, Settings(leaf_size=32, sample_size=400), space, problem.values[:400]).grown
    exact = BHC("gaussian", hyper="fixed").fit(X)
    bound = evidence_bound(grown.log_q, 700, 0.0) + bind("gaussian", X, "fixed").log_measure
    assert bound == pytest.approx(exact.log_evidence_, abs=1.0)


# ---------------------------------------------------------------- whole fits


def grid(n, seed=0):
    """31 separated Gaussians in two columns, ten standard deviations apart."""
    rng = generator(seed)
    truth = rng.integers(0, 31, n)
    return 10.0 * np.column_stack(np.divmod(truth, 6)) + rng.normal(size=(n, 2)), truth


def test_31_blobs_on_a_grid():
    X, truth = grid(4_000)
    model = RandomizedBHC(random_state=0).fit(X)
    assert model.n_clusters_ == 31
    assert adjusted_rand_score(truth, model.labels_) >= 0.99


def test_one_cloud_stays_one_cluster():
    assert RandomizedBHC(random_state=0).fit(generator(1).normal(size=(6_000, 5))).n_clusters_ == 1


def test_few_rows_are_clustered_as_by_bhc():
    X, _ = blobs(300, 4)
    model, exact = (kind(GaussianDiagonal.learned(), random_state=0).fit(X) for kind in (RandomizedBHC, BHC))
    assert model.log_evidence_ == exact.log_evidence_
    np.testing.assert_array_equal(model.tree_.parent, exact.tree_.parent)
    assert model.likelihood_ == exact.likelihood_


def mixed_rows(n):
    rng = generator(14)
    X, truth = blobs(n, 4, seed=14)
    yes = rng.random((n, 3)) < np.array([[0.1, 0.9, 0.1], [0.9, 0.1, 0.1], [0.9, 0.9, 0.9], [0.1, 0.1, 0.9]])[truth]
    cells = np.column_stack([X, yes])
    cells[rng.random(cells.shape) < 0.05] = np.nan
    return cells, truth


@pytest.mark.parametrize("kind", ["complete", "missing", "mixed"])
def test_threads_and_blocks_change_no_bit(kind):
    X, truth = mixed_rows(900) if kind == "mixed" else blobs(2_000, 12, seed=15)
    if kind == "missing":
        X[generator(16).random(X.shape) < 0.05] = np.nan
    settings = {"sample_size": 150, "leaf_size": 40, "random_state": 0}
    one = RandomizedBHC(n_jobs=1, **settings).fit(X)
    assert adjusted_rand_score(truth, one.labels_) > 0.9
    for model in (RandomizedBHC(n_jobs=3, **settings).fit(X), RandomizedBHC(**settings).fit([X[:700], X[700:]])):
        assert model.log_evidence_ == one.log_evidence_
        assert repr(model.likelihood_) == repr(one.likelihood_)
        np.testing.assert_array_equal(model.tree_.parent, one.tree_.parent)
        np.testing.assert_array_equal(model.tree_.columns["log_merge_odds"], one.tree_.columns["log_merge_odds"])


def test_an_option_of_the_division_implies_the_greedy_search():
    X, _ = blobs(400, 4)
    settings = {"split": "root", "sample_size": 60, "leaf_size": 40, "random_state": 0}
    default, greedy = (RandomizedBHC(**settings, **more).fit(X) for more in ({}, {"search": "greedy"}))
    assert default.log_evidence_ == greedy.log_evidence_
    assert "joined" in default.result_.details


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_31_blobs_on_a_grid_of_20_000_rows(seed):
    X, truth = grid(20_000, seed)
    model = RandomizedBHC(random_state=seed).fit(X)
    assert model.n_clusters_ == 31
    assert adjusted_rand_score(truth, model.labels_) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_400_clusters_of_which_a_sample_shows_few(seed):
    rng = generator(seed, 17)
    truth = rng.integers(0, 400, 20_000)
    X = rng.normal(0, 12, (400, 5))[truth] + rng.normal(size=(20_000, 5))
    model = RandomizedBHC(random_state=seed).fit(X)
    assert 380 <= model.n_clusters_ <= 405
    assert adjusted_rand_score(truth, model.labels_) >= 0.98


@pytest.mark.slow
def test_a_large_cloud_stays_one_cluster():
    assert RandomizedBHC(random_state=0).fit(generator(2).normal(size=(50_000, 5))).n_clusters_ == 1

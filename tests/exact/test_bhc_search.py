"""The search for a tree of high evidence: its parts against slow twins, its answers on data with known clusters."""

import itertools
import math

import numpy as np
import pytest
from sklearn.datasets import load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

from bayesgrove import BHC
from bayesgrove.agglomeration.learn import bound_and_gradient, fixed_tree, joint_and_gradient, new_space
from bayesgrove.agglomeration.partition_moves import Rows, log_joint_missed, merged, reopened
from bayesgrove.agglomeration.reassign import reassigned
from bayesgrove.agglomeration.regrow import induced_merges, last_merges_undone, layout_of, most_probable_cut
from bayesgrove.agglomeration.search import Clusters, Search, polish, search_tree, start_tree, upper_tree
from bayesgrove.agglomeration.splits import Problem
from bayesgrove.agglomeration.statistics import cluster_statistics
from bayesgrove.likelihoods import GaussianDiagonal, bind, log_marginal
from bayesgrove.likelihoods.coordinates import column_grain, coordinates, with_coordinates, with_grain
from bayesgrove.models.bhc.fit import tree_of
from bayesgrove.stats.partitions import adjusted_rand, relabel
from bayesgrove.trees import Tree
from bayesgrove.trees.cuts import front_by_map, labels_of_front
from conftest import ALL_LIKELIHOODS
from reference.bhc import evidence_of, exact_evidence, grow
from reference.tables import FAMILIES, merges_of
from reference.trees import random_merges

pytestmark = pytest.mark.exact


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("scores", ["light", "matrix32"])
def test_tempered_merges_are_the_twins(name, missing, scores):
    for seed in range(3):
        rng = np.random.default_rng([71, seed])
        prior, values = FAMILIES[name](rng, 24)
        values[rng.random(values.shape) < missing] = np.nan
        got = merges_of(prior, values, tempered=True, scores=scores)
        expected = grow(evidence_of(name, prior, values), 24, 0.0, tempered=True)
        assert got.children.tolist() == expected.children.tolist()
        np.testing.assert_allclose(got.log_odds[24:], expected.log_odds[24:], atol=1e-8)
        np.testing.assert_allclose(got.log_q, expected.log_q, atol=1e-8)


def test_columns_of_different_strengths_are_scored_by_the_fast_kernel_too():
    rng = np.random.default_rng(72)
    prior, values = FAMILIES["gaussian"](rng, 40)
    prior = prior._replace(strength=rng.uniform(0.01, 3.0, prior.mean.size))
    for tempered in (False, True):
        got = merges_of(prior, values, tempered=tempered)
        expected = grow(evidence_of("gaussian", prior, values), 40, 0.0, tempered=tempered)
        assert got.children.tolist() == expected.children.tolist()


def test_induced_trees_keep_the_order_in_which_rows_met():
    rng = np.random.default_rng(73)
    for n in (2, 3, 9, 40):
        children = random_merges(rng, n)
        below = [frozenset([i]) for i in range(n)]
        for a, b in children:
            below.append(below[a] | below[b])
        labels = relabel(rng.integers(0, max(1, n // 4), n))
        got, roots = induced_merges(layout_of(np.asarray(children), n), labels)
        found = [frozenset([i]) for i in range(n)]
        for a, b in got:
            found.append(found[a] | found[b])
        for k in range(labels.max() + 1):
            own = frozenset(np.flatnonzero(labels == k).tolist())
            assert found[roots[k]] == own
            assert {part for part in found if part <= own} == {part & own for part in below if part & own}


@pytest.mark.parametrize("example", ALL_LIKELIHOODS, ids=lambda example: example.name)
def test_passes_never_lower_the_log_joint(example):
    values = example.data(74, 40, missing=0.1)
    rows = Rows(example.prior, values, math.log(0.7), complete=False)
    labels = relabel(np.random.default_rng(74).integers(0, 6, 40))
    joints = [rows.log_joint(labels)]
    for _ in range(4):
        labels = rows.settle(labels, 1)
        joints.append(rows.log_joint(labels))
    assert all(after >= before - 1e-9 for before, after in itertools.pairwise(joints))
    assert joints[-1] > joints[0]
    assert rows.log_joint(merged(rows, labels)) >= joints[-1] - 1e-9


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "categorical"])
def test_fast_and_plain_passes_agree(name):
    prior, values = FAMILIES[name](np.random.default_rng(75), 60)
    values = np.nan_to_num(values)
    labels = relabel(np.random.default_rng(76).integers(0, 5, 60))
    fast, plain = (reassigned(prior, values, labels, 0.0, complete=complete, n_passes=3) for complete in (True, False))
    assert fast.tolist() == plain.tolist()


def test_a_row_ends_where_no_other_cluster_explains_it_better():
    """Against all moves of single rows, from the raw rows."""
    prior, values = FAMILIES["gaussian"](np.random.default_rng(77), 25)
    mixed = relabel(np.random.default_rng(78).integers(0, 4, 25))
    labels = reassigned(prior, values, mixed, 0.0, complete=True, n_passes=50)
    assert labels.tolist() != mixed.tolist()
    evidence = evidence_of("gaussian", prior, values)

    def joint(labels):
        parts = [frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]
        return sum(math.lgamma(len(part)) + evidence(part) for part in parts)

    here = joint(labels)
    for i, k in itertools.product(range(25), range(int(labels.max()) + 2)):
        moved = labels.copy()
        moved[i] = k
        assert joint(moved) <= here + 1e-6


@pytest.mark.parametrize("example", ALL_LIKELIHOODS, ids=lambda example: example.name)
def test_gradient_of_the_log_joint_against_differences(example):
    values = example.data(78, 25, missing=0.1)
    rows = Clusters(*cluster_statistics(example.prior, values, np.arange(25) % 3, 3))
    here, step = np.zeros(len(coordinates(example.prior)) + 1), 1e-5

    def at(log_factors):
        gradient = np.zeros(here.size)
        moved = with_coordinates(example.prior, np.exp(log_factors[:-1]))
        return joint_and_gradient(moved, rows, 0.3 + log_factors[-1], gradient), gradient

    gradient = at(here)[1]
    for k, move in enumerate(step * np.eye(here.size)):
        assert gradient[k] == pytest.approx((at(here + move)[0] - at(here - move)[0]) / (2 * step), rel=1e-5, abs=1e-6)


def test_the_upper_tree_has_the_bound_of_the_whole():
    X, _ = make_blobs(120, 2, centers=4, random_state=3)
    bound = bind("auto", X)
    merges = merges_of(bound.prior, bound.values, tempered=True)
    tree = Tree.from_merges(merges.children, log_merge_odds=merges.log_odds)
    whole, upper = fixed_tree(bound.prior, bound.values, tree), None
    space = new_space(bound.prior, 0.0, bound.free, learn_concentration=True)
    search = Search(Problem(bound.prior, bound.values, 0.0, True, 0, 1), space, merges.children)
    found = search.weigh(space.origin, merges.children)
    upper = upper_tree(bound.prior, bound.values, found.forest)
    assert upper.parent.size < whole.parent.size
    gradients = np.zeros((2, len(coordinates(bound.prior)) + 1))
    bounds = [bound_and_gradient(bound.prior, t, 0.0, g) for t, g in zip((whole, upper), gradients, strict=True)]
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-8)
    np.testing.assert_allclose(gradients[0], gradients[1], atol=1e-6)
    labels, n_clusters = most_probable_cut(
        found.forest.children, found.forest.log_odds, found.forest.log_q, found.forest.leaf_log_q
    )
    table = tree_of(found.forest, 0.0)
    assert relabel(labels).tolist() == labels_of_front(table, front_by_map(table)).tolist()
    assert n_clusters == labels.max() + 1
    assert np.unique(last_merges_undone(merges.children, 120, 7)).size == 7


def test_grain_is_the_step_of_rounded_columns():
    rng = np.random.default_rng(79)
    assert column_grain(rng.normal(0, 3, 400).round(1)) == pytest.approx(0.1)
    assert column_grain(rng.integers(0, 30, 400).astype(float)) == 1.0
    assert column_grain(np.array([0.3, 0.1 + 0.2, 1.3, 2.3, np.nan])) == pytest.approx(1.0)  # no step of one rounding
    assert column_grain(np.full(5, 2.0)) == 0.0
    assert column_grain(rng.normal(size=4_000)) < 1e-2


def test_a_grained_bound_is_below_the_evidence_of_dithered_rows():
    """Rows that are spread evenly over their rounding intervals; 4 standard errors: a false alarm in 30,000."""
    rng = np.random.default_rng(80)
    likelihood = GaussianDiagonal(mean=0.0, strength=0.2, shape=2.0, rate=0.3, grain=0.5)
    for _ in range(5):
        values = rng.normal(size=(4, 2)).round(0) / 2
        bound = bind(likelihood, values, hyper="fixed")
        grained = exact_evidence(evidence_of("gaussian", bound.prior, bound.values), 4, 0.0)
        exact = bound.prior._replace(grain=np.zeros(2))
        step = np.sqrt(12.0 * bound.prior.grain)
        dithered = np.array(
            [
                exact_evidence(
                    evidence_of("gaussian", exact, bound.values + step * rng.uniform(-0.5, 0.5, (4, 2))), 4, 0.0
                )
                for _ in range(400)
            ]
        )
        weights = np.exp(dithered - dithered.max())
        mean = math.log(weights.mean()) + dithered.max()
        assert grained <= mean + 4.0 * weights.std() / weights.mean() / 20.0
        assert grained > mean - 4.0
    assert log_marginal(likelihood, values) < log_marginal(GaussianDiagonal(0.0, 0.2, 2.0, 0.3), values)


def fitted_labels(X, **settings):
    return BHC(random_state=0, **settings).fit(X).labels_


@pytest.mark.parametrize("n", [300, 1_500])
@pytest.mark.parametrize("n_centres", [3, 5])
def test_separated_blobs_in_the_plane_are_found(n, n_centres):
    """The published order finds five centres in 300 rows and loses them in 2,000."""
    for seed in range(3):
        rng = np.random.default_rng([81, seed])
        centres = 8.0 * rng.permutation([[i, j] for i in range(3) for j in range(3)])[:n_centres]
        truth = rng.integers(0, n_centres, n)
        X = centres[truth] + rng.normal(size=(n, 2))
        assert adjusted_rand(fitted_labels(X), truth) > 0.99


def test_the_published_order_chains_where_clusters_are_large():
    """Why there is a search at all: five centres in the plane, 2,000 rows, three seeds."""
    scores = {"greedy": [], "best": []}
    for seed in range(3):
        X, truth = make_blobs(2_000, 2, centers=5, cluster_std=0.6, random_state=seed)
        for search, found in scores.items():
            found.append(adjusted_rand(fitted_labels(StandardScaler().fit_transform(X), search=search), truth))
    assert np.mean(scores["best"]) > 0.98
    assert np.mean(scores["greedy"]) < 0.9


def test_columns_without_information_and_other_units_change_nothing(caplog):
    X = load_wine().data
    labels = fitted_labels(X).tolist()
    assert fitted_labels(np.column_stack([X, np.full(178, 7.0)])).tolist() == labels
    assert "left out because they are constant" in caplog.text
    assert fitted_labels(np.column_stack([np.full(178, np.nan), X])).tolist() == labels
    assert fitted_labels(X * np.logspace(-6, 6, 13) + 3.0).tolist() == labels


def test_two_halves_of_a_column_are_not_one_cluster_for_certain():
    rng = np.random.default_rng(0)
    X = np.r_[rng.beta(2, 8, 250), rng.beta(8, 2, 250)][:, np.newaxis] * 100
    model = BHC().fit(X)
    assert model.n_clusters_ >= 2
    assert model.tree_.nodes["probability"][-1] < 0.5
    assert model.result_.details["log_joint_missed"] < 1.0


@pytest.mark.statistical
def test_one_gaussian_cloud_stays_one_cluster():
    """Twelve clouds of many shapes; every false split counts."""
    wrong = 0
    for seed, (n, d) in enumerate([(60, 1), (60, 2), (60, 8), (400, 1), (400, 2), (400, 8)] * 2):
        rng = np.random.default_rng([82, seed])
        X = rng.normal(size=(n, d)) @ np.diag(rng.uniform(0.1, 9.0, d))
        wrong += fitted_labels(X.round(1) if seed % 2 else X).max() > 0
    assert wrong <= 1


@pytest.mark.statistical
def test_no_polish_from_the_true_labels_beats_the_search():
    """Eight random sets of blobs, one to five columns, two to nineteen clusters."""
    for seed in range(8):
        rng = np.random.default_rng([83, seed])
        X, truth = make_blobs(
            400,
            int(rng.integers(1, 6)),
            centers=int(rng.integers(2, 20)),
            cluster_std=rng.uniform(0.5, 1.5),
            random_state=seed,
        )
        bound = bind("auto", StandardScaler().fit_transform(X))
        prior = with_grain(bound.prior, bound.values, bound.open_grain)
        problem = Problem(prior, bound.values, 0.0, True, 0, 1)
        space = new_space(prior, 0.0, bound.free, learn_concentration=False)
        search, labels = Search(problem, space, start_tree(problem, space)), relabel(truth)
        where = search.learn_partition(space.origin, labels)
        from_truth = polish(search, search.learn_tree(search.regrow(where, labels)))
        assert search_tree(problem, space).bound > from_truth.bound - 1.0


def test_reopening_finds_what_a_partition_has_joined():
    """The trap: two clusters far apart under one label, which no move of a single row can part."""
    rng = np.random.default_rng(84)
    values = np.ascontiguousarray(rng.normal(size=(90, 2)) + 12.0 * (np.arange(90) % 3 == 0)[:, np.newaxis])
    prior = bind("gaussian", values, hyper="fixed").prior
    rows = Rows(prior, values, 0.0, complete=True)
    together = np.zeros(90, np.int64)
    assert log_joint_missed(rows, together) > 50.0
    assert reopened(rows, together).max() == 1
    assert log_joint_missed(rows, reopened(rows, together)) < 1.0


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_any_number_of_jobs_gives_the_same_tree(n_jobs):
    X, _ = make_blobs(4_100, 3, centers=6, random_state=1)
    model, other = BHC(n_jobs=2).fit(X), BHC(n_jobs=n_jobs).fit(X)
    assert model.log_evidence_ == other.log_evidence_
    assert np.array_equal(model.tree_.parent, other.tree_.parent)


def test_settings_of_the_greedy_tree_are_refused():
    with pytest.raises(ValueError, match="refine and duplicates belong to the greedy tree"):
        BHC(refine=1).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="search must be"):
        BHC(search="exact").fit([[0.0], [1.0]])

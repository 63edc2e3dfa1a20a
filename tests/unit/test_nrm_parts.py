"""Parts of the mixture's sampler that know trees: guides, launches, potentials, greedy merging."""

import itertools
import math

import numpy as np
import pytest

from bayesgrove.agglomeration import potentials as greedy
from bayesgrove.agglomeration.exact import atoms_of_rows
from bayesgrove.core.rng import generator
from bayesgrove.models.nrm import guide, launch, state
from bayesgrove.models.nrm.local import draw_subtree
from bayesgrove.models.nrm.points import euclidean_points
from reference import nrm, nrm_trees
from reference.mixtures import DP, NGGP, build, guide_of, known_variance, log_kappa
from reference.trees import random_merges

pytestmark = pytest.mark.unit
ROWS = np.array([-2.1, -1.3, 0.4, 0.9, 3.2, 0.1, -0.4])


def random_tree(seed, n_leaves):
    trees = [nrm_trees.leaf(i) for i in range(n_leaves)]
    for a, b in random_merges(np.random.default_rng(seed), n_leaves):
        trees.append(nrm_trees.join(trees[a], trees[b]))
    return trees[-1]


def unions(n, smallest=2):
    """All subsets, as sorted tuples."""
    for size in range(smallest, n + 1):
        yield from itertools.combinations(range(n), size)


def gathered(tree, union):
    """Members (as points) and keys as the library has them."""
    order, key = guide_of(tree)
    labels = np.isin(order, union).astype(np.int64)
    members, keys = np.empty((2, order.size), np.int64)
    n_members = launch.gather(labels, key, 1, 1, members, keys)
    return members[:n_members], keys[: max(n_members - 1, 0)], order


# The guide restricted to a union


@pytest.mark.parametrize("seed", range(6))
def test_members_and_keys_of_a_union(seed):
    tree = random_tree(seed, 7)
    for union in unions(7, 1):
        members, keys, order = gathered(tree, union)
        wanted = nrm_trees.keys_of(nrm_trees.leaf_order(tree), frozenset(union))
        assert (order[members].tolist(), keys.tolist()) == wanted


@pytest.mark.parametrize("seed", range(3))
def test_launch_cuts_at_the_common_ancestor_and_keeps_blocks_whole(seed):
    """Every block of the twin's walk lies on one side, the ancestor's children on their own."""
    tree, prior, rng = random_tree(10 + seed, 6), known_variance(1), generator(seed)
    kappa = log_kappa(DP, 0.0, 6)
    on_both_sides = set()
    for union in unions(6):
        members, keys, order = gathered(tree, union)
        for one, two in itertools.permutations(range(len(union)), 2):
            sides = np.full(len(union), -1)
            rows, sizes = np.zeros((4, state.n_stats(prior))), np.zeros(4, np.int64)
            values = np.ascontiguousarray(ROWS[order][:, None])
            at = np.array([one, two])
            launch.launch_by_tree(rng, prior, values, kappa, members, keys, len(union), at, sides, rows, sizes)
            points = order[members]
            walk = nrm_trees.walk_by_tree(
                nrm_trees.restrict(tree, frozenset(union)), int(points[one]), int(points[two])
            )
            side = dict(zip(points.tolist(), sides.tolist(), strict=True))
            assert {side[point] for point in walk.first} == {0}
            assert {side[point] for point in walk.second} == {1}
            for block in walk.blocks:
                (own,) = {side[point] for point in block}
                on_both_sides.add(own)
            assert sizes[:2].tolist() == [(sides == 0).sum(), (sides == 1).sum()]
    assert on_both_sides == {0, 1}


def potentials_of(tree, values, kappa, prior):
    """log d by leaf set, and log T of the root."""
    order, key = guide_of(tree)
    n = order.size
    log_d, first, last = np.empty(n - 1), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    ordered = np.ascontiguousarray(values[order][:, None])
    log_t = guide.tree_potentials(prior, ordered, np.arange(n), key, kappa, log_d, first, last)
    nodes = [frozenset(order[a : b + 1].tolist()) for a, b in zip(first, last, strict=True)]
    return dict(zip(nodes, log_d.tolist(), strict=True)), log_t


@pytest.mark.parametrize("seed", range(8))
def test_tree_potentials_equal_the_twin(seed):
    tree, prior = random_tree(20 + seed, 7), known_variance(1)
    log_phi = nrm.phi_of(nrm.gaussian_evidence(ROWS, 1.0, 9.0), nrm.GeneralisedGamma(1.0, 0.5), 0.7)
    found, log_t = potentials_of(tree, ROWS, log_kappa(NGGP, 0.7, 7), prior)
    wanted = nrm_trees.potentials(tree, log_phi)
    assert log_t == pytest.approx(wanted[tree.root].log_t, rel=1e-10)
    assert set(found) == set(tree.children)
    for node, log_d in found.items():
        assert log_d == pytest.approx(wanted[node].log_d, rel=1e-9, abs=1e-9)


def golden_case(golden, name):
    """A golden case, its data and its prior."""
    numbers = golden("nrm")
    inputs = numbers["posterior"][numbers[name]["data"]]["inputs"]
    values = np.array(inputs["X"], float)
    return numbers[name], values, known_variance(values.shape[1], inputs["s2"], inputs["t2"])


def test_golden_tree_potentials(golden):
    case, values, prior = golden_case(golden, "tree_potentials")
    tree = nrm_trees.parse(case["tree"])
    found, log_t = potentials_of(tree, values[:, 0], log_kappa(DP, 0.0, 5), prior)
    texts = {text: node for node, text in nrm_trees.node_texts(tree).items()}
    inner = [node for node in case["nodes"] if "," in node["node"]]
    assert len(inner) == 4
    for node in inner:
        assert found[texts[node["node"]]] == pytest.approx(node["log_d"], rel=1e-9, abs=1e-9)
    assert log_t == pytest.approx(max(node["log_T"] for node in inner if node["node"] == case["tree"]), rel=1e-9)


def test_a_deep_tree_needs_a_deep_stack():
    """A chain of 300 leaves, in both directions, against the recursion with the marginals' formula."""
    n, prior = 300, known_variance(1)
    values = np.ascontiguousarray(generator(1).normal(0, 2, (n, 1)))
    kappa, m = log_kappa(DP, 0.0, n), np.arange(1, n + 1)
    squares = np.cumsum(values**2) - np.cumsum(values) ** 2 / (m + 1 / 9)
    log_phi = kappa[m] - 0.5 * (m * math.log(2 * math.pi) - np.log(1 / 9 / (m + 1 / 9)) + squares)
    leaves = kappa[1] - 0.5 * (math.log(2 * math.pi) + math.log(10.0) + values[:, 0] ** 2 / 10.0)
    wanted = leaves[0]
    for k in range(1, n):
        wanted = np.logaddexp(log_phi[k], wanted + leaves[k])
    for key in (np.arange(n - 1), np.arange(n - 1)[::-1].copy()):
        ordered = values if key[0] == 0 else np.ascontiguousarray(values[::-1])
        log_d, first, last = np.empty(n - 1), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
        log_t = guide.tree_potentials(prior, ordered, np.arange(n), key, kappa, log_d, first, last)
        assert log_t == pytest.approx(wanted, rel=1e-10)


# Greedy merging


def texts_of(children, n_atoms):
    """Nested pairs of every node."""
    texts = [str(i) for i in range(n_atoms)]
    for a, b in children:
        texts.append(f"({texts[a]},{texts[b]})")
    return texts


def test_golden_greedy_tree(golden):
    case, values, prior = golden_case(golden, "bhc_greedy")
    rows, sizes = atoms_of_rows(prior, values, 0.0).rows, np.ones(5, np.int64)
    found = greedy.greedy_merges(prior, log_kappa(DP, 0.0, 5), rows, sizes, stop=False)
    assert nrm_trees.parse(texts_of(found.children, 5)[-1]) == nrm_trees.parse(case["tree"])
    assert found.log_potential == pytest.approx(case["log_T"], rel=1e-9)
    assert found.labels.tolist() == [0] * 5
    np.testing.assert_array_equal(sizes, 1)  # inputs are left alone


@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_greedy_merges_equal_the_twin(seed, stop):
    values = generator(seed).normal(0, 3, 9)
    prior, kappa = known_variance(1), log_kappa(NGGP, 0.3, 9)
    rows = atoms_of_rows(prior, np.ascontiguousarray(values[:, None]), 0.0).rows
    found = greedy.greedy_merges(prior, kappa, rows, np.ones(9, np.int64), stop=stop)
    log_phi = nrm.phi_of(nrm.gaussian_evidence(values, 1.0, 9.0), nrm.GeneralisedGamma(1.0, 0.5), 0.3)
    forest = nrm_trees.greedy_bhc(range(9), log_phi, 0.0 if stop else math.inf)
    wanted = nrm.partition_of([tree.root for tree in forest])
    assert tuple(found.labels.tolist()) == wanted
    total = sum(nrm_trees.potentials(tree, log_phi)[tree.root].log_t for tree in forest)
    assert found.log_potential == pytest.approx(total, rel=1e-9)
    assert len(found.children) == 9 - len(forest)


# Guide trees over all points


def check_guide(order, key, n):
    """A permutation and a binary tree: parents' keys above those of all below, each key once."""
    assert sorted(order.tolist()) == list(range(n))
    assert sorted(key.tolist()) == list(range(n - 1))
    waiting = [(0, n - 1)]
    while waiting:
        low, high = waiting.pop()
        if low < high:
            top = low + int(np.argmax(key[low:high]))
            waiting += [(low, top), (top + 1, high)]


POINTS = {
    "spread": lambda rng, n: rng.normal(size=(n, 3)),
    "duplicates": lambda rng, n: rng.integers(0, 2, (n, 2)).astype(float),
    "constant": lambda rng, n: np.ones((n, 2)),
    "one far": lambda rng, n: np.where(np.arange(n)[:, None] == n // 2, 1e4, rng.normal(size=(n, 1))),
}


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 100, 700])
@pytest.mark.parametrize("kind", POINTS)
def test_guides_are_binary_trees(kind, n):
    points = np.ascontiguousarray(POINTS[kind](generator(1), n))
    check_guide(*guide.ward_guide(points), n)
    check_guide(*guide.bisect(generator(2), points), n)


def test_large_tables_are_bisected():
    points = generator(1).normal(size=(guide.WARD_ROWS + 1, 2))
    for found, wanted in zip(guide.make_guide(generator(5), points), guide.bisect(generator(5), points), strict=True):
        np.testing.assert_array_equal(found, wanted)
    small = points[:50]
    np.testing.assert_array_equal(guide.make_guide(generator(5), small)[0], guide.ward_guide(small)[0])


@pytest.mark.parametrize("grow", [guide.ward_guide, lambda points: guide.bisect(generator(3), points)])
def test_guides_find_groups_far_apart(grow):
    """Each of three groups is a node: its leaves stand together, with keys between them below those at its ends."""
    rng = generator(4)
    truth = rng.integers(0, 3, 400)
    order, key = grow(np.ascontiguousarray(rng.normal(size=(400, 2)) + 100.0 * np.eye(3)[truth][:, :2]))
    walls = np.concatenate([[999], key, [999]])
    for group in range(3):
        places = np.flatnonzero(truth[order] == group)
        low, high = places[0], places[-1]
        assert high - low + 1 == places.size
        assert key[low:high].max() < min(walls[low], walls[high + 1])


def test_two_rows_that_look_like_a_distance_matrix_are_no_warning():
    assert guide.ward_guide(np.array([[0.0, 1.0], [1.0, 0.0]]))[0].tolist() == [0, 1]


def test_draws_of_gaps_and_subtrees_follow_their_weights():
    """Frequencies of 20,000 draws, within 5 standard errors."""
    tree = random_tree(3, 7)
    sampler = build(known_variance(1), ROWS[:, None], DP, guide=guide_of(tree))
    own, rng, n_draws = sampler.guide, generator(11), 20_000
    weights = np.diff(own.cumulative)
    found = np.bincount([guide.draw_gap(rng, own.cumulative, 0, 6) for _ in range(n_draws)], minlength=6) / n_draws
    law = weights / weights.sum()
    assert (np.abs(found - law) <= 5 * np.sqrt(law * (1 - law) / n_draws)).all()
    spans = [draw_subtree(rng, own, 1) for _ in range(n_draws)]
    total = weights.sum() + 7 * guide.FLOOR / 7
    for gap in range(6):
        share = np.mean([span == (own.first[gap], own.last[gap]) for span in spans])
        law = weights[gap] / total
        assert abs(share - law) <= 5 * math.sqrt(law * (1 - law) / n_draws)
    deep = [draw_subtree(rng, own, 4) for _ in range(2_000)]
    assert np.mean([high - low for low, high in deep]) < np.mean([high - low for low, high in spans])


def test_points_for_the_guide(by_name):
    columns = by_name["columns"]
    values = columns.data(1, 40, 0.2)
    found = euclidean_points(columns.prior, values)
    assert np.isfinite(found).all()
    assert found.shape == (40, 6 + 4)  # four categories
    np.testing.assert_allclose(found[:, 0].std(), 1.0, atol=0.2)
    documents = euclidean_points(by_name["multinomial"].prior, np.array([[0.0, 0, 0, 0], [1, 3, 0, 0], [np.nan] * 4]))
    np.testing.assert_allclose(documents, [[0, 0, 0, 0], [0.5, math.sqrt(0.75), 0, 0], [0, 0, 0, 0]])
    codes = euclidean_points(by_name["categorical"].prior, np.array([[0.0, 1], [np.nan, 1]]))
    np.testing.assert_allclose(codes, [[math.sqrt(0.5), math.sqrt(0.5)], [0.0, math.sqrt(0.5)]])

"""The mixture of edges: its marginal against a plain one, its moves by enumeration, its search on known clusters."""

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import bayesgrove as bg
from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm.edge_choice import (
    clusters_as_trees,
    fit_better_hierarchy,
    log_joint_of_common,
    shrunk_to_all_trees,
)
from bayesgrove.models.tree_hmm.edge_mixture import EdgePrior, change_tree, uses_of
from bayesgrove.models.tree_hmm.edge_search import (
    FIRST_PRIOR,
    EdgeFit,
    filled,
    fit_edges,
    log_joint,
    merged,
    reassigned,
)
from bayesgrove.stats.partitions import relabel

pytestmark = pytest.mark.exact

PRIOR = EdgePrior(np.array([2.0, 0.7]), np.array([0.3, 0.6]))
FEW_TREES = ["((a,b)c,(a)c)r;", "(b,b,b)r;", "((a)b)c;", "((a,a,a,a,a,a,a,a,a)c,b)r;", "(b,(a)c)r;"]


def seating(counts, strength, discount):
    """Log probability of customers at one table for each different dish."""
    found, total = 0.0, 0
    for n_dishes, count in enumerate(counts):
        for place in range(count):
            weight = strength + discount * n_dishes if place == 0 else place - discount
            found += math.log(weight / (strength + total))
            total += 1
    return found


def plain_log_shares(trees):
    """Log share of each label: every tree counts its labels once, and a label that no tree has counts once."""
    n_trees = {label: max(sum(label in tree.labels for tree in trees), 1) for label in trees.vocabulary}
    return {label: math.log(n / sum(n_trees.values())) for label, n in n_trees.items()}


def plain_log_marginal(trees, members, prior):
    """One cluster, node by node."""
    rooms: dict = {}
    for tree in (trees[member] for member in members):
        for label, parent in zip(tree.labels, tree.parents.tolist(), strict=True):
            room = rooms.setdefault(None if parent < 0 else tree.labels[parent], {})
            room[label] = room.get(label, 0) + 1
    tables: dict = {}
    for room in rooms.values():
        for label in room:
            tables[label] = tables.get(label, 0) + 1
    found = sum(seating(room.values(), prior.strength[1], prior.discount[1]) for room in rooms.values())
    found += seating(tables.values(), prior.strength[0], prior.discount[0])
    log_shares = plain_log_shares(trees)
    return found + sum(log_shares[label] for label in tables)


def edges_of(tree):
    """Pairs of a label and the label above it, node by node; None above a root."""
    return [(None if p < 0 else tree.labels[p], x) for x, p in zip(tree.labels, tree.parents.tolist(), strict=True)]


def plain_rooms(edge_lists):
    """Counts of labels below each label."""
    rooms: dict = {}
    for above, label in itertools.chain(*edge_lists):
        room = rooms.setdefault(above, {})
        room[label] = room.get(label, 0) + 1
    return rooms


def plain_log_joint(trees, labels, prior=PRIOR):
    clusters = [np.flatnonzero(np.asarray(labels) == k).tolist() for k in set(labels)]
    return sum(plain_log_marginal(trees, members, prior) for members in clusters)


def partitions(n):
    """All partitions of n items, labels by first appearance."""
    return [p for p in itertools.product(range(n), repeat=n) if list(p) == relabel(np.array(p)).tolist()]


@pytest.fixture(scope="module")
def trees():
    return bg.TreeData.from_newick(FEW_TREES)


def test_marginal_is_that_of_seatings_node_by_node(trees):
    uses = uses_of(trees.forest)
    for labels in ([0, 0, 0, 0, 0], [0, 1, 0, 1, 2], [0, 1, 2, 3, 4]):
        assert log_joint(uses, PRIOR, np.array(labels)) == pytest.approx(plain_log_joint(trees, labels), abs=1e-10)


def test_edges_shrunk_to_all_trees_against_seatings_node_by_node(trees):
    """With the shares of all trees as known, and with these drawn and integrated out."""
    uses, labels, edges = uses_of(trees.forest), np.array([0, 1, 0, 1, 2]), [edges_of(tree) for tree in trees]
    clusters = [plain_rooms(edges[tree] for tree in np.flatnonzero(labels == k)) for k in range(3)]
    inside = sum(seating(room.values(), PRIOR.strength[1], PRIOR.discount[1]) for c in clusters for room in c.values())
    shares = plain_rooms(set(own) for own in edges)
    opened = [shares[above][label] / sum(shares[above].values()) for c in clusters for above in c for label in c[above]]
    found = log_joint(shrunk_to_all_trees(uses), PRIOR, labels)
    assert found == pytest.approx(inside + np.log(opened).sum(), abs=1e-10)
    common = plain_rooms([(above, label) for above in c for label in c[above]] for c in clusters)
    log_shares = plain_log_shares(trees)
    together = sum(seating(room.values(), PRIOR.strength[1], PRIOR.discount[1]) for room in common.values())
    together += sum(log_shares[label] for room in common.values() for label in room)
    shared = clusters_as_trees(uses, labels)
    assert log_joint(shared, PRIOR, np.zeros(3, np.int64)) == pytest.approx(together, abs=1e-10)
    at_first = log_joint(shared, FIRST_PRIOR, np.zeros(3, np.int64))
    assert log_joint_of_common(uses, EdgeFit(labels, PRIOR, found)) >= inside + at_first


@pytest.mark.parametrize("make", [uses_of, lambda forest: shrunk_to_all_trees(uses_of(forest))])
def test_removing_undoes_adding(trees, make):
    uses = make(trees.forest)
    rooms = filled(uses, PRIOR, np.zeros(5, np.int64), 0)
    before = [part.copy() for part in rooms]
    gone = change_tree(uses, PRIOR, rooms, 0, 3, -1)
    assert gone == pytest.approx(-change_tree(uses, PRIOR, rooms, 0, 3, 1), abs=1e-10)
    for part, old in zip(rooms, before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_the_marginal_is_a_lower_bound():
    """Of one tree whose root and child are alike: all seatings of two customers in two rooms are summed by hand."""
    tree = bg.TreeData.from_parents([["a", "a"]], [[-1, 0]], vocabulary=["a", "b"])
    (s0, _), (d0, _) = PRIOR
    first = 0.5
    exact = first * ((1 - d0) + (s0 + d0) * 0.5) / (s0 + 1)  # the second room's table joins the first's, or opens one
    found = log_joint(uses_of(tree.forest), PRIOR, np.zeros(1, np.int64))
    assert found == pytest.approx(math.log(first * (1 - d0) / (s0 + 1)))
    assert found < math.log(exact)


def test_redrawing_leaves_the_posterior_invariant(trees):
    """4,000 sweeps over 52 partitions, thinned by 4; false alarms below 1 in 1,000 (fixed seed)."""
    uses, every = uses_of(trees.forest), partitions(5)
    weights = np.exp([plain_log_joint(trees, labels) for labels in every])
    expected = weights / weights.sum()
    number, visits = {labels: place for place, labels in enumerate(every)}, np.zeros(len(every))
    rng, labels = generator(3), np.zeros(5, np.int64)
    for sweep in range(4000):
        labels, _ = reassigned(rng, uses, PRIOR, labels, np.arange(5), is_greedy=False)
        if sweep % 4 == 3:
            visits[number[tuple(labels.tolist())]] += 1
    common = expected * visits.sum() >= 5
    both = [np.append(v[common], v[~common].sum()) for v in (visits, expected * visits.sum())]
    statistic = ((both[0] - both[1]) ** 2 / both[1]).sum()
    n_free = common.sum()
    assert statistic < n_free + 4.5 * math.sqrt(2 * n_free)


def test_search_finds_the_best_of_all_partitions():
    trees = bg.TreeData.from_newick(
        ["((a,b)c,(a)c)r;", "((a,b)c,(a)c)r;", "((a,b)c)r;", "(x,y,y)z;", "(x,y)z;", "(x)z;"]
    )
    uses = uses_of(trees.forest)
    found = fit_edges(generator(0), uses)
    best = max(partitions(6), key=lambda labels: plain_log_joint(trees, labels, found.prior))
    assert found.log_joint == pytest.approx(plain_log_joint(trees, found.labels.tolist(), found.prior))
    assert found.labels.tolist() == list(best)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_merges_never_lower_the_log_joint(trees, order):
    uses = uses_of(trees.forest)
    found = merged(uses, PRIOR, np.arange(5), order)
    assert log_joint(uses, PRIOR, found) >= log_joint(uses, PRIOR, np.arange(5))


def documents(rng, n_kinds, n_each, n_keys=12):
    """Documents of several kinds with keys of their own, some keys of all kinds, and names used once."""
    texts, kinds = [], np.repeat(np.arange(n_kinds), n_each)
    for number, kind in enumerate(kinds):
        keys = [f"k{kind}_{key}" for key in np.flatnonzero(rng.random(n_keys) < 0.6)]
        keys += [f"common{key}" for key in np.flatnonzero(rng.random(4) < 0.5)] + [f"own{number}"]
        texts.append("{" + ", ".join(f'"{key}": 1' for key in keys) + "}")
    return bg.TreeData.from_json(texts), kinds


def scores_of_small_kinds(seed):
    """ARI on 20 kinds of 3 documents each, with the base distribution of the model and with the uniform one."""
    rng, texts, kinds = generator(seed), [], np.repeat(np.arange(20), 3)
    for kind in kinds:
        keys = [f"common{key}" for key in np.flatnonzero(rng.random(20) < 0.3)]
        keys += [f"k{kind}_{key}" for key in np.flatnonzero(rng.random(6) < 0.8)]
        texts.append("{" + ", ".join(f'"{key}": 1' for key in keys) + "}")
    uses = uses_of(bg.TreeData.from_json(texts).forest)
    uniform = uses._replace(log_base=np.full(uses.log_base.size, -math.log(uses.log_base.size)))
    return [adjusted_rand_score(kinds, fit_edges(generator(1), given).labels) for given in (uses, uniform)]


def test_kinds_of_few_documents_with_common_keys_are_told_apart():
    """Five sets; a standard deviation of .07 (right) and .08 (wrong) of a single score."""
    right, wrong = np.mean([scores_of_small_kinds(seed) for seed in range(5)], axis=0)
    assert right > 0.85
    assert wrong < 0.4


def test_documents_of_known_kinds_are_told_apart_and_one_kind_stays_one():
    rng = generator(5)
    data, kinds = documents(rng, 4, 12)
    assert fit_edges(generator(1), uses_of(data.forest)).labels.tolist() == kinds.tolist()
    for _ in range(5):
        data, _ = documents(rng, 1, 30)
        assert fit_edges(generator(1), uses_of(data.forest)).labels.max() == 0


def of_common_contexts(rng, n_each, n_labels=12, n_nodes=60):
    """Trees of three kinds with the same labels, the shares of each context alike in all kinds."""
    kinds, parents, lists = np.repeat(np.arange(3), n_each), [], []
    common = rng.dirichlet(np.full(n_labels, 0.2), n_labels)
    shares = np.array([[rng.dirichlet(5.0 * room + 1e-3) for room in common] for _ in range(3)])
    for kind in kinds:
        above, labels = np.append(-1, rng.integers(np.maximum(np.arange(1, n_nodes), 1))), [0]
        for node in range(1, n_nodes):
            labels.append(int(rng.choice(n_labels, p=shares[kind, labels[above[node]]])))
        parents.append(above.tolist())
        lists.append([f"l{label}" for label in labels])
    return bg.TreeData.from_parents(lists, parents), kinds


def test_the_hierarchy_of_greater_evidence_is_taken():
    data, kinds = of_common_contexts(generator(7), 15)
    start = fit_better_hierarchy(generator(1), uses_of(data.forest))
    assert (start.uses.label < 0).all()
    assert start.fit.labels.tolist() == kinds.tolist()
    data, kinds = documents(generator(5), 4, 12)
    start = fit_better_hierarchy(generator(1), uses_of(data.forest))
    assert (start.uses.label >= 0).any()
    assert start.fit.labels.tolist() == kinds.tolist()


def test_many_trees_are_assigned_to_what_a_sample_shows():
    data, kinds = documents(generator(6), 3, 250)
    found = fit_edges(generator(2), uses_of(data.forest), n_orders=1)
    assert found.labels.tolist() == kinds.tolist()

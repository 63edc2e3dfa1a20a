"""SeqInsert and IBHC: the golden file, the slow twin, the bound by enumeration, and forests that keep their word."""

import logging
import math

import numpy as np
import pytest

from bayesgrove.core.constants import NULL
from bayesgrove.core.errors import InvalidTreeError, MemoryLimitError, NumericalError
from bayesgrove.core.rng import generator
from bayesgrove.likelihoods.gaussian_known import GaussianKnownVariancePrior
from bayesgrove.models.nrm import incremental
from bayesgrove.models.nrm.forest import (
    N_ROOTS,
    add_root,
    detach,
    forest_labels,
    new_forest,
    refresh_forest,
    remove_root,
    root_of,
    seq_insert,
)
from bayesgrove.models.nrm.incremental import (
    best_forest,
    incremental_forest,
    new_queue,
    place_next,
    put_in_queue,
    stream_into,
)
from bayesgrove.models.nrm.joining import joined_tree
from bayesgrove.models.nrm.packing import pack_forest, put_leaves, start_forest, unpack_forest
from reference import ibhc as twin
from reference.bhc import evidence_of
from reference.forests import check_forest, root_texts, texts_of

pytestmark = pytest.mark.exact

CONCENTRATION = 0.1
LOG_KAPPA = np.array([0.0] + [math.log(CONCENTRATION) + math.lgamma(m) for m in range(1, 4001)])
"""A Dirichlet process of small concentration, under which trees are split most often."""
NO_PAIRS = np.empty((0, 2), np.int64)
QUICK = ("gaussian-known-variance", "gaussian", "columns")


def check_potentials(forest, roots):
    """All potentials of the twin's trees, by description."""
    found = {text: node for node, text in texts_of(forest).items()}
    nodes = [node for root in roots for node in twin.nodes_of(root)]
    assert found.keys() == {node.text for node in nodes}
    for node in nodes:
        for name in ("log_phi", "log_tree", "log_d"):
            assert getattr(forest, name)[found[node.text]] == pytest.approx(getattr(node, name), abs=1e-9, rel=1e-9)


def golden_case(golden, case):
    inputs = case["data"]
    inputs = golden["posterior"][inputs]["inputs"] if isinstance(inputs, str) else inputs
    return twin.golden_potentials(inputs, case["prior"], case.get("u"))


def kernel_events(prior, values, log_kappa, order):
    """The forest, and the events as the golden file has them."""
    forest, queue = new_forest(prior, len(values)), new_queue(len(values))
    put_in_queue(prior, values, forest, log_kappa, queue, np.array(order))
    events, waiting = [], {i: str(i) for i in order}
    while queue.counters[incremental.LENGTH]:
        before = {**waiting, **texts_of(forest)}
        x, root, pair, n_back = place_next(prior, forest, log_kappa, queue, False, True, np.empty(forest.rows.shape[1]))
        if root == NULL:
            events.append(["root", before[x]])
            continue
        places = queue.counters[incremental.HEAD] + queue.counters[incremental.LENGTH] - n_back + np.arange(n_back)
        back = queue.nodes[places % len(values)].tolist()
        waiting |= {node: before[node] for node in back}
        events.append(["insert", before[x], before[root], texts_of(forest)[pair], [before[node] for node in back]])
    return forest, events


def test_golden_seq_insert_of_twin_and_kernel(golden):
    case = golden("nrm")["seq_insert"]
    potentials, prior, values, log_kappa = golden_case(golden("nrm"), case)
    forest, scratch = new_forest(prior, len(values)), np.empty(3)
    put_leaves(prior, values, forest, log_kappa, 0)
    order = case["order"]
    tree, root, texts = potentials.leaf(order[0]), order[0], [str(order[0])]
    kernel_texts = [texts_of(forest)[root]]
    for i in order[1:]:
        tree = twin.seq_insert(potentials, tree, potentials.leaf(i))
        texts.append(tree.text)
        remove_root(forest, root)
        remove_root(forest, i)
        root = seq_insert(prior, forest, log_kappa, root, i, scratch)
        add_root(forest, root)
        kernel_texts.append(texts_of(forest)[root])
    assert texts == case["trees"] == kernel_texts
    assert tree.log_tree == pytest.approx(case["log_T"], abs=1e-9)
    assert forest.log_tree[root] == pytest.approx(case["log_T"], abs=1e-9)
    check_forest(forest, len(values))


def test_golden_tree_potentials_and_greedy_tree(golden):
    golden = golden("nrm")
    potentials, prior, values, log_kappa = golden_case(golden, golden["tree_potentials"])
    forest = start_forest(prior, values, log_kappa, np.arange(5))
    tree = joined_tree(prior, forest, log_kappa, 5)
    assert tree.log_tree[-1] == pytest.approx(golden["bhc_greedy"]["log_T"], abs=1e-9)
    slow = twin.join_greedily(potentials, [potentials.leaf(i) for i in range(5)])
    assert slow.text == golden["bhc_greedy"]["tree"]
    by_text = {node.text: node for node in twin.nodes_of(slow)}
    for node in golden["tree_potentials"]["nodes"]:
        log_d = -math.inf if node["log_d"] is None else node["log_d"]
        assert by_text[node["node"]][3:] == pytest.approx((node["log_phi"], node["log_T"], log_d), abs=1e-9)


@pytest.mark.parametrize("number", range(5))
def test_golden_ibhc_of_twin_and_kernel(golden, number):
    case = golden("nrm")["ibhc"][number]
    potentials, prior, values, log_kappa = golden_case(golden("nrm"), case)
    roots, events = twin.place_all(potentials, map(potentials.leaf, case["queue"]))
    assert [root.text for root in roots] == case["forest"]
    assert events == case["events"]
    forest, kernel = kernel_events(prior, values, log_kappa, case["queue"])
    assert kernel == case["events"]
    assert root_texts(forest) == case["forest"]
    check_potentials(forest, roots)
    check_forest(forest, len(values))
    whole = incremental_forest(prior, values, log_kappa, np.array(case["queue"]))
    assert root_texts(whole.forest) == case["forest"]
    assert whole.log_phi == pytest.approx(math.fsum(root.log_phi for root in roots), abs=1e-9)
    assert whole.log_tree == pytest.approx(math.fsum(root.log_tree for root in roots), abs=1e-9)


def potentials_of(example, values):
    return twin.Potentials(evidence_of(example.name, example.prior, values), twin.dp_log_kappa(CONCENTRATION))


def check_against_twin(example, missing):
    for seed in range(3):
        values = example.data(seed, 14, missing)
        potentials = potentials_of(example, values)
        order = generator(seed).permutation(14)
        roots, events = twin.place_all(potentials, map(potentials.leaf, order.tolist()))
        forest, kernel = kernel_events(example.prior, values, LOG_KAPPA, order.tolist())
        assert kernel == events
        check_potentials(forest, roots)
        tree = joined_tree(example.prior, forest, LOG_KAPPA, 14)
        slow = twin.join_greedily(potentials, roots)
        assert tree.log_tree[-1] == pytest.approx(slow.log_tree, rel=1e-9)
        assert tree.n_joins == len(roots) - 1


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("name", QUICK)
def test_kernel_equals_twin(by_name, name, missing):
    check_against_twin(by_name[name], missing)


@pytest.mark.slow
def test_kernel_equals_twin_for_every_likelihood(example):
    """Slow because every likelihood compiles its own kernels."""
    check_against_twin(example, 0.0)
    check_against_twin(example, 0.2)


def crowded(seed, n=24):
    """Data and prior under which trees are often split again: clusters that touch."""
    values = generator(seed).normal(0, 2, (n, 1))
    return GaussianKnownVariancePrior(np.array([0.2]), np.array([0.0]), np.array([4.0])), values


def crowded_twin(prior, values):
    return twin.Potentials(evidence_of("gaussian-known-variance", prior, values), twin.dp_log_kappa(CONCENTRATION))


def test_splits_and_trees_that_come_back():
    n_back = n_trees_back = 0
    for seed in range(20):
        prior, values = crowded(seed)
        potentials = crowded_twin(prior, values)
        order = generator(seed, 1).permutation(len(values)).tolist()
        roots, events = twin.place_all(potentials, map(potentials.leaf, order))
        forest, kernel = kernel_events(prior, values, LOG_KAPPA, order)
        assert kernel == events
        check_potentials(forest, roots)
        check_forest(forest, len(values))
        back = [text for event in events if event[0] == "insert" for text in event[4]]
        n_back += len(back)
        n_trees_back += sum("(" in text for text in back)
    assert n_back > 20
    assert n_trees_back > 5


def test_noisy_joins_at_the_top():
    prior, values = crowded(3)
    potentials = crowded_twin(prior, values)
    roots, _ = twin.place_all(potentials, map(potentials.leaf, range(24)), noisy=True)
    found = incremental_forest(prior, values, LOG_KAPPA, np.arange(24), noisy=True)
    assert root_texts(found.forest) == [root.text for root in roots]
    check_potentials(found.forest, roots)
    plain = incremental_forest(prior, values, LOG_KAPPA, np.arange(24))
    assert root_texts(plain.forest) != root_texts(found.forest)


@pytest.mark.parametrize("n", [5, 6])
@pytest.mark.parametrize("name", ["gaussian-known-variance", "columns"])
def test_the_bound_is_the_sum_over_partitions_of_the_forest(by_name, name, n):
    example = by_name[name]
    values = example.data(n, n)
    potentials = potentials_of(example, values)
    found = incremental_forest(example.prior, values, LOG_KAPPA, generator(n).permutation(n))
    roots, _ = twin.place_all(potentials, map(potentials.leaf, generator(n).permutation(n).tolist()))
    consistent = np.logaddexp.reduce(twin.consistent_log_joints(potentials, roots, n))
    assert found.log_tree == pytest.approx(consistent, rel=1e-10)
    evidence = np.logaddexp.reduce(twin.all_log_joints(potentials, n))
    tree = joined_tree(example.prior, found.forest, LOG_KAPPA, n)
    joined = twin.join_greedily(potentials, roots)
    assert tree.log_tree[-1] == pytest.approx(
        np.logaddexp.reduce(twin.consistent_log_joints(potentials, [joined], n)), rel=1e-10
    )
    assert found.log_phi <= found.log_tree <= tree.log_tree[-1] + 1e-12 <= evidence + 2e-12


def test_the_guard_ends_splitting_and_says_so(monkeypatch, caplog):
    prior, values = crowded(6)
    potentials = crowded_twin(prior, values)
    order = generator(6, 1).permutation(24)
    free, _ = twin.place_all(potentials, map(potentials.leaf, order.tolist()))
    roots, _ = twin.place_all(potentials, map(potentials.leaf, order.tolist()), most_pops=0)
    assert [root.text for root in roots] != [root.text for root in free]
    monkeypatch.setattr(incremental, "POPS_PER_ITEM", 0)
    monkeypatch.setattr(incremental, "POPS_AT_ONCE", 5)
    with caplog.at_level(logging.WARNING, "bayesgrove"):
        found = incremental_forest(prior, values, LOG_KAPPA, order)
    assert root_texts(found.forest) == [root.text for root in roots]
    assert [record.message for record in caplog.records] == [
        "incremental clustering of 24 rows sent trees back 0 times a row: no more splits from here on"
    ]


def test_streaming_is_insertion_row_by_row():
    for seed in range(10):
        prior, values = crowded(seed)
        potentials = crowded_twin(prior, values)
        roots = []
        for i in range(len(values)):
            roots, _ = twin.place_all(potentials, [potentials.leaf(i)], roots)
        found = stream_into(prior, values, NO_PAIRS, LOG_KAPPA, 0)
        check_potentials(found.forest, roots)
        forest, pairs, known = None, NO_PAIRS, 0
        for last in (3, 4, 5, 17, 24):
            forest = stream_into(prior, values[:last], pairs, LOG_KAPPA, known).forest
            pairs, known = pack_forest(forest)["pairs"], last
            check_forest(forest, last)
        assert root_texts(forest) == root_texts(found.forest)
        assert {text: forest.log_tree[node] for node, text in texts_of(forest).items()} == {
            text: found.forest.log_tree[node] for node, text in texts_of(found.forest).items()
        }


def test_streaming_reports_progress_and_the_end_of_splits(monkeypatch, caplog):
    prior, values = crowded(6)
    reports = []
    monkeypatch.setattr(incremental, "POPS_AT_ONCE", 10)
    stream_into(prior, values, NO_PAIRS, LOG_KAPPA, 0, progress=lambda *at: reports.append(at))
    assert reports == [(10, 24), (20, 24), (24, 24)]
    monkeypatch.setattr(incremental, "run_stream", lambda *arguments: (0, 1, True))
    with caplog.at_level(logging.WARNING, "bayesgrove"):
        stream_into(prior, values, NO_PAIRS, LOG_KAPPA, 0)
    assert len(caplog.records) == 1


def test_best_of_several_orders_is_kept_for_any_number_of_threads():
    prior, values = crowded(5, 60)
    orders = [generator(5, s).permutation(60) for s in range(6)]
    each = [incremental_forest(prior, values, LOG_KAPPA, order) for order in orders]
    assert len({found.log_phi for found in each}) > 1
    best = max(each, key=lambda found: found.log_phi)
    reports = []
    for n_threads in (1, 2, 4):
        found = best_forest(
            prior, values, LOG_KAPPA, orders, n_threads=n_threads, progress=lambda *at: reports.append(at)
        )
        assert found.log_phi == best.log_phi
        assert root_texts(found.forest) == root_texts(best.forest)
    assert reports == [(done, 6) for done in range(1, 7)] * 3


def test_one_order_reports_progress():
    prior, values = crowded(5, 60)
    reports = []
    best_forest(prior, values, LOG_KAPPA, [np.arange(60)], progress=lambda *at: reports.append(at))
    assert reports[-1] == (60, 60)


@pytest.mark.parametrize("name", ["gaussian-known-variance", "columns"])
def test_packed_forests_come_back_to_the_bit(by_name, name):
    example = by_name[name]
    values = example.data(3, 30)
    found = incremental_forest(example.prior, values, LOG_KAPPA, generator(3).permutation(30))
    packed = pack_forest(found.forest)
    forest = unpack_forest(example.prior, values, LOG_KAPPA, packed)
    check_forest(forest, 30)
    assert root_texts(forest) == root_texts(found.forest)
    np.testing.assert_array_equal(forest_labels(forest), found.labels)
    again = pack_forest(forest)
    np.testing.assert_array_equal(again["pairs"], packed["pairs"])
    np.testing.assert_array_equal(again["labels"], packed["labels"])
    for one in (forest, found.forest):
        refresh_forest(example.prior, values, one, LOG_KAPPA)
    ours, theirs = ({t: f.log_tree[k] for k, t in texts_of(f).items()} for f in (forest, found.forest))
    assert ours == theirs
    assert {t: found.forest.log_tree[k] for k, t in texts_of(found.forest).items()} == ours


def test_start_forest_has_one_tree_per_cluster():
    prior, values = crowded(6)
    labels = np.array([3, 0, 3, 5, 0, 0] * 4)
    forest = start_forest(prior, values, LOG_KAPPA, labels)
    check_forest(forest, 24)
    np.testing.assert_array_equal(forest_labels(forest), np.array([0, 1, 0, 2, 1, 1] * 4))


def test_detached_leaves_leave_sound_trees():
    prior, values = crowded(7)
    forest = start_forest(prior, values, LOG_KAPPA, np.zeros(24, np.int64))
    for leaf in generator(7).permutation(24).tolist():
        remove_root(forest, root_of(forest, leaf))
        rest = detach(prior, forest, LOG_KAPPA, leaf)
        if rest != NULL:
            add_root(forest, rest)
        add_root(forest, leaf)
        check_forest(forest, 24)
        before = {text: forest.log_tree[node] for node, text in texts_of(forest).items()}
        refresh_forest(prior, values, forest, LOG_KAPPA)
        assert before == {text: forest.log_tree[node] for node, text in texts_of(forest).items()}
    assert forest.counters[N_ROOTS] == 24


def test_deep_trees_are_no_trouble():
    prior, values = crowded(8, 4000)
    values *= 0.01
    found = incremental_forest(prior, values, LOG_KAPPA, np.arange(4000), noisy=True)
    assert found.labels.max() == 0  # a chain of 4,000
    again = unpack_forest(prior, values, LOG_KAPPA, pack_forest(found.forest))
    np.testing.assert_array_equal(again.log_tree[again.roots[0]], found.log_tree)


def test_memory_is_refused_before_it_is_taken():
    prior, values = crowded(9)
    with pytest.raises(MemoryLimitError, match=r"a forest over 24 rows needs about .*Raise memory_limit") as caught:
        incremental_forest(prior, values, LOG_KAPPA, np.arange(24), memory_limit=1000)
    assert caught.value.estimate > 1000
    orders = [np.arange(24)] * 4
    with pytest.raises(MemoryLimitError, match="use fewer n_jobs"):
        best_forest(prior, values, LOG_KAPPA, orders, n_threads=4, memory_limit=2 * caught.value.estimate)


def test_numbers_that_are_none_stop_it():
    prior, values = crowded(10)
    broken = np.full(25, np.nan)
    with pytest.raises(NumericalError, match=r"dissimilarity of a row to a cluster is not finite.*Check"):
        incremental_forest(prior, values, broken, np.arange(24))
    with pytest.raises(NumericalError, match="not finite"):
        stream_into(prior, values, NO_PAIRS, broken, 0)
    with pytest.raises(NumericalError, match="not finite"):
        joined_tree(prior, start_forest(prior, values, LOG_KAPPA, np.arange(24)), broken, 24)


@pytest.mark.parametrize(
    "pairs",
    [[[0, 3]], [[-1, 0]], [[0, 1], [0, 2]], [[0, 1], [2, 3], [4, 5]], [[0.0, 1.0]], [[0, 1, 2]], [0, 1]],
    ids=str,
)
def test_pairs_that_are_no_forest_are_refused(pairs):
    prior, values = crowded(11, 3)
    with pytest.raises(InvalidTreeError, match=r"pairs of a forest over 3 items|one parent"):
        unpack_forest(prior, values, LOG_KAPPA, {"pairs": np.array(pairs)})

"""The compiled engine of tree models: golden numbers, enumeration of small trees, the twin, shared subtrees, depth."""

import functools

import numpy as np
import pytest
from scipy.stats import dirichlet

from bayesgrove import datasets
from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm import engine
from bayesgrove.models.tree_hmm import tables as library
from bayesgrove.trees.forest import Forest
from conftest import find_shared_file
from reference import tree_hmm as twin
from reference import tree_hmm_exact as exact
from reference.tree_hmm_engine import KINDS, as_twin, counted, forest_of, hard_counts, links_of, node_numbers
from reference.tree_sets import random_forest, random_tree

pytestmark = pytest.mark.exact


@pytest.fixture
def numbers(golden):
    return golden("htmm")


def close_tables(found, wanted, **tolerance):
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, **tolerance)


def golden_case(case):
    return [twin.plain_tree(case["tree"])], twin.golden_tables(case), case["mode"]


def forest_and_tables(seed, mode, n_trees=30, L=3, C=3, M=3):
    rng = np.random.default_rng(seed)
    trees = random_forest(rng, n_trees, n_labels=M, max_outdegree=L, empty_internal=mode != "renorm")
    return rng, trees, twin.random_tables(rng, L, C, M, mode)


# Golden numbers


@pytest.mark.parametrize("kind", KINDS)
def test_cases(numbers, kind):
    for case in numbers["cases"]:
        trees, tables, mode = golden_case(case)
        logs, counts, _ = counted(trees, tables, mode, kind)
        assert logs == pytest.approx([case["loglik"]], abs=1e-10)
        close_tables(counts, twin.golden_tables(case["counts"]), atol=1e-10, err_msg=case["id"])


@pytest.mark.parametrize("kind", KINDS)
def test_laws_given_subtrees(numbers, kind):
    for case in numbers["cases"]:
        trees, tables, mode = golden_case(case)
        links = links_of(trees, tables, kind)
        scratch = engine.make_scratch(links, library.make_tables(*tables))
        engine.upward(links, library.make_tables(*tables), 0, library.MODES[mode], scratch)
        own = node_numbers(forest_of(trees, case["L"], case["M"]), kind)
        np.testing.assert_allclose(scratch.beta[own], case["beta"], atol=1e-10)


def test_posteriors_of_states_and_switches(numbers):
    for case in numbers["cases"]:
        trees, tables, mode = golden_case(case)
        links = links_of(trees, tables, "plain")
        states, switches = engine.state_posteriors(links, library.make_tables(*tables), library.MODES[mode])
        np.testing.assert_allclose(states[::-1], case["post_Q"], atol=1e-10)
        np.testing.assert_allclose(switches[::-1], case["post_S"], atol=1e-10)


def test_the_papers_rule(numbers):
    case = numbers["paper_estep"]
    trees, tables, mode = golden_case(case)
    logs, counts, _ = counted(trees, tables, mode, "plain", paper=True)
    assert logs == pytest.approx([case["loglik"]], abs=1e-10)
    close_tables(counts, twin.golden_tables(case["counts"]), atol=1e-10)
    right = counted(trees, tables, mode, "plain")[1]
    assert np.abs(right.emission - counts.emission).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_mixture(numbers, kind):
    case = numbers["mixture"]
    trees = [twin.plain_tree(tree) for tree in case["trees"]]
    components = [twin.golden_tables(tables) for tables in case["components"]]
    links = links_of(trees, components[0], kind)
    stacked = library.stack([library.make_tables(*tables) for tables in components])
    logs = engine.log_likelihoods(links, stacked, library.MODES[case["mode"]]) + np.log(case["p"])[:, None]
    total = np.logaddexp.reduce(logs, axis=0)
    np.testing.assert_allclose(total, case["loglik"], atol=1e-10)
    shares = np.exp(logs - total).T
    np.testing.assert_allclose(shares, case["responsibilities"], atol=1e-10)
    np.testing.assert_allclose(shares.mean(axis=0), case["p_next"], atol=1e-10)


@pytest.mark.parametrize("n_draws", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_tables_drawn_from_the_prior_average_to_the_integral(numbers, n_draws):
    """Six means within 4 standard errors: one false alarm in 2,600."""
    record = numbers["new_component_marginal"]
    mode = library.MODES[record["mode"]]
    shape = library.Shape(record["L"], record["C"], record["M"], mode)
    uniform = library.uniform_tables(shape)
    for case in record["cases"]:
        trees = [twin.plain_tree(tree) for tree in case["trees"]]
        links = links_of(trees, as_twin(uniform), "unique")
        alone = engine.log_likelihoods(links, uniform, mode)[0].sum()
        assert alone == pytest.approx(case["uniform_parameters"], abs=1e-10)
        nothing = library.zero_counts(n_draws, shape)
        drawn = library.draw_tables(generator(5), nothing, library.Strengths(*[case["alpha"]] * 4), mode)
        weights = np.exp(engine.log_likelihoods(links, drawn, mode).sum(axis=1) - case["exact"])
        assert abs(weights.mean() - 1.0) < 4.0 * weights.std() / np.sqrt(n_draws)


# All states and switches; the twin


@pytest.mark.parametrize("mode", twin.MODES)
def test_enumeration(mode):
    """67 random trees of up to five nodes for each mode, a third of them with tables that are not normalised."""
    rng = np.random.default_rng(17)
    for number in range(67):
        L, C, M = (int(rng.integers(1, 4)) for _ in range(3))
        tree = random_tree(rng, int(rng.integers(1, 6)), M, L, empty_internal=mode != "renorm")
        tables = twin.random_tables(rng, L, C, M, mode)
        if number % 3 == 0:
            tables = twin.Tables(*(table * rng.uniform(0.2, 2.0, table.shape) for table in tables))
        wanted = exact.exact_posterior(tree, tables, mode)
        for kind in KINDS:
            logs, counts, _ = counted([tree], tables, mode, kind)
            assert logs == pytest.approx([wanted.log_likelihood], abs=1e-11)
            close_tables(counts, wanted.counts, atol=1e-11)
        links = links_of([tree], tables, "plain")
        states, switches = engine.state_posteriors(links, library.make_tables(*tables), library.MODES[mode])
        np.testing.assert_allclose(states[::-1], wanted.states, atol=1e-11)
        np.testing.assert_allclose(switches[::-1], wanted.switches, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", twin.MODES)
def test_weighted_trees_count_as_in_the_twin(mode, kind):
    rng, trees, tables = forest_and_tables(4, mode)
    trees += trees[5:15]
    weights = rng.uniform(0.0, 3.0, len(trees)) * (rng.random(len(trees)) < 0.8)
    total, wanted, present = twin.expected_counts(trees, tables, mode, weights)
    logs, counts, own_present = counted(trees, tables, mode, kind, weights)
    assert weights @ logs == pytest.approx(total, rel=1e-12)
    close_tables(counts, wanted, rtol=1e-11, atol=1e-11)
    if mode == "renorm":
        np.testing.assert_allclose(own_present, present, rtol=1e-11)


@pytest.mark.parametrize("mode", twin.MODES)
def test_the_papers_rule_as_in_the_twin(mode):
    rng, trees, tables = forest_and_tables(5, mode, n_trees=10)
    weights = rng.uniform(0.5, 2.0, len(trees))
    wanted = twin.expected_counts(trees, tables, mode, weights, paper=True)[1]
    close_tables(counted(trees, tables, mode, "plain", weights, paper=True)[1], wanted, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mode", ["bottom_prior", "bottom"])
def test_sums_less_what_is_present_keep_what_is_small(mode, kind):
    """Labels that only hardly chosen empty places explain: differences of sums would be nothing but rounding."""
    _, trees, tables = forest_and_tables(6, mode)
    tables = tables._replace(switching=np.array([1.0, 1e-13, 3e-14]))
    tables.transition[0, :3, 2] = 0.0
    tables.emission[:2, 2] = 0.0
    logs, counts, _ = counted(trees, tables, mode, kind)
    wanted = [twin.upward(tree, tables, mode).log_likelihood for tree in trees]
    np.testing.assert_allclose(logs, wanted, rtol=1e-9)
    close_tables(counts, twin.expected_counts(trees, tables, mode)[1], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_impossible(kind):
    """A slot that is never empty, and a label that never occurs: -inf, and no counts from there."""
    _, trees, tables = forest_and_tables(7, "bottom_prior")
    tables.initial[2, 3] = 0.0
    tables.emission[:, 1] = 0.0
    logs, counts, _ = counted(trees, tables, "bottom_prior", kind)
    wanted = np.array([twin.upward(tree, tables, "bottom_prior").log_likelihood for tree in trees])
    assert 0 < np.isinf(wanted).sum() < len(trees)
    np.testing.assert_allclose(logs, wanted, rtol=1e-11)
    possible = [tree for tree, log in zip(trees, wanted, strict=True) if np.isfinite(log)]
    close_tables(counts, twin.expected_counts(possible, tables, "bottom_prior")[1], atol=1e-11)


def test_an_unknown_label_is_summed_over():
    _, trees, tables = forest_and_tables(8, "bottom_prior", n_trees=10)
    for tree in trees:
        hidden = len(tree.labels) // 2
        versions = [tree._replace(labels=[*tree.labels[:hidden], m, *tree.labels[hidden + 1 :]]) for m in range(-1, 3)]
        logs = counted(versions, tables, "bottom_prior", "unique")[0]
        assert np.logaddexp.reduce(logs[1:]) == pytest.approx(logs[0], abs=1e-10)


# Research data


@functools.cache
def research_data(name):
    find_shared_file("data/trees")
    return getattr(datasets, f"load_{name}")(find_shared_file("data")).data.forest


def uniform_logs(forest, kind, n_states, transition=None):
    shape = library.Shape(forest.max_outdegree, n_states, forest.n_labels)
    tables = library.uniform_tables(shape)
    if transition is not None:
        tables = tables._replace(transition=np.full_like(tables.transition, transition))
    return engine.log_likelihoods(KINDS[kind](forest), tables, shape.mode)[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_states", [2, 4])
def test_synthetic_trees_under_uniform_tables(numbers, kind, n_states):
    facts, forest = numbers["synthetic"], research_data("synthetic_trees")
    for name, transition in (("", None), ("_paper", 1.0 / (n_states + 1))):
        logs = uniform_logs(forest, kind, n_states, transition)
        wanted = facts[f"uniform_loglik_C{n_states}{name}"]
        found = {"sum": logs.sum(), "tree_0": logs[0], "tree_last": logs[-1]}
        assert found == pytest.approx(wanted, abs=1e-6, rel=0.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_states", [2, 4])
def test_inex05_under_uniform_tables(numbers, kind, n_states):
    facts, forest = numbers["inex05"]["train"], research_data("inex05")
    logs = uniform_logs(forest, kind, n_states)
    assert logs.sum() == pytest.approx(facts[f"uniform_loglik_sum_C{n_states}"], abs=1e-4)
    np.testing.assert_allclose(logs[:3], facts[f"uniform_loglik_first3_C{n_states}"], atol=1e-9)


def shaped_tables(L, C, M):
    """The tables of the golden file's weighted step."""
    states, labels = np.arange(C), np.arange(M)
    emission = (labels + 1.0) ** (states[:, None] / 2)
    positions, children = np.arange(1, L + 1)[:, None, None], np.arange(1, C + 2)[:, None]
    transition = 1.0 + (positions * children + states) % C
    return twin.Tables(
        twin.uniform_tables(L, C, M, "bottom_prior").initial,
        emission / emission.sum(axis=1, keepdims=True),
        np.array([0.5, 0.3, 0.2]),
        transition / transition.sum(axis=2, keepdims=True),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_synthetic_trees_weighted(numbers, kind):
    facts, forest = numbers["synthetic"], research_data("synthetic_trees")
    wanted = facts["estep"]
    tables = library.make_tables(*shaped_tables(facts["L"], wanted["C"], facts["M"]))
    weights = 1.0 + np.arange(forest.n_trees) % 3
    logs, counts = engine.likelihoods_and_counts(KINDS[kind](forest), tables, library.BOTTOM_PRIOR, weights[None])
    assert weights @ logs[0] == pytest.approx(wanted["weighted_loglik"], rel=1e-10)
    close_tables(as_twin(counts), twin.golden_tables(wanted["counts"]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", ["synthetic_trees", "inex05"])
def test_shared_subtrees_say_what_all_nodes_say(name):
    forest = research_data(name)
    rng = np.random.default_rng(9)
    tables = library.make_tables(
        *twin.random_tables(rng, forest.max_outdegree, 4, forest.n_labels, "bottom_prior", 2.0)
    )
    weights = rng.random((1, forest.n_trees))
    results = [engine.likelihoods_and_counts(make(forest), tables, 0, weights) for make in KINDS.values()]
    np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-10, rtol=0.0)
    for plain, shared in zip(as_twin(results[0][1]), as_twin(results[1][1]), strict=True):
        np.testing.assert_allclose(plain, shared, rtol=1e-11, atol=1e-11 * np.abs(plain).max())


# Depth and size


def chain(n_nodes):
    labels = np.random.default_rng(1).integers(0, 3, n_nodes)
    positions = 1 + np.arange(n_nodes) % 2
    positions[0] = 0
    internal = np.arange(n_nodes) < n_nodes - 1
    return Forest(labels, np.arange(n_nodes) - 1, positions, internal, np.array([0, n_nodes]), 3, 2)


@pytest.mark.parametrize("kind", [pytest.param("plain", marks=pytest.mark.slow), "unique"])
def test_a_chain_of_a_million_nodes(kind):
    n_nodes = 1_000_000
    forest = chain(n_nodes)
    tables = library.make_tables(*twin.random_tables(np.random.default_rng(2), 2, 3, 3, "bottom_prior"))
    links = KINDS[kind](forest)
    logs, counts = engine.likelihoods_and_counts(links, tables, library.BOTTOM_PRIOR, np.ones((1, 1)))
    assert np.isfinite(logs).all()
    assert counts.emission.sum() == pytest.approx(n_nodes)
    assert counts.switching.sum() == pytest.approx(n_nodes - 1)
    drawn = hard_counts(generator(3), links, tables, library.BOTTOM_PRIOR, np.ones((1, 1), np.int64))
    assert drawn.emission.sum() == n_nodes
    assert np.abs(drawn.switching - counts.switching).max() < 5.0 * np.sqrt(n_nodes)


def test_large_trees_do_not_underflow():
    _, trees, tables = forest_and_tables(10, "bottom_prior", n_trees=2)
    large = [random_tree(np.random.default_rng(seed), 1000, 3, 3) for seed in (1, 2)]
    logs = counted([*trees, *large], tables, "bottom_prior", "unique")[0]
    assert (logs[2:] < -1000.0).all()
    assert logs[2] == pytest.approx(twin.upward(large[0], tables, "bottom_prior").log_likelihood, rel=1e-12)
    assert np.isfinite(logs).all()


# Laws of tables


@pytest.mark.parametrize("mode", twin.MODES)
def test_laws_of_rows(mode):
    _, trees, tables = forest_and_tables(11, mode)
    strengths = library.Strengths(0.7, 1.3, 2.0, 0.4)
    code = library.MODES[mode]
    counts = engine.expected_counts(
        links_of(trees, tables, "unique"), library.make_tables(*tables), code, np.ones((1, len(trees)))
    )
    cells = library.posterior_cells(counts, strengths, code)
    masks = twin.Tables(*twin.row_masks(3, 3, 3, mode))
    for ours, theirs, mask in zip(
        as_twin(library.expected_log(cells, code)),
        twin.expected_log(as_twin(counts), strengths, mode),
        masks,
        strict=True,
    ):
        np.testing.assert_allclose(ours[mask], theirs[mask], rtol=1e-12)
    log_density = sum(
        dirichlet.logpdf(row[free], np.full(free.sum(), strength))
        for table, mask, strength in zip(tables, masks, strengths, strict=True)
        for row, free in zip(table.reshape(-1, table.shape[-1]), mask.reshape(-1, mask.shape[-1]), strict=True)
        if free.any()
    )
    assert library.log_prior(library.make_tables(*tables), strengths, code) == pytest.approx([log_density], rel=1e-11)

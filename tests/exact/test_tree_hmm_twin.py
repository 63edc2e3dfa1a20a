"""The slow twin of hidden tree Markov models: golden numbers, and all states and switches of small trees."""

import numpy as np
import pytest

from bayesgrove.stats.testing import chi_square_test
from reference import ruzicka as plain_ruzicka
from reference import tree_hmm as twin
from reference import tree_hmm_exact as exact
from reference.tree_sets import random_tree

pytestmark = pytest.mark.exact


@pytest.fixture
def numbers(golden):
    return golden("htmm")


def close_tables(found, wanted, **tolerance):
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, **tolerance)


def small_tree(rng, mode):
    """A tree of at most five nodes with its sizes and tables."""
    L, C, M = (int(rng.integers(1, 4)) for _ in range(3))
    tree = random_tree(rng, int(rng.integers(1, 6)), M, L, empty_internal=mode != "renorm")
    return tree, twin.random_tables(rng, L, C, M, mode)


def test_cases(numbers):
    for case in numbers["cases"]:
        tree, tables = twin.plain_tree(case["tree"]), twin.golden_tables(case)
        found = twin.posterior(tree, tables, case["mode"])
        assert found.log_likelihood == pytest.approx(case["loglik"], abs=1e-10)
        beta = twin.upward(tree, tables, case["mode"]).beta
        for ours, theirs in ((beta, "beta"), (found.states, "post_Q"), (found.switches, "post_S")):
            np.testing.assert_allclose(ours, case[theirs], atol=1e-10, err_msg=case["id"])
        close_tables(found.counts, twin.golden_tables(case["counts"]), atol=1e-10)


def test_of_the_papers_rule(numbers):
    case = numbers["paper_estep"]
    tree, tables = twin.plain_tree(case["tree"]), twin.golden_tables(case)
    found = twin.posterior(tree, tables, case["mode"], paper=True)
    assert found.log_likelihood == pytest.approx(case["loglik"], abs=1e-10)
    np.testing.assert_allclose(found.states, case["eps"], atol=1e-10)
    close_tables(found.counts, twin.golden_tables(case["counts"]), atol=1e-10)
    assert np.abs(found.states - twin.posterior(tree, tables, case["mode"]).states).max() > 1e-3


@pytest.mark.parametrize("mode", twin.MODES)
def test_equals_enumeration(mode):
    rng = np.random.default_rng(3)
    for _ in range(20):
        tree, tables = small_tree(rng, mode)
        found, wanted = twin.posterior(tree, tables, mode), exact.exact_posterior(tree, tables, mode)
        assert found.log_likelihood == pytest.approx(wanted.log_likelihood, abs=1e-11)
        np.testing.assert_allclose(found.states, wanted.states, atol=1e-11)
        np.testing.assert_allclose(found.switches, wanted.switches, atol=1e-11)
        close_tables(found.counts, wanted.counts, atol=1e-11)
        weights = exact.configurations(tree, tables, mode).weights
        cells = exact.configuration_counts(tree, *twin.sizes_of(tables), mode)[0] if weights.size < 300 else None
        if cells is not None:  # one configuration after another
            hard = exact.as_tables(weights / weights.sum() @ cells, *twin.sizes_of(tables))
            close_tables(hard, wanted.counts, atol=1e-11)


def test_em(numbers):
    for case in numbers["em"]:
        trees = [twin.plain_tree(tree) for tree in case["trees"]]
        tables = twin.golden_tables(case["initial"])
        for log_likelihood, objective in zip(case["loglik"], case["objective"], strict=True):
            found = [twin.objective(trees, tables, case["mode"], alpha) for alpha in (1.0, case["alpha"])]
            np.testing.assert_allclose(found, [log_likelihood, objective], atol=1e-8)
            last, tables = tables, twin.em_step(trees, tables, case["mode"], case["alpha"])
        close_tables(last, twin.golden_tables(case["after_10_steps"]), atol=1e-7)


def test_mixture(numbers):
    case = numbers["mixture"]
    trees = [twin.plain_tree(tree) for tree in case["trees"]]
    components = [twin.golden_tables(tables) for tables in case["components"]]
    logs, shares = twin.responsibilities(trees, components, np.log(case["p"]), case["mode"])
    np.testing.assert_allclose(logs, case["loglik"], atol=1e-10)
    np.testing.assert_allclose(shares, case["responsibilities"], atol=1e-10)
    np.testing.assert_allclose(shares.mean(axis=0), case["p_next"], atol=1e-10)


def test_integrals_over_tables(numbers):
    record = numbers["new_component_marginal"]
    sizes = (record["L"], record["C"], record["M"], record["mode"])
    for case in record["cases"]:
        trees = [twin.plain_tree(tree) for tree in case["trees"]]
        assert exact.log_integral(trees, *sizes, case["alpha"]) == pytest.approx(case["exact"], abs=1e-10)
        uniform = sum(exact.log_uniform(tree, *sizes) for tree in trees)
        assert uniform == pytest.approx(case["uniform_parameters"], abs=1e-10)


def test_partition_posterior(numbers):
    case = numbers["partition_posterior"]
    trees = [twin.plain_tree(tree) for tree in case["trees"]]
    sizes = (case["L"], case["C"], case["M"], case["mode"])
    found = exact.partition_posterior(trees, *sizes, case["alpha"], case["gamma"])
    assert found.probabilities == pytest.approx(case["posterior"], abs=1e-10)
    assert found.log_evidence == pytest.approx(case["log_evidence"], abs=1e-10)
    marginals = {",".join(map(str, block)): value for block, value in found.block_log_marginals.items()}
    assert marginals == pytest.approx(case["block_log_marginals"], abs=1e-10)


def test_distances(numbers):
    case = numbers["ruzicka"]
    for root in ("own", "drop"):
        tables = [plain_ruzicka.label_table(tree["label"], tree["pos"], root) for tree in case["trees"]]
        distances = plain_ruzicka.ruzicka_distances(tables)
        np.testing.assert_allclose(distances, case[f"distance_root_{root}"], atol=1e-12)
        for definition in ("paper", "rousseeuw"):
            values = plain_ruzicka.silhouettes(distances, case["assignment"], definition)
            np.testing.assert_allclose(values, case[f"silhouette_{definition}_root_{root}"]["values"], atol=1e-12)


@pytest.mark.parametrize("mode", twin.MODES)
def test_draws_states_by_their_law(mode):
    """600 draws of a tree of four nodes: fails on a fresh seed with probability 1e-4."""
    rng = np.random.default_rng(11)
    tree = random_tree(rng, 4, 2, 2, empty_internal=mode != "renorm")
    tables = twin.random_tables(rng, 2, 2, 2, mode)
    found = exact.configurations(tree, tables, mode)
    law = found.weights / found.weights.sum()
    number = {(*q, *s): i for i, (q, s) in enumerate(zip(found.states.tolist(), found.choices.tolist(), strict=True))}
    drawn = [twin.draw_states(rng, tree, tables, mode) for _ in range(600)]
    seen = np.bincount([number[(*states, *chosen)] for states, chosen in drawn], minlength=law.size)
    assert chi_square_test(seen, law).p_value > 1e-4


def test_draws_trees_by_their_law():
    """Frontiers and labels below one internal node: all 18 trees of two places and two labels, 2,500 draws."""
    rng = np.random.default_rng(12)
    tables = twin.random_tables(rng, 2, 2, 2, "bottom_prior")
    skeleton = twin.PlainTree([-1], [-1], [0], [True])
    seen = {}
    for _ in range(2500):
        frontier = twin.draw_frontier(rng, skeleton, tables)
        tree, _, _ = twin.draw_labels(rng, frontier, tables, "bottom_prior")
        key = tuple(map(tuple, tree))
        seen[key] = seen.get(key, 0) + 1
    assert len(seen) == 18
    law = {key: np.exp(twin.upward(twin.PlainTree(*key), tables, "bottom_prior").log_likelihood) for key in seen}
    assert sum(law.values()) == pytest.approx(1.0)
    assert chi_square_test(list(seen.values()), list(law.values())).p_value > 1e-4

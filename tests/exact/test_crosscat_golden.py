"""CrossCat against the golden file: views, similarities, proposals and learned numbers (acceptance 16, 18, 19).

Fixed seeds; limits are those of the specification. Chains of 20,000 sweeps: total variation .02 is 2 to 4 times what a
right chain is expected to have.
"""

import json
import math
from functools import cache

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.inference.schedule import Step
from bayesgrove.likelihoods.bind import bind
from bayesgrove.models.cross.mcmc_coordinates import default_hyperpriors
from bayesgrove.models.cross.mcmc_proposals import SEQUENTIAL, propose
from bayesgrove.models.cross.mcmc_sampler import CrossCatSampler
from bayesgrove.models.cross.mcmc_starts import STARTS
from bayesgrove.models.cross.mcmc_state import log_crp_sizes, log_joint
from bayesgrove.models.cross.mcmc_target import fill_tables, make_target
from bayesgrove.stats.testing import mean_z
from conftest import find_shared_file
from reference import crosscat
from reference.golden import golden_likelihood, golden_table

pytestmark = pytest.mark.exact
TABLES = ("bern_6x4", "nig_5x3", "mixed_5x4_missing")
N_SWEEPS = 20_000
ROWS, SPLIT_MERGE, SWAP = Step("rows"), Step("split-merge"), Step("swap")


@cache
def golden():
    return json.loads(find_shared_file("golden/bhcc.json").read_text())["tables"]


@cache
def twin_of(name):
    table = golden()[name]
    return crosscat.model_of(table["X"], table["models"], table["alpha_rows"], table["alpha_cols"])


def columns(kind="sequential", n_proposals=1):
    return Step("columns", 1, {"new_view": kind, "n_proposals": n_proposals})


def sampler_of(name, *, betas=(1.0,), concentrations=False, start="prior"):
    table = golden()[name]
    bound = bind(golden_table(table, as_columns=True).likelihood, golden_table(table).values, "fixed")
    target = make_target(bound.prior, bound.values)
    hyperpriors = default_hyperpriors(target, concentrations=concentrations, columns=False)
    alphas = (table["alpha_rows"], table["alpha_cols"])
    return CrossCatSampler(target, bound.prior.params, alphas, hyperpriors, STARTS[start], betas, bound.log_measure)


def run(sampler, seed, steps, n_sweeps=N_SWEEPS, *, watch=lambda chain: None, chain=0):
    """Labels of columns and of rows after each sweep of one of the coupled chains, and what `watch` sees."""
    rng = generator(seed)
    state, labels, seen = sampler.start(rng), [], []
    for _ in range(n_sweeps):
        for step in steps:
            sampler.move(rng, state, step)
        labels.append(sampler.labels(state.chains[chain]))
        seen.append(watch(state.chains[chain]))
    return labels, seen


def view_distance(labels, exact):
    """Total variation between visited and exact column partitions."""
    visits = {}
    for views, _ in labels:
        key = tuple(views.tolist())
        visits[key] = visits.get(key, 0) + 1
    keys = set(visits) | set(exact)
    return 0.5 * sum(abs(visits.get(key, 0) / len(labels) - exact.get(key, 0.0)) for key in keys)


def exact_views(name):
    return {tuple(entry["labels"]): entry["p"] for entry in golden()[name]["exact_column_partition_posterior"]}


@pytest.mark.parametrize("name", TABLES)
def test_the_twin_equals_the_golden_file(name):
    table, model = golden()[name], twin_of(name)
    assert crosscat.column_law(model) == pytest.approx(exact_views(name), abs=1e-8)
    given = table["new_view_proposal"]
    assert crosscat.log_sequential(model, given["column"], tuple(given["z"])) == pytest.approx(
        given["log_q_sequential"], abs=1e-8
    )


@pytest.mark.parametrize("name", TABLES)
def test_log_joint_equals_the_twin(name):
    sampler, model, rng = sampler_of(name), twin_of(name), generator(5)
    for _ in range(50):
        chain = sampler.start(rng).chains[0]
        views, rows = sampler.labels(chain)
        wanted = crosscat.log_joint(model, (tuple(views.tolist()), tuple(tuple(row) for row in rows.tolist())))
        found = log_joint(sampler.target, sampler.hyperpriors, chain) + sampler.log_measure
        assert found == pytest.approx(wanted, abs=1e-9)


SWEEPS = {
    "sequential": (columns(), ROWS, SPLIT_MERGE),
    "prior": (columns("prior"), ROWS),
    "sequential 3": (columns(n_proposals=3), ROWS),
    "prior 3": (columns("prior", 3), ROWS, SPLIT_MERGE),
}


def check_views(name, steps, betas, seed):
    labels, _ = run(sampler_of(name, betas=betas), seed, steps)
    assert view_distance(labels, exact_views(name)) <= 0.02


def test_views_of_a_single_chain_by_the_prior():
    check_views("mixed_5x4_missing", SWEEPS["prior 3"], (1.0,), 1)


def test_views_of_coupled_chains():
    """The second chain tempered; with swaps the first still has its own law."""
    check_views("nig_5x3", (*SWEEPS["sequential"], SWAP), (1.0, 0.8), 2)


@pytest.mark.slow
@pytest.mark.parametrize("betas", [(1.0,), (1.0, 0.8), (1.0, 0.5)], ids=str)
@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("name", TABLES)
def test_views_under_all_settings(name, sweep, betas):
    swap = (SWAP,) if len(betas) > 1 else ()
    check_views(name, (*SWEEPS[sweep], *swap), betas, 3)


def test_the_tempered_chain_has_the_tempered_law():
    """The second of two chains that do not swap samples p^.8."""
    labels, _ = run(sampler_of("nig_5x3", betas=(1.0, 0.8)), 4, SWEEPS["sequential"], chain=1)
    assert view_distance(labels, crosscat.column_law(twin_of("nig_5x3"), 0.8)) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("name", TABLES)
def test_tempered_chains_under_all_settings(name, sweep):
    labels, _ = run(sampler_of(name, betas=(1.0, 0.8)), 5, SWEEPS[sweep], chain=1)
    assert view_distance(labels, crosscat.column_law(twin_of(name), 0.8)) <= 0.02


def same(labels):
    return (labels[..., :, None] == labels[..., None, :]).astype(float)


@pytest.mark.parametrize("name", TABLES)
def test_views_same_view_probabilities_and_row_similarities(name):
    table = golden()[name]
    labels, _ = run(sampler_of(name), 6, SWEEPS["sequential"])
    assert view_distance(labels, exact_views(name)) <= 0.02
    together = np.mean([same(views) for views, _ in labels], axis=0)
    np.testing.assert_allclose(together, table["exact_p_same_view"], atol=0.02)
    by_view = np.mean([same(rows).mean(axis=0) for _, rows in labels], axis=0)
    np.testing.assert_allclose(by_view, table["exact_row_similarity"], atol=0.02)
    by_column = np.mean([same(rows[views]).mean(axis=0) for views, rows in labels], axis=0)
    np.testing.assert_allclose(by_column, table["exact_row_similarity_column_weighted"], atol=0.02)


# The proposal for a new view


@pytest.mark.parametrize("name", TABLES)
def test_the_sequential_proposal(name):
    """Golden log Q, a total of 1, and an unbiased estimate of the evidence: false alarms 6e-5 on a fresh seed."""
    sampler, given = sampler_of(name), golden()[name]["new_view_proposal"]
    target, alpha, j, n = sampler.target, golden()[name]["alpha_rows"], given["column"], sampler.n_rows
    rng, sizes = generator(7), np.empty(n + 1, np.int64)
    tables = sampler.start(rng).chains[0].tables

    def log_q(labels):
        return propose(rng, target, sampler.params, tables, alpha, SEQUENTIAL, j, True, np.array(labels), sizes)[1]

    assert log_q(given["z"]) == pytest.approx(given["log_q_sequential"], abs=1e-8)
    assert sum(math.exp(log_q(labels)) for labels in crosscat.partitions(n)) == pytest.approx(1.0, abs=1e-10)
    model, labels, weights = twin_of(name), np.empty(n, np.int64), np.empty(20_000)
    for m in range(weights.size):
        n_open, log_chance = propose(rng, target, sampler.params, tables, alpha, SEQUENTIAL, j, False, labels, sizes)
        log_prior = log_crp_sizes(target.log_gamma_n, sizes, n_open, n, alpha)
        log_cells = crosscat.log_column(model, j, crosscat.relabel(labels.tolist()))
        weights[m] = math.exp(log_prior + log_cells - log_chance - given["log_evidence_exact"])
    assert abs(weights.mean() - 1.0) <= 4.0 * weights.std() / math.sqrt(weights.size)


# Learned numbers


@pytest.mark.slow  # 10 s each
@pytest.mark.parametrize("method", ["escobar-west", "slice"])
@pytest.mark.parametrize("name", TABLES)
def test_concentrations(name, method):
    """Means within 4 standard errors by batch means (false alarms 3e-4 each) and within .02 of their value."""
    given = golden()[name]["concentration_posterior"]
    steps = (*SWEEPS["sequential"], Step("concentrations", 2, {"method": method}))
    _, seen = run(
        sampler_of(name, concentrations=True), 8, steps, 40_000, watch=lambda chain: chain.concentrations.copy()
    )
    seen = np.array(seen)
    for which, label in enumerate(("rows", "cols")):
        for values, kind in ((seen[:, which], "mean_alpha"), (np.log(seen[:, which]), "mean_log_alpha")):
            exact = given[f"cdpm_{kind}_{label}"]
            assert abs(mean_z(values, exact)) <= 4.0
            assert values.mean() == pytest.approx(exact, abs=max(0.02 * abs(exact), 0.02))


def set_numbers(target, chain, j, numbers):
    chain.params[j] = numbers
    fill_tables(target.family[j], target.n_codes[j], target.table_at[j], chain.params[j], chain.tables)


def choose_numbers(rng, sampler, chain, j, candidates):
    """Numbers of column j from a list by their exact conditional, all alike a priori."""
    logs = []
    for numbers in candidates:
        set_numbers(sampler.target, chain, j, numbers)
        logs.append(log_joint(sampler.target, sampler.hyperpriors, chain))
    weights = np.exp(np.array(logs) - max(logs))
    set_numbers(sampler.target, chain, j, candidates[rng.choice(len(candidates), p=weights / weights.sum())])


@pytest.mark.parametrize(
    "name", ["nig_5x3", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bern_6x4", "mixed_5x4_missing"))]
)
def test_numbers_of_a_column_on_a_list(name):
    """The numbers' frequencies with everything else of the model free, `column_hyper_posterior`."""
    given, sampler = golden()[name]["column_hyper_posterior"], sampler_of(name)
    j, rng = given["column"], generator(9)
    table = golden_table(golden()[name], as_columns=True)
    lists = []
    for entry in given["grid"]:
        likelihoods = [golden_likelihood(model) for model in golden()[name]["models"]]
        likelihoods[j] = golden_likelihood(entry)
        lists.append(bind(type(table.likelihood)(likelihoods), table.values, "fixed").prior.params[j])
    candidates, state, visits = np.array(lists), sampler.start(rng), np.zeros(len(lists))
    for _ in range(N_SWEEPS):
        for step in SWEEPS["sequential"]:
            sampler.move(rng, state, step)
        chain = state.chains[0]
        choose_numbers(rng, sampler, chain, j, candidates)
        visits[np.flatnonzero((candidates == chain.params[j]).all(axis=1))[0]] += 1
    assert 0.5 * np.abs(visits / N_SWEEPS - given["p_cdpm"]).sum() <= 0.02

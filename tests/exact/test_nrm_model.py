"""The mixture model's reference twin against golden numbers, quadrature and sums over partitions (acceptance 1-4)."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from bayesgrove import likelihoods
from bayesgrove.stats.partitions import all_partitions
from reference import compiled, nrm, nrm_hyper, nrm_trees
from reference.nrm_anchors import uniform_law
from reference.nrm_moves import (
    coin_launch,
    cut_launch,
    fixed_rule,
    log_merge_choice,
    log_split_choice,
    propose_anchored,
    propose_v1,
    restricted_scan,
)

pytestmark = pytest.mark.exact
DATA_SETS = ("one_d", "two_d")
KINDS = ("dp", "nggp")


@pytest.fixture
def numbers(golden):
    return golden("nrm")


def evidence_of(numbers, name, extra=()):
    """Log marginals of a golden data set, with rows added at its end."""
    inputs = numbers["posterior"][name]["inputs"]
    assert not any(inputs["mu0"])
    return nrm.gaussian_evidence([*inputs["X"], *extra], inputs["s2"], inputs["t2"])


def process_of(prior):
    if prior["kind"] == "dp":
        return nrm.Dirichlet(prior["alpha"])
    return nrm.GeneralisedGamma(prior["alpha"], prior["sigma"])


def phi_of(numbers, case):
    """Potentials of a golden case that names its data, prior and u."""
    log_u = math.log(case["u"]) if "u" in case else None
    return nrm.phi_of(evidence_of(numbers, case["data"]), process_of(case["prior"]), log_u)


def as_partition(text):
    return tuple(map(int, text))


class Script:
    """A `choose` that gives the indices written down and remembers the probabilities offered."""

    def __init__(self, *indices):
        self.indices = list(indices)
        self.offered = []

    def __call__(self, probabilities):
        self.offered.append(list(probabilities))
        return self.indices[len(self.offered) - 1]


# Acceptance 1: log marginals


def family_of(name, inputs):
    """The library's likelihood with the numbers of the file."""
    given = {key: value for key, value in inputs.items() if key != "X"}
    if name == "gauss":
        return likelihoods.GaussianKnownVariance(given["s2"], given["mu0"], given["s2"] / given["k0"])
    family = {
        "niw": likelihoods.GaussianFull,
        "normal_gamma": likelihoods.GaussianDiagonal,
        "beta_bernoulli": likelihoods.Bernoulli,
        "dirichlet_multinomial": likelihoods.Multinomial,
        "gamma_poisson": likelihoods.Poisson,
    }[name]
    return family(*given.values())


FAMILIES = ("gauss", "niw", "normal_gamma", "beta_bernoulli", "dirichlet_multinomial", "gamma_poisson")


@pytest.mark.parametrize("name", FAMILIES)
def test_golden_log_marginals(numbers, name):
    case = numbers["log_marginals"][name]
    rows, likelihood = np.array(case["inputs"]["X"], float), family_of(name, case["inputs"])
    assert likelihoods.log_marginal(likelihood, rows) == pytest.approx(case["log_marginal_all"], rel=1e-10)
    assert likelihoods.log_marginal(likelihood, rows[:1]) == pytest.approx(case["log_marginal_first_row"], rel=1e-10)


@pytest.mark.parametrize("name", FAMILIES)
def test_golden_log_marginals_are_chains_in_any_order(numbers, name):
    case = numbers["log_marginals"][name]
    rows, likelihood = np.array(case["inputs"]["X"], float), family_of(name, case["inputs"])
    for order in itertools.permutations(range(len(rows))):
        bound = likelihoods.bind(likelihood, rows[list(order)])
        got = compiled.chain(bound.prior, np.zeros_like(compiled.statistics(bound.prior, bound.values)), bound.values)
        assert got + bound.log_measure == pytest.approx(case["log_marginal_all"], abs=1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_golden_rows_added_and_taken_out_leave_the_statistics(numbers, name):
    case = numbers["log_marginals"][name]
    bound = likelihoods.bind(family_of(name, case["inputs"]), np.array(case["inputs"]["X"], float))
    before = compiled.statistics(bound.prior, bound.values[:1])
    after = before.copy()
    compiled.replay(bound.prior, after, bound.values, np.array([1, 2, ~1, ~2]))
    np.testing.assert_allclose(after, before, atol=1e-9)


def test_golden_names_all_families(numbers):
    assert set(numbers["log_marginals"]) == set(FAMILIES)


# Acceptance 2: posteriors


def test_partitions_are_those_of_the_library():
    for n, count in ((1, 1), (4, 15), (5, 52), (6, 203)):
        assert sorted(tuple(labels.tolist()) for labels in all_partitions(n)) == nrm.partitions(n)
        assert len(nrm.partitions(n)) == count


@pytest.mark.parametrize("labels", [(0,), (0, 1, 0, 2), (0, 0, 1, 1, 0)])
def test_blocks_and_labels_are_one_another(labels):
    assert nrm.partition_of(nrm.blocks_of(labels)) == labels
    assert nrm.partition_of(reversed(nrm.blocks_of(labels))) == labels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", DATA_SETS)
def test_golden_posterior(numbers, data, kind):
    case = numbers["posterior"][data][kind]
    evidence, process = evidence_of(numbers, data), process_of(case["prior"])
    law = nrm.posterior(evidence, 5, process)
    states = [as_partition(text) for text in case["partitions"]]
    got = law.as_dict()
    np.testing.assert_allclose([got[state] for state in states], case["prob"], atol=1e-8)
    joints = [nrm.log_marginal_joint(state, evidence, process) for state in states]
    np.testing.assert_allclose(joints, case["log_joint"], atol=1e-8)
    assert law.log_evidence == pytest.approx(case["log_evidence"], abs=1e-8)
    labels = np.array(law.states)
    n_clusters = np.bincount(labels.max(axis=1), weights=law.probabilities)
    np.testing.assert_allclose(n_clusters, case["P_K"], atol=1e-8)
    together = np.einsum("s,sij->ij", law.probabilities, labels[:, :, None] == labels[:, None, :])
    np.testing.assert_allclose(together, case["coclustering"], atol=1e-8)
    alone = [sum(len(block) == 1 for block in nrm.blocks_of(state)) for state in law.states]
    assert law.probabilities @ alone == pytest.approx(case["E_singletons"], abs=1e-8)


@pytest.mark.parametrize("data", DATA_SETS)
def test_golden_posterior_given_u(numbers, data):
    case = numbers["posterior_given_u"][data]
    log_phi = phi_of(numbers, {**case, "data": data})
    order = [as_partition(text) for text in numbers["posterior"][data]["nggp"]["partitions"]]
    got = nrm.posterior_given_phi(log_phi, 5).as_dict()
    np.testing.assert_allclose([got[state] for state in order], case["prob"], atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_golden_posterior_with_random_parameters(numbers, kind):
    case = numbers["posterior_random_hyper"][kind]
    if kind == "dp":
        hyper = nrm_hyper.RandomDirichlet(case["a_alpha"], case["b_alpha"])
    else:
        keys = ("a_alpha", "b_alpha", "a_sigma", "b_sigma")
        hyper = nrm_hyper.RandomGeneralisedGamma(*(case[key] for key in keys))
    got = nrm_hyper.posterior_random_hyper(evidence_of(numbers, case["data"]), 5, hyper)
    order = [as_partition(text) for text in numbers["posterior"][case["data"]][kind]["partitions"]]
    law = got.law.as_dict()
    np.testing.assert_allclose([law[state] for state in order], case["prob"], atol=1e-8)
    assert got.law.log_evidence == pytest.approx(case["log_evidence"], abs=1e-8)
    assert got.mean_alpha == pytest.approx(case["E_alpha"], abs=1e-7)
    assert got.mean_sigma == pytest.approx(case.get("E_sigma", 0.0), abs=1e-7)


def quadrature(function, scale):
    """Integral over the line of exp(function - scale)."""
    value, error = integrate.quad(lambda v: math.exp(function(v) - scale), -60, 60, points=[0, 3], limit=400)
    assert error < 1e-7 * value
    return value


@pytest.mark.parametrize(("alpha", "sigma"), [(1.0, 0.5), (0.4, 0.3), (2.5, 0.8)])
@pytest.mark.parametrize("sizes", [(5,), (3, 1, 1), (1, 1, 1, 1, 1)])
def test_integrated_joint_is_the_integral_of_the_joint_with_u(alpha, sigma, sizes):
    process = nrm.GeneralisedGamma(alpha, sigma)
    state = tuple(np.repeat(np.arange(len(sizes)), sizes).tolist())
    integrated = nrm.log_marginal_joint(state, lambda cluster: 0.0, process)

    def log_density(v):
        return nrm.log_joint(state, lambda cluster: 0.0, process, v) + v

    assert math.log(quadrature(log_density, integrated)) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize(
    "process",
    [nrm.Dirichlet(1.3), nrm.GeneralisedGamma(0.7, 0.4), nrm.GeneralisedGamma(1, 1e-3), nrm.GeneralisedGamma(1, 0.999)],
)
def test_prior_sums_to_one_over_partitions(process):
    for n in (2, 5):
        assert nrm.posterior(lambda cluster: 0.0, n, process).log_evidence == pytest.approx(0.0, abs=1e-11)


def test_prior_with_random_parameters_sums_to_one_over_partitions():
    for hyper in (nrm_hyper.RandomDirichlet(2.0, 0.7), nrm_hyper.RandomGeneralisedGamma(1.5, 0.8, 2.0, 1.2)):
        got = nrm_hyper.posterior_random_hyper(lambda cluster: 0.0, 4, hyper)
        assert got.law.log_evidence == pytest.approx(0.0, abs=1e-9)
        assert got.mean_alpha == pytest.approx(hyper.a / hyper.b, abs=1e-8)  # no data: the prior's own means
    assert got.mean_sigma == pytest.approx(2.0 / 3.2, abs=1e-8)


def test_the_dirichlet_process_is_the_limit_with_alpha_sigma_kept():
    near, limit = nrm.GeneralisedGamma(1.4e5, 1e-5), nrm.Dirichlet(1.4)
    got, expected = (nrm.posterior(lambda cluster: 0.0, 5, process).probabilities for process in (near, limit))
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_golden_u_conditional(numbers):
    case = numbers["u_conditional"]
    process = nrm.GeneralisedGamma(case["alpha"], case["sigma"])
    for row in case["rows"]:
        moments = []
        for power in (0, 1, 2):

            def density(v, power=power, row=row):
                return v**power * math.exp(nrm.log_u_density(v, case["n"], row["K"], process))

            moments.append(integrate.quad(density, -40, 40, points=[0, 3], limit=400, epsabs=0)[0])
        mean = moments[1] / moments[0]
        assert mean == pytest.approx(row["mean_log_u"], abs=1e-6)
        assert math.sqrt(moments[2] / moments[0] - mean**2) == pytest.approx(row["sd_log_u"], abs=1e-6)


def test_density_of_log_u_is_the_joint_with_its_jacobian():
    process, state = nrm.GeneralisedGamma(0.8, 0.3), (0, 0, 1, 2, 2)
    gaps = [
        nrm.log_joint(state, lambda cluster: 0.0, process, v) + v - nrm.log_u_density(v, 5, 3, process)
        for v in (-30.0, -2.0, 0.0, 4.0, 20.0)
    ]
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-9)


# Acceptance 3: prediction


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", DATA_SETS)
def test_golden_predictive(numbers, data, kind):
    process = process_of(numbers["posterior"][data][kind]["prior"])
    for case in numbers["predictive"][data][kind]:
        evidence = evidence_of(numbers, data, [case["x"]])
        assert nrm.log_predictive(evidence, 5, process) == pytest.approx(case["log_predictive"], abs=1e-8)
        more, fewer = (nrm.posterior(evidence, n, process).log_evidence for n in (6, 5))
        assert more - fewer == pytest.approx(case["log_predictive"], abs=1e-8)


@pytest.mark.parametrize(
    "process", [nrm.Dirichlet(0.6), nrm.GeneralisedGamma(1.0, 0.5), nrm.GeneralisedGamma(0.3, 0.8)]
)
def test_predictive_weights_sum_to_one_with_u_integrated(process):
    for state in nrm.partitions(5):
        weights = nrm.predictive_weights(state, process)
        assert math.fsum(weights.clusters) + weights.new == pytest.approx(1.0, abs=1e-9)


def test_predictive_weights_are_means_over_u():
    process, state = nrm.GeneralisedGamma(1.0, 0.5), (0, 0, 1, 1, 1)

    def log_density(v):
        return nrm.log_u_density(v, 5, 2, process)

    def mean_of(log_weight):
        scale = log_density(2.0)
        return quadrature(lambda v: log_density(v) + log_weight(v), scale) / quadrature(log_density, scale)

    old = mean_of(lambda v: math.log(1.5 / 5) - nrm.softplus(-v))
    new = mean_of(lambda v: math.log(process.alpha * process.sigma / 5) + v + (process.sigma - 1) * nrm.softplus(v))
    weights = nrm.predictive_weights(state, process)
    assert (weights.clusters[0], weights.new) == pytest.approx((old, new), abs=1e-7)


# Acceptance 4: trees, Gibbs weights, worked moves


def test_golden_tree_potentials(numbers):
    case = numbers["tree_potentials"]
    tree, log_phi = nrm_trees.parse(case["tree"]), phi_of(numbers, case)
    found, texts = nrm_trees.potentials(tree, log_phi), nrm_trees.node_texts(tree)
    got = {texts[node]: potential for node, potential in found.items()}
    assert set(got) == {node["node"] for node in case["nodes"]}
    for node in case["nodes"]:
        log_d = -math.inf if node["log_d"] is None else node["log_d"]
        assert got[node["node"]] == pytest.approx((node["log_phi"], node["log_T"], log_d), abs=1e-9)


@pytest.mark.parametrize("text", ["((0,1),((2,3),4))", "((((0,1),2),3),4)", "((0,4),(1,(2,3)))", "2"])
def test_tree_potential_sums_over_consistent_partitions(numbers, text):
    tree, log_phi = nrm_trees.parse(text), phi_of(numbers, numbers["gibbs_weights"])
    fronts = nrm_trees.consistent_partitions(tree)
    assert len({frozenset(front) for front in fronts}) == len(fronts)
    summed = nrm.log_sum(math.fsum(map(log_phi, front)) for front in fronts)
    assert nrm_trees.potentials(tree, log_phi)[tree.root].log_t == pytest.approx(summed, abs=1e-10)


def test_golden_greedy_tree(numbers):
    case = numbers["bhc_greedy"]
    log_phi = phi_of(numbers, case)
    (tree,) = nrm_trees.greedy_bhc(range(5), log_phi)
    assert nrm_trees.node_texts(tree)[tree.root] == case["tree"]
    assert nrm_trees.potentials(tree, log_phi)[tree.root].log_t == pytest.approx(case["log_T"], abs=1e-9)


def test_greedy_forest_keeps_only_merges_that_are_favoured(numbers):
    log_phi = phi_of(numbers, numbers["bhc_greedy"])
    forest = nrm_trees.greedy_bhc(range(5), log_phi, log_d_stop=0.0)
    assert [nrm_trees.node_texts(tree)[tree.root] for tree in forest] == ["(0,1)", "(2,3)", "4"]


def test_golden_gibbs_weights(numbers):
    case = numbers["gibbs_weights"]
    others, got = nrm.gibbs_probabilities(as_partition(case["partition"]), case["point"], phi_of(numbers, case))
    assert [sorted(block) for block in others] == case["clusters_without_point"][:-1]
    np.testing.assert_allclose(got, case["prob"], atol=1e-9)


def test_golden_v1_move_and_its_way_back(numbers):
    case = numbers["v1_move"]
    log_phi, guide = phi_of(numbers, case), nrm_trees.parse(case["guide_tree"])
    union, parts = frozenset(case["union"]), [frozenset(part) for part in case["parts"]]
    rest, rule = (frozenset([4]),), fixed_rule(log_phi, case["p_split"])
    induced = nrm_trees.restrict(guide, union)
    texts = nrm_trees.node_texts(induced)
    assert texts[union] == case["induced_tree"]
    nodes = [texts[node] for node in nrm_trees.internal_nodes(induced)]
    cut = nodes.index(case["cut_node"])
    launch = cut_launch(log_phi, lambda points, choose: nrm_trees.restrict(guide, points))
    script = Script(0, 0, cut, 1, 1, 0)  # cluster, split it, cut node, block, points 2 and 3
    split = propose_v1((0, 0, 0, 0, 1), log_phi, rule, launch, script)
    weights = {row["node"]: row["weight"] for row in case["cut_weights"]}
    expected = [weights[node] / sum(weights.values()) for node in nodes]
    np.testing.assert_allclose(script.offered[2], expected, atol=1e-9)
    assert script.offered[3][0] == pytest.approx(case["launch_blocks"][0]["prob_side0"], abs=1e-9)
    scanned = [row["prob_side0"] for row in case["scan"]]
    np.testing.assert_allclose([offered[0] for offered in script.offered[4:]], scanned, atol=1e-9)
    assert split.partition == nrm.partition_of((*parts, *rest))
    assert split.auxiliary == frozenset(zip(case["anchors"], map(frozenset, case["launch"]), strict=True))
    assert split.log_ratio == pytest.approx(case["log_r_split"], abs=1e-9)
    merge = propose_v1(split.partition, log_phi, rule, launch, Script(1, 1, cut, 1))
    assert merge.partition == (0, 0, 0, 0, 1)
    assert merge.log_ratio == pytest.approx(case["log_r_merge"], abs=1e-9)
    assert log_split_choice(rule, union, rest) == pytest.approx(case["log_s"], abs=1e-9)
    assert log_merge_choice(rule, *parts, rest) == pytest.approx(case["log_m"], abs=1e-9)


def test_golden_jain_neal_move_and_its_way_back(numbers):
    case = numbers["jain_neal_move"]
    log_phi, launch = phi_of(numbers, case), [frozenset(side) for side in case["launch"]]
    parts = tuple(frozenset(part) for part in case["parts"])
    scan = restricted_scan(tuple(launch), [2, 3], log_phi, Script(1, 0))
    assert scan.sides == parts
    assert scan.log_q == pytest.approx(case["log_q_scan"], abs=1e-9)
    coins, law = coin_launch(log_phi, 0), uniform_law()
    split = propose_anchored((0, 0, 0, 0, 1), log_phi, law, coins, Script(0, 0, 1, 1, 0))
    assert split.partition == nrm.partition_of((*parts, frozenset([4])))
    assert split.log_ratio == pytest.approx(case["log_r_split"], abs=1e-9)
    merge = propose_anchored(split.partition, log_phi, law, coins, Script(0, 0, 1))
    assert merge.log_ratio == pytest.approx(-case["log_r_split"], abs=1e-9)

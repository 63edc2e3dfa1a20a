"""Golden posteriors: documents keep the format, are derived again, and agree with the twins of the package's models."""

import copy
import math
import re

import numpy as np
import pytest
from posteriors import files
from posteriors.checks import problems_of
from posteriors.codes import all_hierarchies, blocks
from posteriors.exact import exact_document
from posteriors.exact_nested import component_probability, tree_law
from posteriors.long_problems import LONG
from posteriors.marginals import log_chain, log_marginal
from posteriors.margins import log_group_chance, normal_points, pair_factor_by_grid
from posteriors.problems import EXACT
from posteriors.processes import generalised_gamma
from posteriors.samplers import data_of, likelihood_of
from posteriors.schema import faults

import bayesgrove as bg
from reference.crosscat import column_law, law_of, model_of
from reference.likelihoods import bernoulli, categorical, gaussian, gaussian_known, poisson
from reference.nested import Model, tree_key
from reference.nested_exact import component_law, exact_law, expected_factors, labels_of
from reference.nrm_prior import log_weights_of_counts
from reference.tree_hmm import plain_tree
from reference.tree_hmm_exact import partition_posterior

pytestmark = pytest.mark.exact

PENALISED = [name for name, problem in EXACT.items() if "penalty" in problem.parameters]
ENUMERATED = [name for name in EXACT if name not in PENALISED]
DIRICHLET = [name for name in EXACT if "greedy_tree" in files.load(name)["quantities"]]
LOW_POINTS = 10
"""Sobol points of factors made again, as a power of 2."""
TWINS = {
    "Bernoulli": lambda cells, c: bernoulli(cells, c["a"], c["b"]),
    "Categorical": lambda cells, c: categorical(cells, c["n_categories"], c["pseudo_count"]),
    "GaussianDiagonal": lambda cells, c: gaussian(cells, c["mean"], c["strength"], c["shape"], c["rate"]),
    "GaussianKnownVariance": lambda cells, c: gaussian_known(
        cells, c["variance"], c["prior_mean"], c["prior_variance"]
    ),
    "Poisson": lambda cells, c: poisson(cells, c["shape"], c["rate"]),
}


def law(name, partitions="labels"):
    """Probabilities of a document's law by code."""
    found = files.load(name)["quantities"]["laws"][partitions]
    return dict(zip(found["codes"], found["probabilities"], strict=True))


def numbers(value):
    """All numbers of a document's part, in order."""
    if isinstance(value, dict):
        return [x for own in value.values() for x in numbers(own)]
    if isinstance(value, list):
        return [x for own in value for x in numbers(own)]
    return [value] if isinstance(value, int | float) else []


# The format


@pytest.mark.parametrize("name", files.names())
def test_documents_keep_the_format(name):
    document = files.load(name)
    assert problems_of(document) == []
    assert document["name"] == name
    assert files.path_of(name).stat().st_size < files.LARGEST
    assert files.path_of(name).read_text(encoding="utf-8") == files.text_of(document) + "\n"


def test_every_problem_has_a_document():
    assert files.names() == sorted([*EXACT, *LONG])


def broken(name, *path, value):
    """A document with one place changed."""
    document = copy.deepcopy(files.load(name))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("kind",), "guessed", "kind is one of"),
        (("name",), "Not A Name", "name matches"),
        (("data", "rows"), [], "rows has at least 1 items"),
        (("data", "rows", 0, 0), "x", r"rows\[0\]\[0\] is of type"),
        (("data", "rows", 0, 0), True, r"rows\[0\]\[0\] is of type"),
        (("quantities", "counts", "labels", "probabilities", 0), -0.1, "is at least 0"),
        (("quantities", "counts", "labels", "probabilities", 0), 1.1, "is at most 1"),
        (("quantities", "mood"), 1, "has no 'mood'"),
        (("made",), {"command": "x", "version": "1", "method": "m"}, "made has 'check'"),
    ],
)
def test_the_schema_finds_faults(path, value, sentence):
    found = faults(broken("dp-bernoulli-7", *path, value=value))
    assert len(found) == 1
    assert re.search(sentence, found[0])


def test_an_unknown_keyword_of_a_schema_is_an_error():
    with pytest.raises(ValueError, match="multipleOf"):
        faults(3, {"type": "integer", "multipleOf": 2})


@pytest.mark.parametrize(
    ("path", "value", "word"),
    [
        (("quantities", "laws", "labels", "probabilities", 3), 0.5, "sums to"),
        (("quantities", "laws", "labels", "codes", 0), "0000001", "every code once"),
        (("quantities", "laws", "labels", "codes", 1), "0000002", "has the code '0000002'"),
        (("quantities", "expectations", "labels.n_blocks", "value"), 3.0, "counts.labels has mean"),
        (("quantities", "expectations", "labels.largest", "value"), 3.0, "the law says"),
        (("quantities", "together", "labels", "value", 2, 0), 0.5, "together.labels, row 2"),
    ],
)
def test_documents_are_held_to_themselves(path, value, word):
    assert any(word in fault for fault in problems_of(broken("dp-bernoulli-7", *path, value=value)))


# Derived again


@pytest.mark.parametrize("name", ENUMERATED)
def test_exact_documents_are_derived_again(name):
    known, again = files.load(name), exact_document(name)
    assert again["made"]["check"]["difference"] < 1e-10
    for part in ("quantities", "data", "model", "fit", "partitions"):
        np.testing.assert_allclose(numbers(again[part]), numbers(known[part]), rtol=1e-10, atol=1e-13)
    assert {**again, "quantities": 0, "made": 0} == {**known, "quantities": 0, "made": 0}


@pytest.mark.parametrize("name", PENALISED)
def test_penalised_documents_are_derived_again_with_fewer_points(name):
    """Within 8 standard errors of both sides: false alarms below 1e-4 for 60 trees by t with 15 degrees of freedom."""
    known, again = files.load(name)["quantities"], exact_document(name, LOW_POINTS)["quantities"]
    first, second = known["laws"]["level_1|level_2"], again["laws"]["level_1|level_2"]
    gaps = np.array(first["probabilities"]) - second["probabilities"]
    assert np.all(np.abs(gaps) < 8.0 * np.hypot(first["errors"], second["errors"]) + 1e-9)
    assert np.abs(gaps).sum() < 0.01


@pytest.mark.parametrize("name", LONG)
def test_data_of_long_runs_follow_their_rule(name):
    document = files.load(name)
    assert document["data"] == LONG[name].problem.data
    assert document["model"]["parameters"] == LONG[name].problem.parameters


@pytest.mark.parametrize("name", LONG)
def test_long_runs_mixed_and_two_samplers_agreed(name):
    made = files.load(name)["made"]
    assert made["largest_r_hat"] < 1.01
    assert made["least_ess"] > 400
    assert made["check"]["largest_z"] <= made["check"]["limit"]
    assert made["check"]["rms_z"] < 2.0
    assert made["sampler"]["n_chains"] >= 4
    ours, theirs = (
        {k: v for k, v in own.items() if k[:2] != "n_"} for own in (made["sampler"], made["check"]["sampler"])
    )
    assert ours != theirs


# Against the package and its twins


@pytest.mark.parametrize("name", DIRICHLET)
def test_trees_and_bounds_are_those_of_bhc(name):
    document = files.load(name)
    known = document["quantities"]["greedy_tree"]
    columns = document["model"]["columns"]
    concentration = document["model"]["parameters"]["concentration"]
    model = bg.BHC(likelihood=likelihood_of(columns), concentration=concentration).fit(data_of(document))
    assert model.log_evidence_ == pytest.approx(known["log_evidence_bound"], abs=1e-9)
    assert known["log_evidence_bound"] <= document["quantities"]["log_evidence"]["value"]
    odds = np.sort(model.tree_.nodes["log_merge_odds"][-len(known["merges"]) :])
    np.testing.assert_allclose(odds, np.sort(known["log_merge_odds"]), atol=1e-9)


@pytest.mark.parametrize("family", TWINS)
def test_marginals_are_those_of_the_twins(family):
    columns = [c for p in EXACT.values() for c in p.columns if c["family"] == family]
    for column in columns:
        cells = [1, 0, 1] if family == "Bernoulli" else [2, 0, 2, 1] if family != "Poisson" else [3, 0, 7]
        for n in range(len(cells) + 1):
            wanted = TWINS[family](cells[:n], column)
            assert log_marginal(column, [*cells[:n], None]) == pytest.approx(wanted, abs=1e-11)
            assert log_chain(column, [None, *cells[:n]]) == pytest.approx(wanted, abs=1e-11)


@pytest.mark.parametrize(("alpha", "sigma"), [(0.9, 0.3), (1.1, 0.5), (3.0, 0.8)])
def test_partition_priors_are_those_of_the_twin(alpha, sigma):
    n, prior = 5, generalised_gamma(alpha, sigma)
    twin = log_weights_of_counts(n, alpha, sigma)
    for sizes in ([5], [4, 1], [2, 2, 1], [2, 1, 1, 1], [1] * 5):
        rises = sum(math.lgamma(m - sigma) - math.lgamma(1.0 - sigma) for m in sizes)
        assert prior.log_probability(sizes) == pytest.approx(twin[len(sizes) - 1] + rises, abs=1e-9)
        assert prior.log_again(sizes) == pytest.approx(twin[len(sizes) - 1] + rises, abs=1e-9)


def cross_model(name):
    """The twin's model of a table of views."""
    problem = EXACT[name]
    families = []
    for column in problem.columns:
        kinds = {"Bernoulli": "bern", "Categorical": "cat", "GaussianDiagonal": "nig"}
        values = [v for k, v in column.items() if k != "family"]
        families.append((kinds[column["family"]], *(values[::-1] if column["family"] == "Categorical" else values)))
    numbers_of = problem.parameters
    rows, alphas = problem.data["rows"], (numbers_of["row_concentration"], numbers_of["column_concentration"])
    return model_of(rows, families, *alphas)


@pytest.mark.parametrize("name", [name for name in EXACT if name.startswith("views")])
def test_views_are_those_of_the_twin(name):
    for views, chance in column_law(cross_model(name)).items():
        assert law(name, "views")["".join(map(str, views))] == pytest.approx(chance, abs=1e-10)


def test_all_states_of_views_are_those_of_the_twin():
    twin = law_of(cross_model("views-mixed-4x3"))
    known = law("views-mixed-4x3", "views|column_0|column_1|column_2")
    assert len(known) == len(twin.states) == 4065
    for (views, rows), chance in zip(twin.states, twin.probabilities, strict=True):
        code = "|".join("".join(map(str, part)) for part in (views, *(rows[v] for v in views)))
        assert known[code] == pytest.approx(chance, abs=1e-11)


def nested_model(name):
    """The twin's model of rows in a hierarchy, and its numbers."""
    problem = EXACT[name]
    p = problem.parameters
    model = Model(
        np.array(problem.data["rows"], float), p["depth"], strength=p.get("C", 0.0), margin=p.get("margin", 1.0),
        penalty=p.get("penalty", "max"),
    )  # fmt: skip
    own = {key: p[key] for key in ("alpha", "gamma", "gamma0")}
    return model, {**own, "s2": p["component_variance"], "h2": p["base_variance"]}, p.get("discriminant_scale", 1.0)


@pytest.mark.parametrize("name", ["bhmc-4-levels-3", "bhmc-5-levels-2"])
def test_hierarchies_are_those_of_the_twin(name):
    model, values, _ = nested_model(name)
    twin, document = exact_law(model, **values), files.load(name)
    known = law(name, "|".join(document["partitions"]))
    for key, chance in zip(twin.names, twin.probabilities, strict=True):
        assert known[key] == pytest.approx(chance, abs=1e-11)
    assert document["quantities"]["log_evidence"]["value"] == pytest.approx(twin.log_evidence, abs=1e-9)
    components = document["quantities"]["counts"]["components"]["probabilities"]
    np.testing.assert_allclose(components, twin.components(), atol=1e-11)


def test_component_partitions_are_those_of_the_twin():
    levels = ((0, 0, 0, 1, 1), (0, 0, 1, 2, 2))
    for partition, chance in component_law(levels, 1.4, 1.1).items():
        own = component_probability(levels, labels_of(partition), 1.4, 1.1)
        assert own == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("name", PENALISED)
def test_penalties_are_those_of_the_twin(name):
    """The twin's factors by plain Monte Carlo: of 60 trees none beyond 5 standard errors, false alarms below 1e-4."""
    model, values, scale = nested_model(name)
    factors, errors = expected_factors(model, 40_000, seed=5, nu2=scale**2, n_parts=20)
    twin = exact_law(model, factors, **values)
    known = law(name, "level_1|level_2")
    gaps = np.array([known[key] - chance for key, chance in zip(twin.names, twin.probabilities, strict=True)])
    allowed = 6.0 * twin.probabilities * (errors / factors + (twin.probabilities * errors / factors).sum())
    assert np.all(np.abs(gaps) <= allowed + 1e-9)
    assert np.abs(gaps).sum() < 0.02


def test_factors_of_two_siblings_by_a_grid():
    rows = EXACT["rbhmc-chance-4-levels-2"].data["rows"]
    key = tuple(map(tuple, rows))
    for group in (((0, 1), (2, 3)), ((0,), (1, 2, 3)), ((0, 2), (1, 3))):
        parts = [log_group_chance(key, group, (0.3, 0.5, 1.0), 12, part) for part in range(8)]
        error = np.std(parts, ddof=1) / math.sqrt(len(parts))
        assert np.mean(parts) == pytest.approx(
            pair_factor_by_grid(rows, group, (0.3, 0.5, 1.0)), abs=6.0 * error + 1e-5
        )


def test_points_are_standard_normal():
    points = normal_points(3, 10, 0)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=0.01)
    np.testing.assert_allclose(points.std(axis=0), 1.0, atol=0.01)


@pytest.mark.parametrize("name", [name for name in EXACT if name.startswith("trees")])
def test_tree_mixtures_are_those_of_the_twin(name):
    problem = EXACT[name]
    data, p = problem.data, problem.parameters
    trees = [plain_tree({"label": t["labels"], "parent": t["parents"], "pos": t["positions"]}) for t in data["trees"]]
    sizes = (data["max_outdegree"], p["n_states"], data["n_labels"])
    twin = partition_posterior(trees, *sizes, p["missing"], p["prior_strength"], p["concentration"])
    assert files.load(name)["quantities"]["log_evidence"]["value"] == pytest.approx(twin.log_evidence, abs=1e-9)
    assert law(name) == pytest.approx(twin.probabilities, abs=1e-11)


def test_trees_are_all_there():
    assert [len(all_hierarchies(n, 2)) for n in (1, 2, 3, 4)] == [1, 3, 12, 60]
    found = tree_law(
        [[0.0], [1.0]], 2, {"alpha": 1, "gamma": 1, "gamma0": 1, "component_variance": 1, "base_variance": 1}
    )
    assert np.exp(found.log_prior).sum() == pytest.approx(1.0)
    assert [tree_key(levels) for levels in found.trees] == ["00|00", "00|01", "01|01"]
    assert blocks((0, 1, 0)) == [(0, 2), (1,)]

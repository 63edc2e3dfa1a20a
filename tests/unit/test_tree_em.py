"""EM of tree models: golden numbers, never a fall, and all that may go wrong."""

import itertools

import numpy as np
import pytest

from bayesgrove.core.errors import InvalidSettingError, InvalidTreeError
from bayesgrove.core.rng import generator
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.em import EMSettings, assign, distinct_trees, fit_em, penalty, warn_impossible
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.parameters import log_prior, make_prior, random_parameters, select_parameters
from bayesgrove.models.tree_hmm.tables import Strengths
from reference import tree_hmm as twin
from reference.tree_hmm_engine import as_twin
from reference.tree_learning import golden_forest, golden_start, parameters_of, random_forest, small_prior

pytestmark = pytest.mark.unit

WHOLE_RUN = EMSettings(max_iter=10, tol=0.0)


@pytest.fixture
def numbers(golden):
    return golden("htmm")


def largest_fall(trace):
    """In parts of the objective."""
    return float(np.max(-np.diff(trace) / np.abs(trace[1:])))


@pytest.mark.parametrize("make_links", [unique_links, plain_links])
def test_golden_runs(numbers, make_links):
    for case in numbers["em"]:
        forest = golden_forest(case)
        prior = make_prior(forest, case["C"], case["mode"], case["alpha"])
        fit = fit_em(generator(0), make_links(forest), prior, 1, WHOLE_RUN, golden_start(case))
        np.testing.assert_allclose(fit.trace, case["objective"], atol=1e-8)
        assert fit.log_densities.sum() == pytest.approx(case["loglik"][-1], abs=1e-8)
        wanted = twin.golden_tables(case["after_10_steps"])
        for ours, theirs in zip(as_twin(fit.parameters.tables), wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_golden_mixture(numbers):
    case = numbers["mixture"]
    forest = golden_forest(case)
    start = np.array(case["p"]), parameters_of([twin.golden_tables(part) for part in case["components"]])
    fit = fit_em(generator(0), unique_links(forest), small_prior(forest), 3, EMSettings(max_iter=1, tol=0.0), start)
    np.testing.assert_allclose(fit.weights, case["p_next"], atol=1e-10)
    logs = np.array([[twin.upward(twin.plain_tree(tree), twin.golden_tables(part), case["mode"]).log_likelihood
                      for tree in case["trees"]] for part in case["components"]])  # fmt: skip
    found = assign(logs, start[0])
    np.testing.assert_allclose(found.log_densities, case["loglik"], atol=1e-10)
    np.testing.assert_allclose(found.responsibilities.T, case["responsibilities"], atol=1e-10)


@pytest.mark.parametrize("strength", [1.0, 2.0])
@pytest.mark.parametrize("mode", twin.MODES)
@pytest.mark.parametrize(
    ("n_forests", "n_steps"), [(2, 20), pytest.param(20, 60, marks=pytest.mark.slow)], ids=["short", "whole"]
)
def test_never_falls(mode, strength, n_forests, n_steps):
    for seed, n_components in itertools.product(range(n_forests), (1, 2)):
        rng = generator(11, seed)
        forest = random_forest(rng, mode)
        prior = small_prior(forest, mode, strength)
        fit = fit_em(rng, unique_links(forest), prior, n_components, EMSettings(max_iter=n_steps, tol=0.0))
        assert largest_fall(fit.trace) <= 1e-9


@pytest.mark.parametrize("mode", twin.MODES)
def test_steps_equal_the_twins(mode):
    rng = generator(3)
    forest = random_forest(rng, mode, n_trees=5)
    trees, tables = twin.plain_trees(forest), twin.random_tables(rng, 3, 2, 3, mode)
    start = np.ones(1), parameters_of([tables])
    fit = fit_em(rng, unique_links(forest), small_prior(forest, mode, 1.5), 1, EMSettings(max_iter=4, tol=0.0), start)
    for step in range(5):
        assert fit.trace[step] == pytest.approx(twin.objective(trees, tables, mode, 1.5), abs=1e-9)
        tables = twin.em_step(trees, tables, mode, 1.5)


def test_the_papers_step_is_another_and_may_fall():
    falls = []
    for seed in range(6):
        rng = generator(5, seed)
        forest = random_forest(rng, "bottom_prior", n_trees=4)
        settings = EMSettings(max_iter=25, tol=0.0, estep="paper")
        falls.append(
            largest_fall(fit_em(rng, plain_links(forest), small_prior(forest, strength=2.0), 1, settings).trace)
        )
    assert max(falls) > 1e-7


def test_mean_is_the_mode_under_larger_strengths():
    rng = generator(7)
    forest = random_forest(rng, "bottom_prior")
    links, start = unique_links(forest), (np.ones(1), parameters_of([twin.random_tables(rng, 3, 2, 3, "bottom")]))
    mean = fit_em(rng, links, small_prior(forest, strength=0.4), 1, WHOLE_RUN._replace(point="mean"), start)
    mode = fit_em(rng, links, small_prior(forest, strength=1.4), 1, WHOLE_RUN, start)
    np.testing.assert_array_equal(mean.parameters.tables.transition, mode.parameters.tables.transition)
    assert largest_fall(mean.trace) <= 1e-9


@pytest.mark.parametrize("mode", twin.MODES)
def test_log_prior_is_the_penalty_and_a_constant(mode):
    forest = random_forest(generator(0), mode)
    prior = small_prior(forest, mode, 1.7)
    drawn = random_parameters(generator(1), prior, 3)
    rest = log_prior(prior, drawn) - penalty(prior, drawn)
    np.testing.assert_allclose(rest, rest[0])
    alone = log_prior(prior, select_parameters(drawn, np.array([2])))
    assert alone[0] == pytest.approx(log_prior(prior, drawn)[2])


def test_rows_without_counts_keep_their_values():
    data = TreeData.from_parents([[0, 1]], [[-1, 0]], [[0, 1]], max_outdegree=2, n_labels=2)
    start = np.ones(1), parameters_of([twin.random_tables(generator(1), 2, 2, 2, "bottom_prior")])
    fit = fit_em(generator(0), unique_links(data.forest), small_prior(data.forest), 1, EMSettings(max_iter=3), start)
    found, before = fit.parameters.tables, start[1].tables
    np.testing.assert_array_equal(found.initial[0, 0], before.initial[0, 0])  # no tree is a single leaf
    np.testing.assert_array_equal(found.transition[0, 1, :2], before.transition[0, 1, :2])  # position 2 is empty
    np.testing.assert_array_equal(found.initial[0, 2], [0.0, 0.0, 1.0])


def test_restarts_and_stopping():
    rng = generator(2)
    forest = random_forest(rng, "bottom_prior")
    done = []
    settings = EMSettings(n_init=3, max_iter=50, tol=1e-3)
    fit = fit_em(rng, unique_links(forest), small_prior(forest), 2, settings, progress=lambda *part: done.append(part))
    assert fit.objectives.shape == (3,)
    assert fit.trace[-1] == fit.objectives.max()
    assert fit.converged
    assert len(fit.trace) < 51
    assert done[-1] == (150, 150)
    assert [part for part, _ in done] == sorted(part for part, _ in done)
    assert fit.labels.shape == (forest.n_trees,)
    np.testing.assert_allclose(fit.responsibilities.sum(axis=0), 1.0)


def test_equal_trees_are_one():
    rng = generator(4)
    forest = random_forest(rng, "bottom_prior", n_trees=3).take([0, 1, 1, 2, 0, 0])
    trees = distinct_trees(unique_links(forest))
    assert trees.multiplicity[trees.number].tolist() == [3, 2, 2, 1, 3, 3]
    start = np.full(2, 0.5), parameters_of([twin.random_tables(rng, 3, 2, 3, "bottom") for _ in range(2)])
    prior = small_prior(forest, "bottom", 2.0)
    shared, plain = (fit_em(rng, make(forest), prior, 2, WHOLE_RUN, start) for make in (unique_links, plain_links))
    np.testing.assert_allclose(shared.trace, plain.trace, rtol=1e-12)
    np.testing.assert_allclose(shared.responsibilities, plain.responsibilities, atol=1e-9)


def test_long_trees_do_not_underflow():
    rng = generator(6)
    chain = TreeData.from_parents([rng.integers(0, 3, 1000)] * 2, [np.arange(1000) - 1] * 2).forest
    fit = fit_em(rng, unique_links(chain), small_prior(chain), 2, EMSettings(max_iter=3))
    assert np.isfinite(fit.trace).all()
    assert fit.trace[-1] < -1000


def test_impossible_trees_have_the_weights_and_one_warning():
    found = assign(np.array([[-1.0, -np.inf], [-2.0, -np.inf]]), np.array([0.3, 0.7]))
    np.testing.assert_allclose(found.responsibilities[:, 1], [0.3, 0.7])
    assert np.isneginf(found.log_densities[1])
    np.testing.assert_allclose(assign(np.zeros((2, 1)), np.array([1.0, 0.0])).responsibilities[:, 0], [1.0, 0.0])
    with pytest.warns(UserWarning, match="1 trees are impossible under every component"):
        warn_impossible(1)
    tables = twin.uniform_tables(3, 2, 3, "bottom_prior")
    tables.emission[:] = [1.0, 0.0, 0.0]
    data = TreeData.from_parents([[0], [2], [2]], [[-1]] * 3, max_outdegree=3, n_labels=3)
    frozen = small_prior(data.forest)
    with pytest.warns(UserWarning, match="2 trees are impossible") as caught:
        fit_em(
            generator(0),
            unique_links(data.forest),
            frozen,
            1,
            EMSettings(max_iter=1),
            (np.ones(1), parameters_of([tables])),
        )
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_init": 0}, "n_init is at least 1, got 0"),
        ({"max_iter": 0}, "max_iter is at least 1"),
        ({"tol": -1.0}, "tol is not negative"),
        ({"estep": "fast"}, "estep is one of exact, paper, got 'fast'"),
        ({"point": "median"}, "point is one of mode, mean, got 'median'"),
        ({"weight_strength": 0.5}, "below 1 has no mode inside, got prior_strength 0.5"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    forest = random_forest(generator(0), "bottom")
    with pytest.raises(InvalidSettingError, match=message):
        fit_em(generator(0), unique_links(forest), small_prior(forest), 1, EMSettings(**settings))


def test_wrong_priors_are_refused():
    forest = random_forest(generator(0), "bottom")
    sparse = small_prior(forest, strength=Strengths(1.0, 0.3, 1.0, 1.0))
    with pytest.raises(InvalidSettingError, match=r"no mode inside, got prior_strength 0\.3"):
        fit_em(generator(0), unique_links(forest), sparse)
    with pytest.raises(InvalidSettingError, match="n_clusters is at least 1, got 0"):
        fit_em(generator(0), unique_links(forest), small_prior(forest), 0)
    with pytest.raises(InvalidSettingError, match="missing is one of bottom_prior, bottom, renorm, got 'top'"):
        make_prior(forest, 2, "top")
    with pytest.raises(InvalidSettingError, match="n_states is at least 1, got 0"):
        make_prior(forest, 0)
    with pytest.raises(InvalidSettingError, match="prior_strength is above 0, got 0"):
        make_prior(forest, 2, prior_strength=0.0)
    childless = TreeData.from_parents([[0], [0, 1]], [[-1], [-1, 0]], internal=[[False], [True, True]]).forest
    with pytest.raises(InvalidTreeError, match='tree 1, node 1: with missing="renorm" an internal node'):
        make_prior(childless, 2, "renorm")

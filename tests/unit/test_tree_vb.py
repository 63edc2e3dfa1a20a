"""Variational Bayes for mixtures of tree models: a bound that rises, and the start it gives."""

import numpy as np
import pytest
from scipy.special import gammaln

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm import vb
from bayesgrove.models.tree_hmm.em import distinct_trees
from bayesgrove.models.tree_hmm.engine import expected_counts
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.parameters import divergence, expected_tables, make_prior, random_parameters
from bayesgrove.models.tree_hmm.tables import Strengths
from bayesgrove.models.tree_hmm.vb import (
    VBSettings,
    better_order,
    choose_n_states,
    expected_log_sticks,
    random_laws,
    stick_divergence,
    strength_stages,
    vb_start,
)
from reference import tree_hmm as twin
from reference.tree_hmm_engine import as_twin, vb_from_responsibilities
from reference.tree_learning import golden_forest, random_forest, small_prior

pytestmark = pytest.mark.unit

QUICK = VBSettings(n_components=6, n_iter=25, n_init=1)


def largest_fall(trace):
    return float(np.max(-np.diff(trace) / np.abs(trace[1:])))


@pytest.mark.parametrize("strength", [0.3, 1.0])
@pytest.mark.parametrize("mode", twin.MODES)
def test_bound_never_falls(mode, strength):
    for seed in range(3):
        rng = generator(21, seed)
        forest = random_forest(rng, mode, n_trees=12)
        fit = vb_start(rng, unique_links(forest), small_prior(forest, mode, strength), 2.0, QUICK)
        assert largest_fall(fit.trace) <= 1e-9
        assert fit.sizes.sum() == pytest.approx(12.0)
        np.testing.assert_allclose(fit.responsibilities.sum(axis=0), 1.0)
        np.testing.assert_allclose(fit.responsibilities.sum(axis=1), fit.sizes, atol=1e-9)


def test_bound_is_below_the_evidence(golden):
    case = golden("htmm")["partition_posterior"]
    forest = golden_forest(case)
    prior = make_prior(forest, case["C"], case["mode"], case["alpha"])
    for seed in range(3):
        fit = vb_start(generator(seed), unique_links(forest), prior, case["gamma"], VBSettings(n_components=20))
        assert fit.elbo <= case["log_evidence"] + 1e-6
        assert fit.elbo > case["log_evidence"] - 5.0


def test_bound_is_the_evidence_where_nothing_is_hidden():
    """With one state, one position and one component all rows are Dirichlet-multinomial."""
    labels = [[0, 1, 1], [1], [2, 0]]
    data = TreeData.from_parents(labels, [[-1, 0, 1], [-1], [-1, 0]], n_labels=3)
    prior = make_prior(data.forest, 1, "bottom_prior", 0.7)
    fit = vb_start(generator(0), unique_links(data.forest), prior, 1.0, VBSettings(n_components=1, n_init=1))

    def evidence(counts):
        counts = np.asarray(counts, float)
        rising = gammaln(counts + 0.7).sum() - counts.size * gammaln(0.7)
        return rising + gammaln(0.7 * counts.size) - gammaln(0.7 * counts.size + counts.sum())

    # Labels, and the slot at position 1 of the two lowest nodes: taken by a leaf; nowhere is one absent.
    assert fit.elbo == pytest.approx(evidence([2, 3, 1]) + evidence([2, 0]), abs=1e-9)


def test_equal_components_with_a_renormalised_switch_bound_the_evidence():
    """Two leaves below a root: the switch is free, so that one component's evidence is that of labels and slots."""
    data = TreeData.from_parents([[0, 0, 0]], [[-1, 0, 0]], [[0, 1, 2]], n_labels=1)
    prior = make_prior(data.forest, 1, "renorm", 1.0)
    fit = vb_start(
        generator(0), unique_links(data.forest), prior, 1.0, VBSettings(n_components=1, n_init=1, n_iter=400)
    )
    assert -0.5 < fit.elbo <= 1e-9


def test_expected_tables_and_divergence_equal_the_twins():
    rng = generator(5)
    forest = random_forest(rng, "bottom_prior")
    prior = small_prior(forest, strength=0.6)
    links = unique_links(forest)
    tables = random_parameters(rng, prior, 1).tables
    counts = expected_counts(links, tables, prior.mode, np.ones((1, forest.n_trees)))
    found = expected_tables(prior, counts)
    for ours, theirs in zip(as_twin(found), twin.expected_log(as_twin(counts), 0.6, "bottom_prior"), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
    draws = rng.dirichlet(0.6 + counts.switching[0], 40_000)
    one_row = counts._replace(**{name: 0 * getattr(counts, name) for name in ("initial", "emission", "transition")})
    log_ratio = (counts.switching[0] * np.log(draws)).sum(1)
    constant = log_beta(0.6 + 0 * counts.switching[0]) - log_beta(0.6 + counts.switching[0])
    error = log_ratio.std() / 200.0
    assert divergence(prior, one_row)[0] == pytest.approx(log_ratio.mean() + constant, abs=4 * error)


def log_beta(cells):
    return gammaln(cells).sum() - gammaln(cells.sum())


def test_sticks_equal_draws():
    rng = generator(9)
    sizes, concentration = np.array([3.0, 0.5, 2.0]), 1.5
    sticks = rng.beta([4.0, 1.5], [concentration + 2.5, concentration + 2.0], (200_000, 2))
    rest = np.cumprod(1.0 - sticks, axis=1)
    weights = np.column_stack([sticks[:, 0], rest[:, 0] * sticks[:, 1], rest[:, 1]])
    np.testing.assert_allclose(expected_log_sticks(sizes, concentration), np.log(weights).mean(0), atol=0.02)
    assert stick_divergence(np.zeros(4), 0.7) == 0.0
    assert stick_divergence(sizes, concentration) > 0.0
    assert expected_log_sticks(np.array([5.0]), 1.0).tolist() == [0.0]


def test_components_are_sorted_where_the_bound_gains():
    assert better_order(np.array([1.0, 5.0, 3.0]), 1.0).tolist() == [1, 2, 0]
    assert better_order(np.array([4.0, 4.0]), 1.0).tolist() == [0, 1]
    # Under a large concentration sticks are small: the last component, which takes the rest, may well be the largest.
    assert better_order(np.array([0.0, 8.0]), 50.0).tolist() == [0, 1]


def test_strengths_fall_in_stages():
    assert strength_stages(Strengths(1, 1, 1, 1), (1.0, 0.3)) == [Strengths(1, 1, 1, 1)]
    assert strength_stages(Strengths(2, 2, 2, 2), (1.0, 0.3)) == [Strengths(2, 2, 2, 2)]
    assert strength_stages(Strengths(0.1, 1, 1, 0.5), (1.0, 0.3, 0.1)) == [
        Strengths(1, 1, 1, 1),
        Strengths(0.3, 1, 1, 0.5),
        Strengths(0.1, 1, 1, 0.5),
    ]
    assert strength_stages(Strengths(0.1, 0.1, 0.1, 0.1), ()) == [Strengths(0.1, 0.1, 0.1, 0.1)]


def test_equal_trees_start_together():
    forest = random_forest(generator(1), "bottom", n_trees=3).take([0, 1, 1, 2, 0])
    trees = distinct_trees(unique_links(forest))
    laws = random_laws(generator(0), trees, small_prior(forest, "bottom"), 4)
    assert laws.sizes.sum() == pytest.approx(5.0)
    fit = vb_start(generator(0), unique_links(forest), small_prior(forest, "bottom"), settings=QUICK)
    np.testing.assert_array_equal(fit.responsibilities[:, 0], fit.responsibilities[:, 4])
    assert fit.labels.shape == (5,)


def test_components_that_hold_nothing_are_one(monkeypatch):
    """They are evaluated once for all: the same numbers as one by one."""
    forest = random_forest(generator(2), "bottom_prior", n_trees=8)
    settings = VBSettings(n_components=12, n_iter=40, n_init=1)
    links, prior = unique_links(forest), small_prior(forest, strength=2.0)
    found = vb_start(generator(6), links, prior, settings=settings)
    assert found.n_components < 12
    monkeypatch.setattr(vb, "NOTHING", -1.0)
    one_by_one = vb_start(generator(6), links, prior, settings=settings)
    np.testing.assert_allclose(found.trace, one_by_one.trace, rtol=1e-9)


def test_goes_on_from_responsibilities():
    rng = generator(2)
    forest = random_forest(rng, "bottom_prior", n_trees=8)
    links, prior = unique_links(forest), small_prior(forest)
    first = vb_start(rng, links, prior, settings=QUICK)
    again = vb_from_responsibilities(links, prior, first.tables, first.responsibilities, 1.0, 30)
    assert again.elbo >= first.elbo - 1e-9
    assert again.n_components <= first.n_components
    assert np.exp(first.log_weights).sum() <= 1.0 + 1e-12


def test_progress_and_number_of_states():
    rng, done = generator(3), []
    forest = random_forest(rng, "bottom_prior", n_trees=8)
    settings = VBSettings(n_components=3, n_iter=4, n_init=2, n_continued=2)
    choice = choose_n_states(
        rng,
        unique_links(forest),
        small_prior(forest, strength=0.3),
        1.0,
        settings,
        (1, 2),
        lambda *part: done.append(part),
    )
    assert done == [(step + 1, 20) for step in range(20)]
    assert choice.n_states == (1, 2)
    assert choice.fit.elbo == choice.elbos.max()
    assert choice.fit.counts.transition.shape[3] == choice.n_states[int(choice.elbos.argmax())]
    assert choice.fit.prior.strengths == Strengths(0.3, 0.3, 0.3, 0.3)


@pytest.mark.parametrize("mode", twin.MODES)
def test_tiny_strengths_and_one_state_stay_finite(mode):
    data = TreeData.from_parents([[0], [0, 1], [0, 1]], [[-1], [-1, 0], [-1, 0]])
    for n_states in (1, 2):
        prior = make_prior(data.forest, n_states, mode, 0.001)
        fit = vb_start(generator(0), unique_links(data.forest), prior, settings=QUICK)
        assert np.isfinite(fit.elbo)


def test_the_same_seed_gives_the_same_fit():
    forest = random_forest(generator(8), "bottom_prior", n_trees=8)
    first, second = (
        vb_start(generator(4), unique_links(forest), small_prior(forest), settings=QUICK) for _ in range(2)
    )
    np.testing.assert_array_equal(first.trace, second.trace)


@pytest.mark.parametrize(
    ("concentration", "settings", "message"),
    [
        (0.0, {}, "concentration is above 0, got 0"),
        (1.0, {"n_components": 0}, "n_components is at least 1, got 0"),
        (1.0, {"n_iter": 0}, "n_iter is at least 1, got 0"),
        (1.0, {"n_init": 0}, "n_init is at least 1, got 0"),
    ],
)
def test_wrong_settings_are_refused(concentration, settings, message):
    forest = random_forest(generator(0), "bottom")
    with pytest.raises(InvalidSettingError, match=message):
        vb_start(generator(0), unique_links(forest), small_prior(forest), concentration, VBSettings(**settings))


def test_no_candidates_are_refused():
    forest = random_forest(generator(0), "bottom")
    with pytest.raises(InvalidSettingError, match="candidates are numbers of states to choose from, got none"):
        choose_n_states(generator(0), unique_links(forest), small_prior(forest), candidates=())

"""Numbers as labels of trees: Gaussian rows, their laws given counts, and fits that need no branch of their own."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, norm

from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm import gaussian
from bayesgrove.models.tree_hmm.component_tree import build_components_tree
from bayesgrove.models.tree_hmm.em import EMSettings, fit_em
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.gaussian import Gaussians, NormalGamma
from bayesgrove.models.tree_hmm.links import node_values, unique_links
from bayesgrove.models.tree_hmm.parameters import (
    draw_prior,
    log_prior,
    make_prior,
    most_probable,
    random_parameters,
    select_parameters,
    with_values,
)
from bayesgrove.models.tree_hmm.tables import zero_counts
from bayesgrove.models.tree_hmm.vb import VBSettings, vb_start
from reference.tree_learning import two_kinds

pytestmark = pytest.mark.unit


@pytest.fixture
def example():
    """Two columns, five values (a cell is missing), counts of two components and three states."""
    values = np.array([[0.1, 2.0], [1.0, np.nan], [-0.5, 1.0], [3.0, 0.0], [2.5, 1.5]])
    prior = NormalGamma(np.array([0.5, 1.0]), np.array([0.3, 0.6]), np.array([2.0, 1.5]), np.array([0.7, 1.1]))
    return Gaussians(prior, values), generator(1).gamma(1.0, size=(2, 5, 3))


def test_statistics_are_those_of_repeated_cells(example):
    gaussians, _ = example
    counts = generator(2).integers(0, 4, (1, 5, 2)).astype(float)
    found = gaussian.posterior_numbers(gaussians, counts)
    for state in range(2):
        for column in range(2):
            cells = np.repeat(gaussians.values[:, column], counts[0, :, state].astype(int))
            cells = cells[~np.isnan(cells)]
            mean, strength, shape, rate = (part[column] for part in gaussians.prior)
            n, centre = cells.size, cells.mean()
            assert found.strength[0, state, column] == pytest.approx(strength + n)
            assert found.mean[0, state, column] == pytest.approx((strength * mean + cells.sum()) / (strength + n))
            shift = strength * n / (strength + n) * (centre - mean) ** 2
            wanted = rate + 0.5 * (((cells - centre) ** 2).sum() + shift)
            assert found.rate[0, state, column] == pytest.approx(wanted)
            assert found.shape[0, state, column] == pytest.approx(shape + n / 2)


def test_statistics_hold_far_from_zero():
    values = 1e8 + generator(3).normal(size=(200, 1))
    found = gaussian.weighted_moments(np.ones((1, 200, 1)), values)
    assert found[2][0, 0, 0] == pytest.approx(((values - values.mean()) ** 2).sum(), rel=1e-6)


def test_rows_are_scaled_densities(example):
    gaussians, _ = example
    moments = np.stack([generator(4).normal(size=(2, 3, 2)), generator(5).gamma(1.0, size=(2, 3, 2))], axis=-1)
    rows, log_scale = gaussian.density_rows(gaussians, moments)
    for component, state in np.ndindex(2, 3):
        mean, deviation = moments[component, state, :, 0], np.sqrt(moments[component, state, :, 1])
        logs = norm.logpdf(gaussians.values, mean, deviation)
        logs[1, 1] = 0.0  # a missing cell says nothing
        np.testing.assert_allclose(np.log(rows[component, :, state]) + log_scale[component], logs.sum(1), rtol=1e-12)
    assert rows.max(axis=2).tolist() == np.ones((2, 5)).tolist()


def test_draws_have_the_posteriors_moments(example):
    """40,000 draws, 4 standard errors of each: false alarms below 1e-3 in all."""
    gaussians, counts = example
    many = np.broadcast_to(counts[:1], (40_000, 5, 3))
    drawn = gaussian.draw_moments(generator(6), gaussians, np.ascontiguousarray(many))
    mean, _, shape, rate = gaussian.posterior_numbers(gaussians, counts[:1])
    for part, wanted in ((drawn[..., 0], mean[0]), (1.0 / drawn[..., 1], (shape / rate)[0])):
        error = part.std(axis=0) / 200.0
        assert (np.abs(part.mean(axis=0) - wanted) < 4 * error).all()


def test_mode_is_where_the_density_is_largest(example):
    gaussians, counts = example
    top = gaussian.most_probable_moments(gaussians, counts)
    best = gaussian.log_density_of_moments(gaussians, top, counts)
    for seed in range(30):
        moved = top * np.exp(0.05 * generator(7, seed).normal(size=top.shape))
        assert (gaussian.log_density_of_moments(gaussians, moved, counts) < best).all()


def test_density_is_that_of_the_prior(example):
    gaussians, _ = example
    moments = gaussian.draw_moments(generator(8), gaussians, np.zeros((1, 5, 1)))
    mean, strength, shape, rate = gaussians.prior
    precision = 1.0 / moments[0, 0, :, 1]
    wanted = gamma.logpdf(precision, shape, scale=1.0 / rate)
    wanted += norm.logpdf(moments[0, 0, :, 0], mean, np.sqrt(1.0 / (strength * precision)))
    found = gaussian.log_density_of_moments(gaussians, moments, np.zeros((1, 5, 1)))
    assert found[0] == pytest.approx(wanted.sum())


def test_expected_rows_and_divergence_equal_integrals(example):
    gaussians, counts = example
    rows, log_scale = gaussian.expected_rows(gaussians, counts)
    mean, strength, shape, rate = (part[0, 1] for part in gaussian.posterior_numbers(gaussians, counts))
    wanted = 0.0
    for column in range(2):
        law = gamma(shape[column], scale=1.0 / rate[column])
        squares = (gaussians.values[0, column] - mean[column]) ** 2

        def log_density(t, squares=squares, strength=strength[column]):
            return 0.5 * (np.log(t / (2 * np.pi)) - t * squares - 1.0 / strength)

        wanted += quad(lambda t, law=law, at=log_density: law.pdf(t) * at(t), 0, np.inf)[0]
    assert np.log(rows[0, 0, 1]) + log_scale[0, 0] == pytest.approx(wanted, abs=1e-6)
    many = np.ascontiguousarray(np.broadcast_to(counts[:1], (20_000, 5, 3)))
    drawn = gaussian.draw_moments(generator(9), gaussians, many)
    ratio = gaussian.log_density_of_moments(gaussians, drawn, many)
    ratio -= gaussian.log_density_of_moments(gaussians, drawn, np.zeros_like(many))
    found = gaussian.divergence_of_moments(gaussians, counts)
    assert found[0] == pytest.approx(ratio.mean(), abs=4 * ratio.std() / np.sqrt(20_000))
    np.testing.assert_allclose(gaussian.divergence_of_moments(gaussians, np.zeros_like(counts)), 0.0, atol=1e-12)


def test_offset_of_all_values_changes_nothing():
    near, far = two_kinds(generator(10)), two_kinds(generator(10), offset=1e6)
    settings = VBSettings(n_components=4, n_iter=20, n_init=1)
    fits = [
        vb_start(generator(1), unique_links(forest), make_prior(forest, 2), 1.0, settings) for forest in (near, far)
    ]
    assert fits[0].elbo == pytest.approx(fits[1].elbo, rel=1e-6)


@pytest.mark.parametrize("mode", ["bottom_prior", "renorm"])
def test_em_never_falls(mode):
    forest = two_kinds(generator(11))
    for seed in range(2):
        fit = fit_em(
            generator(12, seed), unique_links(forest), make_prior(forest, 2, mode), 2, EMSettings(max_iter=25, tol=0.0)
        )
        assert np.max(-np.diff(fit.trace) / np.abs(fit.trace[1:])) <= 1e-9
        assert fit.parameters.moments.shape == (2, 2, 2, 2)


def test_variational_bayes_finds_the_kinds():
    forest = two_kinds(generator(13))
    prior = make_prior(forest, 2, prior_strength=1.0)
    links = unique_links(forest)
    fit = vb_start(generator(2), links, prior, 1.0, VBSettings(n_components=5, n_iter=30, n_init=2))
    assert np.max(-np.diff(fit.trace) / np.abs(fit.trace[1:])) <= 1e-9
    assert fit.n_components == 2
    assert len({*fit.labels[:12]}) == len({*fit.labels[12:]}) == 1
    tree = build_components_tree(links, prior, fit.counts, fit.responsibilities)
    assert tree.log_ratios[0] < 0.0


def test_rows_for_other_values():
    forest, other = two_kinds(generator(14)), two_kinds(generator(15), n_trees=2)
    prior = make_prior(forest, 2)
    found = random_parameters(generator(3), prior, 2)
    new = with_values(prior, found, node_values(other))
    assert new.tables.emission.shape == (2, 12, 2)
    both = make_prior(other, 2)._replace(gaussians=Gaussians(prior.gaussians.prior, node_values(other)))
    wanted = most_probable(both, zero_counts(2, both.shape), new).tables.log_scale.shape
    assert new.tables.log_scale.shape == wanted
    logs = log_likelihoods(unique_links(other), new.tables, prior.mode)
    assert np.isfinite(logs).all()
    chosen = select_parameters(new, np.array([1]))
    np.testing.assert_array_equal(log_likelihoods(unique_links(other), chosen.tables, prior.mode)[0], logs[1])


def test_log_prior_of_components_is_that_of_rows_and_moments():
    forest = two_kinds(generator(16), n_trees=4)
    prior = make_prior(forest, 2, prior_strength=0.8)
    drawn = draw_prior(generator(4), prior, 3)
    nothing = np.zeros((3, len(prior.gaussians.values), 2))
    of_moments = gaussian.log_density_of_moments(prior.gaussians, drawn.moments, nothing)
    flat = prior._replace(gaussians=None)
    no_labels = drawn._replace(tables=drawn.tables._replace(emission=np.ones((3, 1, 2)), log_scale=np.zeros((3, 1))))
    np.testing.assert_allclose(log_prior(prior, drawn), log_prior(flat, no_labels) + of_moments)

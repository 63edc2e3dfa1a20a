"""Fits of single components, and of the components of given clusters, whose states mean the same."""

import numpy as np
import pytest

import bayesgrove as bg
from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm import component_fit
from bayesgrove.models.tree_hmm.component_fit import fit_clusters, fit_component
from bayesgrove.models.tree_hmm.em import distinct_trees
from bayesgrove.models.tree_hmm.engine import expected_counts
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.parameters import divergence, make_prior, random_parameters, select_counts
from bayesgrove.models.tree_hmm.tables import Strengths

pytestmark = pytest.mark.unit

N_STATES = 4


@pytest.fixture(scope="module")
def problem():
    """Trees of one kind whose nodes are of four kinds, each with labels of its own."""
    rng, labels, parents = generator(3), [], []
    for _ in range(60):
        above = [-1] + [int(rng.integers(max(0, node - 3), node)) for node in range(1, 20)]
        kinds = [0]
        for node in range(1, 20):
            kinds.append((kinds[above[node]] + 1) % N_STATES if rng.random() < 0.9 else int(rng.integers(N_STATES)))
        parents.append(above)
        labels.append([5 * kind + int(rng.integers(5)) for kind in kinds])
    data = bg.TreeData.from_parents(labels, parents, n_labels=20)
    data = bg.TreeData(data.forest.with_max_outdegree(1)[0])
    prior = make_prior(data.forest, N_STATES, "bottom_prior", Strengths(emission=0.1))
    return distinct_trees(unique_links(data.forest)), prior


def nearest_states(emission):
    """For each state of the first cluster the state of the second whose labels are most alike."""
    shares = emission / emission.sum(axis=1, keepdims=True)
    return np.abs(shares[0][:, :, None] - shares[1][:, None, :]).sum(axis=0).argmin(axis=1)


@pytest.mark.parametrize("most", [1_000, 20])
def test_states_of_clusters_mean_the_same(problem, most, monkeypatch):
    """Also where all trees are fitted by a sample."""
    monkeypatch.setattr(component_fit, "MOST_COMMON", most)
    trees, prior = problem
    labels = np.arange(trees.number.size) % 2
    for seed in range(4):
        counts = fit_clusters(generator(seed), trees, prior, labels)
        np.testing.assert_array_equal(nearest_states(counts.emission), np.arange(N_STATES))
        totals = np.bincount(labels) * 20.0
        np.testing.assert_allclose(counts.emission.sum(axis=(1, 2)), totals)


def test_states_of_clusters_fitted_alone_differ(problem):
    """What the common start is for: from random tables the same clusters number their states as they come."""
    trees, prior = problem
    weights = np.array([np.arange(60) % 2 == k for k in range(2)], float)
    found = []
    for seed in range(4):
        counts = expected_counts(trees.links, random_parameters(generator(seed), prior, 2).tables, prior.mode, weights)
        own = [
            fit_component(trees, prior, select_counts(counts, np.array([k])), weights[k], 40).counts.emission[0]
            for k in range(2)
        ]
        found.append(nearest_states(np.array(own)).tolist())
    assert any(order != list(range(N_STATES)) for order in found)


def test_bound_of_a_component_rises_and_leaves_other_trees_out(problem):
    trees, prior = problem
    weights = np.where(np.arange(60) < 30, trees.multiplicity, 0.0)
    tables = random_parameters(generator(0), prior, 1).tables
    first = expected_counts(trees.links, tables, prior.mode, weights[None])
    bounds = [fit_component(trees, prior, first, weights, n_iter).bound for n_iter in range(1, 30)]
    assert np.diff(bounds).min() > -1e-6
    fit = fit_component(trees, prior, first, weights, 30)
    assert fit.size == 30.0
    assert fit.counts.emission.sum() == pytest.approx(30 * 20)
    assert fit.bound < -divergence(prior, fit.counts)[0] < 0.0

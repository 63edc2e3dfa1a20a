"""Variational starts, finite mixtures and hierarchies of components on research data, with what must be found."""

import time

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.datasets.tree_loaders import load_inex05, load_synthetic_trees
from bayesgrove.metrics import tree_silhouette
from bayesgrove.models.tree_hmm.component_tree import build_components_tree
from bayesgrove.models.tree_hmm.em import EMSettings, assign, fit_em
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.vb import VB_DEFAULTS, VBSettings, choose_n_states, vb_start
from bayesgrove.stats.partitions import adjusted_rand
from conftest import find_shared_file

pytestmark = pytest.mark.statistical

BLOCK_OF_CLASS = np.array([-1, 0, 1, 1, 2, 2, 3, 4, 3, 4, 3, 3])
"""The five blocks of similar classes of INEX05: {1}, {2, 3}, {4, 5}, {6, 8, 10, 11}, {7, 9}."""
ONE_START = VBSettings(n_init=1)


@pytest.fixture(scope="module")
def synthetic():
    home = find_shared_file("data/trees/synt_bacciu_castellana.json.gz").parents[1]
    return [load_synthetic_trees(home, part) for part in ("train", "test")]


@pytest.fixture(scope="module")
def inex():
    home = find_shared_file("data/trees/inex05.train.elastic.tree.gz").parents[1]
    return [load_inex05(home, part) for part in ("train", "test")]


def fitted(data, seed, n_states, strength=1.0, concentration=1.0, settings=VB_DEFAULTS):
    forest = data.data.forest
    prior = make_prior(forest, n_states, "bottom_prior", strength)
    return vb_start(generator(seed), unique_links(forest), prior, concentration, settings)


def silhouette_of_test(fit, test, clusters=None):
    """The paper's definition, for test trees in their most probable clusters."""
    logs = log_likelihoods(unique_links(test.data.forest), fit.tables, fit.prior.mode)
    labels = (logs + fit.log_weights[:, None]).argmax(axis=0)
    return tree_silhouette(test.data, labels if clusters is None else clusters[labels], "paper")


def largest_fall(trace):
    return float(np.max(-np.diff(trace) / np.abs(trace[1:])))


def test_one_variational_start_finds_the_shapes(synthetic):
    began = time.process_time()
    fit = fitted(synthetic[0], 0, 4, settings=ONE_START)
    assert largest_fall(fit.trace) <= 1e-9
    assert fit.n_components == 3
    assert adjusted_rand(synthetic[0].target, fit.labels) >= 0.98
    assert time.process_time() - began < 30.0  # compilation included


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_states", "strength", "concentration", "n_seeds"),
    [(4, 1.0, 1.0, 10), (4, 0.5, 1.0, 3), (4, 2.0, 10.0, 3), (8, 1.0, 1.0, 3), (8, 2.0, 1.0, 3)],
)
def test_variational_starts_find_the_shapes(synthetic, n_states, strength, concentration, n_seeds):
    train, test = synthetic
    for seed in range(n_seeds):
        fit = fitted(train, seed, n_states, strength, concentration)
        assert fit.n_components == 3
        assert adjusted_rand(train.target, fit.labels) >= 0.975
        assert silhouette_of_test(fit, test) >= 0.51


@pytest.mark.slow
def test_bound_chooses_four_states_for_the_shapes(synthetic):
    forest = synthetic[0].data.forest
    choice = choose_n_states(generator(0), unique_links(forest), make_prior(forest, 4), settings=ONE_START)
    assert choice.n_states == (4, 8, 16)
    assert choice.elbos.argmax() == 0
    assert choice.fit.prior.shape.n_states == 4


@pytest.mark.slow
@pytest.mark.parametrize(("n_states", "n_seeds", "least"), [(8, 5, 0.30), (4, 2, 0.28)])
def test_variational_starts_find_the_five_blocks(inex, n_states, n_seeds, least):
    train, test = inex
    for seed in range(n_seeds):
        fit = fitted(train, seed, n_states)
        assert largest_fall(fit.trace) <= 1e-9
        assert 5 <= fit.n_components <= 6
        assert adjusted_rand(BLOCK_OF_CLASS[train.target], fit.labels) >= 0.98
        assert silhouette_of_test(fit, test) >= least


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_gap_finds_the_five_blocks_from_a_sparse_start(inex, seed):
    """Sparse from the start, the mixture itself ends with nine components or more."""
    train, test = inex
    fit = fitted(train, seed, 8, 0.1, settings=VBSettings(n_init=1, continuation=()))
    assert fit.n_components > 6
    tree = build_components_tree(unique_links(train.data.forest), fit.prior, fit.counts, fit.responsibilities)
    clusters = tree.cut("gap")
    assert clusters.max() + 1 == 5
    assert adjusted_rand(BLOCK_OF_CLASS[train.target], clusters[fit.labels]) >= 0.98
    assert silhouette_of_test(fit, test, clusters) >= 0.30
    assert tree.cut("sign").tolist() == clusters.tolist()


@pytest.mark.slow
def test_speed(inex, synthetic):
    """CPU time of one start of 40 iterations and 30 components, kernels compiled."""
    for data, n_states, limit in ((inex[0], 8, 10.0), (synthetic[0], 4, 2.0)):
        fitted(data, 0, n_states, settings=VBSettings(n_init=1, n_iter=1))
        began = time.process_time()
        fitted(data, 1, n_states, settings=ONE_START)
        assert time.process_time() - began < limit
    forest = inex[0].data.forest
    began = time.process_time()
    fit_em(generator(0), unique_links(forest), make_prior(forest, 4), 22, EMSettings(max_iter=30, tol=0.0))
    assert time.process_time() - began < 30.0


@pytest.mark.slow
@pytest.mark.parametrize("estep", ["exact", "paper"])
def test_finite_mixture_of_three_finds_the_shapes(synthetic, estep):
    """Table 1 of the paper, MIX with C = 4, T = 3: 0.45 there."""
    train, test = synthetic
    forest = train.data.forest
    links = (plain_links if estep == "paper" else unique_links)(forest)
    found = []
    for seed in range(5):
        settings = EMSettings(max_iter=30, tol=0.0, estep=estep)
        fit = fit_em(generator(seed), links, make_prior(forest, 4), 3, settings)
        logs = log_likelihoods(unique_links(test.data.forest), fit.parameters.tables, 0)
        labels = assign(logs, fit.weights).responsibilities.argmax(axis=0)
        found.append(tree_silhouette(test.data, labels, "paper"))
    assert np.mean(found) >= 0.50

"""The paper's procedure for infinite mixtures of trees: its pieces exactly, its results on the published set."""

import math

import numpy as np
import pytest
from papers.htmm_test_trees import assign_test_trees, sweep_test_trees

from bayesgrove.core.errors import InvalidSettingError
from bayesgrove.core.rng import generator
from bayesgrove.datasets import load_synthetic_trees
from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm import paper
from bayesgrove.models.tree_hmm.engine import expected_counts
from bayesgrove.models.tree_hmm.links import plain_links, unique_links
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.tables import RENORM, Shape, Strengths, stack, zero_counts
from bayesgrove.stats.partitions import adjusted_rand
from reference.tree_hmm_engine import forest_of
from reference.tree_sets import random_forest

pytestmark = pytest.mark.statistical
SHAPE = Shape(3, 2, 3)


def some_forest(n_trees=20, **options):
    return forest_of(random_forest(generator(1), n_trees, empty_internal=False, **options), 3, 3)


def settings(**changes):
    return paper.PaperSettings(SHAPE)._replace(**changes)


@pytest.mark.parametrize("compat", [True, False])
def test_weight_of_a_new_component(compat):
    """Section 7: a leaf (C / (C + 1)) / M, an internal node 1 / M, an absent slot 1 / (C + 1), a root leaf 1 / M."""
    trees = TreeData.from_parents([[0], [0, 1, 2], [1, 1]], [[-1], [-1, 0, 1], [-1, 0]], [[0], [0, 2, 1], [0, 3]], 3, 3)
    found = paper.log_uniform(trees.forest, unique_links(trees.forest), settings(compat=compat))
    internal = 2 / 3 if compat else 1.0
    wanted = [1 / 3, (internal / 3) ** 2 * (2 / 9) * (1 / 3) ** 4, internal / 3 * (2 / 9) * (1 / 3) ** 2]
    np.testing.assert_allclose(np.exp(found), wanted, rtol=1e-12)


def test_counts_of_equal_trees_are_multiplied():
    """The authors' E-step tree by tree, and with each different tree of a component once."""
    forest, rng = some_forest(), generator(2)
    nodes, labels = plain_links(forest), rng.integers(2, size=forest.n_trees)
    tables = stack([paper.draw_first_tables(rng, settings()) for _ in range(2)])
    counts = zero_counts(2, SHAPE)
    paper.count_as_printed(nodes, unique_links(forest).roots, labels, tables, SHAPE.mode, counts)
    weights = (labels == np.arange(2)[:, None]).astype(float)
    for found, wanted in zip(counts, expected_counts(nodes, tables, SHAPE.mode, weights, paper=True), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_first_transitions_of_the_program_sum_to_one_over_children():
    found = paper.draw_first_tables(generator(3), settings())
    np.testing.assert_allclose(found.transition.sum(axis=2), 1.0)
    proper = paper.draw_first_tables(generator(3), settings(compat=False))
    np.testing.assert_allclose(proper.transition.sum(axis=3), 1.0)


def test_labels_are_drawn_by_sizes_and_likelihoods():
    """One visit of the last tree, many times: clusters by their sizes without it, or a new one."""
    rng, n = generator(4), 4_000
    scores, log_new = np.log([[0.2] * 4, [0.6] * 4]), np.full(4, math.log(0.9))
    found = np.empty(n, np.int64)
    for k in range(n):
        labels = np.array([0, 0, 1, 1])
        done = paper.assign_until_new(rng, scores, log_new, labels, 3)
        found[k] = 2 if done == 3 else labels[3]
    wanted = np.array([2 * 0.2, 0.6, 0.9]) / 1.9
    np.testing.assert_allclose(np.bincount(found, minlength=3) / n, wanted, atol=4.5 * math.sqrt(0.25 / n))


@pytest.mark.parametrize("compat", [True, False])
@pytest.mark.parametrize("missing", ["bottom_prior", "renorm"])
def test_a_whole_fit(compat, missing):
    forest = some_forest()
    shape = make_prior(forest, 2, missing).shape
    fit = paper.fit_paper(generator(5), forest, settings(shape=shape, compat=compat, n_sweeps=5))
    assert fit.labels.max() + 1 == len(fit.tables.switching) == fit.n_clusters[-1]
    assert fit.n_clusters.shape == fit.log_likelihood.shape == (5,)
    for part, axis in ((fit.tables.initial, 2), (fit.tables.emission, 1), (fit.tables.transition, 3)):
        np.testing.assert_allclose(part.sum(axis=axis), 1.0)
    again = paper.fit_paper(generator(5), forest, settings(shape=shape, compat=compat, n_sweeps=5))
    assert np.array_equal(fit.labels, again.labels)
    labels = assign_test_trees(generator(6), fit, forest)
    assert labels.min() >= 0
    assert labels.max() <= len(fit.tables.switching)
    assert shape.mode != RENORM or fit.tables.initial[:, :, -1].max() == 0.0


def test_test_trees_that_nothing_changes_stay():
    """Clusters far apart: after one sweep every tree is with its like, and new components have no chance."""
    scores = np.where(np.arange(6) < 3, [[0.0], [-500.0]], [[-500.0], [0.0]])
    labels = np.array([0, 1, 0, 1, 0, 1])
    sweep_test_trees(generator(7), scores, np.full(6, -900.0), labels, 10)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_what_the_procedure_cannot_do():
    with pytest.raises(InvalidSettingError, match=r"needs prior_strength of at least 1, got 0\.5"):
        paper.fit_paper(generator(8), some_forest(), settings(strengths=Strengths(1.5, 1.5, 0.5, 1.5)))
    forest = TreeData.from_parents([[0.5, 1.5]], [[-1, 0]]).forest
    with pytest.raises(InvalidSettingError, match='method="paper" knows no continuous labels'):
        paper.fit_paper(generator(8), forest, settings())


@pytest.mark.slow
def test_published_set(shared_file):
    """Acceptance 13: three clusters in at least 4 of 5 runs, and the classes. Of 16 other runs 14 found three."""
    shared_file("data/trees/synt_bacciu_castellana.json.gz")
    data = load_synthetic_trees(shared_file("data"))
    shape = make_prior(data[0].forest, 4).shape
    fits = [paper.fit_paper(generator(9, k), data[0].forest, paper.PaperSettings(shape)) for k in range(5)]
    assert sum(len(fit.tables.switching) == 3 for fit in fits) >= 4
    assert np.median([adjusted_rand(data[1], fit.labels) for fit in fits]) >= 0.95

"""What tests of fits of tree models share: golden forests and tables, small random forests, numbers as labels."""

import numpy as np

from bayesgrove.io.tree_data import TreeData
from bayesgrove.models.tree_hmm.parameters import Parameters, make_prior
from bayesgrove.models.tree_hmm.tables import make_tables, stack
from reference.tree_hmm import golden_tables, plain_tree
from reference.tree_hmm_engine import forest_of
from reference.tree_sets import random_tree


def golden_forest(case):
    """The trees of an entry of the golden file."""
    return forest_of([plain_tree(tree) for tree in case["trees"]], case["L"], case["M"])


def parameters_of(tables):
    """One component or several, from tables of the golden file or of the twin."""
    found = stack([make_tables(*table) for table in tables])
    return Parameters(found, np.zeros((len(tables), found.n_states, 0, 2)))


def golden_start(case):
    """Where the golden EM runs begin."""
    return np.ones(1), parameters_of([golden_tables(case["initial"])])


def random_forest(rng, mode, n_trees=6, L=3, M=3):
    """Trees of up to twelve nodes with unknown labels and shared positions."""
    options = {"empty_internal": mode != "renorm"}
    return forest_of([random_tree(rng, int(rng.integers(1, 13)), M, L, **options) for _ in range(n_trees)], L, M)


def two_kinds(rng, n_trees=24, offset=0.0):
    """Trees of six nodes whose labels are pairs of numbers: leaves lie near 3 in one half, near -3 in the other."""
    labels, parents = [], []
    for tree in range(n_trees):
        centre = 3.0 if tree < n_trees // 2 else -3.0
        values = rng.normal(0.0, 0.5, (6, 2)) + offset
        values[3:, 0] += centre
        labels.append(values)
        parents.append([-1, 0, 0, 1, 1, 2])
    return TreeData.from_parents(labels, parents).forest


def small_prior(forest, mode="bottom_prior", strength=1.0, n_states=2):
    """The prior of a fit with few states."""
    return make_prior(forest, n_states, mode, strength)

"""Trees that were not in the fit, assigned as Bacciu and Castellana do; the package has `predict`."""

import math

import numpy as np

from bayesgrove.core.constants import NULL
from bayesgrove.core.jit import kernel
from bayesgrove.models.tree_hmm.engine import log_likelihoods
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.paper import PaperFit, log_uniform
from bayesgrove.stats.sampling import draw_log_categorical
from bayesgrove.trees.forest import Forest

N_TEST_SWEEPS = 10


def assign_test_trees(
    rng: np.random.Generator, fit: PaperFit, forest: Forest, n_sweeps: int = N_TEST_SWEEPS
) -> np.ndarray:
    """The paper's rule for test trees: labels 0 .. K - 1, or K for "new".

    Clusters count test trees only, from a uniform start: labels depend on the whole batch and on chance.
    """
    links, settings = unique_links(forest), fit.settings
    scores = log_likelihoods(links, fit.tables, settings.shape.mode)
    log_new = math.log(settings.concentration) + log_uniform(forest, links, settings)
    labels = rng.integers(len(scores), size=forest.n_trees)
    sweep_test_trees(rng, scores, log_new, labels, n_sweeps)
    return labels


@kernel
def sweep_test_trees(rng, scores, log_new, labels, n_sweeps):
    """Redraw labels until a sweep changes nothing."""
    n_rows, n_trees = scores.shape
    sizes, log_weights = np.zeros(n_rows + 1, np.int64), np.empty(n_rows + 1)
    for tree in range(n_trees):
        sizes[labels[tree]] += 1
    for _ in range(n_sweeps):
        n_changed = 0
        for tree in range(n_trees):
            sizes[labels[tree]] -= 1
            for row in range(n_rows):
                log_weights[row] = math.log(sizes[row]) + scores[row, tree] if sizes[row] > 0 else -math.inf
            log_weights[n_rows] = log_new[tree]
            row = draw_log_categorical(rng, log_weights)
            if row == NULL:
                row = n_rows
            n_changed += row != labels[tree]
            labels[tree] = row
            sizes[row] += 1
        if n_changed == 0:
            return

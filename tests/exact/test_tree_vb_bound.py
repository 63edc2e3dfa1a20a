"""The variational bound of tree mixtures, with all its terms written out from section 8.8."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp

from bayesgrove.models.tree_hmm import vb
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.tables import Strengths, make_tables, stack
from reference import tree_hmm as twin
from reference.tree_hmm_engine import forest_of
from reference.tree_sets import random_forest

pytestmark = pytest.mark.exact

L, C, M = 2, 2, 3
STRENGTHS, CONCENTRATION = Strengths(0.7, 1.3, 2.0, 0.4), 1.7


def dirichlet_divergence(cells, prior):
    """Of one Dirichlet law from another."""
    found = gammaln(cells.sum()) - gammaln(cells).sum() - gammaln(prior.sum()) + gammaln(prior).sum()
    return found + ((cells - prior) * (digamma(cells) - digamma(cells.sum()))).sum()


def table_divergence(counts, mode):
    """All free rows of a component."""
    total = 0.0
    for table, mask, strength in zip(counts, twin.row_masks(L, C, M, mode), STRENGTHS, strict=True):
        width = table.shape[-1]
        for row, free in zip(table.reshape(-1, width), mask.reshape(-1, width), strict=True):
            if free.any():
                total += dirichlet_divergence(row[free] + strength, np.full(free.sum(), strength))
    return total


@pytest.mark.parametrize("mode", ["bottom_prior", "bottom"])
def test_all_terms(mode):
    rng = np.random.default_rng(3)
    trees = random_forest(rng, 6, n_labels=M, max_outdegree=L)
    components = [twin.random_tables(rng, L, C, M, mode) for _ in range(3)]
    shares = rng.dirichlet(np.ones(3), len(trees)).T
    counts = [twin.expected_counts(trees, own, mode, row)[1] for own, row in zip(components, shares, strict=True)]
    sizes = shares.sum(axis=1)
    sticks = [np.array([1.0 + sizes[t], CONCENTRATION + sizes[t + 1 :].sum()]) for t in range(2)]
    expected = np.array([digamma(stick) - digamma(stick.sum()) for stick in sticks])
    log_weights = np.append(expected[:, 0], 0.0) + np.append(0.0, np.cumsum(expected[:, 1]))
    tables = [twin.expected_log(own, STRENGTHS, mode) for own in counts]
    logs = np.array([[twin.upward(tree, own, mode).log_likelihood for tree in trees] for own in tables])
    wanted = logsumexp(log_weights[:, None] + logs, axis=0).sum()
    wanted -= sum(table_divergence(own, mode) for own in counts)
    wanted -= sum(dirichlet_divergence(stick, np.array([1.0, CONCENTRATION])) for stick in sticks)
    forest = forest_of(trees, L, M)
    prior = make_prior(forest, C, mode, STRENGTHS)
    stacked = stack([make_tables(*own) for own in components])
    fit = vb.vb_from_responsibilities(unique_links(forest), prior, stacked, shares, CONCENTRATION, 1)
    assert fit.trace[0] == pytest.approx(wanted, abs=1e-9)

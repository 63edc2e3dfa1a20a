"""The variational bound of tree mixtures written out from section 8.8, and what merging components costs."""

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp

from bayesgrove.models.tree_hmm.component_tree import build_components_tree
from bayesgrove.models.tree_hmm.engine import expected_counts
from bayesgrove.models.tree_hmm.links import unique_links
from bayesgrove.models.tree_hmm.parameters import make_prior
from bayesgrove.models.tree_hmm.tables import Strengths, make_tables, stack, uniform_tables
from reference import tree_hmm as twin
from reference import tree_hmm_exact as exact
from reference.tree_hmm_engine import forest_of, vb_from_responsibilities
from reference.tree_sets import PlainTree, random_forest

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
    fit = vb_from_responsibilities(unique_links(forest), prior, stacked, shares, CONCENTRATION, 1)
    assert fit.trace[0] == pytest.approx(wanted, abs=1e-9)


def test_log_ratio_of_a_merge_where_nothing_is_hidden():
    """With one state and one position a component's bound is its evidence, and so the ratio is exact."""
    trees = [
        PlainTree([0, 1, 1], [-1, 0, 1], [0, 1, 1], [True, True, False]),
        PlainTree([1, 0], [-1, 0], [0, 1], [True, False]),
        PlainTree([2, 2], [-1, 0], [0, 1], [True, True]),
    ]
    sizes, strength, members = (1, 1, 3, "bottom_prior"), 1.5, ([0, 1], [2])
    forest = forest_of(trees, 1, 3)
    links, prior = unique_links(forest), make_prior(forest, 1, "bottom_prior", strength)
    shares = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    uniform = stack([uniform_tables(prior.shape)] * 2)
    counts = expected_counts(links, uniform, prior.mode, shares)
    tree = build_components_tree(links, prior, counts, shares, CONCENTRATION)
    wanted = exact.log_integral(trees, *sizes, strength) + gammaln(3.0) - gammaln(2.0) - np.log(CONCENTRATION)
    for own in members:
        wanted -= exact.log_integral([trees[i] for i in own], *sizes, strength)
    np.testing.assert_allclose(tree.log_ratios, [wanted], atol=1e-9)

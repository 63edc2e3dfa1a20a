"""Weights of infinitely many hidden states and densities of what is proposed for them, written out (section 8.7).

The sources are run as plain Python: the test of planted errors runs this file.
"""

import math

import numba
import numpy as np
import pytest
from scipy.special import digamma
from scipy.stats import beta, dirichlet

from bayesgrove.core.rng import generator
from bayesgrove.models.tree_hmm import hdp, proposals
from bayesgrove.models.tree_hmm.component import Row, Uses, draw_component, new_row
from reference.tree_hmm import row_masks
from reference.tree_hmm_generative import SHAPES, C, L, M, TreeModel

pytestmark = [
    pytest.mark.exact,
    pytest.mark.skipif(
        not numba.config.DISABLE_JIT,
        reason="needs NUMBA_DISABLE_JIT=1; run so by statistical/mutants/test_mutants.py",
    ),
]
INITIAL, EMISSION, SWITCHING, TRANSITION, STATES, EMPTY, FILLED = 1.5, 0.6, 2.0, 0.7, 1.2, 2.0, 3.0
VALUES = np.array([0.8, INITIAL, EMISSION, SWITCHING, TRANSITION, STATES, EMPTY, FILLED])
KEPT = np.array([0.3, 0.7])
"""Weights of the component that stays."""


def target_of(mode):
    trees = [tree._replace(labels=[0] * len(tree.labels)) for tree in SHAPES]
    return TreeModel(mode, infinite=True).target((trees, np.empty((0, 0))))


def random_uses(rng, mode):
    masks = row_masks(L, C, M, mode)
    initial, emission, switching, transition = (np.where(mask, rng.gamma(1.5, size=mask.shape), 0.0) for mask in masks)
    return Uses(initial, np.ascontiguousarray(emission.T), switching, transition, np.zeros(L))


def n_tables(uses):
    """Expected numbers of tables under the kept weights."""
    found = np.zeros(C)
    for strength, counts in ((INITIAL, uses.initial[:, :C]), (TRANSITION, uses.transition.reshape(-1, C))):
        mass = strength * KEPT
        found += (mass * (digamma(mass + counts) - digamma(mass))).sum(axis=0)
    return found


def log_density(row, uses, tables, mode):
    """Of weights given numbers of tables, and of all rows given weights and counts."""
    total = dirichlet.logpdf(row.weights / row.weights.sum(), STATES / C + tables)
    for place in range(L + 1):
        real = row.initial[place, :C]
        total += dirichlet.logpdf(real / real.sum(), INITIAL * row.weights + uses.initial[place, :C])
        if mode == "bottom_prior" and place > 0:
            n_leaves, n_empty = uses.initial[place, :C].sum(), uses.initial[place, C]
            total += beta.logpdf(row.initial[place, C], EMPTY + n_empty, FILLED + n_leaves)
    for state in range(C):
        total += dirichlet.logpdf(row.emission[:, state], EMISSION + uses.emission[:, state])
    total += dirichlet.logpdf(row.switching, SWITCHING + uses.switching)
    for position in range(L):
        for other in range(C if mode == "renorm" else C + 1):
            cells = row.transition[position, other]
            total += dirichlet.logpdf(cells / cells.sum(), TRANSITION * row.weights + uses.transition[position, other])
    return total


@pytest.mark.parametrize("mode", ["bottom_prior", "bottom", "renorm"])
def test_density_of_proposed_weights_and_tables(mode):
    rng = np.random.default_rng(1)
    target = target_of(mode)
    for scale in (0.3, 1.0, 4.0):
        uses = Uses(*(scale * part for part in random_uses(rng, mode)))
        nothing = Uses(*(np.zeros_like(part) for part in uses))
        row = new_row(target)._replace(weights=rng.dirichlet(np.ones(C)))
        draw_component(generator(2), target, VALUES, nothing, row)
        log_prior = log_density(row, nothing, np.zeros(C), mode)
        log_given = log_density(row, uses, n_tables(uses), mode)
        wanted = log_prior - np.logaddexp(math.log(0.95) + log_given, math.log(0.05) + log_prior)
        assert proposals.log_prior_ratio(target, VALUES, KEPT, uses, Row(*row)) == pytest.approx(wanted, abs=1e-8)


def test_weights_are_drawn_from_the_concentration_and_tables():
    """Means of 3,000 draws within 4.5 standard errors."""
    rng, tables, weights, n_draws = generator(3), np.array([4.0, 0.0, 1.0]), np.empty(3), 3000
    total = np.zeros(3)
    for _ in range(n_draws):
        hdp.draw_weights(rng, STATES, tables, weights)
        total += weights
    law = dirichlet(STATES / 3 + tables)
    assert (np.abs(total / n_draws - law.mean()) < 4.5 * np.sqrt(law.var() / n_draws)).all()


def test_numbers_of_tables():
    """Means of 1,500 draws within 4.5 standard errors; a customer opens table k + 1 with chance mass / (mass + k)."""
    rng, mass, count = generator(4), 0.8, 6
    chances = mass / (mass + np.arange(count))
    drawn = np.mean([hdp.draw_table_count(rng, float(count), mass) for _ in range(1500)])
    assert abs(drawn - chances.sum()) < 4.5 * math.sqrt((chances * (1.0 - chances)).sum() / 1500)


def test_concentration_of_rows_given_tables():
    """Mean of the log over 4,000 steps against quadrature: Gamma(2, 1.5) prior, three rows."""
    totals, tables, prior = np.array([3.0, 5.0, 0.0, 2.0]), 6.0, np.array([2.0, 1.5])
    grid = np.linspace(1e-3, 40.0, 100_001)
    log_density_of = (prior[0] - 1.0 + tables) * np.log(grid) - prior[1] * grid
    for total in totals.tolist():
        log_density_of -= sum(np.log(grid + k) for k in range(int(total)))
    weights = np.exp(log_density_of - log_density_of.max())
    wanted = (weights * np.log(grid)).sum() / weights.sum()
    rng, value, draws = generator(5), 1.0, []
    for _ in range(4000):
        value = hdp.draw_row_concentration(rng, prior, value, totals, tables)
        draws.append(math.log(value))
    batches = np.array(draws).reshape(40, -1).mean(axis=1)
    assert abs(batches.mean() - wanted) < 4.5 * batches.std() / math.sqrt(40)

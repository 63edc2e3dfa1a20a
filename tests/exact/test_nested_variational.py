"""The variational bound of nested hierarchies: below the exact evidence, equal to sums where there is one term."""

import math

import numpy as np
import pytest

from bayesgrove.models.nested.variational import (
    Approximation,
    better_numbers,
    better_share,
    bound_of,
    component_weights,
    log_priors,
    log_tree,
    rows_of,
)
from bayesgrove.models.nested.variational_search import (
    better_layout,
    lost_entropy,
    means_of,
    merged,
    pair_gains,
    place_gains,
    search,
)
from reference.nested import Model, log_block_normal
from reference.nested_exact import exact_law

pytestmark = pytest.mark.exact
FIXED = np.full((6, 2), np.nan)
LEARNED = np.array([[1.0, 1.0]] * 3 + [[2.0, 0.3], [2.0, 2.0], [np.nan] * 2])


def random_values(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([0.05 + rng.gamma(2.0, 0.5, 3), rng.uniform(0.2, 2.0, 2), [1.0]])


def random_layout(rng: np.random.Generator, n_components: int, depth: int) -> np.ndarray:
    layout = rng.integers(0, 2, (n_components, depth))
    return np.cumsum(layout * 2 ** np.arange(depth - 1, -1, -1), axis=1) + np.arange(depth) * 2**depth


def random_approximation(rng: np.random.Generator, n_rows: int, depth: int, values: np.ndarray) -> Approximation:
    n_components = int(rng.integers(1, n_rows + 1))
    anchor = rng.choice(n_rows, n_components, replace=False)
    share = rng.dirichlet(np.full(n_components, 0.5), n_rows)
    share[anchor] = np.eye(n_components)
    return Approximation(share, anchor, random_layout(rng, n_components, depth), values)


@pytest.mark.parametrize(("n_rows", "depth"), [(4, 2), (5, 1)])
@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_above_the_exact_evidence(seed, n_rows, depth):
    """All trees and partitions enumerated: also the bounds of approximations that are not the best are below."""
    rng = np.random.default_rng(seed)
    rows, values = rng.normal(0.0, rng.uniform(0.5, 4.0), (n_rows, 2)), random_values(rng)
    numbers = dict(zip(("alpha", "gamma", "gamma0", "s2", "h2"), values[:5], strict=True))
    exact = exact_law(Model(rows, depth), **numbers).log_evidence
    found = search(rows, depth, values, FIXED)
    others = [bound_of(rows_of(rows), random_approximation(rng, n_rows, depth, values)) for _ in range(50)]
    assert max(others) <= found.log_evidence + 0.5  # the search is local, and no worse than the best of fifty
    assert max(found.log_evidence, *others) < exact
    assert found.log_evidence > exact - 2.5 * n_rows


@pytest.mark.parametrize("seed", range(3))
def test_a_single_row_has_its_evidence(seed):
    """Nothing is lost where there is one term to sum."""
    rng = np.random.default_rng(seed)
    row, values = rng.normal(0.0, 3.0, (1, 3)), random_values(rng)
    found = search(row, 3, values, FIXED)
    assert found.log_evidence == pytest.approx(log_block_normal(row, values[3], values[4]), abs=1e-10)


@pytest.mark.parametrize("hyperpriors", [FIXED, LEARNED])
@pytest.mark.parametrize("seed", range(3))
def test_no_step_lowers_the_bound(seed, hyperpriors):
    rng = np.random.default_rng(seed)
    centres = rng.normal(0.0, 3.0, (5, 2))
    rows = rng.normal(centres[rng.integers(0, 5, 60)], 0.7)
    values, given = random_values(rng), rows_of(rows)
    found = random_approximation(rng, 20, 2, values)
    extra = rng.dirichlet(np.ones(found.anchor.size), 40)
    found = found._replace(share=np.vstack([found.share, extra]))
    for _ in range(20):
        before = bound_of(given, found) + log_priors(found.values, hyperpriors)
        shared = better_share(given, found)
        between = bound_of(given, shared) + log_priors(shared.values, hyperpriors)
        found = better_numbers(given, shared, hyperpriors)
        after = bound_of(given, found) + log_priors(found.values, hyperpriors)
        assert before <= between + 1e-9 * abs(before)
        assert between <= after + 1e-9 * abs(before)
    trace = np.array(search(rows, 2, values, hyperpriors).trace)
    assert np.diff(trace).min() >= -1e-9 * np.abs(trace).max()


def test_weights_are_the_slopes_of_the_tree():
    rng = np.random.default_rng(0)
    size, layout, values = 1.0 + rng.gamma(2.0, 5.0, 6), random_layout(rng, 6, 3), random_values(rng)
    step = 1e-5 * np.eye(6)
    slopes = [(log_tree(size + h, layout, values) - log_tree(size - h, layout, values)) / 2e-5 for h in step]
    assert component_weights(size, layout, values) == pytest.approx(np.array(slopes), abs=1e-6)


def test_gains_of_places_are_differences_of_the_tree():
    rng = np.random.default_rng(1)
    size, layout, values = 1.0 + rng.gamma(2.0, 5.0, 6), random_layout(rng, 6, 3), random_values(rng)
    gains, found = place_gains(size, layout, values, 2), []
    for other in (0, 1, 3, 4, 5):
        for n_shared in range(4):
            changed = layout.copy()
            changed[2] = layout.max() + 1
            changed[2, :n_shared] = layout[other, :n_shared]
            found.append(log_tree(size, changed, values) - gains[other, n_shared])
    assert np.ptp(found) == pytest.approx(0.0, abs=1e-10)
    assert math.isinf(gains[2].max())
    assert log_tree(size, better_layout(size, layout, values), values) >= log_tree(size, layout, values)


def test_gains_of_merges_are_differences_of_the_bound():
    rng = np.random.default_rng(2)
    rows = rows_of(rng.normal(0.0, 2.0, (12, 2)))
    given = random_approximation(rng, 12, 2, random_values(rng))
    while given.anchor.size < 3:
        given = random_approximation(rng, 12, 2, given.values)
    size = given.share.sum(axis=0)
    one = merged(given, 0, 2)
    gain = log_tree(one.share.sum(axis=0), one.layout, one.values) - log_tree(size, given.layout, given.values)
    gain += pair_gains(means_of(rows, given), given.values)[0, 2] - lost_entropy(given.share[:, 0], given.share[:, 2])
    assert bound_of(rows, one) - bound_of(rows, given) == pytest.approx(gain, abs=1e-9)

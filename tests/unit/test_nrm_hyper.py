"""Compiled slice steps of the likelihood's factors, against plain Python with the same random numbers."""

import math

import numpy as np
import pytest

from bayesgrove.core.rng import generator
from bayesgrove.likelihoods import (
    Bernoulli,
    Columns,
    GaussianDiagonal,
    GaussianFull,
    Multinomial,
    Poisson,
    bind,
    contract,
)
from bayesgrove.models.nrm.hyper import PRIOR_SD, SLICE_WIDTH, draw_factors, free_places
from bayesgrove.stats.sampling import draw_slice

pytestmark = pytest.mark.unit
N_STEPS = 60
TABLES = {
    "full": (GaussianFull(), ["strength", "dof", "scale"]),
    "diagonal": (GaussianDiagonal(), ["strength", "rate"]),
    "mixed": (
        Columns([Poisson(shape=1.0, rate=0.2), Bernoulli(a=0.5, b=0.5), GaussianDiagonal()]),
        ["gaussian.strength", "gaussian.rate", "bernoulli.b", "poisson.shape"],
    ),
    "words": (Multinomial(), ["pseudo_count"]),
}


def plain_draws(rng, prior, places, rows, n_steps):
    """The log factors after each step, along one factor or a pair."""
    every, log_factors, found = contract.hyper(prior), np.zeros(places.size), []
    bounds = np.log([[low, high] for _, low, high in every])[places]
    moves = [(k,) for k in range(places.size)] + [(i, j) for i in range(places.size) for j in range(i)]

    def moved_by(step):
        return log_factors + step * np.isin(np.arange(places.size), moving)

    def log_density(step):
        factors = np.ones(len(every))
        factors[places] = np.exp(moved_by(step))
        marginals = [contract.log_marginal(contract.with_hyper(prior, factors), row) for row in rows]
        return math.fsum(marginals) - 0.5 * float(np.sum((moved_by(step) / PRIOR_SD) ** 2))

    for _ in range(n_steps):
        moving = moves[rng.integers(0, len(moves))]
        limits = (
            max(bounds[k][0] - log_factors[k] for k in moving),
            min(bounds[k][1] - log_factors[k] for k in moving),
        )
        log_factors = moved_by(draw_slice(rng, 0.0, log_density, width=SLICE_WIDTH, limits=limits))
        found.append(log_factors)
    return np.array(found)


@pytest.mark.parametrize("name", TABLES)
def test_compiled_slice_steps_draw_what_plain_python_draws(name):
    likelihood, free = TABLES[name]
    table = generator(1).poisson([3.0, 0.5, 2.0], (12, 3)).clip(max=[20, 1, 20]).astype(float)
    bound = bind(likelihood, table)
    rows = np.zeros((3, contract.n_stats(bound.prior)))
    for k, x in enumerate(bound.values):
        contract.add(bound.prior, rows[k % 2], x)
    places = free_places(bound.prior, tuple(free))
    wanted = plain_draws(generator(2), bound.prior, places, rows[:2], N_STEPS)
    rng, log_factors, found = generator(2), np.zeros(places.size), []
    for n_steps in (1, 1, 8, 50):
        before = log_factors.copy()
        after = draw_factors(rng, bound.prior, places, log_factors, rows, 2, n_steps)
        assert np.array_equal(log_factors, before)
        found.append(log_factors := after)
    np.testing.assert_allclose(found, wanted[[0, 1, 9, 59]], rtol=0, atol=1e-9)
    assert (np.ptp(wanted, axis=0) > 0.5).all()
